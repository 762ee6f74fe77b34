#!/usr/bin/env python3
"""Checks that what is wrong in a source does not compile.

  wrong_keys.py FILE COMPILER FLAG...

The source compiles by itself. It has cases, `#if CASE == N  // REGULAR EXPRESSION`, with each of which it does not, and
the expression is found in the messages of the compiler.
"""
import os
import re
import subprocess
import sys

CASE = re.compile(r"^#if CASE == (\d+)  // (.*)$", re.MULTILINE)


def compile_case(command, path, number):
    result = subprocess.run([*command, f"-DCASE={number}", "-fsyntax-only", path], check=False, capture_output=True, text=True,
                            env={**os.environ, "LC_ALL": "C"})
    return result.returncode == 0, result.stderr


def main():
    path, *command = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        cases = CASE.findall(f.read())
    if not cases:
        sys.exit(f"{path}: the file has no cases")
    compiles, messages = compile_case(command, path, 0)
    if not compiles:
        sys.exit(f"{path} does not compile:\n{messages}")
    for number, expected in cases:
        compiles, messages = compile_case(command, path, number)
        if compiles or not re.search(expected, messages):
            sys.exit(f"{path}: case {number} {'compiles' if compiles else f'has other messages than {expected}'}\n{messages}")


if __name__ == "__main__":
    main()
