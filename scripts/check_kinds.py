#!/usr/bin/env python3
"""Checks that every kind of diagnostics is in use.

  check_kinds.py [ROOT]

Every row of kinds.def is reported somewhere under lib/ or tools/ and named by a test. That every kind that is reported has
a row is what the compiler checks. Prints one line per violation and exits with 1 if there is any.
"""
import os
import re
import sys

TABLE = os.path.join("include", "iropt", "diag", "kinds.def")
ROW = re.compile(r'^IROPT_DIAGNOSTIC_KIND\(\s*"([^"]+)"', re.MULTILINE)
LITERAL = re.compile(r'"([a-z0-9]+(?:-[a-z0-9]+)*)"')


def texts(root, folders, endings):
    for folder in folders:
        for base, dirs, names in os.walk(os.path.join(root, folder)):
            dirs.sort()
            for name in sorted(names):
                path = os.path.join(base, name)
                if name.endswith(endings):
                    with open(path, encoding="utf-8", errors="replace") as f:
                        yield os.path.relpath(path, root), f.read()


def check(root):
    with open(os.path.join(root, TABLE), encoding="utf-8") as f:
        rows = ROW.findall(f.read())
    problems = []
    used = set()
    for path, text in texts(root, ["lib", "tools", "include"], (".cpp", ".h", ".def")):
        if path == TABLE:
            continue
        used.update(LITERAL.findall(text))
    tests = "\n".join(text for _, text in texts(root, ["test"], (".cpp", ".ir", ".relay", ".test", ".py")))
    for kind in rows:
        if kind not in used:
            problems.append(f"{TABLE}: '{kind}' is reported nowhere")
        if not re.search(rf"(?<![\w-]){re.escape(kind)}(?![\w-])", tests):
            problems.append(f"{TABLE}: '{kind}' is named by no test")
    return problems


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems = check(root)
    print("\n".join(problems) if problems else "kinds: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
