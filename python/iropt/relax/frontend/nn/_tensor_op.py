"""Operators of Python on tensors."""
import functools

from ... import Expr
from .... import tir


@functools.lru_cache(maxsize=None)
def _op():
    from . import op

    return op


def _tensor(value, dtype):
    """The tensor of an operand that is another value, or None."""
    if _is_number(value):
        return _op().Tensor.from_scalar(_number(value), dtype)
    return _op().Tensor(_expr=value) if isinstance(value, Expr) else None


def _binary(name, swap=False):
    def operator(self, other):
        if not isinstance(other, _TensorOp):
            other = _tensor(other, self.dtype)
            if other is None:
                return NotImplemented
        return getattr(_op(), name)(other, self) if swap else getattr(_op(), name)(self, other)

    return operator


def _is_number(value):
    return isinstance(value, (int, float, tir.FloatImm, tir.IntImm))


def _number(value):
    return value if isinstance(value, (int, float)) else value.value


class _TensorOp:
    """The operators; a number as an operand gets the dtype of the other one."""

    __add__ = _binary("add")
    __radd__ = _binary("add")
    __sub__ = _binary("subtract")
    __rsub__ = _binary("subtract", swap=True)
    __mul__ = _binary("multiply")
    __rmul__ = _binary("multiply")
    __truediv__ = _binary("divide")
    __rtruediv__ = _binary("divide", swap=True)
    __lt__ = _binary("less")
    __le__ = _binary("less_equal")
    __gt__ = _binary("greater")
    __ge__ = _binary("greater_equal")
    maximum = _binary("maximum")
    minimum = _binary("minimum")

    def __neg__(self):
        return _op().negative(self)

    def astype(self, dtype):
        """The tensor with elements of another dtype."""
        return _op().astype(self, dtype)

    def reshape(self, *shape):
        """The tensor with another shape of as many elements: sizes, or one list of them."""
        return _op().reshape(self, _list(shape))

    def permute_dims(self, *axes):
        """The tensor with its axes in another order: axes, or one list of them."""
        return _op().permute_dims(self, _list(axes))

    def repeat(self, repeats, axis=None):
        """The tensor with each element of an axis `repeats` times."""
        return _op().repeat(self, repeats, axis)


def _list(values):
    return list(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else list(values)
