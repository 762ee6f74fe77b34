#!/usr/bin/env python3
"""Checks that the extension of VS Code and the recipes of packages have the version of ir-opt: versions_test.py ROOT"""
import os
import re
import sys

FILES = {
    "editors/vscode/package.json": r'"version": "(.*?)"',
    "editors/vscode/package-lock.json": r'"version": "(.*?)"',
    "editors/vscode/README.md": r"tvmscript-(\d.*?)\.vsix",
    "docs/editors.md": r"tvmscript-(\d.*?)\.vsix",
    "packaging/homebrew/ir-opt.rb": r'version "(.*?)"',
    "packaging/conda/meta.yaml": r'version = "(.*?)"',
}


def first(root, path, pattern):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        found = re.search(pattern, file.read())
    return found and found.group(1)


def main():
    root = sys.argv[1]
    expected = first(root, "include/iropt/support/version.h", r'IROPT_VERSION "(.*?)"')
    wrong = {path: found for path, pattern in FILES.items() if (found := first(root, path, pattern)) != expected}
    for path, found in wrong.items():
        print(f"{path} has the version {found}, ir-opt {expected}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
