#!/usr/bin/env python3
"""Extracts the files from documents, so that they can be built and run.

  unpack_document.py FOLDER FILE.md...

A fenced block whose first line names a file behind the language (```cpp lib/FILE.cpp) is that file. A block of kind `diff`
changes files: of those written before, also by the documents before it, else of the repository. Its hunks have no line
numbers; what they replace must be there exactly once. A file that has not changed is not written again, so that nothing
is rebuilt; one that no document holds any more is removed.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables"))
from files import write_file  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BLOCK = re.compile(r"^```(\w+)(?: +(\S*[./]\S*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_DIFF = re.compile(r"^--- a/(\S+)\n\+\+\+ b/(\S+)\n(.*?)(?=^--- a/|\Z)", re.MULTILINE | re.DOTALL)


def apply_hunk(text, hunk, name):
    old, new = [], []
    for line in hunk.splitlines():
        if line[:1] in (" ", "-", ""):
            old.append(line[1:])
        if line[:1] in (" ", "+", ""):
            new.append(line[1:])
    old_text, new_text = "\n".join(old) + "\n", "\n".join(new) + "\n"
    if text.count(old_text) != 1:
        sys.exit(f"{name}: these lines are there {text.count(old_text)} times:\n{old_text}")
    return text.replace(old_text, new_text)


def unpack(document, files):
    """Adds the files of a document by name."""

    def read(name):
        if name not in files:
            with open(os.path.join(ROOT, name), encoding="utf-8") as f:
                files[name] = f.read()
        return files[name]

    for kind, name, body in BLOCK.findall(document):
        if name:
            files[name] = body
        elif kind == "diff":
            for old_name, new_name, hunks in FILE_DIFF.findall(body):
                text = read(old_name)
                for hunk in re.split(r"^@@\n", hunks, flags=re.MULTILINE)[1:]:
                    text = apply_hunk(text, hunk, old_name)
                files[new_name] = text


def remove_others(folder, names):
    """Removes files that only an earlier run wrote."""
    manifest = os.path.join(folder, "unpacked.txt")
    written = []
    if os.path.exists(manifest):
        with open(manifest, encoding="utf-8") as f:
            written = f.read().splitlines()
    for name in set(written) - set(names):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    os.makedirs(folder, exist_ok=True)
    with open(manifest, "w", encoding="utf-8") as f:
        f.write("".join(name + "\n" for name in names))


def main():
    folder, *paths = sys.argv[1:]
    files = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            count = len(files)
            unpack(f.read(), files)
        if len(files) == count:
            sys.exit(f"{path} holds no files")
    remove_others(folder, files)
    for name, text in files.items():
        write_file(os.path.join(folder, name), text)


if __name__ == "__main__":
    main()
