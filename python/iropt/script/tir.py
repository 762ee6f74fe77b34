"""The prefix T of scripts. Outside of scripts, dtypes make constants: T.int64(3)."""
from .. import tir as _tir
from .._core import native
from . import _functions
from ._names import Name, named

_script_prefix_ = "T"

prim_func = _functions.decorator("prim_func")
macro = inline = _functions.macro("T")

_VALUES = ("exp", "floordiv", "floormod", "ceildiv", "truncdiv", "truncmod", "IndexMap", "IterVar", "Var", "if_then_else",
           "Range", "Select", "Cast", "IntImm", "FloatImm")
# T.f32, T.i8, T.u64, T.bf16
_SHORT = {f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)}
_SHORT["bf16"] = "bfloat16"
del _SHORT["f8"]


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
    dtype = _dtype(name)
    if dtype is not None:
        return _DType(dtype)
    value = _expression(name)
    return named("T", name) if value is None else value


def _dtype(name):
    """The dtype of a name, as the reader of scripts has it: all but one have digits; None for other names."""
    if name in ("bool", "boolean"):
        return "bool"
    if not any(char.isdigit() for char in name):
        return None
    if name in _SHORT:
        return _SHORT[name]
    try:
        native.dtype_name(name)
    except ValueError:
        return None
    return name


def _expression(name):
    """What makes an expression of expressions: a class of nodes, a function on them, or an operator of the table."""
    if name in _VALUES or hasattr(_tir.op, name):
        return getattr(_tir, name, None)
    value = vars(_tir).get(name)
    if isinstance(value, type) and issubclass(value, _tir.PrimExpr):
        return value
    is_operator = value is None and _tir.is_operator(name)
    return getattr(_tir, name) if is_operator else None
