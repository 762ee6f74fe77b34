#!/usr/bin/env python3
"""Checks that what is wrong in sources does not compile.

  wrong_keys.py FOLDER COMPILER FLAG...

Each source of the folder compiles by itself. It has cases, from `#if CASE == N  // REGULAR EXPRESSION` to `#endif`. They are
compiled together with the rest of the source: the messages about the lines of each case hold its expression.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

CASE = re.compile(r"^#if CASE == \d+  // (.*)$")


def compile_text(command, text, folder):
    """Whether the text of a source compiles, and the messages of the compiler."""
    path = os.path.join(folder, "case.cpp")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    result = subprocess.run([*command, "-fsyntax-only", path], check=False, capture_output=True, text=True, cwd=folder,
                            env={**os.environ, "LC_ALL": "C"})
    return result.returncode == 0, result.stderr


def cases_of(lines):
    """The numbers of the first and the last line of each case, and its expression."""
    for begin, line in enumerate(lines, 1):
        if case := CASE.match(line):
            yield begin, lines.index("#endif", begin) + 1, case.group(1)


def messages_of(messages, begin, end):
    """The lines of the messages from each that names a line of the case to one that names another line of the source."""
    found, is_of_case = [], False
    for message in messages.splitlines():
        if place := re.search(r"case\.cpp:(\d+):", message):
            is_of_case = begin <= int(place.group(1)) <= end
        if is_of_case:
            found.append(message)
    return "\n".join(found)


def check(command, path, folder):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    cases = list(cases_of(text.splitlines()))
    if not cases:
        sys.exit(f"{path}: the file has no cases")
    compiles, messages = compile_text([*command, "-DCASE=0"], text, folder)
    if not compiles:
        sys.exit(f"{path} does not compile:\n{messages}")
    _, messages = compile_text(command, re.sub(r"#if CASE == \d+", "#if true", text), folder)
    for begin, end, expected in cases:
        own = messages_of(messages, begin, end)
        if "error: " not in own or not re.search(expected, own):
            sys.exit(f"{path}:{begin}: the messages about the case do not have {expected}:\n{own or messages}")


def main():
    folder, *command = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(folder, "*.cpp")))
    if not paths:
        sys.exit(f"{folder} has no sources")
    with tempfile.TemporaryDirectory() as work:
        for path in paths:
            check(command, path, work)


if __name__ == "__main__":
    main()
