#!/usr/bin/env python3
"""Checks that binaries define the functions in the tables of docs/architecture.md, so that a debugger can stop there.

  flow_names.py DOCUMENT --nm=NM BINARY...
"""
import argparse
import re
import subprocess
import sys

ROW = re.compile(r"^\| [^|]+ \| `([\w:]+)` \| [^|]+ \|$", re.MULTILINE)
FEWEST = 20


def functions_in(text):
    return ROW.findall(text)


def defined_in(binary, nm):
    output = subprocess.run([nm, "-C", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^[0-9a-f]* [TtW] ([\w:]+)", output, re.MULTILINE))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("document")
    parser.add_argument("binaries", nargs="+")
    parser.add_argument("--nm", default="nm")
    args = parser.parse_args()
    with open(args.document, encoding="utf-8") as f:
        functions = functions_in(f.read())
    defined = set().union(*(defined_in(binary, args.nm) for binary in args.binaries))
    missing = [name for name in functions if f"iropt::{name}" not in defined]
    for name in missing:
        print(f"{args.document}: no binary defines iropt::{name}")
    print(f"{len(functions)} functions, {len(missing)} of them missing")
    return 1 if missing or len(functions) < FEWEST else 0


if __name__ == "__main__":
    sys.exit(main())
