"""Operations on scalar expressions."""
import builtins
import math
import struct

from .._core import Error, Node, native
from .expr import And, Call, FloatImm, IntImm, Or, StringImm, _binary, const, convert, of_texts


def div(a, b, span=None):
    del span
    a, b = convert(a), convert(b)
    return _binary("Div", a, b)


truncdiv = div


@of_texts
def truncmod(a, b, span=None):
    del span
    return _binary("Mod", a, b)


@of_texts
def floordiv(a, b, span=None):
    del span
    return _binary("FloorDiv", a, b)


@of_texts
def floormod(a, b, span=None):
    del span
    return _binary("FloorMod", a, b)


indexdiv, indexmod = floordiv, floormod


@of_texts
def ceildiv(a, b, span=None):
    del span
    a, b = convert(a), convert(b)
    return floordiv(a + (b - 1), b)


@of_texts
def all(*args, span=None):  # pylint: disable=redefined-builtin
    """The conjunction of conditions."""
    del span
    args = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    return _joined("And", args)


@of_texts
def any(*args, span=None):  # pylint: disable=redefined-builtin
    """The disjunction of conditions."""
    del span
    return _joined("Or", args)


def _joined(kind, conditions):
    """The conjunction or disjunction, where a condition that is known leaves the others or is the result."""
    if not conditions:
        raise ValueError(f"{kind} needs at least one condition")
    conditions = [convert(condition) for condition in conditions]
    if len(conditions) > 1:
        for condition in conditions:
            _check_bool(condition)
    decides = kind == "Or"
    result = conditions[0]
    for condition in conditions[1:]:
        if isinstance(result, IntImm):
            result = result if bool(result) == decides else condition
        elif isinstance(condition, IntImm):
            result = condition if bool(condition) == decides else result
        else:
            result = (Or if decides else And)(result, condition)
    return result


def _check_bool(condition):
    if condition.dtype.partition("x")[0] not in ("bool", "uint1"):
        raise Error(f"a condition must be of bool, not of {condition.dtype}")


@of_texts
def call_intrin(dtype, name, *args, span=None):
    del span
    return Call(dtype, name, [convert(arg) for arg in args])


@of_texts
def call_extern(dtype, name, *args, span=None):
    del span
    return Call(dtype, "tir.call_extern", [StringImm(name)] + [convert(arg) for arg in args])


@of_texts
def call_pure_extern(dtype, name, *args, span=None):
    del span
    return Call(dtype, "tir.call_pure_extern", [StringImm(name)] + [convert(arg) for arg in args])


def _packed(arg):
    """An argument of a packed function: a buffer is passed as a tensor."""
    if type(arg).__name__ != "Buffer":
        return convert(arg)
    shape = Call("handle", "tir.tvm_stack_make_shape", list(arg.shape))
    strides = Call("handle", "tir.tvm_stack_make_shape", list(arg.strides)) if len(arg.strides) else convert(0)
    return Call("handle", "tir.tvm_stack_make_array",
                [arg.data, shape, strides, convert(len(arg.shape)), const(0, arg.dtype), arg.elem_offset])


@of_texts
def call_packed(*args, span=None):
    del span
    return Call("int32", "tir.tvm_call_packed", [_packed(arg) for arg in args])


@of_texts
def call_cpacked(*args, span=None):
    del span
    return Call("int32", "tir.tvm_call_cpacked", [_packed(arg) for arg in args])


@of_texts
def if_then_else(cond, true_value, false_value, span=None):
    del span
    cond = convert(cond)
    _check_bool(cond)
    true_value, false_value = native.match_types(convert(true_value), convert(false_value))
    if isinstance(cond, IntImm):
        return true_value if cond else false_value
    return Call(true_value.dtype, "tir.if_then_else", [cond, true_value, false_value])


@of_texts
def likely(cond, span=None):
    """A condition that mostly holds."""
    del span
    return Call(cond.dtype, "tir.likely", [cond])


@of_texts
def assume(cond=None, span=None):
    """States that a condition holds."""
    del span
    return Call("bool", "tir.assume", [convert(cond)])


@of_texts
def address_of(obj, span=None):
    """Where an element of a buffer is in memory; of a buffer, its first one."""
    from .buffer import Buffer
    from .expr import BufferLoad

    del span
    if isinstance(obj, Buffer):
        obj = BufferLoad(obj, [0] * len(obj.shape))
    return Call("handle", "tir.address_of", [obj])


@of_texts
def ret(value, span=None):
    del span
    value = convert(value)
    return Call(value.dtype, "tir.ret", [value])


@of_texts
def reinterpret(dtype, value, span=None):
    del span
    return Call(dtype, "tir.reinterpret", [convert(value)])


def _operation(kind):
    def operation(lhs, rhs, span=None):
        del span
        return _binary(kind, lhs, rhs)

    return operation


add, subtract, multiply = _operation("Add"), _operation("Sub"), _operation("Mul")


@of_texts
def power(x, y, span=None):
    """x to the power of y, which are floats."""
    del span
    x, y = native.match_types(*_matched(x, y))
    if "float" not in x.dtype:
        raise Error(f"a power is one of floats, not of {x.dtype}")
    return Call(x.dtype, "tir.pow", [x, y])


pow = power  # pylint: disable=redefined-builtin


def _matched(x, y):
    """Both operands with one dtype: a number takes that of the other operand."""
    x = const(x, y.dtype) if isinstance(x, (int, float)) and isinstance(y, Node) else convert(x)
    y = const(y, x.dtype) if isinstance(y, (int, float)) else convert(y)
    return x, y


@of_texts
def abs(x, span=None):  # pylint: disable=redefined-builtin
    """The absolute value."""
    del span
    x = convert(x)
    kind = x.dtype.rstrip("0123456789")
    if kind in ("uint", "bool"):
        return x
    if kind == "int":
        from .expr import Select

        return Select(x >= 0, x, -x)
    return Call(x.dtype, "tir.fabs", [x])


_GREATEST = {"float16": 65504.0, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308,
             "bfloat16": 3.3895313892515355e38, "e4m3_float8": 448.0, "e5m2_float8": 57344.0}


def _limit(dtype, is_greatest):
    dtype = native.dtype_name(dtype)
    if dtype in _GREATEST:
        return const(_GREATEST[dtype] if is_greatest else -_GREATEST[dtype], dtype)
    kind = dtype.rstrip("0123456789")
    if kind not in ("int", "uint", "bool"):
        raise ValueError(f"the limits of {dtype} are not known")
    bits = 1 if kind == "bool" else int(dtype[len(kind):])
    if kind != "int":
        return const((1 << bits) - 1 if is_greatest else 0, dtype)
    return const((1 << (bits - 1)) - 1 if is_greatest else -(1 << (bits - 1)), dtype)


@of_texts
def min_value(dtype, span=None):
    """The least finite value of a dtype."""
    del span
    return _limit(dtype, False)


@of_texts
def max_value(dtype, span=None):
    """The greatest finite value of a dtype."""
    del span
    return _limit(dtype, True)


@of_texts
def infinity(dtype, span=None):
    """The positive infinity of a dtype."""
    del span
    return const(float("inf"), dtype)


@of_texts
def isnan(x, span=None):
    """Whether a value is not a number: never true of integers."""
    del span
    x = convert(x)
    if x.dtype.startswith(("int", "uint", "bool")):
        return const(0, "bool")
    return Call("bool", "tir.isnan", [x.astype("float32") if x.dtype == "float16" else x])


_FORMATS = {"float64": "d", "float32": "f", "float16": "e"}


def _finite_number(literal):
    """What a literal is in its dtype, to which its digits are rounded; None of other dtypes and of infinities."""
    try:
        number, = struct.unpack(_FORMATS[literal.dtype], struct.pack(_FORMATS[literal.dtype], literal.value))
    except (KeyError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _rounding(name, of_number, doc):
    @of_texts
    def rounded(x, span=None):
        del span
        x = convert(x)
        if x.dtype.startswith(("int", "uint", "bool")):
            return x
        given = _finite_number(x) if isinstance(x, FloatImm) else None
        number = None if given is None else of_number(given)
        # A zero keeps the sign.
        return Call(x.dtype, "tir." + name, [x]) if number is None else const(math.copysign(number, given), x.dtype)

    rounded.__name__ = rounded.__qualname__ = name
    rounded.__doc__ = doc + " An integer stays as it is."
    return rounded


def _nearest(value):
    """The nearest integer, or None of two: TVM takes the even one, and programs that run do not."""
    return None if math.fmod(value, 1) in (0.5, -0.5) else builtins.round(value)


floor = _rounding("floor", math.floor, "The largest integer that is not above x.")
ceil = _rounding("ceil", math.ceil, "The smallest integer that is not below x.")
trunc = _rounding("trunc", math.trunc, "The integer part of x.")
round = _rounding("round", _nearest, "The nearest integer; of two the one farther from 0.")  # pylint: disable=redefined-builtin
nearbyint = _rounding("nearbyint", builtins.round, "The nearest integer; of two the even one.")


@of_texts
def isinf(x, span=None):
    """Whether a value is infinite: never true of integers."""
    del span
    x = convert(x)
    if x.dtype.startswith(("int", "uint", "bool")):
        return const(0, "bool")
    return And(_binary("EQ", abs(x), infinity(x.dtype)), native.logical_not(isnan(x)))


@of_texts
def isfinite(x, span=None):
    """Whether a value is a number, and finite: always true of integers."""
    del span
    x = convert(x)
    if x.dtype.startswith(("int", "uint", "bool")):
        return const(1, "bool")
    return And(native.logical_not(isinf(x)), native.logical_not(isnan(x)))
