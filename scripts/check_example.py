#!/usr/bin/env python3
"""Runs an example program and compares its output with the one in its source.

  check_example.py SOURCE.cpp PROGRAM [ARGUMENT...]

The source ends with a comment that holds the lines which go to stdout and stderr, after `// Prints:`, each behind `//   `.
With IROPT_UPDATE_EXAMPLES=1 in the environment the comment is written again instead.
"""
import difflib
import os
import subprocess
import sys

HEADING = "\n// Prints:\n//\n"


def main():
    source, *command = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        text = f.read()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
    printed = [f"//   {line}".rstrip() for line in done.stdout.decode().splitlines()]
    if done.returncode != 0:
        print("\n".join([f"{source}: exit code {done.returncode}", *printed]))
        return 1
    code, heading, expected = text.partition(HEADING)
    if os.environ.get("IROPT_UPDATE_EXAMPLES") == "1":
        with open(source, "w", encoding="utf-8") as f:
            f.write(code + HEADING + "\n".join(printed) + "\n")
        return 0
    if not heading:
        print(f"{source}: does not say what it prints: there is no line `// Prints:`")
        return 1
    diff = list(difflib.unified_diff(expected.splitlines(), printed, "expected", "printed", lineterm=""))
    print("\n".join(diff), end="\n" if diff else "")
    return 1 if diff else 0


if __name__ == "__main__":
    sys.exit(main())
