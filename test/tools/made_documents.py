#!/usr/bin/env python3
"""Checks documents with their tables: no mark of a table is left, tables have rows, and links lead somewhere.

  made_documents.py FOLDER
"""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.path.insert(0, os.path.join(ROOT, "scripts", "tables"))
import check_docs  # noqa: E402
import documents  # noqa: E402

HEAD = re.compile(r"^\|(?: --- \|)+$", re.MULTILINE)


def problems_of(folder):
    sources = {os.path.basename(path): path for path in glob.glob(os.path.join(ROOT, "docs", "*.md"))}
    made = {os.path.basename(path) for path in glob.glob(os.path.join(folder, "*.md"))}
    for name in sorted(sources.keys() ^ made):
        yield f"{name}: it is only in one of docs and {folder}"
    for name in sorted(sources.keys() & made):
        with open(sources[name], encoding="utf-8") as f:
            source = f.read()
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            text = f.read()
        marks = documents.MARK.findall(source)
        if not marks and text != source:
            yield f"{name}: it has other text than docs/{name}"
        for mark in documents.MARK.findall(text):
            yield f"{name}: there is no table '{mark}'"
        if marks and (len(HEAD.findall(text)) <= len(HEAD.findall(source)) or text.count("\n| ") < source.count("\n| ") + 40):
            yield f"{name}: its tables lack rows"
        # The documents stand for those of the folder docs.
        for link in check_docs.LINK.findall(check_docs.FENCED.sub("", text)):
            if not os.path.exists(os.path.join(ROOT, "docs", link)):
                yield f"{name}: the link to {link} leads nowhere"


def main():
    problems = list(problems_of(sys.argv[1]))
    print("\n".join(problems) if problems else "documents: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
