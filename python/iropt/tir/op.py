"""Operations on scalar expressions."""
from .._core import native
from .expr import And, Call, Or, StringImm, _binary, convert, of_texts


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
def min(a, b, span=None):  # pylint: disable=redefined-builtin
    del span
    return _binary("Min", a, b)


@of_texts
def max(a, b, span=None):  # pylint: disable=redefined-builtin
    del span
    return _binary("Max", a, b)


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


@of_texts
def call_packed(*args, span=None):
    del span
    return Call("int32", "tir.tvm_call_packed", [convert(arg) for arg in args])


@of_texts
def if_then_else(cond, true_value, false_value, span=None):
    del span
    true_value = convert(true_value)
    return Call(true_value.dtype, "tir.if_then_else", [cond, true_value, convert(false_value)])


@of_texts
def ret(value, span=None):
    del span
    value = convert(value)
    return Call(value.dtype, "tir.ret", [value])


@of_texts
def reinterpret(dtype, value, span=None):
    del span
    return Call(dtype, "tir.reinterpret", [convert(value)])
