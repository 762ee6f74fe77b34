#!/usr/bin/env python3
"""Copies the documents into the folder that is installed as share/doc/ir-opt, with links that lead to what is installed.

  installed_documents.py --output=FOLDER --made=BUILD/documents [--folder=INSTALLED=LINK ...]
  installed_documents.py --check=FOLDER

`--made` has the documents whose tables are made. `--folder=include/iropt=../../../include/iropt` says where a folder of the
repository is installed, seen from share/doc/ir-opt. Links to what is not installed become their text. With `--check`, exits
with 1 if a relative link of an installed document leads nowhere.
"""
import argparse
import glob
import os
import re
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)")
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
TOP = ("README.md", "CHANGELOG.md", "LICENSE")


def links_of(text):
    return [match[3] for part in FENCED.split(text)[::2] for match in LINK.finditer(part)]


def installed_place(path, folders):
    """Where a file of the repository is installed, from share/doc/ir-opt; None if it is not installed."""
    if path in TOP or path == "examples" or re.fullmatch(r"docs/(\w+\.md|pictures/[\w.]+)|examples/.*", path):
        return path
    for folder, place in folders.items():
        if path == folder or path.startswith(folder + "/"):
            return place + path[len(folder):]
    return None


def with_installed_links(text, path, folders):
    base = "/prefix/share/doc/ir-opt"
    here = os.path.dirname(path)

    def replaced(match):
        mark, words, link, anchor = match.groups()
        place = installed_place(os.path.normpath(os.path.join(here, link)), folders)
        if place is None:
            return words
        return f"{mark}[{words}]({os.path.relpath(os.path.join(base, place), os.path.join(base, here))}{anchor or ''})"

    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(replaced, part) for part in parts[::2]]
    return "".join(parts)


def copy_documents(options):
    shutil.rmtree(options.output, ignore_errors=True)
    folders = dict(folder.split("=", 1) for folder in options.folder)
    sources = {name: os.path.join(ROOT, name) for name in TOP}
    sources |= {f"docs/{os.path.basename(path)}": path for path in glob.glob(os.path.join(ROOT, "docs/*.md"))}
    sources |= {f"docs/{os.path.basename(path)}": path for path in glob.glob(os.path.join(options.made, "*.md"))}
    for name, source in sources.items():
        with open(source, encoding="utf-8") as file:
            text = with_installed_links(file.read(), name, folders)
        target = os.path.join(options.output, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)


def broken_links(folder):
    broken = []
    for path in sorted(glob.glob(os.path.join(folder, "**/*.md"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            links = links_of(file.read())
        broken += [f"{os.path.relpath(path, folder)}: {link}" for link in links
                   if not os.path.exists(os.path.join(os.path.dirname(path), link))]
    return broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output")
    parser.add_argument("--made")
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--check")
    options = parser.parse_args()
    if options.check:
        broken = broken_links(options.check)
        print("\n".join(broken), end="\n" if broken else "")
        return 1 if broken else 0
    copy_documents(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
