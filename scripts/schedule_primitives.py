#!/usr/bin/env python3
"""Writes the table of the primitives of schedules in docs/schedules.md, from include/iropt/schedule/primitives.def.

  schedule_primitives.py            write the table
  schedule_primitives.py --check    exit with 1 if the document has another table
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TABLE = os.path.join(ROOT, "include", "iropt", "schedule", "primitives.def")
DOCUMENT = os.path.join(ROOT, "docs", "schedules.md")
BEGIN, END = "<!-- begin of the table -->", "<!-- end of the table -->"
STRING = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(rf"^IROPT_PRIMITIVE\((\w+),\s*{STRING},\s*(\w+),\s*(\w+),\s*{STRING}(.*?)\)\n(?=\S|\n|\Z)", re.MULTILINE | re.DOTALL)
PARAM = re.compile(rf"IROPT_PARAM\((\w+),\s*(\w+),\s*(\w+),\s*{STRING}\)")
RESULTS = {"None": "", "Block": "a block", "Loop": "a loop", "Blocks": "blocks", "Loops": "loops", "Ints": "numbers", "Int": "a number"}


def rows():
    with open(TABLE, encoding="utf-8") as f:
        text = f.read()
    for name, python, results, _, summary, params in ROW.findall(text):
        arguments = []
        for param, kind, _, default in PARAM.findall(params):
            star = "*" if kind == "Loops" else ""
            arguments.append(f"{star}{param}" + (f"={default}" if default and not star else ""))
        yield f"{python}({', '.join(arguments)})".replace('\\"', '"'), name, RESULTS[results], summary


def table():
    lines = ["| method | in JSON | gives | |", "| --- | --- | --- | --- |"]
    for method, name, results, summary in rows():
        lines.append(f"| `{method}` | {name} | {results} | {summary} |")
    return "\n".join(lines)


def main():
    with open(DOCUMENT, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    new = f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"
    if "--check" in sys.argv[1:]:
        if new != text:
            print("docs/schedules.md: the table of primitives is not that of primitives.def; run scripts/schedule_primitives.py")
        return 0 if new == text else 1
    with open(DOCUMENT, "w", encoding="utf-8") as f:
        f.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
