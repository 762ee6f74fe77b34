#!/usr/bin/env python3
"""Checks models, and tells what a change does to them, as a table in Markdown.

    model_changes.py [--base=REVISION] [--optimize=FLAGS [--write]]
                     [--output=FILE] [--ir-opt=PATH] MODEL...

Each model is verified; one that is not well-formed is shown with its errors,
and the exit code is 1. With --base, a Git revision, operators (nodes of ONNX
files), multiply-adds, weights and size are compared with those of the model
there. With --optimize, such as -O3, the table tells what these flags of ir-opt
make of the model; -check-semantics compares the results. With --write, models
that have fewer operators or bytes then are replaced. The table goes to the
standard output, or to the file of --output. Needs Python 3.9 and ir-opt, and
Git for --base.
"""
import argparse
import dataclasses
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

SHOWN_ERRORS = 2000


@dataclasses.dataclass
class Figures:
    operators: int
    multiply_adds: int
    weight_bytes: int
    file_bytes: int


class RefusedError(Exception):
    """What ir-opt says of a model."""


class Tool:
    def __init__(self, program):
        self.program = program

    def run(self, *words):
        done = subprocess.run([self.program, "-quiet", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", check=False)
        if done.returncode != 0:
            raise RefusedError(done.stderr.strip() or f"exit code {done.returncode}")
        return done.stderr

    def figures(self, path):
        """Verifies the model, too."""
        lines = self.run("-metrics=json", "-report=json", path, "-o", os.devnull).splitlines()
        metrics = next(json.loads(line)["metrics"] for line in lines if line.startswith('{"metrics"'))
        report = next(json.loads(line)["report"] for line in lines if line.startswith('{"report"'))
        total = metrics["total"]
        operators = report["modules"][0].get("nodes_read", sum(row["count"] for row in metrics["operators"]))
        return Figures(operators, total["multiply_adds"], total["constant_bytes"] + total["param_bytes"],
                       os.path.getsize(path))

    def optimized(self, path, flags, folder):
        result = os.path.join(folder, "optimized-" + os.path.basename(path))
        self.run(*flags, "-check-semantics", path, "-o", result)
        return result, self.figures(result)


def at_revision(revision, path, folder):
    """The model at the revision, as a file; None if it is not there."""
    folder_of, name = os.path.split(os.path.abspath(path))
    shown = subprocess.run(["git", "-C", folder_of, "show", f"{revision}:./{name}"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False)
    if shown.returncode != 0:
        return None
    old = os.path.join(folder, "base-" + name)
    with open(old, "wb") as file:
        file.write(shown.stdout)
    return old


def amount(number, unit=1000, last=""):
    for prefix in ("", "k", "M", "G", "T"):
        if abs(number) < 10 * unit or prefix == "T":
            return f"{number:.4g} {prefix}{last}".strip() if prefix else f"{number} {last}".strip()
        number /= unit
    raise AssertionError


def change(before, after, show=amount):
    if before is None or before == after:
        return show(after)
    return f"{show(before)} → **{show(after)}**"


def row(name, before, after):
    def cells(member, show=amount):
        return change(getattr(before, member) if before else None, getattr(after, member), show)

    size = lambda n: amount(n, last="B")  # noqa: E731
    return f"| {name} | {cells('operators')} | {cells('multiply_adds')} | {cells('weight_bytes', size)} | {cells('file_bytes', size)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", help="a Git revision to compare with")
    parser.add_argument("--optimize", default="", help="flags of ir-opt, such as -O3")
    parser.add_argument("--write", action="store_true", help="replace models by the optimized ones")
    parser.add_argument("--output", help="the file for the table")
    parser.add_argument("--ir-opt", default="ir-opt", help="the program")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    tool = Tool(options.ir_opt)
    rows, refused = [], []
    with tempfile.TemporaryDirectory() as folder:
        for path in options.models:
            try:
                now = tool.figures(path)
                old = at_revision(options.base, path, folder) if options.base else None
                rows.append(row(path, tool.figures(old) if old else None, now))
                if options.optimize:
                    result, made = tool.optimized(path, shlex.split(options.optimize), folder)
                    if options.write and (made.operators, made.file_bytes) < (now.operators, now.file_bytes):
                        shutil.copyfile(result, path)
                    rows.append(row(f"{path} with `{options.optimize}`", now, made))
            except RefusedError as error:
                refused.append((path, str(error)))
    lines = []
    if rows:
        lines += ["| model | operators | multiply-adds | weights | file |", "| --- | --- | --- | --- | --- |", *rows]
    for path, error in refused:
        lines += ["", f"**{path}** is refused:", "", "```", error[:SHOWN_ERRORS], "```"]
    text = "\n".join(lines).strip() + "\n"
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
