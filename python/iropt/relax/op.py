"""The operators of Relax as functions, made from the table: `relax.op.add(x, y)`, `relax.op.nn.conv2d(data, weight)`."""
import builtins
import functools

from .. import _newer, ir
from .._core import CLASSES, Node, native

_script_prefix_ = "R"


@functools.lru_cache(maxsize=None)
def _table():
    return {row["name"]: row for row in native.op_table() if row["graph"]}


@functools.lru_cache(maxsize=None)
def _by_script():
    return {row["script"].removeprefix("R."): name for name, row in _table().items()}


def _operator(name):
    row = _table()[name]

    def call(*args, **kwargs):
        try:
            made = native.call_op(name, args, kwargs)
        except TypeError:
            if any(_is_text(arg) for arg in args):
                return _text_of_call(call._script_name_, args, kwargs)
            converted = [_index_map(arg) for arg in args] if has_index_map else args
            keywords = {key: _index_map(arg) if has_index_map else arg for key, arg in _newer.older(kwargs).items()}
            if keywords == kwargs and converted == args:
                raise
            made = native.call_op(name, tuple(converted), keywords)
        if has_groups and made.attrs.groups <= 0:
            raise native.ArgumentError(f"{call._script_name_}: groups must be positive, but are {made.attrs.groups}")
        return made

    has_groups = "groups" in row["attrs"]
    has_index_map = any(type_ == "IndexMap" for _, type_, _, _ in row["params"])
    call.__name__ = call.__qualname__ = row["script"].rsplit(".", 1)[-1]
    call.__signature__ = _signature(row)
    call.__doc__ = _documentation(row)
    call._script_name_ = "R." + row["script"].removeprefix("R.")
    return call


def _index_map(arg):
    """An index map of a function of indices; other arguments stay."""
    import types

    from .. import tir

    return tir.IndexMap.from_func(arg) if isinstance(arg, types.FunctionType) else arg


class _SameAs:
    """The default of a parameter that is the value of another one."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


def _signature(row):
    import inspect

    kinds = {"rest": inspect.Parameter.VAR_POSITIONAL, "keyword": inspect.Parameter.KEYWORD_ONLY,
             "any": inspect.Parameter.POSITIONAL_OR_KEYWORD}
    parameters = []
    for name, type_, default, given in row["params"]:
        default = _SameAs(default[0]) if isinstance(default, tuple) else default
        has_none = default is ... or given == "rest"
        parameters.append(inspect.Parameter(name, kinds[given], annotation=type_,
                                            default=inspect.Parameter.empty if has_none else default))
    return inspect.Signature(parameters, return_annotation="Call")


def _documentation(row):
    """The documentation of an operator: what its parameters are, and what it returns."""
    lines = [f"A call of the operator {row['name']}. The attributes of the call are {', '.join(row['attrs']) or 'none'}.", "",
             "Parameters", "----------"]
    for name, type_, default, given in row["params"]:
        text = default[0] if isinstance(default, tuple) else repr(default)
        optional = "" if default is ... or given == "rest" else f", optional, {text}"
        star = "*" if given == "rest" else ""
        role = "operand" if name in row["args"] or given == "rest" else "attribute"
        lines += [f"{star}{name} : {type_}{optional}", f"    An {role}."]
    return "\n".join(lines + ["", "Returns", "-------", "result : Call", "    The call, whose type is inferred when it is emitted."])


def _is_text(arg):
    from ..script._names import Name

    return isinstance(arg, Name) or (isinstance(arg, (list, tuple)) and any(_is_text(item) for item in arg))


def _text_of_call(name, args, kwargs):
    """The call as text: functions that scripts call are given texts."""
    from ..script._names import Expression, arguments

    return Expression(f"{name}({arguments(args, kwargs)})")


class _Group:
    """The operators whose names begin alike, such as those of relax.nn."""

    def __init__(self, prefix):
        self._prefix = prefix

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = find(self._prefix + name)
        setattr(self, name, found)  # so that it is looked up once
        return found

    def __dir__(self):
        return sorted({name[len(self._prefix):].split(".")[0] for name in _by_script() if name.startswith(self._prefix)})


@functools.lru_cache(maxsize=None)
def find(script):
    """The operator, or the group of operators, of a name in scripts without `R.`."""
    name = _by_script().get(script)
    if name is None and "relax." + script in _table():
        name = "relax." + script
    if name is not None:
        return _operator(name)
    if any(other.startswith(script + ".") for other in _by_script()):
        return _Group(script + ".")
    raise AttributeError(f"there is no operator '{script}' of Relax")


def binary_operands(a, b):
    """Both operands of arithmetic as expressions: a number gets the dtype of the other operand."""
    from . import PrimStructInfo, PrimValue, const

    def lift(value, other):
        if not isinstance(value, (int, float)):
            return value
        info = other.type
        if isinstance(info, PrimStructInfo):
            return PrimValue(value)
        return const(value, getattr(info, "dtype", None) or None)

    return lift(a, b), lift(b, a)


@_newer.keywords
def call_tir(gvar, args, out_sinfo, tir_vars=None):
    """A call of a PrimFunc, whose results are new tensors of the given types."""
    keywords = {"out_sinfo": _types(out_sinfo)}
    if tir_vars is not None:
        keywords["tir_vars"] = _shape(tir_vars)
    return native.call_op("relax.call_tir", (gvar, _arguments(args)), keywords)


@_newer.keywords
def call_dps_packed(func, args, out_sinfo):
    return native.call_op("relax.call_dps_packed", (func, _arguments(args)), {"out_sinfo": _types(out_sinfo)})


@_newer.keywords
def call_pure_packed(func, *args, sinfo_args):
    from . import ExternFunc

    func = ExternFunc(func) if isinstance(func, str) else func
    return native.call_op("relax.call_pure_packed", (func, *args), {"sinfo_args": _types(sinfo_args)})


def linear(data, weight, bias=None, out_dtype=None):
    """The product of data with the transposed weights, and a bias if there is one: several calls of operators."""
    product = find("matmul")(data, find("permute_dims")(weight), out_dtype=out_dtype)
    return product if bias is None else find("add")(product, bias)


def _arguments(args):
    if isinstance(args, ir.RelaxExpr):
        return args if isinstance(args, CLASSES["Tuple"]) else (args,)
    return tuple(args)


def _types(types):
    return list(types) if isinstance(types, (list, tuple)) else types


def _shape(values):
    from . import ShapeExpr

    return ShapeExpr(list(values)) if isinstance(values, (list, tuple)) else values


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    found = find(name)
    if not hasattr(builtins, name):
        globals()[name] = found  # so that it is looked up once
    return found


def __dir__():
    return sorted(set(globals()) | {name.split(".")[0] for name in _by_script()})
