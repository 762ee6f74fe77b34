"""Scripts in Python source: a decorated class or function is text for the reader of TVMScript.

Names that the source captures are not known to the reader, so they are replaced by what they stand for: the largest
expressions that are made of captured names and literals alone are evaluated, and their values are written in their
places. Names of modules become the three prefixes of scripts.
"""
import ast
import builtins
import copy
import types

from . import _core
from ._core import native
from ._script_host import COMPREHENSIONS, READ, Host, Parameters, read_with
from ._script_places import Places
from ._script_values import Unprintable, declare as _declare, text_of  # noqa: F401
from ._script_sources import caller, environment, in_module_class, source_of_class, source_of_function  # noqa: F401

PREFIXES = {"I": "I", "R": "R", "T": "T"}
_DECORATORS = {"ir_module": "I.ir_module", "function": "R.function", "prim_func": "T.prim_func", "macro": None}
_CONST = "__const"
_EMIT = "__emit_te__"
_NODES = {"Call": "__relax_call", "Tuple": "__relax_tuple"}
_DROPPED_ARGUMENTS = {"check_well_formed", "tracked"}


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

    def __init__(self, env, source, host, file="<script>"):
        self.env = dict(env)  # eval adds the builtins to it
        self.host, self.file = host, file
        self.values = {}  # of expressions, with their nodes, which keep the keys valid
        self.lines = source.split("\n")
        self.scopes = _Scopes()
        self.edits = []
        self.macros = {}
        self.unwrap = []
        self.variables = {}
        self.undeclared = set()
        self.in_signature = False
        self.declarations = []
        self.function = None
        self.bound_by_callers = set()
        self.modules = set()

    # ---- Values
    def lookup(self, name):
        if name in self.env:
            return self.env[name]
        return getattr(builtins, name, Unprintable)

    def prefix_of(self, value):
        return getattr(value, "_script_prefix_", None)

    def kind(self, node):
        """Returns CONSTANT for a literal, CAPTURED for a subtree that can be evaluated here, SCRIPT for one for the reader."""
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
        if isinstance(node, ast.Starred):
            return self.kind(node.value)
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
        """The value of an expression, or Unprintable where it is one of the script alone. Other errors are the program's."""
        known = self.values.get(id(node))
        if known is None:
            code = compile(ast.Expression(body=node), "<script>", "eval")
            try:
                value = eval(code, self.env)  # pylint: disable=eval-used
            except (AttributeError, LookupError, NameError, TypeError, Unprintable):
                value = Unprintable
            known = self.values[id(node)] = (node, value)
        return known[1]

    # ---- Replacements
    def replace(self, node, text):
        self.edits.append((node.lineno - 1, node.col_offset, node.end_lineno - 1, node.end_col_offset, text))

    def render(self, node):
        """The text of an expression with its replacements made."""
        edits, self.edits = self.edits, []
        self.expression(node)
        lines = [line.encode() for line in self.lines[: node.end_lineno]]
        lines[-1] = lines[-1][: node.end_col_offset]
        _apply(lines, self.edits)
        self.edits = edits
        lines = lines[node.lineno - 1 :]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode()

    def is_foreign_call(self, node):
        """Returns whether a function of the program is called, which the reader does not know."""
        if not isinstance(node, ast.Call) or self.kind(node.func) != self.CAPTURED:
            return False
        function = self.value(node.func)
        is_known = getattr(function, "__module__", None) == "builtins" and getattr(function, "__name__", "") in READ
        return function is not Unprintable and callable(function) and not is_known

    def is_foreign(self, node):
        """Returns whether Python computes an expression while the script is read."""
        if isinstance(node, (ast.Attribute, ast.Subscript)) and self.is_foreign(node.value):
            return True
        if isinstance(node, ast.Subscript) and self.kind(node.value) == self.CAPTURED:
            return isinstance(self.value(node.value), (list, tuple, dict))
        return isinstance(node, COMPREHENSIONS + (ast.JoinedStr,)) or self.is_foreign_call(node)

    def foreign(self, node):
        """Replaces an expression that Python computes by a call that the reader makes with what is the script's."""
        body = Parameters(self)
        expression = body.visit(copy.deepcopy(node))
        args = ast.arguments(posonlyargs=[], args=[ast.arg(arg=name) for name in body.arguments], kwonlyargs=[],
                             kw_defaults=[], defaults=[])
        function = ast.copy_location(ast.Lambda(args=args, body=expression), node)
        code = compile(ast.fix_missing_locations(ast.Expression(body=function)), self.file, "eval")
        number = self.host.add(eval(code, self.env))  # pylint: disable=eval-used
        self.replace(node, f"__host_{number}({', '.join(body.arguments.values())})")

    def call(self, node):
        """Replaces the call of a function of Python by what it makes of the texts of its arguments."""
        callee = node.func
        if self.kind(callee) != self.CAPTURED or any(isinstance(arg, ast.Starred) for arg in node.args):
            return False
        function = self.value(callee)
        if function is Unprintable or not callable(function):
            return False
        from .script._names import Expression

        def argument(arg):
            value = self.value(arg) if self.kind(arg) != self.SCRIPT else Unprintable
            return Expression(self.render(arg)) if value is Unprintable else value

        try:
            result = function(*(argument(arg) for arg in node.args),
                              **{keyword.arg: argument(keyword.value) for keyword in node.keywords})
            text = text_of(result, self.variables)
        except Unprintable:
            return False
        self.replace(node, text)
        return True

    def constant(self, node):
        """Lets Python make the constant of R.const(array, dtype), which has the dtype that Python gives it."""
        if not node.args or isinstance(node.args[0], ast.Starred) or self.kind(node.args[0]) == self.SCRIPT:
            return False
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        value = self.value(node.args[0])
        if name == "const" and self.scalar_constant(node):
            return True
        if name != "const" or not hasattr(value, "shape") or not hasattr(value, "dtype"):
            return False
        from . import relax

        rest = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        if any(self.kind(arg) == self.SCRIPT for arg in rest):
            return False
        self.env[_CONST] = relax.const
        const = ast.copy_location(ast.Name(id=_CONST, ctx=ast.Load()), node)
        self.foreign(ast.copy_location(ast.Call(func=const, args=node.args, keywords=node.keywords), node))
        return True

    def scalar_constant(self, node):
        """Writes tir.const(value, dtype), which scripts do not have, as T.float32(value)."""
        from . import relax, tir
        from .script import relax as script

        if any(self.kind(arg) == self.SCRIPT for arg in node.args) or node.keywords:
            return False
        # R.const is called by the reader, which needs no NumPy for it.
        if self.value(node.func) in (relax.const, script.const):
            return False
        value = self.value(node)
        if not isinstance(value, (tir.IntImm, tir.FloatImm)):
            return False
        self.replace(node, f"T.{value.dtype}({value.value!r})")
        return True

    def class_of_node(self, node):
        """The name by which Python finds relax.Call or relax.Tuple, which scripts do not have; None for other functions."""
        from . import relax

        if not isinstance(node, ast.Attribute) or node.attr not in _NODES or self.value(node) is not getattr(relax, node.attr):
            return None
        self.env[_NODES[node.attr]] = getattr(relax, node.attr)
        return ast.copy_location(ast.Name(id=_NODES[node.attr], ctx=ast.Load()), node)

    def node_of_call(self, node):
        """Lets Python make the node of relax.Call(operator, operands)."""
        callee = self.class_of_node(node.func)
        if callee is None:
            return False
        self.foreign(ast.copy_location(ast.Call(func=callee, args=node.args, keywords=node.keywords), node))
        return True

    def attribute(self, node):
        """Writes getattr(T, "float32") as T.float32."""
        if not isinstance(node.func, ast.Name) or node.func.id in self.scopes or self.lookup(node.func.id) is not getattr:
            return False
        value = self.value(node)
        name = None if value is Unprintable else getattr(value, "_script_name_", None)
        if name is not None:
            self.replace(node, name)
        return name is not None

    def emit_te(self, node):
        """Lets Python make the PrimFunc of R.emit_te(function, ...), and the call of it that is read in its place."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "emit_te":
            return False
        self.env[_EMIT] = self.host.emit_te
        self.host.makes_prim_funcs = True
        emit = ast.copy_location(ast.Name(id=_EMIT, ctx=ast.Load()), node)
        self.foreign(ast.copy_location(ast.Call(func=emit, args=node.args, keywords=node.keywords), node))
        return True

    def expression(self, node, is_argument=False):
        if node is None:
            return
        if isinstance(node, ast.Starred):
            self.expression(node.value)
            return
        # A slice is a range of the script, whatever its bounds are.
        if isinstance(node, ast.Slice) or (isinstance(node, ast.Tuple) and any(isinstance(item, ast.Slice) for item in node.elts)):
            for child in ast.iter_child_nodes(node):
                self.child(child)
            return
        if isinstance(node, ast.Call) and (
                self.constant(node) or self.attribute(node) or self.emit_te(node) or self.node_of_call(node)):
            return
        kind = self.kind(node)
        if kind == self.CAPTURED:
            value = self.value(node)
            if isinstance(node, ast.Name) and isinstance(value, types.LambdaType) and value.__name__ == "<lambda>":
                self.replace(node, f"({_text_of_lambda(value)})")
                return
            if value is not Unprintable:
                try:
                    text = self.text_of(value)
                    is_negative = isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0
                    is_part = is_negative or not _is_atom(value)
                    self.replace(node, f"({text})" if is_part and not is_argument else text)
                    return
                except Unprintable:
                    if not isinstance(node, ast.Call) and not callable(value):
                        self.foreign(node)
                        return
        if isinstance(node, (ast.Name, ast.Attribute)) and self.rename(node):
            return
        if self.is_foreign(node):
            self.foreign(node)
            return
        for child in ast.iter_child_nodes(node):
            self.child(child)

    def text_of(self, value):
        """The text of a value, whose variables are noted for declaration.

        What the signature of a PrimFunc uses can't be declared before it: such variables come from the program everywhere.
        """
        used = {}
        text = text_of(value, used)
        if self.in_signature:
            self.undeclared |= set(used)
        if self.undeclared & set(used):
            raise Unprintable(value)
        for var in used.values():
            _declare(var, value, self.variables)
        return text

    def child(self, child):
        if isinstance(child, ast.expr):
            self.expression(child)
        elif isinstance(child, ast.keyword):
            self.expression(child.value, is_argument=True)
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
        self.bound_by_callers = _names_in(node)
        # The module, and what functions call it: cls = Module.
        self.modules = {node.name} | {target.id for child in ast.walk(node) if isinstance(child, ast.Assign)
                                      and isinstance(child.value, ast.Name) and child.value.id == node.name
                                      for target in child.targets if isinstance(target, ast.Name)}
        self.scopes.names[0] |= {node.name}
        self.scopes.names[0] |= {child.name for child in node.body if isinstance(child, ast.FunctionDef)}
        self.decorators(node)
        self.remove_bases(node)
        for child in node.body:
            if _decorates(child, "pyfunc"):
                self.remove(child)
            else:
                self.visit(child)

    def remove_bases(self, node):
        """Takes the base classes of a class out of the text."""
        bases = node.bases + [keyword.value for keyword in node.keywords]
        if not bases:
            return
        line, column = bases[-1].end_lineno - 1, bases[-1].end_col_offset
        while b")" not in self.lines[line].encode()[column:]:
            line, column = line + 1, 0
        column += self.lines[line].encode()[column:].index(b")") + 1
        begin = self.lines[node.lineno - 1].encode().index(b"(")
        self.edits.append((node.lineno - 1, begin, line, column, ""))

    def remove(self, node):
        """Takes a function out of the text."""
        first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list]) - 1
        self.edits.append((first, node.col_offset, node.end_lineno - 1, node.end_col_offset, "pass"))
        if node.decorator_list:
            # The decorator begins a column before its expression.
            self.edits[-1] = (first, node.decorator_list[0].col_offset - 1, *self.edits[-1][2:])

    def visit_FunctionDef(self, node):
        self.decorators(node)
        self.scopes.names.append(_bound_names(node) | (self.bound_by_callers if _is_open_macro(node) else set()))
        outer, self.variables, self.undeclared = self.variables, {}, set()
        self.function = node.name
        self.in_signature = _decorates(node, "prim_func")
        for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
            self.expression(arg.annotation)
        self.expression(node.returns)
        self.in_signature = False
        for child in node.body:
            self.visit(child)
        self.scopes.names.pop()
        declared = "; ".join(f"{name} = {_declaration(var)}" for name, var in self.variables.items())
        self.host.variables.update(self.variables)
        if declared:
            first = node.body[0]
            self.declarations.append((first.lineno - 1, " " * first.col_offset + declared))
        self.variables = outer

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

    def visit_Assign(self, node):
        """A variable that a function of Python makes for a name, off = te.var("off"), is one that the script declares."""
        from . import tir

        is_call = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Call)
        made = self.value(node.value) if is_call and self.kind(node.value) == self.CAPTURED else None
        if isinstance(made, tir.Var):
            self.replace(node.value, _declaration(made))
        else:
            self.generic_visit(node)

    def visit_Nonlocal(self, node):
        self.replace(node, "pass")

    visit_Global = visit_Nonlocal

    def visit_If(self, node):
        """Decides a condition that does not depend on the script."""
        value = self.value(node.test) if self.kind(node.test) == self.CAPTURED else None
        if not isinstance(value, bool):
            self.generic_visit(node)
            return
        chosen, dropped = (node.body, node.orelse) if value else (node.orelse, node.body)
        for statement in chosen:
            self.visit(statement)
        for statement in dropped:
            self.replace(statement, "pass")
        # `if True:` is the reader's to decide, too, but names of the branch may be used after it.
        self.unwrap.append((node, chosen))

    def generic_visit(self, node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)
            elif isinstance(child, ast.withitem):
                self.expression(child.context_expr)
            elif isinstance(child, ast.stmt):
                self.visit(child)

    def apply(self, places=None):
        """The text; places get what was changed."""
        lines = [line.encode() for line in self.lines]
        _apply(lines, self.edits)
        widths = [len(line) for line in lines]
        for node, chosen in self.unwrap:
            _unwrap(lines, node, chosen)
        if places is not None:
            places.edits, places.inserted = self.edits, [index for index, _ in self.declarations]
            places.dedents = {index: width - len(line) for index, (width, line) in enumerate(zip(widths, lines)) if line}
        for index, text in self.declarations:
            lines[index] = text.encode() + b"\n" + lines[index]
        return b"\n".join(line for line in lines if line is not None).decode()


def _declaration(var):
    from . import tir

    return f"T.{var.dtype}(is_size_var=True)" if isinstance(var, tir.SizeVar) else f"T.{var.dtype}()"


def _text_of_lambda(function):
    """The text of a function of indices, such as that of R.layout_transform."""
    from .tir import IndexMap

    index_map = IndexMap.from_func(function)
    names = ", ".join(var.name for var in index_map.initial_indices)
    return f"lambda {names}: ({', '.join(str(index) for index in index_map.final_indices)},)"


def _is_atom(value):
    from . import tir

    value = value._node_() if hasattr(value, "_node_") and not isinstance(value, _core.Node) else value
    return not isinstance(value, (tir.BinaryOpExpr,))


def _apply(lines, edits):
    """Makes replacements, which do not overlap; the number of lines stays what it is."""
    for first, begin, last, end, text in sorted(edits, reverse=True):
        tail = lines[last][end:]
        lines[first] = lines[first][:begin] + text.encode() + tail
        for index in range(first + 1, last + 1):
            lines[index] = None
    for index, line in enumerate(lines):
        if line is None:
            lines[index] = b""


def _unwrap(lines, node, chosen):
    """Puts the statements of a branch in place of the conditional."""
    indent = node.col_offset
    first, last = node.lineno - 1, node.end_lineno
    kept = [(statement.lineno - 1, statement.end_lineno) for statement in chosen]
    for index in range(first, last):
        if not any(begin <= index < end for begin, end in kept):
            lines[index] = b""
    for begin, end in kept:
        depth = len(lines[begin]) - len(lines[begin].lstrip())
        for index in range(begin, end):
            lines[index] = lines[index][min(depth - indent, len(lines[index]) - len(lines[index].lstrip())) :]
    if not kept:
        lines[first] = b" " * indent + b"pass"


def _decorates(node, decorator_name):
    """Returns whether a function has a decorator of a name, such as T.prim_func(private=True)."""
    callees = [decorator.func if isinstance(decorator, ast.Call) else decorator
               for decorator in getattr(node, "decorator_list", [])]
    return any(decorator_name == getattr(callee, "attr", getattr(callee, "id", "")) for callee in callees)


def _is_open_macro(function):
    """Returns whether the names in the function of a script are those of the places that call it."""
    calls = [decorator for decorator in function.decorator_list if isinstance(decorator, ast.Call)]
    return any(getattr(call.func, "attr", None) == "macro" and keyword.arg == "hygienic" and
               isinstance(keyword.value, ast.Constant) and keyword.value.value is False
               for call in calls for keyword in call.keywords)


def _names_in(tree):
    """The names that the functions of a script bind."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return set().union(*(_bound_names(function) for function in functions))


def resolve(source, env, host, bound=(), file="<script>", places=None):
    """The text of a script in which captured values are written in their places, but not those of names in `bound`.

    What Python computes is a call of a function that the host gets.
    """
    tree = ast.parse(source)
    substitution = _Substitution(env, source, host, file)
    substitution.scopes.names[0] |= set(bound) | {
        node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }
    for statement in tree.body:
        substitution.visit(statement)
    text = substitution.apply(places)
    for macro in substitution.macros.values():
        macro_text, macro_places = macro(env, _names_in(tree), host)
        text = macro_text + "\n" + text
        if places is not None:
            places.insert(macro_places, macro_text.count("\n") + 1)
    return text


def read(source, env, name="<script>", first_line=1, verify=True):
    """Reads a script: the module."""
    from . import ir

    host, places = Host(), Places(name, first_line, source)
    text = resolve(source, env, host, file=name, places=places)
    try:
        if host.functions:
            read_text = read_with(host, text, name, first_line, verify)
        else:
            read_text = native.from_source(text, name, first_line, "tvmscript", verify)
    except _core.Error as error:
        # The first frame is that of the script.
        raise places.error(error) from error.__cause__
    return ir.IRModule(_module=read_text)
