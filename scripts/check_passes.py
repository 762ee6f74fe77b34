#!/usr/bin/env python3
"""Checks that every pass is complete.

  check_passes.py [ROOT]

For each row of passes.def there is a source of the pass's name below lib/transform, an example docs/passes/NAME.ir, and a
folder or file of the pass's name below test/transform, in which a test runs the pass with %check-pass. No test folder and no
example is left over from a pass that has gone. Prints one line per violation and exits with 1 if there is any.
"""
import os
import re
import sys

ROW = re.compile(r'^IROPT_PASS\(\s*\w+,\s*(\w+),\s*"([^"]+)"', re.MULTILINE)
# Passes that no test runs with %check-pass, with the reason.
UNCHECKED = {"PrintIR": "it shows the module on the standard error output"}
# Folders between a root and the folders of passes.
LEVELS = ("relax", "tir")


def plain(name):
    """The common form of a name in CamelCase and in snake_case."""
    return name.replace("_", "").lower()


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def files_below(folder):
    for base, dirs, names in os.walk(folder):
        dirs.sort()
        for name in sorted(names):
            yield os.path.join(base, name)


def tests_by_pass(folder):
    """The paths of lit tests by the plain name of the folder or file that stands for a pass."""
    tests = {}
    for path in files_below(folder):
        parts = [part for part in os.path.relpath(path, folder).split(os.sep) if part not in LEVELS]
        tests.setdefault(plain(os.path.splitext(parts[0])[0]), []).append(path)
    return tests


def runs_checked(name, path):
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    return any("%check-pass" in line and word.search(line) for line in read(path).splitlines())


def check(root):
    rows = ROW.findall(read(os.path.join(root, "passes.def")))
    sources = {plain(os.path.splitext(os.path.basename(path))[0])
               for path in files_below(os.path.join(root, "lib", "transform")) if path.endswith(".cpp")}
    tests = tests_by_pass(os.path.join(root, "test", "transform"))
    examples = {os.path.splitext(os.path.basename(path))[0] for path in files_below(os.path.join(root, "docs", "passes"))}
    problems = [] if rows else ["passes.def: there is no row"]
    for identifier, name in rows:
        if plain(identifier) not in sources:
            problems.append(f"{name}: no source below lib/transform has its name")
        if name not in examples:
            problems.append(f"{name}: there is no example docs/passes/{name}.ir")
        own = tests.get(plain(identifier), [])
        if not own:
            problems.append(f"{name}: no folder below test/transform has its name")
        elif name not in UNCHECKED and not any(runs_checked(name, path) for path in own):
            problems.append(f"{name}: no test runs it with %check-pass")
    known = {plain(identifier) for identifier, _ in rows}
    problems += [f"{os.path.relpath(paths[0], root)}: a test of no pass" for key, paths in sorted(tests.items()) if key not in known]
    problems += [f"docs/passes/{name}.ir: an example of no pass" for name in sorted(examples - {name for _, name in rows})]
    return problems


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems = check(root)
    print("\n".join(problems) if problems else "passes: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
