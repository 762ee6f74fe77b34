"""Scripts in Python source: a decorated class or function is text for the reader of TVMScript.

Names that the source captures are not known to the reader, so they are replaced by what they stand for: the largest
expressions that are made of captured names and literals alone are evaluated, and their values are written in their
places. Names of modules become the three prefixes of scripts.
"""
import ast
import builtins
import inspect
import linecache
import sys
import textwrap

from . import _core
from ._core import native

PREFIXES = {"I": "I", "R": "R", "T": "T"}
_DECORATORS = {"ir_module": "I.ir_module", "function": "R.function", "prim_func": "T.prim_func", "macro": None}
_DROPPED_ARGUMENTS = {"check_well_formed", "tracked", "s_tir"}


class Unprintable(Exception):
    """A value that a script has no text for."""


def text_of(value):
    """The text of a captured value in a script."""
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value)) if value == value and abs(value) != float("inf") else f'float("{value}")'
    if isinstance(value, (list, tuple)):
        items = ", ".join(text_of(item) for item in value)
        if isinstance(value, list) or isinstance(value, _core.Array):
            return f"[{items}]"
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_of(key)}: {text_of(item)}" for key, item in value.items()) + "}"
    script = getattr(value, "_script_", None)
    if script is not None:
        return script()
    name = type(value).__name__
    if type(value).__module__ == "numpy":
        if name == "ndarray":
            raise Unprintable(value)
        if hasattr(value, "item") and not name.startswith("dtype"):
            return text_of(value.item())
        return repr(str(value))
    if isinstance(value, type) and value.__module__ == "numpy":
        return repr(value.__name__)
    raise Unprintable(value)


class _Scopes:
    """The names that the script itself binds, by the function that is visited."""

    def __init__(self):
        self.names = [set()]

    def __contains__(self, name):
        return any(name in scope for scope in self.names)


def _bound_names(function):
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not function:
            names.add(node.name)
    return names


class _Substitution(ast.NodeVisitor):
    """Collects the replacements of a source."""

    CONSTANT, CAPTURED, SCRIPT = range(3)

    def __init__(self, env, source):
        self.env = env
        self.lines = source.split("\n")
        self.scopes = _Scopes()
        self.edits = []
        self.macros = {}
        self.symbolic = set()

    # ---- Values
    def lookup(self, name):
        if name in self.env:
            return self.env[name]
        return getattr(builtins, name, Unprintable)

    def prefix_of(self, value):
        return getattr(value, "_script_prefix_", None)

    def kind(self, node):
        """Whether a subtree is a literal, or can be evaluated here, or is for the reader."""
        if isinstance(node, ast.Name):
            if node.id in self.scopes:
                return self.SCRIPT
            value = self.lookup(node.id)
            if value is Unprintable or self.prefix_of(value) or getattr(value, "_script_name_", None):
                return self.SCRIPT
            return self.CAPTURED
        if isinstance(node, ast.Constant):
            return self.CONSTANT
        if isinstance(node, ast.Attribute):
            inner = self.kind(node.value)
            if inner == self.SCRIPT:
                return inner
            value = self.value(node)
            if value is Unprintable or self.prefix_of(value) or getattr(value, "_script_name_", None):
                return self.SCRIPT
            return self.CAPTURED
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            return self.comprehension_kind(node)
        kinds = [self.kind(child) for child in ast.iter_child_nodes(node) if isinstance(child, (ast.expr, ast.keyword,
                                                                                               ast.Slice))]
        return max(kinds, default=self.CONSTANT)

    def comprehension_kind(self, node):
        if isinstance(node, ast.Lambda):
            return self.SCRIPT
        own = {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and child.id not in own:
                if self.kind(child) == self.SCRIPT:
                    return self.SCRIPT
        return self.CAPTURED

    def value(self, node):
        code = compile(ast.Expression(body=node), "<script>", "eval")
        try:
            return eval(code, dict(self.env))  # pylint: disable=eval-used
        except Exception:  # pylint: disable=broad-except
            return Unprintable

    # ---- Replacements
    def replace(self, node, text):
        self.edits.append((node.lineno - 1, node.col_offset, node.end_lineno - 1, node.end_col_offset, text))

    def expression(self, node):
        if node is None:
            return
        kind = self.kind(node)
        if kind == self.CAPTURED:
            value = self.value(node)
            if value is not Unprintable:
                try:
                    text = text_of(value)
                    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
                        text = f"({text})"
                    self.replace(node, text)
                    return
                except Unprintable:
                    pass
        if isinstance(node, (ast.Name, ast.Attribute)) and self.rename(node):
            return
        for child in ast.iter_child_nodes(node):
            self.child(child)

    def child(self, child):
        if isinstance(child, ast.expr):
            self.expression(child)
        elif isinstance(child, ast.keyword):
            self.expression(child.value)
        elif isinstance(child, ast.comprehension):
            self.expression(child.iter)

    def rename(self, node):
        """Writes the name of a module, or of something of it, as the reader knows it."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.scopes or self.lookup(root.id) is Unprintable:
            return False
        value = self.value(node)
        if value is Unprintable:
            return isinstance(node, ast.Attribute) and self.rename_prefix(node)
        name = getattr(value, "_script_name_", None)
        if name is not None:
            macro = getattr(value, "_script_macro_", None)
            if macro is not None:
                self.macros[name] = macro
            if ast.unparse(node) != name:
                self.replace(node, name)
            return True
        return self.rename_prefix(node)

    def rename_prefix(self, node):
        value = self.value(node)
        prefix = None if value is Unprintable else self.prefix_of(value)
        if prefix is None:
            return isinstance(node, ast.Attribute) and self.rename_prefix(node.value)
        if ast.unparse(node) != prefix:
            self.replace(node, prefix)
        return True

    # ---- Statements
    def visit_ClassDef(self, node):
        self.scopes.names[0] |= {node.name}
        self.scopes.names[0] |= {child.name for child in node.body if isinstance(child, ast.FunctionDef)}
        self.decorators(node)
        for child in node.body:
            self.visit(child)

    def visit_FunctionDef(self, node):
        self.decorators(node)
        self.scopes.names.append(_bound_names(node))
        for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
            self.expression(arg.annotation)
        self.expression(node.returns)
        for child in node.body:
            self.visit(child)
        self.scopes.names.pop()

    def decorators(self, node):
        for decorator in node.decorator_list:
            callee = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")
            if _DECORATORS.get(name) is None:
                continue
            arguments = []
            if isinstance(decorator, ast.Call):
                for keyword in decorator.keywords:
                    if keyword.arg not in _DROPPED_ARGUMENTS:
                        arguments.append(f"{keyword.arg}={ast.unparse(keyword.value)}")
            self.replace(decorator, _DECORATORS[name] + (f"({', '.join(arguments)})" if arguments else ""))

    def generic_visit(self, node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)
            elif isinstance(child, ast.withitem):
                self.expression(child.context_expr)
            elif isinstance(child, ast.stmt):
                self.visit(child)

    def apply(self):
        lines = [line.encode() for line in self.lines]
        for first, begin, last, end, text in sorted(self.edits, reverse=True):
            tail = lines[last][end:]
            lines[first : last + 1] = [lines[first][:begin] + text.encode() + tail] + [b""] * 0
        return b"\n".join(lines).decode()


def resolve(source, env):
    """The text of a script in which captured values are written in their places."""
    tree = ast.parse(source)
    substitution = _Substitution(env, source)
    substitution.scopes.names[0] |= {
        node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }
    for statement in tree.body:
        substitution.visit(statement)
    text = substitution.apply()
    for macro in substitution.macros.values():
        text = macro() + "\n" + text
    return text


# ---- Sources of decorated objects


def _block(lines, start):
    """The lines of the definition that begins, with its decorators, at an index."""
    return inspect.getblock(lines[start:])


def source_of_function(function):
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    start = code.co_firstlineno - 1
    if not lines:
        source, start = inspect.getsourcelines(function)
        return textwrap.dedent("".join(source)), code.co_filename, max(start, 1)
    return textwrap.dedent("".join(_block(lines, start))), code.co_filename, start + 1


def source_of_class(cls, frame):
    """The source of a class that is decorated in the frame."""
    lines = linecache.getlines(frame.f_code.co_filename)
    start = frame.f_lineno - 1
    if lines:
        # The line is that of the decorator, or of the class, as versions of Python differ.
        while start > 0 and lines[start - 1].lstrip().startswith("@"):
            start -= 1
        block = _block(lines, start)
        if any(line.lstrip().startswith(f"class {cls.__name__}") for line in block):
            return textwrap.dedent("".join(block)), frame.f_code.co_filename, start + 1
    source, first = inspect.getsourcelines(cls)
    return textwrap.dedent("".join(source)), inspect.getsourcefile(cls), first


def in_module_class(frame):
    """Whether a frame is the body of a class that will be a module."""
    if "__module__" not in frame.f_locals or "__qualname__" not in frame.f_locals:
        return False
    lines = linecache.getlines(frame.f_code.co_filename)
    index = frame.f_code.co_firstlineno - 1
    while index > 0 and index < len(lines) and lines[index - 1].lstrip().startswith("@"):
        index -= 1
    while index < len(lines):
        line = lines[index].lstrip()
        if line.startswith("@") and "ir_module" in line:
            return True
        if line.startswith("class "):
            return False
        index += 1
    return False


def environment(frame, function=None):
    """The names that code in a frame sees."""
    env = dict(frame.f_globals)
    outer = []
    current = frame
    while current is not None and current.f_globals is frame.f_globals:
        outer.append(current.f_locals)
        current = current.f_back
    for names in reversed(outer):
        env.update(names)
    if function is not None:
        closure = inspect.getclosurevars(function)
        env.update(closure.globals)
        env.update(closure.nonlocals)
    return env


def read(source, env, name="<script>", first_line=1, verify=True):
    """Reads a script: the module, as the extension module has it."""
    return native.from_source(resolve(source, env), name, first_line, "tvmscript", verify)


def caller(depth=1):
    return sys._getframe(depth + 1)  # pylint: disable=protected-access
