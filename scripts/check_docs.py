#!/usr/bin/env python3
"""Runs the examples of README.md and docs/ and compares their output.

  check_docs.py [--kind KIND] [--root FOLDER] BIN_DIR [FILE.md...]

An example is a fenced block of kind `console`: lines that begin with `$ ` are run by bash in the root of the repository, with
BIN_DIR first in PATH, and the lines up to the next one are what goes to stdout and stderr. A line `[...]` stands for any
lines; times and the version of ir-opt may differ. Also checks that links to files lead somewhere, and that a block which names a file of
examples/ behind its language is a part of that file.

With --kind, the blocks of kind `console KIND` are run instead, in FOLDER.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BLOCK = re.compile(r"^```(console[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
EXCERPT = re.compile(r"^```\w+ (examples/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SKIP = "[...]"
# Times, those of tables of times in columns, and the version.
VARYING = ((r" +[0-9.]+ ms(?= |$)", " N ms"), (r"^(?: +\d+\.\d{3}){2,3}(?: +\d+\.\d%)?(?= )", " N"),
           (r"\bir-opt \d+\.\d+\.\d+", "ir-opt VERSION"))


def normalize(line):
    for pattern, text in VARYING:
        line = re.sub(pattern, text, line)
    return line.rstrip()


def matches(expected, got):
    """Returns whether the lines are the expected ones; SKIP matches any lines."""
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


def run(command, bin_dir, root):
    environment = dict(os.environ, PATH=bin_dir + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8")
    done = subprocess.run(["bash", "-c", command], cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    return done.stdout.decode().splitlines()


def check(path, bin_dir, kind, root):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    name = os.path.relpath(path, ROOT)
    problems = []
    for link in LINK.findall(FENCED.sub("", text)):
        if not os.path.exists(os.path.join(os.path.dirname(path), link)):
            problems.append(f"{name}: the link to {link} leads nowhere")
    for source, excerpt in EXCERPT.findall(text):
        with open(os.path.join(ROOT, source), encoding="utf-8") as f:
            if excerpt not in f.read():
                problems.append(f"{name}: this is not part of {source}:\n{excerpt}")
    blocks = [block for block_kind, block in BLOCK.findall(text) if block_kind == kind]
    if kind != "console" and not blocks:
        problems.append(f"{name}: there is no block of kind `{kind}`")
    for block in blocks:
        for command, expected in commands_of(block):
            got = run(command, bin_dir, root)
            if not matches(expected, got):
                problems.append("\n".join([f"{name}: {command}", "  expected:", *expected, "  printed:", *got]))
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind")
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("bin_dir")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    kind = f"console {args.kind}" if args.kind else "console"
    paths = args.files or [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]
    problems = [problem for path in paths for problem in check(path, os.path.abspath(args.bin_dir), kind, args.root)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
