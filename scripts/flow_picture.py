#!/usr/bin/env python3
"""Draws what goes into ir-opt and what comes out of it, as docs/pictures/flow.svg.

  flow_picture.py [--check]

With --check nothing is written; the exit code is 1 if the file is not up to date.
"""
import os
import sys
from html import escape

PICTURE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs/pictures/flow.svg")
TITLE = "What goes into ir-opt and what comes out: readers, passes over one module, writers and runs"
# Boxes by column: a name, and what it is.
COLUMNS = ([("ONNX", "a model with weights"), ("TVMScript", "of TVM 0.18 to 0.27"), ("Relay", "text and parameters"),
            ("Python", "programs that import tvm")],
           [("module", "Relax functions, PrimFuncs")],
           [("ONNX", "a smaller model"), ("TVMScript, Relay", "of TVM 0.18 to 0.27"), ("ir-run", "values, times"),
            ("LLVM", "machine code of loops")])
PASSES = ["graph passes", "legalize", "schedules, loop passes"]
CHECKS = "after each pass: verify, run and compare, prove, bisect, report"
WIDTH, ROW, BOX_WIDTH, BOX_HEIGHT = 760, 62, 172, 38
HEIGHT = 4 * ROW + 8
STYLE = ("text{font:12px sans-serif;text-anchor:middle;fill:#1f2328}.name{font-weight:bold}"
         "rect{fill:#eaf2fb;stroke:#3b6ea5}.p{fill:#fff}path{fill:none;stroke:#8c959f}svg{background:#fff}")


def box(x, y, name, words, height=BOX_HEIGHT, kind=""):
    parts = [f'<rect{kind} x="{x - BOX_WIDTH // 2}" y="{y - height // 2}" width="{BOX_WIDTH}" height="{height}" rx="4"/>']
    if words:
        parts += [f'<text class="name" x="{x}" y="{y - 3}">{escape(name)}</text>', f'<text x="{x}" y="{y + 12}">{escape(words)}</text>']
    else:
        parts.append(f'<text x="{x}" y="{y + 4}">{escape(name)}</text>')
    return parts


def arrow(x, y, to_x, to_y):
    return (f'<path d="M{x} {y}C{x + 40} {y} {to_x - 40} {to_y} {to_x} {to_y}"/>'
            f'<path d="M{to_x - 6} {to_y - 4}L{to_x} {to_y}L{to_x - 6} {to_y + 4}"/>')


def draw():
    half = BOX_WIDTH // 2
    left, middle, right = half + 8, WIDTH // 2, WIDTH - half - 8
    center = HEIGHT // 2
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
             f"<title>{TITLE}</title>", f"<style>{STYLE}</style>"]
    for i in range(4):
        y = i * ROW + ROW // 2 + 4
        parts.append(arrow(left + half, y, middle - half - 12, center))
        parts.append(arrow(middle + half + 12, center, right - half, y))
    # The module, with its passes inside.
    parts.append(f'<rect x="{middle - half - 12}" y="8" width="{BOX_WIDTH + 24}" height="{HEIGHT - 16}" rx="6"/>')
    (name, words), = COLUMNS[1]
    parts += [f'<text class="name" x="{middle}" y="28">{name}</text>', f'<text x="{middle}" y="43">{words}</text>']
    for i, name in enumerate(PASSES):
        parts += box(middle, 74 + i * 46, name, "", 30, ' class="p"')
    first, second = CHECKS.split(": ")
    parts += [f'<text class="name" x="{middle}" y="212">{first}</text>']
    words = second.split(", ")
    parts += [f'<text x="{middle}" y="227">{", ".join(words[:3])}</text>', f'<text x="{middle}" y="242">{", ".join(words[3:])}</text>']
    for column, x in ((COLUMNS[0], left), (COLUMNS[2], right)):
        for i, (name, words) in enumerate(column):
            parts += box(x, i * ROW + ROW // 2 + 4, name, words)
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    text = draw()
    if "--check" not in sys.argv[1:]:
        with open(PICTURE, "w", encoding="utf-8") as file:
            file.write(text)
    elif not os.path.exists(PICTURE) or open(PICTURE, encoding="utf-8").read() != text:
        print("docs/pictures/flow.svg is not up to date: run scripts/flow_picture.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
