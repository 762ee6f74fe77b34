#!/usr/bin/env python3
"""Prints docs/passes.md: what the table of passes and the examples in docs/passes say of every pass.

  passes_document.py IR_OPT          print it
  passes_document.py IR_OPT FILE     check that the file is what would be printed
"""
import json
import subprocess
import sys

INTRODUCTION = """# Passes

The passes, as the table in [passes.def](../passes.def) states them. This file is written by `passes_document.py`, and a test
compares them:

    scripts/build.sh
    test/tools/passes_document.py build/bin/ir-opt > docs/passes.md

*Level* is the lowest `-O` at which a pipeline runs the pass. `ir-opt -help-pass=NAME` shows what stands below of a pass; the
module behind each example was made by running it. Where a pass comes from, what it costs and what it does in detail is said at the
head of its source in [lib/transform/relax](../lib/transform/relax).
"""


def run(ir_opt, *flags):
    return subprocess.run([ir_opt, *flags], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout


def document(ir_opt):
    passes = json.loads(run(ir_opt, "-list-passes=json"))["passes"]
    lines = [INTRODUCTION, "| pass | sees | level | what it does |", "| --- | --- | --- | --- |"]
    for row in passes:
        lines.append(f"| [{row['name']}](#{row['name'].lower()}) | {row['kind']} | {row['opt_level']} | {row['summary']} |")
    for row in passes:
        lines += ["", f"## {row['name']}", "", "```text", run(ir_opt, f"-help-pass={row['name']}").rstrip("\n"), "```"]
    return "\n".join(lines) + "\n"


def main():
    text = document(sys.argv[1])
    if len(sys.argv) == 2:
        sys.stdout.write(text)
        return 0
    with open(sys.argv[2], encoding="utf-8") as f:
        written = f.read()
    if text == written:
        return 0
    difference = next((i for i, (a, b) in enumerate(zip(text.split("\n"), written.split("\n")), 1) if a != b), "the end")
    print(f"{sys.argv[2]} is not what the table of passes says, from line {difference} on; its head says how to write it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
