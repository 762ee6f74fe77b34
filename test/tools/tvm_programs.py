#!/usr/bin/env python3
"""Runs programs that were written for TVM, whole and as they are, with `tvm` answered by the Python package.

  tvm_programs.py --package FOLDER [--tvm REPOSITORY [--tag TAG]] [--notebooks REPOSITORY] [--book REPOSITORY]
                  [--minimum GROUP=COUNT ...] [--document FILE] [--keep FOLDER] [PROGRAM...]

The programs are the tutorials of TVM's documents, at a tag (group tutorials) and of the newest commit (newest), and the
chapters of the course on machine learning compilation, as notebooks and as a book (course). They are taken from clones of
repositories, into a temporary folder. Some modules that they import are replaced by those of test/tools/stand_ins, which
compute with NumPy: torch, torchvision with made data, matplotlib, IPython. Files that they download are made. What else is
changed, for want of a device, is in CHANGES.

Prints a table: the program, how many of its statements run before the first error, and that error. With --document, exits
with 1 if the table of a document is another one; with --minimum, if fewer programs of a group run; with 77 if no clone is given.
"""
import argparse
import ast
import collections
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
STAND_INS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_ins")
# Text of programs that is replaced: a device that is asked for what it is, and is not here.
CHANGES = [(re.compile(r"Target\.from_device\(\w+\)"), 'Target("nvidia/geforce-rtx-3090-ti")')]
# Programs that leave out tuning for hours, weights to download, or a library of kernels where CI is set, as TVM's own site does.
WITH_CI = {"optimize_llm", "e2e_opt_model", "customize_opt", "meta_schedule"}
TIMEOUT = 400


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True, text=True).stdout


def cells_of_notebook(text):
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def cells_of_chapter(text):
    """The cells of a chapter of the book: blocks that are marked as input or output. Others are shown, not run."""
    return re.findall(r"^```\{\.python \.\w+[^\n]*\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def displayed(cell):
    """A cell whose last expression is shown, as a notebook does."""
    lines = [line for line in cell.split("\n") if not line.startswith(("!", "%"))]
    body = ast.parse("\n".join(lines)).body
    if body and isinstance(body[-1], ast.Expr):
        last = body[-1]
        # Columns count bytes, and lines of notebooks are ASCII here.
        lines[last.end_lineno - 1] = lines[last.end_lineno - 1][:last.end_col_offset] + ")" + \
            lines[last.end_lineno - 1][last.end_col_offset:]
        lines[last.lineno - 1] = lines[last.lineno - 1][:last.col_offset] + "repr(" + lines[last.lineno - 1][last.col_offset:]
    return "\n".join(lines)


def joined(cells):
    """One program of the cells. Imports from __future__ come first."""
    lines = "\n".join(displayed(cell) for cell in cells).split("\n")
    is_future = [line.startswith("from __future__") for line in lines]
    return "\n".join(sorted({line.strip() for line, future in zip(lines, is_future) if future}) +
                     [line for line, future in zip(lines, is_future) if not future])


def programs(options):
    """The programs: (group, name, text)."""
    if options.tvm:
        for group, revision in (("tutorials", f"refs/tags/{options.tag}"), ("newest", "HEAD")):
            for path in git(options.tvm, "ls-tree", "-r", "--name-only", revision, "docs/").split():
                if "/tutorials/" in path and path.endswith(".py"):
                    yield group, os.path.basename(path)[:-3], git(options.tvm, "show", f"{revision}:{path}")
    if options.notebooks:
        for path in git(options.notebooks, "ls-tree", "--name-only", "HEAD").split():
            if re.match(r"\d_.*\.ipynb$", path):
                yield "course", path[:-6], joined(cells_of_notebook(git(options.notebooks, "show", f"HEAD:{path}")))
    if options.book:
        for path in git(options.book, "ls-tree", "-r", "--name-only", "HEAD").split():
            # Exercises have gaps, which readers fill.
            if path.startswith("chapter_") and path.endswith(".md") and not re.search("exercise|assignment", path):
                cells = cells_of_chapter(git(options.book, "show", f"HEAD:{path}"))
                if cells:
                    name = path[len("chapter_"):-3].replace("/index", "").replace("/", "_")
                    yield "course", name, joined(cells)


def make_data(folder):
    """The files that programs download: weights of a small model."""
    import numpy

    random = numpy.random.RandomState(0)
    shapes = {"w0": (128, 784), "b0": (128,), "w1": (10, 128), "b1": (10,)}
    weights = {name: random.randn(*shape).astype("float32") / 28 for name, shape in shapes.items()}
    with open(os.path.join(folder, "fasionmnist_mlp_params.pkl"), "wb") as file:
        pickle.dump(weights, file)


def run(text, name, package, folder):
    """Runs a program: how many statements have run, of how many, and the error, or an empty text."""
    for pattern, replacement in CHANGES:
        text = pattern.sub(replacement, text)
    path = os.path.join(folder, f"{name}.py")
    with open(path, "w", encoding="utf8") as file:
        file.write(text)
    environment = {**os.environ, "PYTHONPATH": f"{package}:{STAND_INS}", "PYTHONDONTWRITEBYTECODE": "1",
                   "CI": "true" if name in WITH_CI else ""}
    count = len(ast.parse(text).body)
    try:
        done = subprocess.run([sys.executable, "-m", "iropt.as_tvm", path], cwd=folder, env=environment, capture_output=True,
                              text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return 0, count, f"takes more than {TIMEOUT} seconds"
    if not done.returncode:
        return count, count, ""
    places = re.findall(rf'File "{re.escape(path)}", line (\d+)', done.stderr)
    line = int(places[0]) if places else 1
    before = sum(statement.end_lineno < line for statement in ast.parse(text).body)
    lines = [line for line in done.stderr.rstrip().split("\n") if re.match(r"[\w.]+(Error|Exception|Interrupt)?\b", line)]
    return before, count, (lines[-1] if lines else f"ends with {done.returncode}").replace(f"{path}:", "").replace(f"{name}.py:", "")


def row(group, name, result):
    before, count, error = result
    error = re.sub(r"\s+", " ", error).replace("|", "\\|")[:140]
    return f"| {group} | {name} | {before} of {count} | {'runs' if not error else f'`{error}`'} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", required=True, help="the folder that has the package iropt")
    parser.add_argument("--tvm", help="a clone of TVM's repository")
    parser.add_argument("--tag", default="v0.18.0", help="the tag of its tutorials (default: v0.18.0)")
    parser.add_argument("--notebooks", help="a clone of the notebooks of the course (mlc-ai/notebooks)")
    parser.add_argument("--book", help="a clone of the book of the course (mlc-ai/mlc-en)")
    parser.add_argument("--minimum", action="append", default=[], metavar="GROUP=COUNT")
    parser.add_argument("--document", help="a document that must have the rows of the table")
    parser.add_argument("--keep", help="a folder for the programs as they are run; by default a temporary one")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    for repository in (options.tvm, options.notebooks, options.book):
        if repository and not os.path.exists(repository):
            print(f"SKIPPED: no repository in {repository}")
            return SKIPPED
    if not (options.tvm or options.notebooks or options.book):
        print("SKIPPED: no repository is given")
        return SKIPPED
    rows, counts = [], collections.Counter()
    print("| group | program | statements | result |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as temporary:
        for group, name, text in programs(options):
            if options.programs and name not in options.programs:
                continue
            folder = os.path.join(options.keep or temporary, group)
            os.makedirs(folder, exist_ok=True)
            make_data(folder)
            result = run(text, name, os.path.abspath(options.package), folder)
            counts[group] += not result[2]
            counts[group, "all"] += 1
            rows.append(row(group, name, result))
            print(rows[-1], flush=True)
    enough = True
    for group in ("tutorials", "newest", "course"):
        if counts[group, "all"]:
            print(f"{group}: {counts[group]} of {counts[group, 'all']} programs run")
    for group, minimum in (item.split("=") for item in options.minimum):
        enough &= counts[group] >= int(minimum)
    if options.document:
        with open(options.document, encoding="utf8") as file:
            known = file.read()
        missing = [line for line in rows if line not in known]
        print("".join(f"{options.document} does not have the row\n  {line}\n" for line in missing), end="")
        enough &= not missing
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
