#!/usr/bin/env python3
"""Draws what the benchmarks measured next to other tools, from the tables of docs/performance.md and docs/onnx.md, as
docs/pictures/comparison.svg.

  comparison_picture.py [--check]

bench/compare.py, bench/onnx_peers.py and bench/run_models.py print these tables. With --check nothing is written; the exit
code is 1 if the file is not up to date.
"""
import os
import re
import sys
from html import escape
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENTS = [os.path.join(ROOT, "docs", name) for name in ("performance.md", "onnx.md")]
PICTURE = os.path.join(ROOT, "docs/pictures/comparison.svg")
WIDTH, MARGIN, LABEL_WIDTH, BAR_WIDTH = 760, 16, 170, 460
BAR, BAR_GAP, GROUP_GAP = 12, 2, 8
STYLE = ("text{font:12px sans-serif;fill:#1f2328}.title{font-weight:bold;font-size:14px}.label{text-anchor:end}"
         ".value{font-size:11px}svg{background:#fff}")
COLORS = {"ir-opt": "#1f6feb", "mlir-opt": "#8c959f", "onnxruntime": "#8c959f", "onnxsim": "#b38f4f", "unoptimized": "#d0d7de"}
# Of the models of bench/onnx_peers.py, those that some tool changes.
COUNTED = ("ResNet-50, 100 MB", "convolutions by channel", "transposed convolutions", "transformer, sizes unknown", "nodes that do nothing",
           "quantized")


class Panel(NamedTuple):
    """Bars of one table: a group for each label, of values by tool."""
    title: str
    unit: str
    groups: dict


def tables(path):
    """The tables of the document, as lists of rows of cells."""
    found, rows = [], []
    for line in open(path, encoding="utf-8"):
        if line.startswith("|"):
            rows.append([cell.strip().strip("`") for cell in line.strip().strip("|").split("|")])
        elif rows:
            found.append(rows[:1] + rows[2:])
            rows = []
    return found


def table_with(all_tables, *columns):
    """The rows of the one table that has these columns among its own, by column."""
    matching = [rows for rows in all_tables if set(columns) <= set(rows[0])]
    if len(matching) != 1:
        sys.exit(f"the documents have {len(matching)} tables with the columns {', '.join(columns)}")
    rows = matching[0]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def number(cell):
    return float(re.match(r"[0-9.]+", cell).group())


def panels():
    found = [table for document in DOCUMENTS for table in tables(document)]
    threads = {row[""]: row for row in table_with(found, "", "cpu per operation")}
    ours, other = threads["ir-opt`, one thread"], threads["mlir-opt`, one thread"]
    simplify = {"processor time": {"ir-opt": number(ours["cpu per operation"]), "mlir-opt": number(other["cpu per operation"])}}
    counts = {row["model"]: {"unoptimized": number(row["nodes"]), **{tool: number(row[tool]) for tool in ("onnxruntime", "onnxsim", "ir-opt")}}
              for row in table_with(found, "model", "onnxsim") if row["model"] in COUNTED}
    times = {row["model"]: {"onnxruntime": number(row["onnxruntime"]), "ir-opt": number(row["compiled loops"])}
             for row in table_with(found, "model", "kernels", "onnxruntime")}
    return [Panel("Read, fold constants, eliminate common subexpressions and dead code, print", "microseconds per operation", simplify),
            Panel("Nodes that remain in ONNX files", "onnxsim, onnxruntime at its level basic, ir-opt -O3", counts),
            Panel("Time of one call of compiled models, one thread", "milliseconds; onnxruntime at its level all, ir-run -O3 -loops=compile", times)]


def draw_panel(panel, y, parts):
    """Adds the panel at this height and returns where the next one begins."""
    parts.append(f'<text class="title" x="{MARGIN}" y="{y}">{escape(panel.title)}</text>')
    parts.append(f'<text x="{MARGIN}" y="{y + 16}">{escape(panel.unit)}</text>')
    y += 26
    most = max(value for values in panel.groups.values() for value in values.values())
    for label, values in panel.groups.items():
        middle = y + (len(values) * (BAR + BAR_GAP)) // 2
        parts.append(f'<text class="label" x="{MARGIN + LABEL_WIDTH - 8}" y="{middle + 3}">{escape(label)}</text>')
        for tool, value in values.items():
            width = max(1, round(value / most * BAR_WIDTH))
            x = MARGIN + LABEL_WIDTH
            parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{BAR}" fill="{COLORS[tool]}"/>')
            parts.append(f'<text class="value" x="{x + width + 5}" y="{y + BAR - 2}">{value:g} {escape(tool)}</text>')
            y += BAR + BAR_GAP
        y += GROUP_GAP
    return y + 24


def draw():
    parts = []
    y = 26
    for panel in panels():
        y = draw_panel(panel, y, parts)
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y - 20}" width="{WIDTH}" height="{y - 20}">',
            "<title>ir-opt compared with mlir-opt, onnxsim and onnxruntime; shorter bars are better</title>", f"<style>{STYLE}</style>"]
    return "\n".join(head + parts + ["</svg>"]) + "\n"


def main():
    text = draw()
    old = open(PICTURE, encoding="utf-8").read() if os.path.exists(PICTURE) else ""
    if "--check" not in sys.argv[1:]:
        with open(PICTURE, "w", encoding="utf-8") as file:
            file.write(text)
    elif text != old:
        print("docs/pictures/comparison.svg is not up to date: run scripts/comparison_picture.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
