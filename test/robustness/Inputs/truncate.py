#!/usr/bin/env python3
"""truncate.py IR_OPT FILE COUNT reads the file cut off at COUNT places."""
import os
import re
import subprocess
import sys
import tempfile


def main():
    ir_opt, source, count = sys.argv[1:]
    with open(source, "rb") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cut" + os.path.splitext(source)[1])
        for i in range(int(count)):
            end = len(text) * i // int(count)
            with open(path, "wb") as file:
                file.write(text[:end])
            result = subprocess.run([ir_opt, path], capture_output=True)
            located = re.search(rb"^[^\n]*cut\.\w+:\d+:\d+: error: ", result.stderr, re.M)
            if not (result.returncode == 0 or (result.returncode in (2, 3) and located and not result.stdout)):
                sys.exit(f"cut at byte {end}: exit code {result.returncode}, {result.stderr[-500:]}")


if __name__ == "__main__":
    main()
