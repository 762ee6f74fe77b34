#!/usr/bin/env python3
"""Makes the table of the public names of TVM's Python package: python/iropt/_tvm_names.py.

  tvm_names.py REPOSITORY VERSION=REVISION...

REPOSITORY is a clone of TVM's repository. Versions are given from the oldest to the newest, as in 0.18=v0.18.0.
The names are those that the source of a module binds: functions, classes, values and imports.
"""
import ast
import os
import subprocess
import sys
import tempfile

TARGET = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python", "iropt", "_tvm_names.py")
# Below these everything is taken to exist: they are for tuning, devices, drivers and frontends, which few programs use.
CLOSED = ("relay", "autotvm", "auto_scheduler", "micro", "contrib", "driver", "rpc", "exec", "meta_schedule", "backend",
          "s_tir.meta_schedule", "topi", "te.hybrid", "te.schedule", "relax.frontend.torch", "relax.frontend.onnx",
          "relax.frontend.tflite", "relax.frontend.stablehlo", "script.ir_builder", "script.parser.core", "tirx.script",
          "script.highlight", "relax.backend.contrib", "relax.backend.metal", "relax.backend.cuda", "relax.backend.rocm",
          "relax.backend.cpu_generic", "relax.backend.gpu_generic", "relax.backend.adreno", "relax.op", "dlight.gpu",
          "dlight.cpu", "s_tir.dlight.gpu", "s_tir.dlight.cpu", "s_tir.dlight.analysis", "dlight.base", "dlight.analysis",
          "s_tir.dlight.base", "relax.transform.legalize_ops", "relax.testing", "target.tag_registry",
          "target.detect_target", "tirx.operator", "tirx.bench", "testing", "runtime.profiling", "runtime.executor",
          "script.relax", "script.tir", "script.tirx", "script.ir", "script.parser.relax", "script.parser.tir",
          "script.parser.tirx", "script.parser.ir", "script.parser", "script", "relax.script",
          "relax.transform.tuning_api", "tir.tensor_intrin", "s_tir.tensor_intrin")


def is_below_closed(module):
    return any(module.startswith(package + ".") for package in CLOSED)


HEAD = '''"""The public names of TVM's Python package by module, made by scripts/tvm_names.py.

A row is a module and its names, the root first; further lines of it are indented. `+0.22` after a name: it is there since
that version; `-0.24`: it is there until the version before. `*` stands for any names, and any modules below.
"""
VERSIONS = {versions!r}
TABLE = """\\
{rows}"""
'''


class Package:
    """The sources of the package in one revision."""

    def __init__(self, folder):
        self._files = {}
        for root, _, files in os.walk(folder):
            for file in files:
                if file.endswith(".py"):
                    parts = os.path.relpath(os.path.join(root, file), folder)[:-3].split(os.sep)
                    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                    self._files[name] = (os.path.join(root, file), parts[-1] == "__init__")
        self._names = {}

    def modules(self):
        """The names of all public modules with those that they bind."""
        public = [name for name in self._files
                  if not any(part.startswith("_") for part in name.split(".")) and not is_below_closed(name)]
        return {name: {"*"} if name in CLOSED else self._listed(name) for name in public}

    def _listed(self, module):
        """The public names; of a module that is not a package without what it imports, which others take elsewhere."""
        path, is_package = self._files[module]
        if is_package:
            return {name for name in self.names(module) if name[0] != "_"}
        with open(path, encoding="utf-8") as source:
            body = [node for node in ast.parse(source.read()).body if not isinstance(node, (ast.Import, ast.ImportFrom))]
        found = set()
        self._collect(body, module, False, found)
        return {name for name in found if name[0] != "_"}

    def names(self, module):
        """The names that a module binds, its submodules among them."""
        if module in self._names:
            return self._names[module]
        self._names[module] = found = set()
        path, is_package = self._files[module]
        with open(path, encoding="utf-8") as source:
            self._collect(ast.parse(source.read()).body, module, is_package, found)
        prefix = module + "." if module else ""
        if is_package:
            found.update(name[len(prefix):] for name in self._files
                         if name and name.startswith(prefix) and "." not in name[len(prefix):])
        return found

    def _collect(self, body, module, is_package, found):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    found.update(item.id for item in ast.walk(target) if isinstance(item, ast.Name))
            elif isinstance(node, ast.Import):
                found.update((item.asname or item.name).split(".")[0] for item in node.names)
            elif isinstance(node, ast.ImportFrom):
                self._collect_import(node, module, is_package, found)
            else:
                for field in ("body", "orelse", "finalbody"):
                    self._collect(getattr(node, field, []), module, is_package, found)
                for handler in getattr(node, "handlers", []):
                    self._collect(handler.body, module, is_package, found)

    def _collect_import(self, node, module, is_package, found):
        for item in node.names:
            if item.name != "*":
                found.add(item.asname or item.name)
                continue
            source = self._resolve(node, module, is_package)
            if source in self._files and source != module:
                found.update(name for name in self.names(source) if name[0] != "_")

    @staticmethod
    def _resolve(node, module, is_package):
        if not node.level:
            return (node.module or "").removeprefix("tvm").removeprefix(".")
        parts = module.split(".") if module else []
        drop = node.level - (1 if is_package else 0)
        parts = parts[:len(parts) - drop] if drop else parts
        return ".".join(parts + ([node.module] if node.module else []))


def read(repository, revision):
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", repository, "archive", revision, "python/tvm"], check=True,
                                 capture_output=True).stdout
        subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
        return Package(os.path.join(folder, "python", "tvm")).modules()


def span(present, versions):
    """The text for the versions in which something is present."""
    since = versions[present.index(True)]
    last = len(present) - 1 - present[::-1].index(True)
    return ("" if since == versions[0] else "+" + since) + ("" if last == len(versions) - 1 else "-" + versions[last + 1])


def rows(tables, versions):
    for module in sorted({module for table in tables for module in table}):
        has_module = [module in table for table in tables]
        lived = [(table[module], version) for table, version in zip(tables, versions) if module in table]
        names = sorted({name for items, _ in lived for name in items})
        words = [name + span([name in items for items, _ in lived], [version for _, version in lived]) for name in names]
        line = (module or ".") + span(has_module, versions)
        for word in words:
            if len(line) + 1 + len(word) > 120:
                yield line
                line = ""
            line += " " + word
        yield line


def main():
    repository, *given = sys.argv[1:] or [None]
    if not given:
        print(__doc__, file=sys.stderr)
        return 2
    versions = [item.split("=")[0] for item in given]
    tables = [read(repository, item.split("=")[1]) for item in given]
    with open(TARGET, "w", encoding="utf-8") as out:
        out.write(HEAD.format(versions=tuple(versions), rows="\n".join(rows(tables, versions)) + "\n"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
