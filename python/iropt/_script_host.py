"""What Python computes while a script is read: expressions of the source become functions that the reader calls.

The reader gives such a function the values of the script that it uses, as nodes, and takes what it returns.
"""
import ast
import inspect

from . import _core
from ._core import native

COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
# Functions of Python that the reader knows.
READ = {"bool", "float", "int", "len", "list", "max", "min", "range", "tuple"}


class Parameters(ast.NodeTransformer):
    """Makes an expression one of Python: what is the script's becomes parameters, whose arguments are texts."""

    def __init__(self, substitution):
        self.substitution = substitution
        self.arguments = {}
        self.own = []  # names that are bound within the expression

    def visit(self, node):
        script = self.substitution
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Constant, ast.Starred)):
            return self.generic_visit(node)
        if isinstance(node, (ast.JoinedStr, ast.Lambda) + COMPREHENSIONS):
            return self.bind(node)
        if self.own:
            is_script = isinstance(node, ast.Name) and node.id in script.scopes and node.id not in self.own
            return self.parameter(node) if is_script else self.generic_visit(node)
        if script.kind(node) != script.SCRIPT:
            return node
        if isinstance(node, ast.Call):
            node.func = script.class_of_node(node.func) or node.func
        if script.is_foreign(node) or self.is_field(node) or isinstance(node, (ast.List, ast.Tuple)):
            return self.generic_visit(node)
        return self.parameter(node)

    def is_field(self, node):
        """Returns whether it is a field of what a name of the script means, which nodes have, too."""
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and self.is_field(node.value)
        if not isinstance(node, ast.Attribute):
            return False
        if isinstance(node.value, ast.Name):
            return node.value.id in self.substitution.scopes and node.value.id not in self.substitution.modules
        return self.is_field(node.value)

    def parameter(self, node):
        name = f"_script_{len(self.arguments)}_"
        self.arguments[name] = self.substitution.render(node)
        return ast.copy_location(ast.Name(id=name, ctx=ast.Load()), node)

    def bind(self, node):
        """What is nested in a comprehension is evaluated later, so that of the script only names are its parameters."""
        names = [child.arg if isinstance(child, ast.arg) else child.id for child in ast.walk(node)
                 if isinstance(child, ast.arg) or (isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store))]
        outer, self.own = self.own, self.own + names + [""]
        result = self.generic_visit(node)
        self.own = outer
        return result


class Host:
    """The functions of the program that a script calls, and the variables of the program that it declares."""

    def __init__(self):
        self.functions = []
        self.variables = {}
        self.expansions = {}  # of calls whose functions return parts of scripts
        self.makes_prim_funcs = False
        self.prim_funcs = []  # that R.emit_te has made: (the name in the script, the name that is wanted, the function)

    def add(self, function):
        """Returns the number of a function."""
        self.functions.append(function)
        return len(self.functions) - 1

    def __call__(self, number, arguments):
        from .script._names import Name

        result = self.functions[number](*arguments)
        if isinstance(result, Name) and not isinstance(getattr(result, "_dtype", None), str):
            self.expansions[number] = result._script_()
            raise Expanded(f"{result!r} is a part of a script, which is read in place of the call")
        return _plain(result)


    def emit_te(self, function, *args, primfunc_name_hint=None, **kwargs):
        """The call of a new PrimFunc that computes what a function on tensors does."""
        from . import ir, relax
        from .relax.te_call import gen_call_tir_inputs

        prim_func, call_args, types, tir_vars = gen_call_tir_inputs(function, *args, **kwargs)
        name = ir.GlobalVar(f"__te_{len(self.prim_funcs)}")
        self.prim_funcs.append((name, primfunc_name_hint or function.__name__, prim_func))
        return relax.op.call_tir(name, call_args, types[0] if len(types) == 1 else types, tir_vars)


class Expanded(Exception):
    """A function has returned a part of a script, such as T.match_buffer(...)."""


def _plain(value):
    """A value as one that the reader takes: with numbers, texts, lists and nodes for what stands for such."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value] if isinstance(value, list) else tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (range, set, frozenset)) or inspect.isgenerator(value):
        return [_plain(item) for item in value]
    if type(value).__module__ == "numpy" or (isinstance(value, type) and value.__module__ == "numpy"):
        if type(value).__name__ == "ndarray":
            from . import relax

            return relax.const(value)
        if hasattr(value, "item") and not isinstance(value, type) and not type(value).__name__.startswith("dtype"):
            return value.item()
        return value.__name__ if isinstance(value, type) else str(value)
    dtype = getattr(value, "_dtype", None)
    return dtype if isinstance(dtype, str) else value


def read_with(host, text, name, first_line, verify):
    """Reads a text that calls functions of the host. Each part of a script that one returns is read in its place."""
    while True:
        host.expansions.clear()
        host.prim_funcs.clear()
        try:
            is_whole = verify and not host.makes_prim_funcs
            module = native.from_script(text, name, first_line, is_whole, host, list(host.variables.items()))
            return _with_prim_funcs(module, host.prim_funcs, verify) if host.prim_funcs else module
        except _core.Error as error:
            if not isinstance(error.__cause__, Expanded):
                raise
            expanded = _expand(text, host.expansions)
            if expanded == text:
                raise
            text = expanded


def _with_prim_funcs(module, made, verify):
    """The module with the functions that R.emit_te has made, under names that are free."""
    from . import ir
    from .relax.emit_te import add_prim_funcs

    result = add_prim_funcs(ir.IRModule(_module=module), made)._module
    errors = result.verify() if verify else ""
    if errors:
        raise _core.Error(errors)
    return result


def _expand(text, expansions):
    """The text with the parts of scripts in the places of the calls that have returned them."""
    for number, part in expansions.items():
        begin = text.find(f"__host_{number}(")
        end, depth = text.index("(", begin), 0
        while depth or text[end] == "(":
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if not depth:
                break
        # The lines after it stay where they are.
        lines = "\n" * text.count("\n", begin, end)
        text = text[:begin] + part[:-1] + lines + part[-1] + text[end:]
    return text
