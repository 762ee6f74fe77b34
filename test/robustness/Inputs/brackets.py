#!/usr/bin/env python3
"""brackets.py IR_OPT FILE [FLAG...] puts a bracket or a quote behind each word of the file, or takes one out of it, in turn.

What is left is an error at some place; a module only where the change was in a comment.
"""
import re
import subprocess
import sys


def variants(text):
    for match in re.finditer(r"[()\[\]{}]", text):
        yield text[:match.start()] + text[match.end():]
    for i, match in enumerate(re.finditer(r"\w+|[(,=]", text)):
        yield text[:match.end()] + "()[]{}\"'"[i % 8] + text[match.end():]


def main():
    ir_opt, source, *flags = sys.argv[1:]
    with open(source) as file:
        # Without the comments, in which brackets may stand.
        text = "".join(line for line in file if not line.startswith("#"))
    for variant in variants(text):
        result = subprocess.run([ir_opt, *flags, "-"], input=variant.encode(), capture_output=True)
        located = re.search(rb"^[^\n]*:\d+:\d+: error: ", result.stderr, re.M)
        if result.returncode not in (2, 3) or not located or result.stdout:
            sys.exit(f"exit code {result.returncode}: {result.stderr.decode()}\n{variant}")


if __name__ == "__main__":
    main()
