#!/usr/bin/env python3
"""Checks that running the lit suite by folders leaves no test out.

  lit_folders.py LIT SUITE FOLDER...

What lit lists in the folders of the suite, taken together, must be what it lists in the whole suite, and no folder may be
empty.
"""
import os
import subprocess
import sys


def listed(lit, path):
    done = subprocess.run([sys.executable, lit, "--show-tests", path], stdout=subprocess.PIPE, text=True, check=True)
    return {line.strip() for line in done.stdout.splitlines() if " :: " in line}


def main():
    lit, suite, *folders = sys.argv[1:]
    tests = listed(lit, suite)
    problems = []
    for folder in folders:
        found = listed(lit, os.path.join(suite, folder))
        if not found:
            problems.append(f"{folder}: lit finds no test")
        tests -= found
    problems += [f"no folder has {test}" for test in sorted(tests)]
    print("\n".join(problems))
    return 1 if problems or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
