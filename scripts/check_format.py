#!/usr/bin/env python3
"""Checks that C++ sources are formatted as .clang-format says.

  check_format.py [--fix] [ROOT]

Versions of clang-format disagree, so version 14 is asked for, Debian 12's; without it the check is skipped (exit code 77).
Prints the place of each difference and exits with 1 if there is any. --fix formats the files.
"""
import argparse
import os
import re
import subprocess
import sys

from clang_tools import ROOT, find_tool, sources


def check(root):
    """The first difference of each file that is formatted otherwise, with its place."""
    files = list(sources(root, (".cpp", ".h")))
    result = subprocess.run([find_tool("clang-format"), "--dry-run", *files], cwd=root, stderr=subprocess.PIPE, text=True)
    first = {}
    for file, place in re.findall(r"^(\S+?):(\d+:\d+): warning:", result.stderr, re.MULTILINE):
        first.setdefault(file, place)
    return [f"{file}:{place}: not formatted as .clang-format says" for file, place in first.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=ROOT)
    parser.add_argument("--fix", action="store_true", help="format the files")
    args = parser.parse_args()
    if args.fix:
        return subprocess.run([find_tool("clang-format"), "-i", *sources(args.root, (".cpp", ".h"))], cwd=args.root).returncode
    problems = check(args.root)
    print("\n".join([*problems, "scripts/check_format.py --fix formats them"] if problems else ["format: no violations"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
