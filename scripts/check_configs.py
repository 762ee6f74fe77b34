#!/usr/bin/env python3
"""Checks that every configuration option of configs.def is read.

  check_configs.py [ROOT]

A source below lib/ that reads an option includes its header, configs/KEY.h; a rule of pipelines.def has its key. That
these exist is what the compiler checks. Prints one line per violation and exits with 1 if there is any.
"""
import os
import re
import sys

TABLE = "configs.def"
PIPELINES = "pipelines.def"
ROW = re.compile(r'^IROPT_CONFIG\w*\(\s*"([^"]+)"', re.MULTILINE)
INCLUDE = re.compile(r'^#include "configs/([^"]+)\.h"', re.MULTILINE)
RULE = re.compile(r'\bIROPT_(?:RUN_IF|SKIP_IF|SET_IF|PHASE)\(\s*"([^"]+)"')


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def check(root):
    used = set(RULE.findall(read(os.path.join(root, PIPELINES))))
    for base, _, names in os.walk(os.path.join(root, "lib")):
        for name in names:
            if name.endswith((".cpp", ".h")):
                used.update(INCLUDE.findall(read(os.path.join(base, name))))
    return [f"{TABLE}: nothing reads the configuration option '{key}'"
            for key in ROW.findall(read(os.path.join(root, TABLE))) if key not in used]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems = check(root)
    print("\n".join(problems) if problems else "configs: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
