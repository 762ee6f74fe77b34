#!/usr/bin/env python3
"""Checks that the commands of documents select tests.

  check_ctest.py BUILD_DIR [FILE.md...]

The pattern of each `-R` of a command `ctest ...`, in code blocks and between backticks, must match the name of a test of
the build folder, and that of each `-L` a label of one.
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# Commands end with their line, except between backticks, where the text may be wrapped.
COMMAND = re.compile(r"`(ctest [^`]*)`|^[ $]*(?:\w+=\S+ +)*(ctest [^`\n]*)$|`(?:\w+=\S+\s+)+(ctest [^`]*)`", re.MULTILINE)


def selections(text):
    """Pairs of a flag and its pattern, of all commands."""
    for groups in COMMAND.findall(text):
        words = shlex.split(" ".join("".join(groups).split()))
        for flag, pattern in zip(words, words[1:]):
            if flag in ("-R", "-L"):
                yield flag, pattern


def faults_of(text, names, labels):
    for flag, pattern in selections(text):
        kind, known = ("test", names) if flag == "-R" else ("label", labels)
        if not any(re.search(pattern, name) for name in known):
            yield f"`ctest {flag} '{pattern}'` matches no {kind}"


def tests_of(build_dir):
    """The names and the labels of the tests."""
    done = subprocess.run(["ctest", "--show-only=json-v1", "--test-dir", build_dir], stdout=subprocess.PIPE, check=True)
    tests = json.loads(done.stdout)["tests"]
    properties = [prop for test in tests for prop in test.get("properties", [])]
    labels = {label for prop in properties if prop["name"] == "LABELS" for label in prop["value"]}
    return {test["name"] for test in tests}, labels


def main():
    names, labels = tests_of(sys.argv[1])
    paths = sys.argv[2:] or [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md")]
    if not sys.argv[2:]:
        paths += sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
    count = 0
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for fault in faults_of(f.read(), names, labels):
                print(f"{os.path.relpath(path, ROOT)}: {fault}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
