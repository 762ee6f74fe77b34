#!/usr/bin/env python3
"""Checks the tables of docs/passes_by_purpose.md: each pass is in exactly one, in the order of the names.

  pass_groups.py IR_OPT FILE
"""
import json
import re
import subprocess
import sys

ROW = re.compile(r"^\| ([\w.]+) \| [^|]+ \|$", re.MULTILINE)


def problems_of(text, passes):
    """The problems of the document, given the names of the passes."""
    listed = []
    for group in text.split("\n## ")[1:]:
        names = [name for name in ROW.findall(group) if name != "pass"]
        if names != sorted(names):
            yield f"'{group.splitlines()[0]}' is not in the order of the names"
        listed += names
    for name in sorted(set(passes) - set(listed)):
        yield f"pass '{name}' is in no table"
    for name in sorted(set(listed)):
        if name not in passes:
            yield f"there is no pass '{name}'"
        elif listed.count(name) > 1:
            yield f"pass '{name}' is in more than one table"


def main():
    ir_opt, path = sys.argv[1:]
    done = subprocess.run([ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, timeout=60, check=True)
    with open(path, encoding="utf-8") as f:
        problems = list(problems_of(f.read(), [row["name"] for row in json.loads(done.stdout)["passes"]]))
    for problem in problems:
        print(f"{path}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
