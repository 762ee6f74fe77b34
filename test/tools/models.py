#!/usr/bin/env python3
"""What holds for every real model: it goes through a pipeline with the verifier after every pass, by one thread and by
two with the same result, the result reads back and prints as the same text, and a model without the annotations of its
bindings reads as the same module. Exit code 77 where there are no models.

    models.py --ir-opt=BINARY FOLDER_OR_FILE...
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
PIPELINE = ["-O3", "-passes=FoldConstant,EliminateCommonSubexpr,CanonicalizeBindings,DeadCodeElimination"]
BINDING = re.compile(r"^\s+\w+: ")


def without_annotation(line):
    """`x: TYPE = VALUE` as `x = VALUE`; other lines as they are."""
    if not BINDING.match(line):
        return line
    colon = line.index(":")
    depth = 0
    for i in range(colon, len(line)):
        depth += (line[i] in "([{") - (line[i] in ")]}")
        if depth == 0 and line.startswith(" = ", i):
            return line[:colon] + line[i:]
    return line


def strip_annotations(text):
    """The text without the annotations of bindings in Relax functions, and how many these were."""
    lines = text.split("\n")
    graph_level = False
    stripped = 0
    for i, line in enumerate(lines):
        if line.lstrip().startswith("@"):
            graph_level = line.lstrip().startswith("@R.function")
        elif graph_level:
            lines[i] = without_annotation(line)
            stripped += lines[i] != line
    return "\n".join(lines), stripped


class Failed(Exception):
    pass


def run(ir_opt, *arguments):
    done = subprocess.run([ir_opt, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"exit code {done.returncode} from {' '.join(arguments)}:\n{done.stderr[:2000]}")
    return done.stdout


def expect_same(what, a, b):
    if a == b:
        return
    at = next((i for i, (x, y) in enumerate(zip(a.split("\n"), b.split("\n")), 1) if x != y), "the last")
    raise Failed(f"{what}, from line {at} on")


def check_model(ir_opt, path, folder):
    optimized = run(ir_opt, *PIPELINE, "-verify-each", "-verify-roundtrip", "-threads=1", path)
    expect_same("two threads give another result", optimized, run(ir_opt, *PIPELINE, "-threads=2", path))
    printed = run(ir_opt, path)
    bare, stripped = strip_annotations(printed)
    bare_path = os.path.join(folder, "bare.ir")
    with open(bare_path, "w", encoding="utf-8") as f:
        f.write(bare)
    expect_same("other types are inferred than were annotated", printed, run(ir_opt, bare_path))
    return stripped


def find(entries):
    """The modules among files and folders that exist."""
    paths = []
    for entry in entries:
        paths += sorted(glob.glob(os.path.join(entry, "*.ir"))) if os.path.isdir(entry) else [entry]
    return [path for path in paths if os.path.exists(path)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("models", nargs="+", help="modules, or folders with modules")
    options = parser.parse_args()
    paths = find(options.models)
    if not paths:
        print(f"SKIPPED: no models in {', '.join(options.models)}")
        return SKIPPED
    failures = 0
    stripped = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            try:
                stripped += check_model(options.ir_opt, path, folder)
                print(f"ok      {os.path.basename(path)}")
            except Failed as failure:
                failures += 1
                print(f"FAILED  {os.path.basename(path)}: {failure}")
    if stripped == 0:
        print("FAILED  no model had annotations to take away")
    return 1 if failures or stripped == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
