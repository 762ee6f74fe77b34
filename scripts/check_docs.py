#!/usr/bin/env python3
"""Runs the examples of README.md and docs/ and checks that they print what is written there.

  check_docs.py BIN_DIR [FILE.md...]

An example is a fenced block of kind `console`: lines that begin with `$ ` are run by bash in the root of the repository, with
BIN_DIR first in PATH, and the lines up to the next one are what goes to stdout and stderr. A line `[...]` stands for any
lines; times in ms may differ. Also checks that links to files lead somewhere.
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SKIP = "[...]"


def normalize(line):
    return re.sub(r" +[0-9.]+ ms$", " N ms", line.rstrip())


def matches(expected, got):
    """Whether the lines are the expected ones, where SKIP stands for any lines."""
    if not expected:
        return not got
    if expected[0] == SKIP:
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and normalize(expected[0]) == normalize(got[0]) and matches(expected[1:], got[1:])


def commands_of(block):
    """Pairs of a command and the lines that it prints."""
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def run(command, bin_dir):
    environment = dict(os.environ, PATH=bin_dir + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8")
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    return done.stdout.decode().splitlines()


def check(path, bin_dir):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    name = os.path.relpath(path, ROOT)
    faults = []
    for link in LINK.findall(text):
        if not os.path.exists(os.path.join(os.path.dirname(path), link)):
            faults.append(f"{name}: the link to {link} leads nowhere")
    for block in BLOCK.findall(text):
        for command, expected in commands_of(block):
            got = run(command, bin_dir)
            if not matches(expected, got):
                faults.append("\n".join([f"{name}: {command}", "  expected:", *expected, "  printed:", *got]))
    return faults


def main():
    bin_dir = os.path.abspath(sys.argv[1])
    paths = sys.argv[2:] or [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]
    faults = [fault for path in paths for fault in check(path, bin_dir)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
