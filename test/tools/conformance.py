#!/usr/bin/env python3
"""Runs the conformance checker with the arguments after `--`, or says that it is skipped (exit code 77) where the
folder with the cases is not there: it is bigger than a repository should be and lives beside it."""
import argparse
import os
import subprocess
import sys

SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="where check.py and its cases are")
    parser.add_argument("arguments", nargs="*", help="passed to check.py")
    options = parser.parse_args()
    checker = os.path.join(options.folder, "check.py")
    if not os.path.exists(checker):
        print(f"SKIPPED: no conformance cases in {options.folder}; set IROPT_CONFORMANCE_DIR to run them")
        return SKIPPED
    return subprocess.run([sys.executable, checker, *options.arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
