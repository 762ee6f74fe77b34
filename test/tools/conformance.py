#!/usr/bin/env python3
"""Runs the conformance checker with the arguments after `--`, or says that it is skipped (exit code 77) where the
folder with the cases is not there: it is bigger than a repository should be and lives beside it.

The checker reads all files of cases, which takes longer than many a check; it is shown those of the kinds asked for. Each
file holds cases of one kind.
"""
import argparse
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def kind_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return json.loads(f.readline())["kind"]


def link_cases(cases, kinds, folder):
    """Links to the files of `cases` that hold cases of the kinds."""
    for path in glob.glob(os.path.join(cases, "*.jsonl*")):
        if kind_of(path) in kinds:
            os.symlink(path, os.path.join(folder, os.path.basename(path)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, help="where check.py and its cases are")
    parser.add_argument("--kind", action="append", required=True, help="of the cases")
    parser.add_argument("arguments", nargs="*", help="passed to check.py")
    options = parser.parse_args()
    checker = os.path.abspath(os.path.join(options.folder, "check.py"))
    if not os.path.exists(checker):
        print(f"SKIPPED: no conformance cases in {options.folder}; set IROPT_CONFORMANCE_DIR to run them")
        return SKIPPED
    kinds = [f"--kind={kind}" for kind in options.kind]
    with tempfile.TemporaryDirectory() as folder:
        link_cases(os.path.join(os.path.dirname(checker), "cases"), options.kind, folder)
        return subprocess.run([sys.executable, checker, "--cases", folder, *kinds, *options.arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
