#!/usr/bin/env python3
"""Checks that the tests that a document names exist.

  check_test_names.py FILE.md...

In tables whose last column is headed `test or difference`, each row names tests between backticks: files of the
repository, or names of Catch2 tests. A row without a test says `differs: ` and the reason.
"""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TEST_CASE = re.compile(r'TEST_CASE(?:_METHOD)?\(\s*(?:[\w:]+,\s*)?"((?:[^"\\]|\\.)*)"')
HEADING = "test or difference"
FOLDERS = ("docs/", "examples/", "test/")


def test_names():
    names = set()
    for path in glob.glob(os.path.join(ROOT, "test", "unit", "**", "*_test.cpp"), recursive=True):
        with open(path, encoding="utf-8") as f:
            names.update(TEST_CASE.findall(f.read()))
    return names


def rows(text):
    """The rule and the last cell of each row of the tables."""
    in_table = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|"):
            in_table = False
        elif cells[-1] == HEADING:
            in_table = True
        elif in_table and not set(line) <= set("|- "):
            yield cells[0], cells[-1]


def check(path, names):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    problems = []
    count = 0
    for rule, cell in rows(text):
        count += 1
        tests = [word for word in re.findall(r"`([^`]+)`", cell) if word.startswith(FOLDERS) or " " in word and "(" not in word]
        if not tests and not cell.startswith("differs: "):
            problems.append(f"{rule}: names no test")
        for test in tests:
            exists = os.path.exists(os.path.join(ROOT, test)) if test.startswith(FOLDERS) else test in names
            if not exists:
                problems.append(f"{rule}: there is no test `{test}`")
    if count == 0:
        problems.append("there is no table of tests")
    return [f"{os.path.relpath(path, ROOT)}: {problem}" for problem in problems]


def main():
    names = test_names()
    problems = [problem for path in sys.argv[1:] for problem in check(path, names)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
