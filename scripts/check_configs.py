#!/usr/bin/env python3
"""Checks that the configuration options and the code that reads them agree.

  check_configs.py [ROOT]

Every key that is declared, in configs.def or as an OptionSpec that the registry has from the start, is read under lib/ by
Config, ConfigBool, ConfigInt or ConfigString, or by a rule of pipelines.def; a field of a record counts for its record.
Every key that is read with a literal is declared. Prints one line per violation and exits with 1 if there is any.
"""
import os
import re
import sys

TABLE = "configs.def"
PIPELINES = "pipelines.def"
REGISTRY = os.path.join("lib", "pass", "registry.cpp")
ROW = re.compile(r'^IROPT_CONFIG\w*\(\s*"([^"]+)"', re.MULTILINE)
SPEC = re.compile(r'OptionSpec \w+\{\s*"([^"]+)"')
READ = re.compile(r'\bConfig(?:Bool|Int|String)?\(\s*"([^"]+)"|\bIROPT_(?:RUN_IF|SKIP_IF|SET_IF|PHASE)\(\s*"([^"]+)"')


def sources(root):
    for base, dirs, names in os.walk(os.path.join(root, "lib")):
        dirs.sort()
        for name in sorted(names):
            if name.endswith((".cpp", ".h")):
                path = os.path.join(base, name)
                with open(path, encoding="utf-8") as f:
                    yield os.path.relpath(path, root), f.read()


def covers(key, read):
    return read == key or read.startswith(key + ".")


def check(root):
    texts = dict(sources(root))
    if os.path.exists(os.path.join(root, PIPELINES)):
        with open(os.path.join(root, PIPELINES), encoding="utf-8") as f:
            texts[PIPELINES] = f.read()
    with open(os.path.join(root, TABLE), encoding="utf-8") as f:
        declared = [(key, TABLE) for key in ROW.findall(f.read())]
    declared += [(key, REGISTRY) for key in SPEC.findall(texts.get(REGISTRY, ""))]
    problems = []
    read = set()
    for path, text in texts.items():
        for match in READ.finditer(text):
            name = match[1] or match[2]
            read.add(name)
            if not any(covers(key, name) for key, _ in declared):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: configuration option '{name}' is not declared")
    for key, path in declared:
        if not any(covers(key, name) for name in read):
            problems.append(f"{path}: nothing reads the configuration option '{key}'")
    return problems


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems = check(root)
    print("\n".join(problems) if problems else "configs: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
