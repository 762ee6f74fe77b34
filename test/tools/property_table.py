#!/usr/bin/env python3
"""Checks the table of docs/loop_passes.md: for each pass, the properties that it requires and establishes.

  property_table.py IR_OPT FILE

The rows must be the passes of tir.lower that have to do with properties, in the order of the pipeline.
"""
import json
import re
import subprocess
import sys

ROW = re.compile(r"^\| `(tir\.\w+)` \|([^|]*)\|([^|]*)\|$", re.MULTILINE)
NAME = re.compile(r"`(\w+)`")
PASS = re.compile(r"tir\.[A-Z]\w*")


def run(ir_opt, *flags):
    return subprocess.run([ir_opt, *flags], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout


def expected_rows(ir_opt):
    properties = json.loads(run(ir_opt, "-list-properties=json"))["properties"]

    def names(key, of_pass):
        return sorted(p["name"] for p in properties if of_pass in (by.split()[0] for by in p[key]))

    rows = []
    for name in PASS.findall(run(ir_opt, "-passes=tir.lower", "-print-pipeline", "/dev/null")):
        row = (name, names("required_by", name), names("established_by", name))
        if (row[1] or row[2]) and row not in rows:
            rows.append(row)
    return rows


def main():
    with open(sys.argv[2], encoding="utf-8") as f:
        written = [(name, sorted(NAME.findall(required)), sorted(NAME.findall(established)))
                   for name, required, established in ROW.findall(f.read())]
    expected = expected_rows(sys.argv[1])
    if written == expected:
        return 0
    for row in expected:
        if row not in written:
            print(f"{sys.argv[2]}: the row of {row[0]} must require {row[1]} and establish {row[2]}")
    print(f"{sys.argv[2]}: the table must have the rows {', '.join(row[0] for row in expected)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
