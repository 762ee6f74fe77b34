"""Scalar expressions."""
import abc
import functools
import re

from .. import _core
from .._core import Array, Error, Node, make, native, node
from .._object import Object
from . import _vectors

_KIND = {name: row[0] for name, row in _core.KINDS.items()}


def _object():
    # The base class is in ir, which needs this module.
    from .. import ir

    return ir


class _Operators:
    """Arithmetic: a new expression, folded if the operands are numbers."""

    __slots__ = ()

    def __add__(self, other):
        return _binary("Add", self, other)

    def __radd__(self, other):
        return _binary("Add", other, self)

    def __sub__(self, other):
        return _binary("Sub", self, other)

    def __rsub__(self, other):
        return _binary("Sub", other, self)

    def __mul__(self, other):
        return _binary("Mul", self, other)

    def __rmul__(self, other):
        return _binary("Mul", other, self)

    def __truediv__(self, other):
        return _binary("Div", self, other)

    def __rtruediv__(self, other):
        return _binary("Div", other, self)

    def __floordiv__(self, other):
        return _binary("FloorDiv", self, other)

    def __rfloordiv__(self, other):
        return _binary("FloorDiv", other, self)

    def __mod__(self, other):
        return _binary("FloorMod", self, other)

    def __rmod__(self, other):
        return _binary("FloorMod", other, self)

    def __neg__(self):
        return _binary("Mul", self, const(-1, self.dtype))

    def __lshift__(self, other):
        return native.bitwise(0, self, other)

    def __rlshift__(self, other):
        return native.bitwise(0, other, self)

    def __rshift__(self, other):
        return native.bitwise(1, self, other)

    def __rrshift__(self, other):
        return native.bitwise(1, other, self)

    def __and__(self, other):
        return native.bitwise(2, self, other)

    def __rand__(self, other):
        return native.bitwise(2, other, self)

    def __or__(self, other):
        return native.bitwise(3, self, other)

    def __ror__(self, other):
        return native.bitwise(3, other, self)

    def __xor__(self, other):
        return native.bitwise(4, self, other)

    def __rxor__(self, other):
        return native.bitwise(4, other, self)

    def __invert__(self):
        if not self.dtype.startswith(("int", "uint", "bool")):
            raise Error(f"the bits of {self.dtype} have no complement")
        return Call(self.dtype, "tir.bitwise_not", [self])

    def __lt__(self, other):
        return _binary("LT", self, other)

    def __le__(self, other):
        return _binary("LE", self, other)

    def __gt__(self, other):
        return _binary("GT", self, other)

    def __ge__(self, other):
        return _binary("GE", self, other)

    def __eq__(self, other):
        return EqualOp(self, other)

    def __ne__(self, other):
        return NotEqualOp(self, other)

    def __hash__(self):
        return Node.__hash__(self)

    def __bool__(self):
        raise ValueError("a symbolic expression has no truth value; use T.And, T.Or and T.Not")

    def equal(self, other):
        return const(1, "bool") if _vectors.are_both_vscale(self, other) else _binary("EQ", self, other)

    def astype(self, dtype, span=None):
        del span
        return native.cast(dtype, self)


class EqualOp:
    """The comparison of two expressions: as a truth value, whether they are the same."""

    _kind_name = "EQ"
    _same = True

    def __init__(self, a, b):
        self.a, self.b = a, b

    def _node_(self):
        return _binary(self._kind_name, self.a, self.b)

    asobject = _node_

    def __bool__(self):
        a, b = self.a, self.b
        if isinstance(a, Node) and isinstance(b, Node):
            same = native.node_id(a) == native.node_id(b) or (
                isinstance(a, (IntImm, FloatImm)) and type(a) is type(b) and a.value == b.value)
        elif isinstance(a, (IntImm, FloatImm, StringImm)) and isinstance(b, (int, float, str)):
            same = a.value == b
        else:
            same = False
        return same == self._same

    def __getattr__(self, name):
        return getattr(self._node_(), name)

    def __and__(self, other):
        return self._node_() & other

    def __or__(self, other):
        return self._node_() | other


class NotEqualOp(EqualOp):
    """The comparison of two expressions: as a truth value, whether they differ."""

    _kind_name = "NE"
    _same = False


class Expr(metaclass=abc.ABCMeta):
    """An expression of any level, as newer versions call it: scalar expressions, and those of Relax."""


class PrimExpr(_Operators, Object):
    """A scalar expression."""

    __slots__ = ()

    @property
    def ty(self):
        """The type: PrimType, or PointerType of a variable that points to memory."""
        return getattr(self, "type_annotation", None) or _object().PrimType(self.dtype)


Expr.register(PrimExpr)


class Stmt(Object):
    """A statement."""

    __slots__ = ()


_SYMBOLS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "FloorDiv": "//", "FloorMod": "%", "LT": "<", "LE": "<=",
            "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}


def _binary(kind, a, b):
    if isinstance(a, Node) and type(b) is int:
        return native.binary(_KIND[kind], a, b)
    if hasattr(a, "_text_of_script_") or hasattr(b, "_text_of_script_"):
        from ..script._names import operation

        return operation(_SYMBOLS[kind], a, b)
    # A tensor takes part as a whole.
    if hasattr(b, "_tensor_operation_"):
        return b._tensor_operation_(kind, a, b)
    if hasattr(a, "_tensor_operation_"):
        return a._tensor_operation_(kind, a, b)
    return native.binary(_KIND[kind], a, b)


def of_texts(function):
    """A function whose result is the text of a call where arguments are texts, as in functions that scripts call."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        from ..script._names import Expression, Name, arguments

        if any(isinstance(arg, Name) for arg in args):
            return Expression(f"T.{call.__name__}({arguments(args, kwargs)})")
        return function(*args, **kwargs)

    return call


def convert(value, dtype=None):
    """The expression of a number or a text."""
    if isinstance(value, Node) or hasattr(value, "_text_of_script_"):
        return value
    if isinstance(value, (list, tuple)):
        return Array(convert(item) for item in value)
    return native.to_prim(value, dtype or _wide(value))


def const(value, dtype=None, span=None):
    """A constant of a dtype: by default int32, float32 or bool, and int64 or float64 where these are too narrow."""
    del span
    if dtype is None and hasattr(value, "dtype") and not isinstance(value, Node):
        dtype, value = str(value.dtype), value.item()
    if dtype is None:
        wide = _wide(value)
        return native.to_prim(value, None) if wide is None else native.const_prim(value, wide)
    name = native.dtype_name(dtype)
    if isinstance(value, float) and name.startswith(("int", "uint", "bool")):
        value = int(value)
    if isinstance(value, (int, float)):
        check_range(value, name)
    return native.const_prim(value, dtype)


_LARGEST = {"float16": 65504.0, "float32": 3.4028234663852886e38}
_INTEGER = re.compile(r"(u?)int(\d+)(?:x|$)")


def check_range(value, dtype):
    """Raises Error unless a number is one of a dtype; infinities are numbers of all floats."""
    found = _INTEGER.match(dtype)
    if found is not None:
        bits = int(found[2])
        # The only bit of int1 is not a sign.
        low, high = (0, 2**bits - 1) if found[1] or bits == 1 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if not low <= value <= high:
            raise Error(f"the number {value} is not one of {dtype}, which has those from {low} to {high}")
    elif _LARGEST.get(dtype, float("inf")) < abs(value) < float("inf"):
        raise Error(f"the number {value} is too large for {dtype}")


def _wide(value):
    """The dtype of a number that is not of the default ones."""
    if type(value) is int and not -(2**31) <= value < 2**31:
        return "int64"
    return "float64" if type(value) is float and _LARGEST["float32"] < abs(value) < float("inf") else None


def _as_var_dtype(dtype):
    return dtype if isinstance(dtype, str) else getattr(dtype, "dtype", dtype)


@node("PrimVar")
class Var(PrimExpr):
    """A scalar variable."""

    __slots__ = ()

    def __new__(cls, name="v", dtype="int32", span=None, *, ty=None):
        del span
        kind, dtype = "SizeVar" if cls is SizeVar else "PrimVar", dtype if ty is None else ty
        if hasattr(dtype, "_pointer_"):
            return make(kind, name=name, dtype="handle", pointer=dtype._pointer_())
        return make(kind, name=name, dtype=_as_var_dtype(dtype))

    name_hint = property(lambda self: self.name)

    @property
    def type_annotation(self):
        if self.pointer is not None:
            return _object().PointerType(_object().PrimType(self.pointer[0]), self.pointer[1])
        if self.dtype == "handle":
            return _object().PointerType(_object().PrimType("void"), "")
        return _object().PrimType(self.dtype)


@node("SizeVar")
class SizeVar(Var):
    """A variable that is not negative."""

    __slots__ = ()


class Any(Var):
    """An extent that is not known: a variable."""

    __slots__ = ()

    def __new__(cls, span=None):
        return Var("any_dim", "int32", span)


@node("IntImm")
class IntImm(PrimExpr):
    """An integer constant."""

    __slots__ = ()

    def __new__(cls, dtype, value, span=None):
        del span
        check_range(int(value), native.dtype_name(dtype))
        return make("IntImm", dtype=dtype, value=int(value))

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __float__(self):
        return float(self.value)

    def __bool__(self):
        return self.value != 0

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        if isinstance(other, (int, bool)):
            return self.value == other
        if isinstance(other, IntImm):
            return self.value == other.value
        return EqualOp(self, other)

    def __ne__(self, other):
        if isinstance(other, (int, bool, IntImm)):
            return not self == other
        return NotEqualOp(self, other)


@node("FloatImm")
class FloatImm(PrimExpr):
    """A floating-point constant."""

    __slots__ = ()

    def __new__(cls, dtype, value, span=None):
        del span
        name = native.dtype_name(dtype)
        if name.startswith(("int", "uint", "bool")):
            raise Error(f"a FloatImm is of a float, not of {name}")
        check_range(float(value), name)
        return make("FloatImm", dtype=dtype, value=float(value))

    def __float__(self):
        return self.value


@node("PrimStringImm")
class StringImm(PrimExpr):
    """A text."""

    __slots__ = ()

    def __new__(cls, value, span=None):
        del span
        return make("PrimStringImm", value=value)

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, StringImm) else other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.value)


@node("Cast")
class Cast(PrimExpr):
    """A conversion to another dtype."""

    __slots__ = ()

    def __new__(cls, dtype, value, span=None):
        del span
        return make("Cast", dtype=dtype, value=value)


class BinaryOpExpr(PrimExpr):
    """An operation on two operands, a and b."""

    __slots__ = ()

    def __new__(cls, a, b, span=None):
        del span
        if cls in (BinaryOpExpr, CmpExpr, LogicalExpr):
            raise TypeError(f"{cls.__name__} is the base of operations, not one of them")
        a, b = convert(a), convert(b)
        if not isinstance(a, Node) or not isinstance(b, Node):
            return make(cls.__name__, a=a, b=b)
        if a.dtype != b.dtype and isinstance(b, IntImm):
            b = const(b.value, a.dtype)
        elif a.dtype != b.dtype and isinstance(a, IntImm):
            a = const(a.value, b.dtype)
        return native.make(cls._kind_, {"a": a, "b": b})


class CmpExpr(BinaryOpExpr):
    __slots__ = ()


class LogicalExpr(BinaryOpExpr):
    __slots__ = ()


def _binary_class(name, base):
    return node(name)(type(name, (base,), {"__slots__": (), "__doc__": f"The operation {name}.", "__module__": __name__}))


Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max = (
    _binary_class(name, BinaryOpExpr)
    for name in ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max"))
EQ, NE, LT, LE, GT, GE = (_binary_class(name, CmpExpr) for name in ("EQ", "NE", "LT", "LE", "GT", "GE"))
And, Or = (_binary_class(name, LogicalExpr) for name in ("And", "Or"))


@node("Not")
class Not(PrimExpr):
    """The negation of a condition."""

    __slots__ = ()

    def __new__(cls, a, span=None):
        del span
        return make("Not", a=a)


@node("Select")
class Select(PrimExpr):
    """One of two values, both of which are computed."""

    __slots__ = ()

    def __new__(cls, condition, true_value, false_value, span=None):
        del span
        return make("Select", condition=condition, true_value=true_value, false_value=false_value)


@node("Let")
class Let(PrimExpr):
    """An expression with a variable for a value."""

    __slots__ = ()

    def __new__(cls, var, value, body, span=None):
        del span
        value = convert(value)
        if isinstance(value, Node) and value.dtype != var.dtype:
            raise Error(f"a value of {value.dtype} is bound to the variable {var} of {var.dtype}")
        return make("Let", var=var, value=value, body=body)


@node("PrimCall")
class Call(PrimExpr):
    """A call of an intrinsic or of a function of the module."""

    __slots__ = ()

    def __new__(cls, dtype, op, args, span=None):
        del span
        if isinstance(op, str):
            op = _object().Op.get(op)
        return make("PrimCall", dtype=dtype, op=op, args=list(args))


@node("BufferLoad")
class BufferLoad(PrimExpr):
    """An element of a buffer."""

    __slots__ = ()

    def __new__(cls, buffer, indices, predicate=None, span=None):
        del span
        load = make("BufferLoad", buffer=buffer, indices=list(indices), predicate=predicate)
        _vectors.check_mask(predicate, load.dtype, True)
        return load


@node("ProducerLoad")
class ProducerLoad(PrimExpr):
    """An element of a tensor before buffers are assigned."""

    __slots__ = ()

    def __new__(cls, producer, indices, span=None):
        del span
        if hasattr(producer, "_tensor_operation_"):
            from ..te.tensor import load

            return load(producer, indices)
        return make("ProducerLoad", producer=producer, indices=list(indices), dtype=producer.dtype)


@node("Ramp")
class Ramp(PrimExpr):
    """A vector base, base + stride, ..."""

    __slots__ = ()

    def __new__(cls, base, stride, lanes, span=None):
        del span
        return make("Ramp", base=base, stride=stride, lanes=_vectors.lanes(lanes))


@node("Broadcast")
class Broadcast(PrimExpr):
    """A vector of one value."""

    __slots__ = ()

    def __new__(cls, value, lanes, span=None):
        del span
        return make("Broadcast", value=value, lanes=_vectors.lanes(lanes))


@node("Shuffle")
class Shuffle(PrimExpr):
    """Elements of vectors."""

    __slots__ = ()


@node("Reduce")
class Reduce(PrimExpr):
    """A reduction over axes."""

    __slots__ = ()

    def __new__(cls, combiner, src, rdom, condition, value_index, init=None, span=None):
        del span
        source = [convert(item) for item in src]
        condition = const(1, "bool") if condition is None else condition
        return make("Reduce", combiner=combiner, source=source, axis=list(rdom), condition=condition,
                    value_index=value_index, init=list(init or []), dtype=source[value_index].dtype)
