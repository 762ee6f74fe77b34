"""Writes type stubs: python3 -m iropt._stubs FOLDER. What tables give, such as passes, operators and fields of nodes, is in them
with its documentation; --reference FILE writes the same as a document.
"""
import ast
import importlib
import inspect
import os
import re
import sys
import textwrap
import types

from . import _core
from ._core import native

MODULES = ("iropt", "iropt.arith", "iropt.dlight", "iropt.dlight.analysis", "iropt.dlight.base", "iropt.dlight.cpu",
           "iropt.dlight.gpu", "iropt.dlight.rules", "iropt.executable", "iropt.instrument", "iropt.ir", "iropt.ir.instrument",
           "iropt.ir.transform", "iropt.packed", "iropt.relax", "iropt.relax.analysis", "iropt.relax.backend",
           "iropt.relax.block_builder", "iropt.relax.dpl", "iropt.relax.expr", "iropt.relax.expr_functor", "iropt.relax.fusion_pattern", "iropt.relax.op",
           "iropt.relax.transform", "iropt.relax.vm_build", "iropt.relay", "iropt.running", "iropt.runtime", "iropt.script",
           "iropt.target", "iropt.te", "iropt.tir", "iropt.tir.analysis", "iropt.tir.functor", "iropt.tir.ir_builder",
           "iropt.tir.schedule", "iropt.tir.stmt_functor", "iropt.tir.transform", "iropt.topi", "iropt.topi.image",
           "iropt.topi.nn", "iropt.transform")
# Written next to the stubs: the classes of the extension module that they name.
EXTENSION = """from typing import Any
class NDArray:
    def __getattr__(self, name: str) -> Any: ...
class Node:
    def __getattr__(self, name: str) -> Any: ...
class Error(RuntimeError, ValueError):
    diagnostics: Any
    code: int
def __getattr__(name: str) -> Any: ...
"""
CORE = """from typing import Any
from iropt._iropt import Error as Error, Node as Node
class Array(tuple): ...
def __getattr__(name: str) -> Any: ...
"""
_OWN = ("Array", "Error", "Node", "NDArray")
HEADER = ("from typing import Any\nfrom iropt._core import Array as Array, Error as Error, Node as Node\n"
          "from iropt._iropt import NDArray as NDArray\n")


def _fields(cls):
    """The fields of a class of nodes with their types: (name, type)."""
    kind = next((row for row in _core.KINDS.values() if row[0] == cls.__dict__.get("_kind_")), None)
    return [] if kind is None else [(name, type_name) for name, type_name, _ in kind[3] if name.isidentifier()]


def _type(name):
    return name if name in ("str", "bool", "int", "float", "Array", "Node", "NDArray", "Any") else "Any"


def _signature(function, is_method):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(*args: Any, **kwargs: Any)"
    parts, star = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            parts.append(f"*{parameter.name}: Any")
            star = True
        elif parameter.kind is parameter.VAR_KEYWORD:
            parts.append(f"**{parameter.name}: Any")
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not star:
                parts.append("*")
                star = True
            name = parameter.name
            annotated = name if is_method and not parts else f"{name}: Any"
            default = parameter.default
            if default is inspect.Parameter.empty or annotated == name:
                parts.append(annotated)
            else:
                known = default is None or type(default) in (bool, int, float, str)
                parts.append(f"{annotated} = {default!r}" if known else f"{annotated} = ...")
    return f"({', '.join(parts)})"


def _documentation(value, indent):
    text = inspect.getdoc(value)
    if not text or isinstance(value, type) and "__doc__" not in vars(value):
        return []
    lines = text.replace('"""', "'''").replace("\\", "\\\\").split("\n")
    return [f'{indent}"""{lines[0]}'] + [f"{indent}{line}".rstrip() for line in lines[1:]] + [f'{indent}"""'] \
        if len(lines) > 1 else [f'{indent}"""{lines[0]}"""']


def _bases(cls):
    """The classes of the package that a class is made from; those of private ones stand for them."""
    public = []
    for base in cls.__bases__:
        if base is not object:
            public += _bases(base) if base.__name__.startswith("_") else [base]
    return public


def _attributes(cls):
    """The attributes that __init__ sets."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(vars(cls)["__init__"])))
    except (KeyError, OSError, TypeError):
        return []
    names = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
             and isinstance(node.value, ast.Name) and node.value.id == "self"]
    return [name for name in dict.fromkeys(names) if not name.startswith("_") and name not in vars(cls)]


def _members(cls):
    """What a class has itself, or from bases that are private."""
    found = {}
    for base in cls.__bases__:
        if base.__name__.startswith("_"):
            found.update(_members(base))
    return {**found, **vars(cls)}


def _is_shown(member):
    return not member.startswith("_") or (member.startswith("__") and member.endswith("__"))


def _class(name, cls):
    bases = ", ".join(base.__name__ for base in _bases(cls) if _home(base) is not None or base.__module__ == "builtins")
    lines = [f"class {name}({bases}):" if bases else f"class {name}:"]
    lines += _documentation(cls, "    ")
    fields = _fields(cls)
    lines += [f"    {field}: {_type(type_name)}" for field, type_name in fields]
    lines += [f"    {attribute}: Any" for attribute in _attributes(cls) if attribute not in dict(fields)]
    annotated = [name for name in vars(cls).get("__annotations__", {}) if _is_shown(name)]
    lines += [f"    {name}: Any" for name in annotated]
    for member, value in _members(cls).items():
        if member in dict(fields) or member in annotated or not _is_shown(member) or member == "__annotations__":
            continue
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if isinstance(value, property):
            lines += ["    @property", f"    def {member}(self) -> Any: ..."]
        elif isinstance(function, types.FunctionType):
            if isinstance(value, staticmethod) and member != "__new__":
                lines.append("    @staticmethod")
            result = "None" if member in ("__init__", "__init_subclass__") else "Any"
            is_method = not isinstance(value, staticmethod) or member == "__new__"
            # Variables are called with the types of results, other expressions with attributes.
            ignored = "  # type: ignore[override]" if member == "__call__" else ""
            lines.append(f"    def {member}{_signature(function, is_method)} -> {result}: ...{ignored}")
        elif isinstance(value, (int, str)) and not member.startswith("_"):
            lines.append(f"    {member}: {type(value).__name__}")
    return lines if len(lines) > 1 else [*lines, "    ..."]


def _function(name, function):
    body = _documentation(function, "    ")
    head = f"def {name}{_signature(function, False)} -> Any:"
    return [f"{head} ..."] if not body else [head, *body, "    ..."]


def _home(cls):
    """The module of the package in whose stub a class is; None if it is in none."""
    module = cls.__module__
    if module in ("iropt._core", "iropt._object"):
        return "iropt.ir"
    while module and module not in MODULES:
        module = module.rpartition(".")[0]
    return module or None if module != "iropt" or cls.__module__ == "iropt" else None


def stub(module_name):
    """The text of the stub of a module."""
    module = importlib.import_module(module_name)
    lines = []
    for name in sorted(set(dir(module)) | set(vars(module))):
        if name.startswith("_") or not name.isidentifier():
            continue
        try:
            value = getattr(module, name)
        except AttributeError:
            continue
        if name in _OWN or name == "Any":  # which the stub has of typing
            continue
        if isinstance(value, types.ModuleType):
            parent, _, last = value.__name__.rpartition(".")
            if last == name and parent.startswith("iropt"):
                lines.append(f"from {parent} import {last} as {last}")
            continue
        if inspect.isclass(value):
            home = _home(value)
            if home == module_name and name == value.__name__:
                lines += [_import_of(base) for base in _bases(value) if _home(base) not in (None, module_name)]
                lines += _class(name, value)
            elif home is not None:
                # Another name after `as` would not be shown by the module.
                lines += [] if home == module_name else [_import_of(value)]
                lines += [] if name == value.__name__ else [f"{name} = {value.__name__}"]
            else:
                lines.append(f"{name}: Any")
        elif callable(value) and isinstance(value, types.FunctionType):
            lines += _function(name, value)
        else:
            lines.append(f"{name}: Any")
    imports = [line for line in dict.fromkeys(lines) if line.startswith("from ")]
    other_names = [line for line in lines if re.fullmatch(r"\w+ = \w+", line)]
    rest = [line for line in lines if not line.startswith("from ") and line not in other_names]
    return HEADER + "\n".join(imports + rest + other_names) + "\n"


def _import_of(cls):
    return f"from {_home(cls)} import {cls.__name__} as {cls.__name__}"


def write_stubs(folder):
    for name in MODULES:
        importlib.import_module(name)  # a package shows those that were imported
    for name, text in (("_iropt.pyi", EXTENSION), ("_core.pyi", CORE)):
        with open(os.path.join(folder, name), "w", encoding="utf8") as file:
            file.write(text)
    for name in MODULES:
        module = importlib.import_module(name)
        path = os.path.join(folder, *name.split(".")[1:])
        path = os.path.join(path, "__init__.pyi") if hasattr(module, "__path__") else path + ".pyi"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf8") as file:
            file.write(stub(name))


def reference():
    """The document of what the tables give."""
    lines = ["# Reference of the Python package", "", "Made from the tables by `python3 -m iropt._stubs --reference`.", ""]
    lines += ["## Nodes", ""]
    for kind, (_, _, group, fields) in _core.KINDS.items():
        cls = _core.CLASSES.get(kind)
        if cls is not None:
            listed = ", ".join(f"`{name}`" for name, _, _ in fields)
            lines.append(f"- `{_home(cls).removeprefix('iropt.')}.{cls.__name__}` ({group}): {listed}")
    lines += ["", "## Passes", ""]
    for row in native.pass_table():
        options = ", ".join(f"`{option['name']}={option['default']!r}`" for option in row["options"])
        lines.append(f"- `{row['name']}` ({row['kind']}, level {row['opt_level']}): {row['summary']}" +
                     (f". Options: {options}" if options else ""))
    lines += ["", "## Operators", ""]
    for row in native.op_table():
        if row["graph"]:
            lines.append(f"- `{row['script']}({', '.join(row['args'] + row['attrs'])})`")
    lines += ["", "## Configuration", ""]
    lines += [f"- `{row['name']}` ({row['type']}): {row['summary']}" for row in native.config_table()]
    lines += ["", "## Instruments", ""] + [f"- `{name}`: {summary}" for name, summary in native.instrument_table()]
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:2] == ["--reference"]:
        with open(sys.argv[2], "w", encoding="utf8") as file:
            file.write(reference())
    else:
        write_stubs(sys.argv[1])


if __name__ == "__main__":
    main()
