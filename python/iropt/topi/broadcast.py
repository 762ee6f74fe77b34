"""Operations on two tensors, whose shapes are broadcast, or on a tensor and a scalar."""
from .. import te, tir
from .._core import native
from ..te.tensor import Tensor, as_expr
from ..tir.expr import _binary
from . import tag, utils

__all__ = ["add", "atan2", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast_to", "divide", "equal", "floor_divide",
           "floor_mod", "greater", "greater_equal", "left_shift", "less", "less_equal", "log_add_exp", "logical_and",
           "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply", "not_equal", "power",
           "right_shift", "subtract", "trunc_divide", "trunc_mod"]


def broadcast_shapes(*shapes):
    """The shape to which shapes are broadcast."""
    result = []
    for position in range(1, max(map(len, shapes), default=0) + 1):
        dims = [shape[-position] for shape in shapes if len(shape) >= position]
        dim = dims[0]
        for other in dims[1:]:
            dim = _common_dim(dim, other)
        result.insert(0, dim)
    return result


def _common_dim(a, b):
    if utils.is_one(a):
        return b
    if utils.is_one(b) or utils.is_equal(a, b):
        return a
    numbers = utils.get_const_tuple((a, b))
    if all(isinstance(number, int) for number in numbers):
        raise ValueError(f"Incompatible broadcast dims: {numbers[0]} and {numbers[1]}")
    return a if isinstance(numbers[0], int) else b if isinstance(numbers[1], int) else tir.max(a, b)


def element_at(tensor, indices, shape):
    """The element of a tensor at the indices of the shape that it is broadcast to."""
    own = list(indices)[len(indices) - tensor.ndim:]
    dims = list(shape)[len(shape) - tensor.ndim:]
    return tensor(*[0 if utils.is_one(dim) and not utils.is_one(whole) else index
                    for index, dim, whole in zip(own, tensor.shape, dims)])


def _scalar(value, other):
    return value if isinstance(value, (int, float, bool)) else as_expr(value) if value is not None else other


def broadcast(name, function, a, b):
    """The function of the elements of two operands."""
    tensors = [operand for operand in (a, b) if isinstance(operand, Tensor)]
    if not tensors:
        return function(a, b)
    shape = broadcast_shapes(*[tensor.shape for tensor in tensors])

    def value(*indices):
        x, y = (element_at(operand, indices, shape) if isinstance(operand, Tensor) else _scalar(operand, None)
                for operand in (a, b))
        return function(x, y)

    return te.compute(shape, value, name, tag.BROADCAST if len(tensors) > 1 else tag.ELEMWISE,
                      varargs_names=utils.axis_names(len(shape)))


def _operation(name, function, stage=None):
    def operation(lhs, rhs):
        return broadcast(f"T_{stage or name}", function, lhs, rhs)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = f"The elements of `{name}` of two operands, tensors or scalars, whose shapes are broadcast."
    return operation


_KINDS = {"Add": "T_add", "Sub": "T_subtract", "Mul": "T_multiply", "Div": "T_divide", "FloorDiv": "T_floor_divide",
          "FloorMod": "T_floor_mod", "LT": "T_less", "LE": "T_less_equal", "GT": "T_greater", "GE": "T_greater_equal",
          "EQ": "T_equal", "NE": "T_not_equal"}


def _of(kind):
    return lambda x, y: _binary(kind, x, y)


def of_kind(kind, a, b):
    """The operation of an operator of Python on two operands of which one is a tensor."""
    if any(isinstance(operand, Tensor) and not operand.ndim and not isinstance(other, Tensor) and not _is_number(other)
           for operand, other in ((a, b), (b, a))):
        return _binary(kind, *(as_expr(operand) if isinstance(operand, Tensor) else operand for operand in (a, b)))
    return broadcast(_KINDS.get(kind, f"T_{kind.lower()}"), _of(kind), a, b)


def _is_number(value):
    return isinstance(value, (int, float))


def _bits(number):
    return lambda x, y: native.bitwise(number, x, y)


def _as_bool(x):
    x = as_expr(x)
    return x if x.dtype == "bool" else tir.NE(x, tir.const(0, x.dtype))


add = _operation("add", _of("Add"))
subtract = _operation("subtract", _of("Sub"))
multiply = _operation("multiply", _of("Mul"))
divide = _operation("divide", _of("Div"))
floor_divide = _operation("floor_divide", lambda x, y: _floor_divide(x, y))
mod = _operation("mod", lambda x, y: tir.truncmod(x, y))
trunc_divide = _operation("trunc_divide", _of("Div"))
trunc_mod = _operation("trunc_mod", lambda x, y: tir.truncmod(x, y))
floor_mod = _operation("floor_mod", lambda x, y: _floor_mod(x, y))
maximum = _operation("maximum", _of("Max"))
minimum = _operation("minimum", _of("Min"))
power = _operation("power", lambda x, y: tir.power(x, y))
left_shift = _operation("left_shift", _bits(0))
right_shift = _operation("right_shift", _bits(1))
bitwise_and = _operation("bitwise_and", _bits(2))
bitwise_or = _operation("bitwise_or", _bits(3))
bitwise_xor = _operation("bitwise_xor", _bits(4))
greater, less = _operation("greater", _of("GT")), _operation("less", _of("LT"))
equal, not_equal = _operation("equal", _of("EQ")), _operation("not_equal", _of("NE"))
greater_equal, less_equal = _operation("greater_equal", _of("GE")), _operation("less_equal", _of("LE"))
logical_and = _operation("logical_and", lambda x, y: tir.And(_as_bool(x), _as_bool(y)))
logical_or = _operation("logical_or", lambda x, y: tir.Or(_as_bool(x), _as_bool(y)))
logical_xor = _operation("logical_xor", lambda x, y: native.bitwise(4, _as_bool(x), _as_bool(y)))
atan2 = _operation("atan2", lambda x, y: tir.atan2(as_expr(x), as_expr(y)))
log_add_exp = _operation("log_add_exp", lambda x, y: _log_add_exp(x, y))


def _is_float(x, y):
    return any(not isinstance(v, int) and as_expr(v).dtype.startswith(("float", "bfloat")) for v in (x, y))


def _floor_divide(x, y):
    if _is_float(x, y):
        return tir.floor(_binary("Div", x, y))
    return _binary("FloorDiv", x, y)


def _floor_mod(x, y):
    if _is_float(x, y):
        return x - _floor_divide(x, y) * y
    return _binary("FloorMod", x, y)


def _log_add_exp(x, y):
    # The greater one is taken out, so that nothing overflows.
    greatest = _binary("Max", x, y)
    return tir.log(tir.exp(x - greatest) + tir.exp(y - greatest)) + greatest


def logical_not(data):
    """The negation of each element."""
    return te.compute(data.shape, lambda *i: native.logical_not(_as_bool(data(*i))), "T_logical_not", tag.ELEMWISE,
                      varargs_names=utils.axis_names(data.ndim))


def bitwise_not(data):
    """The complement of the bits of each element."""
    return te.compute(data.shape, lambda *i: tir.Call(data.dtype, "tir.bitwise_not", [data(*i)]), "T_bitwise_not",
                      tag.ELEMWISE, varargs_names=utils.axis_names(data.ndim))


def broadcast_to(data, shape):
    """The tensor repeated along dimensions of length 1, and along new ones in front, to a shape."""
    shape = list(shape)
    common = broadcast_shapes(shape, data.shape)
    if len(common) != len(shape) or not all(utils.is_equal(a, b) for a, b in zip(common, shape)):
        raise ValueError(f"a tensor of shape {data.shape} cannot be broadcast to {shape}")
    return te.compute(shape, lambda *i: element_at(data, i, shape), "T_broadcast_to", tag.BROADCAST,
                      varargs_names=utils.axis_names(len(shape)))


