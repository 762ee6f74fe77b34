#!/usr/bin/env python3
"""Draws what the steps of a schedule do to a loop nest, as an animation: docs/pictures/schedule.svg.

  schedule_picture.py [--check] IR_OPT

For each beginning of examples/tiles.trace that ends with a change, ir-opt applies it to examples/tiles.ir. A frame shows the
loops that it prints, and fills the elements of the result in the order in which these loops store them: those of a vector,
and those of the iterations of a parallel loop, at the same time. With --check nothing is written; the exit code is 1 if the
file is not up to date.
"""
import argparse
import ast
import os
import re
import subprocess
import sys
from html import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join(ROOT, "docs/pictures/schedule.svg")
SECONDS = 6  # of a frame
FILLING = 5.0  # of these, the seconds in which the elements are filled, if one comes after the other
CELL, LEFT, TOP, WIDTH, LINE = 26, 452, 48, 676, 19
QUERIES = ("get_block", "get_loops")


class Order:
    """Runs the loops of a function: when each element of the result is stored, counted in stores of one element."""

    def __init__(self, function):
        self.times = {}
        self.end = self.run(function.body, {}, 0)

    def run(self, body, names, time):
        for stmt in body:
            time = self.run_stmt(stmt, names, time)
        return time

    def run_stmt(self, stmt, names, time):
        if isinstance(stmt, ast.For):
            return self.run_loop(stmt, names, time)
        if isinstance(stmt, ast.With):
            return self.run(stmt.body, dict(names), time)
        if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Subscript):
            self.times[tuple(value_of(index, names) for index in stmt.targets[0].slice.elts)] = time
            return time + 1
        if isinstance(stmt, ast.Assign):
            bind_axes(stmt, names)
        return time

    def run_loop(self, loop, names, time):
        kind = ast.unparse(loop.iter.func).removeprefix("T.")
        targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        extents = [value_of(extent, names) for extent in loop.iter.args]

        def run_from(axis, begin):
            if axis == len(targets):
                return self.run(loop.body, names, begin)
            last = begin
            for names[targets[axis].id] in range(extents[axis]):
                last = max(last, run_from(axis + 1, last if kind in ("range", "grid", "serial") else begin))
            return last

        return run_from(0, time)


def value_of(expr, names):
    return eval(compile(ast.Expression(expr), "index", "eval"), {"__builtins__": {}}, names)  # pylint: disable=eval-used


def bind_axes(stmt, names):
    """vi = T.axis.spatial(8, i), or vi, vj = T.axis.remap("SS", [i, j])."""
    target, args = stmt.targets[0], stmt.value.args
    if isinstance(target, ast.Tuple):
        for name, value in zip(target.elts, args[1].elts):
            names[name.id] = value_of(value, names)
    else:
        names[target.id] = value_of(args[1], names)


def steps_of(trace):
    """The beginnings of the trace with the change that each ends with; the first one changes nothing."""
    lines = trace.splitlines()
    changes = [i for i, line in enumerate(lines) if not re.search(rf"sch\.(?:{'|'.join(QUERIES)})\(", line)]
    return [("as it was written", "")] + [(lines[i], "\n".join(lines[: i + 1])) for i in changes]


def function_after(ir_opt, trace):
    passes = [f"-passes=tir.ApplyTrace<trace={quoted(trace)}>"] if trace else []
    done = subprocess.run([ir_opt, *passes, os.path.join(ROOT, "examples/tiles.ir")], capture_output=True, text=True, check=True)
    return done.stdout


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "; ") + '"'


def shown_lines(text):
    """The loops and the block, without what the reader of the picture does not need."""
    body = text[text.index("def main") :].splitlines()[1:]
    return [line[4:] for line in body if not re.search(r"# with T.block|T\.reads|T\.writes", line)]


def frame(number, title, text):
    order = Order(ast.parse(text).body[0])
    parts = [f'<g class="f" style="animation-delay:{number * SECONDS}s">',
             f'<text class="t" x="12" y="28">{escape(title)}</text>']
    parts += [f'<text x="12" y="{TOP + 14 + i * LINE}">{escape(line)}</text>' for i, line in enumerate(shown_lines(text))]
    step = FILLING / 64
    for (i, j), time in sorted(order.times.items()):
        delay = number * SECONDS + 0.4 + time * step
        parts.append(f'<rect x="{LEFT + j * CELL}" y="{TOP + i * CELL}" style="animation-delay:{delay:.2f}s"/>')
    return parts + ["</g>"]


def draw(ir_opt, trace):
    steps = steps_of(trace)
    total = len(steps) * SECONDS
    share = 100 / len(steps)
    style = (f"text{{font:13px monospace;fill:#1f2328;white-space:pre}}.t{{font-weight:bold}}"
             f"rect{{width:{CELL - 2}px;height:{CELL - 2}px;fill:#eaeef2;animation:fill {total}s step-end infinite}}"
             f".f{{opacity:0;animation:show {total}s step-end infinite}}"
             f"@keyframes show{{0%{{opacity:1}}{share:.3f}%{{opacity:0}}}}"
             # What was stored just now stands out. The next frame of the element finds it empty again.
             f"@keyframes fill{{0%{{fill:#cf222e}}{share / 24:.3f}%{{fill:#3b6ea5}}{share:.3f}%{{fill:#eaeef2}}}}"
             "@media (prefers-reduced-motion){.f,rect{animation:none}.f:last-of-type{opacity:1}}")
    height = TOP + 8 * CELL + 12
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
             'style="background:#fff">',
             "<title>A loop nest after each step of a schedule, and the order in which it stores the elements</title>",
             f"<style>{style}</style>"]
    for number, (title, beginning) in enumerate(steps):
        parts += frame(number, title, function_after(ir_opt, beginning))
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("ir_opt")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "examples/tiles.trace"), encoding="utf-8") as file:
        picture = draw(options.ir_opt, file.read())
    if options.check:
        with open(PICTURE, encoding="utf-8") as file:
            if file.read() == picture:
                return 0
        print(f"{os.path.relpath(PICTURE, ROOT)} is not up to date; run scripts/schedule_picture.py IR_OPT")
        return 1
    with open(PICTURE, "w", encoding="utf-8") as file:
        file.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
