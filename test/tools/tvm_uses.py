#!/usr/bin/env python3
"""Counts the names of TVM that public programs use, and how many of these uses the Python package answers.

  tvm_uses.py --package FOLDER --age 0.18|newest [--minimum RATIO] [--missing COUNT] REPOSITORY@REVISION:FOLDER...

The programs are Python files, notebooks, and chapters of the course (blocks of Markdown) in folders of clones of repositories.
A use is a name, or a chain of attributes, that begins with what an import of tvm or tvm_ffi has bound: T.Buffer, relax.op.add.
It is answered if the package has all of it, as far as it is a module, a function or a class: not a part of TVM that is only
named, and not a name of a script that the reader does not know. Prints a table by module, and the most used names that are
missing. Exits with 1 if a smaller share than --minimum is answered, and with 77 if there is no such clone.
"""
import argparse
import ast
import collections
import importlib
import inspect
import os
import subprocess
import sys
import types

from tvm_programs import SKIPPED, cells_of_chapter, cells_of_notebook


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True, text=True, errors="replace").stdout


def sources(place):
    """The programs of a place: (path, texts of their parts)."""
    repository, _, rest = place.partition("@")
    revision, _, folder = rest.partition(":")
    for path in git(repository, "ls-tree", "-r", "--name-only", revision, folder or ".").splitlines():
        if path.endswith((".py", ".ipynb", ".md")):
            text = git(repository, "show", f"{revision}:{path}")
            cells = cells_of_notebook if path.endswith(".ipynb") else cells_of_chapter
            yield path, [text] if path.endswith(".py") else cells(text)


def is_tvm(path):
    return path.split(".")[0] in ("tvm", "tvm_ffi")


def bound_names(tree):
    """What imports of TVM bind, as paths."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                if is_tvm(item.name):
                    names[item.asname or item.name.split(".")[0]] = item.name if item.asname else item.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and not node.level and is_tvm(node.module or ""):
            for item in node.names:
                names[item.asname or item.name] = f"{node.module}.{item.name}"
    return names


class Uses(ast.NodeVisitor):
    """Counts the uses in a program."""

    def __init__(self, names, counts):
        self.names, self.counts = names, counts

    def visit_Attribute(self, node):
        words = [node.attr]
        inner = node.value
        while isinstance(inner, ast.Attribute):
            words.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.names:
            self.counts[".".join([self.names[inner.id], *reversed(words)])] += 1
        else:
            self.generic_visit(node)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in self.names:
            self.counts[self.names[node.id]] += 1


def count_uses(places):
    counts = collections.Counter()
    for place in places:
        for _, texts in sources(place):
            names = {}
            for tree in filter(None, map(parsed, texts)):
                names.update(bound_names(tree))
                Uses(names, counts).visit(tree)
    return counts


def parsed(text):
    """The syntax of a program or a cell without commands of notebooks; None for a cell that is a command of a shell."""
    try:
        return ast.parse("\n".join("" if line.startswith(("!", "%")) else line for line in text.split("\n")))
    except SyntaxError:
        return None


class Answers:
    """Whether the package answers a path, and the module that it is in."""

    def __init__(self, package, age):
        sys.path.insert(0, package)
        from iropt import _core, as_tvm
        from iropt.script import _names

        as_tvm.install(None if age == "newest" else age)
        self._missing, self._missing_module, self._script_name = as_tvm.Missing, as_tvm._MissingModule, _names.Name
        self._of_scripts = {part for name in _core.native.script_names() for part in (name, name.rpartition(".")[0])}

    def find(self, path):
        """The module of a path, the name that is looked for, and whether it is there."""
        value, module = __import__(path.split(".")[0]), path.split(".")[0]
        for word in path.split(".")[1:]:
            if not isinstance(value, types.ModuleType) and not self._is_group(value):
                # Of classes the attributes; values of others are what the program makes.
                there = not inspect.isclass(value) or hasattr(value, word)
                return module, f"{value.__name__}.{word}" if inspect.isclass(value) else word, there
            name = word
            value = self._attribute(value, module, word)
            if isinstance(value, self._missing):
                value = self._module(f"{module}.{word}")
            if value is None:
                return module, name, False
            if isinstance(value, types.ModuleType) or self._is_group(value):
                module += f".{word}"
            elif isinstance(value, self._script_name):
                return module, name, repr(value) in self._of_scripts or self._is_dtype(value)
        parent, _, last = module.rpartition(".")
        return (parent, last, False) if isinstance(value, self._missing_module) else (module, last, True)

    def _is_dtype(self, value):
        return callable(value) and not isinstance(value(), self._script_name)

    @staticmethod
    def _is_group(value):
        return type(value).__name__ == "_Group"

    @staticmethod
    def _module(path):
        """A module that is not an attribute before it is imported; None if the package does not have it."""
        try:
            return importlib.import_module(path)
        except ImportError:
            return None

    def _attribute(self, value, module, word):
        try:
            return getattr(value, word)
        except AttributeError:
            return self._module(f"{module}.{word}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", required=True, help="the folder that has the package iropt")
    parser.add_argument("--age", choices=("0.18", "newest"), required=True, help="the version of TVM that the programs are for")
    parser.add_argument("--minimum", type=float, default=0)
    parser.add_argument("--missing", type=int, default=40, help="how many missing names are printed")
    parser.add_argument("places", nargs="+", metavar="REPOSITORY@REVISION:FOLDER")
    options = parser.parse_args()
    for place in options.places:
        if not os.path.exists(place.split("@")[0]):
            print(f"SKIPPED: no repository in {place.split('@')[0]}")
            return SKIPPED
    counts, answers = count_uses(options.places), Answers(os.path.abspath(options.package), options.age)
    modules, missing = collections.Counter(), collections.Counter()
    for path, count in counts.items():
        module, name, there = answers.find(path)
        modules[module, there] += count
        if not there:
            missing[f"{module}.{name}"] += count
    print("| module | uses | answered |\n| --- | --- | --- |")
    totals = collections.Counter()
    for (module, _), count in modules.items():
        totals[module] += count
    for module, count in totals.most_common():
        print(f"| {module} | {count} | {modules[module, True] / count:.2f} |")
    for name, count in missing.most_common(options.missing):
        print(f"{count:5}  {name}")
    share = 1 - sum(missing.values()) / max(sum(counts.values()), 1)
    print(f"{sum(counts.values())} uses of {len(counts)} names, {share:.3f} answered")
    return 0 if share >= options.minimum else 1


if __name__ == "__main__":
    sys.exit(main())
