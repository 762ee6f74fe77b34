#!/usr/bin/env python3
"""Runs the programs of TVM's documents about passes, statement by statement, with `tvm` answered by the Python package.

  reference_programs.py --documents FOLDER [--check test/tools/reference_programs.md]

Prints a table: lines, the first of them, and what came of their statements. With --check, exits with 1 if a row of the table
is not in the document. Import the package by PYTHONPATH.
"""
import argparse
import ast
import contextlib
import io
import linecache
import os
import re
import sys
import textwrap

# Documents by their numbers: what their programs take for granted, and the lines of their Python code.
PRELUDE = """
import numpy as np
import tvm
from tvm import relay, relax, transform
from tvm.relax import Expr, If, PyExprMutator, PyExprVisitor, Tuple
"""
MODULE = """
input_mod = relay.Module({"main": relay.Function([relay.var("p", shape=(10, 20))], relay.const(1.0))})
"""
INSTRUMENT = """
@tvm.instrument.pass_instrument
class Counter:
    def __init__(self):
        self.count = 0
    def run_before_pass(self, mod, info):
        self.count += 1
    def get_result(self):
        return self.count
pass_inst, pass_seq, mod = Counter(), tvm.transform.Sequential([relay.transform.FoldConstant()]), input_mod
"""
TYPES = """
ReturnType = int
ExprMutatorBase = PyExprMutator
"""
# An error of document 000, without which its other lines run.
REPAIR = ('f"Running pass: {}"', '"Running pass: {}"')
DOCUMENTS = {
    "000": (PRELUDE + MODULE, [(506, 520), (528, 531), (536, 555), (568, 600), (610, 618), (630, 642)]),
    "001": (PRELUDE + MODULE + INSTRUMENT, [(430, 441), (447, 448), (451, 466), (494, 498)]),
    "002": (PRELUDE + MODULE + "\nmod = input_mod\n", [(1, 1)]),
    "003": (PRELUDE + TYPES, [(57, 83), (198, 206), (304, 315), (320, 345), (350, 353), (423, 539), (541, 546), (553, 558),
                              (565, 584), (586, 600)]),
}


def code_of(number, lines, first, last):
    """The code of some lines, with the number of its first line."""
    if number == "002":
        # The document is one line.
        text = re.search(r"code:: python (seq = .*?\]\)) (new_mod = seq\(mod\))", lines[0])
        return "\n".join(text.groups()), 1
    part = lines[first - 1 : last]
    while part and (re.match(r"In \[\d+\]:$|\.\. code:: python$", part[0]) or not part[0].strip()):
        part, first = part[1:], first + 1
    indent = len(part[0]) - len(part[0].lstrip())
    # Some statements are indented less than the first one.
    part = [line if line[:indent].strip() == "" else " " * indent + line.lstrip() for line in part]
    return textwrap.dedent("\n".join(part)), first


def run(statement, source, names):
    """What came of a statement."""
    text = ast.get_source_segment(source, statement)
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        lines = source.split("\n")
        text = "\n".join(lines[decorators[0].lineno - 1 : statement.end_lineno])
    # Sources of scripts are looked up by the name of the file.
    name = f"<statement {id(statement)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(text, name, "exec"), names)  # pylint: disable=exec-used
    except Exception as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "runs"


def rows_of(number, path):
    with open(path, encoding="utf8") as file:
        lines = file.read().split("\n")
    prelude, parts = DOCUMENTS[number]
    names = {"__name__": "program"}
    exec(prelude, names)  # pylint: disable=exec-used
    for first, last in parts:
        # Programs of document 000 give `transform` another meaning.
        exec(PRELUDE, names)  # pylint: disable=exec-used
        source, start = code_of(number, lines, first, last)
        try:
            ast.parse(source)
        except SyntaxError as error:
            line = source.split("\n")[error.lineno - 1].strip()
            yield f"| {number} | {start + error.lineno - 1} | `{line}` | SyntaxError: {error.msg.removeprefix('f-string: ')} |"
            source = source.replace(*REPAIR)
        rows = []
        for statement in ast.parse(source).body:
            decorators = getattr(statement, "decorator_list", [])
            begin = decorators[0].lineno if decorators else statement.lineno
            text = source.split("\n")[begin - 1].strip()
            outcome = run(statement, source, names)
            if rows and rows[-1][3] == outcome:
                rows[-1][1] = start + statement.end_lineno - 1
            else:
                rows.append([start + begin - 1, start + statement.end_lineno - 1, text, outcome])
        for begin, end, text, outcome in rows:
            place = "1" if number == "002" else str(begin) + (f"-{end}" if end > begin else "")
            yield f"| {number} | {place} | `{text}` | {outcome} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", required=True)
    parser.add_argument("--check", metavar="DOCUMENT")
    options = parser.parse_args()
    from iropt import as_tvm

    as_tvm.install()
    rows = []
    for name in sorted(os.listdir(options.documents)):
        if name[:3] in DOCUMENTS:
            rows += rows_of(name[:3], os.path.join(options.documents, name))
    if not options.check:
        print("\n".join(rows))
        return 0
    with open(options.check, encoding="utf8") as file:
        text = file.read()
    missing = [row for row in rows if row not in text]
    for row in missing:
        print(f"{options.check} does not have the row\n  {row}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
