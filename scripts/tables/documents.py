"""The tables of documents that are made of rows."""
import os

import grammar
import primitives

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BEGIN, END = "<!-- begin of the table -->", "<!-- end of the table -->"


def primitives_table():
    return primitives.table(grammar.read(os.path.join(ROOT, "include", "iropt", "schedule", "primitives.def")))


DOCUMENTS = {"schedules": primitives_table}


def main(name, check):
    path = os.path.join(ROOT, "docs", f"{name}.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    new = f"{before}{BEGIN}\n\n{DOCUMENTS[name]()}\n\n{END}{rest.split(END)[1]}"
    if check:
        if new != text:
            print(f"docs/{name}.md: the table is not that of its rows; run scripts/tables document {name}")
        return 0 if new == text else 1
    with open(path, "w", encoding="utf-8") as f:
        f.write(new)
    return 0
