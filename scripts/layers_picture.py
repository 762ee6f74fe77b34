#!/usr/bin/env python3
"""Draws the areas of the library and what they need, from the includes, as docs/pictures/layers.svg.

  layers_picture.py [--check]

An area stands above all areas that it includes. An arrow that follows from others is left out. With --check nothing is
written; the exit code is 1 if the file is not up to date.
"""
import os
import sys
from html import escape

import check_layering

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join(ROOT, "docs/pictures/layers.svg")
# What an area is, in a few words; that all are here is checked.
WORDS = {"support": "arenas, files, threads", "diag": "diagnostics", "ir": "nodes, modules", "op": "tables of operators",
         "arith": "integer expressions", "runtime": "values", "infer": "types, calls", "analysis": "facts, verifier",
         "data": "files of tensors", "eval": "kernels, interpreter", "text": "TVMScript, Relay", "exchange": "ONNX",
         "pass": "pass manager", "legalize": "operators to loops", "schedule": "primitives, rules",
         "transform": "the passes", "codegen": "machine code", "observe": "reports, dumps", "execution": "calls",
         "semantics": "-check-semantics", "precision": "-precision", "driver": "compiler instance", "reduce": "ir-reduce", "lsp": "ir-lsp"}
WIDTH, ROW, BOX_WIDTH, BOX_HEIGHT = 760, 62, 164, 38
STYLE = ("text{font:12px sans-serif;text-anchor:middle;fill:#1f2328}.name{font-weight:bold}"
         "rect{fill:#eaf2fb;stroke:#3b6ea5}path{fill:none;stroke:#8c959f}svg{background:#fff}")


def direct_uses(uses):
    """The areas that each one needs, without those that one of these needs already."""
    reached = {}
    for area in check_layering.LAYERS:
        needed = uses.get(area, set())
        reached[area] = needed | {far for near in needed for far in reached[near]}
    return {area: {used for used in uses.get(area, ()) if not any(used in reached[other] for other in uses[area])}
            for area in check_layering.LAYERS}


def levels_of(uses):
    level = {}
    for area in check_layering.LAYERS:
        level[area] = 1 + max((level[used] for used in uses.get(area, ())), default=-1)
    return level


def places_of(level):
    """The center of each box: rows from the bottom up, boxes of a row side by side."""
    top = max(level.values())
    places = {}
    for row in range(top + 1):
        areas = [area for area in check_layering.LAYERS if level[area] == row]
        for i, area in enumerate(areas):
            places[area] = (WIDTH * (2 * i + 1) // (2 * len(areas)), (top - row) * ROW + BOX_HEIGHT // 2 + 4)
    return places


def draw(uses):
    level = levels_of(uses)
    places = places_of(level)
    height = (max(level.values()) + 1) * ROW
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
             "<title>The areas of the library; each stands above those that it needs</title>", f"<style>{STYLE}</style>"]
    for area, used in direct_uses(uses).items():
        x, y = places[area]
        for other in sorted(used, key=check_layering.LEVEL.get):
            to_x, to_y = places[other]
            begin, end = y + BOX_HEIGHT // 2, to_y - BOX_HEIGHT // 2
            parts.append(f'<path d="M{x} {begin}C{x} {begin + 20} {to_x} {end - 20} {to_x} {end}"/>')
    for area, (x, y) in places.items():
        parts.append(f'<rect x="{x - BOX_WIDTH // 2}" y="{y - BOX_HEIGHT // 2}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="4"/>')
        parts.append(f'<text class="name" x="{x}" y="{y - 3}">{area}</text>')
        parts.append(f'<text x="{x}" y="{y + 12}">{escape(WORDS[area])}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    if missing := check_layering.LEVEL.keys() ^ WORDS.keys():
        print(f"WORDS and the areas differ in {', '.join(sorted(missing))}")
        return 1
    layering = check_layering.Layering(ROOT)
    layering.check()
    uses = {area: set(used) - {area} for area, used in layering.uses.items() if area in check_layering.LEVEL}
    text = draw(uses)
    old = open(PICTURE, encoding="utf-8").read() if os.path.exists(PICTURE) else ""
    if "--check" not in sys.argv[1:]:
        os.makedirs(os.path.dirname(PICTURE), exist_ok=True)
        with open(PICTURE, "w", encoding="utf-8") as f:
            f.write(text)
    elif text != old:
        print("docs/pictures/layers.svg is not up to date: run scripts/layers_picture.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
