"""Tensors of given elements."""
from .. import te, tir
from ..te.tensor import Tensor, as_expr
from . import tag, utils

__all__ = ["arange", "full", "full_like", "meshgrid", "one_hot", "shape", "ndarray_size", "eye", "zeros_like", "ones_like"]


def _value(fill_value, dtype):
    if isinstance(fill_value, Tensor):
        return fill_value().astype(dtype)
    return tir.const(fill_value, dtype) if isinstance(fill_value, (int, float)) else as_expr(fill_value).astype(dtype)


def full(shape, dtype, fill_value):
    """A tensor of a shape and a dtype whose elements have one value."""
    value = _value(fill_value, dtype)
    return te.compute(shape, lambda *_: value, "T_full", tag.ELEMWISE, varargs_names=utils.axis_names(len(shape)))


def full_like(x, fill_value):
    """A tensor like another one whose elements have one value."""
    return full(x.shape, x.dtype, fill_value)


def zeros_like(x):
    """A tensor of zeros like another one."""
    return full(x.shape, x.dtype, 0)


def ones_like(x):
    """A tensor of ones like another one."""
    return full(x.shape, x.dtype, 1)


def eye(n, m=None, k=0, dtype="float32"):
    """A matrix of zeros with ones on the diagonal that is k above the main one."""
    one, zero = tir.const(1, dtype), tir.const(0, dtype)
    return te.compute((n, n if m is None else m), lambda i, j: tir.Select(tir.EQ(i + k, j), one, zero), "T_eye", tag.INJECTIVE)


def arange(start, stop=None, step=1, dtype="float32"):
    """start, start + step, ... up to, and without, stop; with one number, from 0 up to it."""
    if stop is None:
        start, stop = 0, start
    if all(isinstance(item, int) for item in (start, stop, step)):
        size = max(0, -((start - stop) // step))
    elif all(isinstance(item, (int, float)) for item in (start, stop, step)):
        import math

        size = max(0, math.ceil((stop - start) / step))
    else:
        size = utils.simplify(tir.ceildiv(stop - start, step))
    first, width = _value(start, dtype), _value(step, dtype)
    return te.compute((size,), lambda *i: first + width * i[0].astype(dtype), "T_arange", tag.INJECTIVE, varargs_names=["ax0"])


def meshgrid(a_tuple, indexing):
    """The coordinates of a grid, one tensor for each axis, whose first two axes are exchanged unless indexing is "ij"."""
    sizes = [x.shape[0] if x.ndim else 1 for x in a_tuple]
    order = list(range(len(sizes)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    shape = [sizes[axis] for axis in order]

    def grid(number):
        x, position = a_tuple[number], order.index(number)
        return te.compute(shape, lambda *i: x(i[position]) if x.ndim else x(), "T_meshgrid", tag.INJECTIVE)

    return [grid(number) for number in range(len(sizes))]


def one_hot(indices, on_value, off_value, depth, axis, dtype):
    """A new axis of a length, with one value at the position that each index names and another one elsewhere."""
    axis = utils.real_axis(indices.ndim + 1, axis)
    on, off = _value(on_value, dtype), _value(off_value, dtype)
    shape = list(indices.shape)
    shape.insert(axis, depth)

    def value(*i):
        index = indices(*i[:axis], *i[axis + 1:])
        return tir.Select(tir.EQ(index, i[axis].astype(index.dtype)), on, off)

    return te.compute(shape, value, "T_one_hot", tag.INJECTIVE)


def shape(array, dtype="int32"):
    """The shape of a tensor as a tensor."""

    def value(i):
        result = tir.const(0, dtype)
        for axis, dim in enumerate(array.shape):
            result = tir.if_then_else(tir.EQ(i, axis), dim.astype(dtype), result)
        return result

    return te.compute((array.ndim,), value, "T_shape", tag.INJECTIVE)


def ndarray_size(array, dtype="int32"):
    """The number of elements of a tensor as a tensor."""
    size = utils.prod(array.shape)
    return te.compute((), lambda: as_expr(size).astype(dtype), "ndarray_size", tag.INJECTIVE)
