#!/usr/bin/env python3
"""Checks that StaticPlanBlockMemory needs at most as much memory as TVM 0.18 did on the recorded cases, and that its
remark says how much that is.

The memory of a module is that of its storages (R.memory.alloc_storage) of constant size; those of symbolic size are
counted. Prints one line per violation and a total, and exits with 1 if there is any; with 77 if there are no cases.
"""
import argparse
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
PASS = "StaticPlanBlockMemory"
STORAGE = re.compile(r"R\.memory\.alloc_storage\(R\.shape\(\[([^\]]*)\]\)")
REMARK = re.compile(r"bytes of tensors share (\d+) bytes of storage")


class Memory:
    """Of a module in text form."""

    def __init__(self, text):
        sizes = [size.strip() for size in STORAGE.findall(text)]
        self.bytes = sum(int(size) for size in sizes if size.isdigit())
        self.symbolic = sum(not size.isdigit() for size in sizes)

    def __str__(self):
        return f"{self.bytes} bytes and {self.symbolic} storages of symbolic size"


def recorded_cases(folder):
    for path in sorted(glob.glob(os.path.join(folder, "cases", "*_pass.jsonl.gz"))):
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for line in f:
                case = json.loads(line)
                if case["pass"] == PASS and "after" in case:
                    yield case


def plan(ir_opt, text):
    """The module with its plan, and the bytes that the remarks say."""
    with tempfile.TemporaryDirectory() as folder:
        source, remarks = (os.path.join(folder, name) for name in ("in.ir", "remarks.yaml"))
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        command = [ir_opt, f"-passes={PASS}", f"-remarks={remarks}", source]
        result = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        with open(remarks, encoding="utf-8") as f:
            return result, sum(map(int, REMARK.findall(re.sub(r"\s+", " ", f.read()))))


def check(ir_opt, case):
    """What is wrong, or nothing."""
    before, theirs = Memory(case["before"]), Memory(case["after"])
    text, remarked = plan(ir_opt, case["before"])
    ours = Memory(text)
    if ours.bytes > theirs.bytes or ours.symbolic > theirs.symbolic:
        return f"{ours}, and TVM {theirs}"
    # Tensors of dynamic shape that are not planned may get storage, too.
    if "relax.memory_plan_dynamic_func_output" not in case["before"] and remarked != ours.bytes - before.bytes:
        return f"the remarks say {remarked} bytes of {ours.bytes - before.bytes}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--folder", required=True, help="where check.py and its cases are")
    options = parser.parse_args()
    cases = list(recorded_cases(options.folder))
    if not cases:
        print(f"SKIPPED: no conformance cases in {options.folder}; set IROPT_CONFORMANCE_DIR to run them")
        return SKIPPED
    problems = [(case["id"], check(options.ir_opt, case)) for case in cases]
    problems = [(name, problem) for name, problem in problems if problem]
    for name, problem in problems:
        print(f"FAILED  {name}: {problem}")
    print(f"{len(cases)} plans: {len(problems)} failures")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
