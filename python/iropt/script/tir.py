"""The prefix T of scripts. Outside of scripts, dtypes make constants: T.int64(3)."""
from .. import tir as _tir
from . import _functions
from ._names import Name, named

_script_prefix_ = "T"

prim_func = _functions.decorator("prim_func")
macro = _functions.macro("T")

_VALUES = ("exp", "floordiv", "floormod", "ceildiv", "truncdiv", "truncmod", "IndexMap", "IterVar", "Var", "if_then_else",
           "Range", "Select", "Cast", "IntImm", "FloatImm")


class _DType(Name):
    """A dtype: called with a number a constant, called without one a variable."""

    def __init__(self, dtype):
        super().__init__(f"T.{dtype}")
        self._dtype = dtype

    def __call__(self, value=None, **kwargs):
        if value is None or kwargs:
            return _tir.SizeVar("", self._dtype) if kwargs.get("is_size_var") else _tir.Var("", self._dtype)
        if isinstance(value, (int, float)):
            return _tir.const(value, self._dtype)
        return _tir.convert(value).astype(self._dtype)

    def __str__(self):
        return self._dtype


def ptr(dtype, storage_scope="global"):
    """A pointer to elements in a memory, under another name than that of scripts."""
    return Name("T.handle")(dtype, storage_scope)


setattr(ptr, "_script_name_", "T.handle")


def index_map(mapping, *, inverse_index_map=None, index_dtype="int64"):
    return _tir.IndexMap.from_func(mapping, inverse_index_map=inverse_index_map, index_dtype=index_dtype)


def target(config, host=None):
    from ..target import Target

    return Target(config, host)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name.rstrip("0123456789x") in ("int", "uint", "float", "bfloat") and any(char.isdigit() for char in name):
        return _DType(name)
    if name in ("bool", "boolean"):
        return _DType("bool")
    value = _expression(name)
    return named("T", name) if value is None else value


def _expression(name):
    """What makes an expression of expressions: a class of nodes, a function on them, or an operator of the table."""
    if name in _VALUES or hasattr(_tir.op, name):
        return getattr(_tir, name, None)
    value = vars(_tir).get(name)
    if isinstance(value, type) and issubclass(value, _tir.PrimExpr):
        return value
    is_operator = value is None and _tir.is_operator(name)
    return getattr(_tir, name) if is_operator else None
