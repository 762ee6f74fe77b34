#!/usr/bin/env python3
"""Runs the tests of the WebAssembly build: its runtime and the package."""
import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))


def main():
    native = os.path.join(ROOT, "build", "bin", "ir-opt")
    steps = [["runtime.py"], ["package.py", *([f"--native={native}"] if os.path.exists(native) else [])]]
    failed = 0
    for script, *flags in steps:
        print(f"== {script}", flush=True)
        failed += subprocess.run([sys.executable, "-B", os.path.join(FOLDER, script), *flags], check=False).returncode != 0
    print(f"{len(steps) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
