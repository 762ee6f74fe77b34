"""Operations on scalar expressions."""
from .._core import Node, native
from .expr import And, Call, Or, StringImm, _binary, const, convert, of_texts


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
    result = convert(args[0])
    for arg in args[1:]:
        result = And(result, convert(arg))
    return result


@of_texts
def any(*args, span=None):  # pylint: disable=redefined-builtin
    """The disjunction of conditions."""
    del span
    result = convert(args[0])
    for arg in args[1:]:
        result = Or(result, convert(arg))
    return result


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
    true_value, false_value = convert(true_value), convert(false_value)
    if true_value.dtype != false_value.dtype:
        matched = _binary("Add", true_value, false_value)
        true_value, false_value = matched.a, matched.b
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
    """x to the power of y."""
    del span
    x, y = _matched(x, y)
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
    return const(0, "bool") if x.dtype.startswith(("int", "uint", "bool")) else Call("bool", "tir.isnan", [x])


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
