"""Documents with the tables that are made of rows.

A line `<!-- table: NAME -->` of docs/*.md stands for such a table. Those of the repository have this line alone, so that a row
is written once; the ones that are installed, and that the site has, have the table.
"""
import glob
import os
import re
import subprocess

import grammar
import onnx_operators
import primitives
import relay_operators
from files import write

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MARK = re.compile(r"^<!-- table: (\w+) -->$", re.MULTILINE)


def primitives_table():
    return primitives.table(grammar.read(os.path.join(ROOT, "include", "iropt", "schedule", "primitives.def")))


def table(name, operators):
    """The text of a table; `operators` is the program that prints that of operators, which knows what has kernels."""
    made = {"primitives": primitives_table, "relay": relay_operators.table, "onnx": onnx_operators.table}
    if name == "operators":
        return subprocess.run([operators], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
    if name not in made:
        raise SystemExit(f"there is no table '{name}': expected operators or one of {', '.join(made)}")
    return made[name]()


def make(folder, operators):
    """Writes all documents to the folder."""

    def filled():
        for path in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
            with open(path, encoding="utf-8") as f:
                yield os.path.basename(path), MARK.sub(lambda mark: table(mark[1], operators), f.read())

    write(folder, list(filled()))
