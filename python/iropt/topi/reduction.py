"""Reductions over axes."""
from .. import te, tir
from . import tag, utils

__all__ = ["all", "any", "argmax", "argmin", "collapse_sum", "max", "min", "prod", "sum"]


def _reduced(data, axis, keepdims):
    """The axes that are reduced, their IterVars, and the shape of the result."""
    axes = utils.real_axes(data.ndim, axis)
    iters = [te.reduce_axis((0, data.shape[number]), f"k{number}") for number in axes]
    shape = [1 if number in axes else dim for number, dim in enumerate(data.shape) if keepdims or number not in axes]
    return axes, iters, shape


def _element(data, axes, iters, indices, keepdims):
    own, rest, reduced = [], list(indices), iter(iters)
    for number in range(data.ndim):
        if number in axes:
            own.append(next(reduced).var)
            if keepdims:
                rest.pop(0)
        else:
            own.append(rest.pop(0))
    return data(*own)


def _reduce(data, axis, keepdims, reducer):
    name = data.op.name + "_red"
    if not data.ndim:
        return te.compute((), lambda: data(), name, tag.COMM_REDUCE)  # pylint: disable=unnecessary-lambda
    axes, iters, shape = _reduced(data, axis, keepdims)
    if not axes:
        return te.compute(shape, lambda *i: data(*i), name, tag.ELEMWISE, varargs_names=utils.axis_names(len(shape)))
    return te.compute(shape, lambda *i: reducer(_element(data, axes, iters, i, keepdims), axis=iters), name,
                      tag.COMM_REDUCE, varargs_names=utils.axis_names(len(shape)))


def _least(dtype):
    return tir.const(float("-inf"), dtype) if dtype.startswith(("float", "bfloat")) else tir.min_value(dtype)


def _greatest(dtype):
    return tir.const(float("inf"), dtype) if dtype.startswith(("float", "bfloat")) else tir.max_value(dtype)


_or = tir.comm_reducer(lambda x, y: tir.Or(x, y), lambda dtype: tir.const(0, dtype), "any")
_and = tir.comm_reducer(lambda x, y: tir.And(x, y), lambda dtype: tir.const(1, dtype), "all")
_product = tir.comm_reducer(lambda x, y: x * y, lambda dtype: tir.const(1, dtype), "prod")
_max = tir.comm_reducer(lambda x, y: tir.Max(x, y), _least, "max")
_min = tir.comm_reducer(lambda x, y: tir.Min(x, y), _greatest, "min")


def sum(data, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    """The sum over axes; over all of them for None. With keepdims, they stay with the length 1."""
    return _reduce(data, axis, keepdims, _or if data.dtype == "bool" else tir.sum)


def prod(data, axis=None, keepdims=False):
    """The product over axes."""
    return _reduce(data, axis, keepdims, _product)


def max(data, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    """The maximum over axes."""
    return _reduce(data, axis, keepdims, _max)


def min(data, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    """The minimum over axes."""
    return _reduce(data, axis, keepdims, _min)


def all(data, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    """Whether all elements along axes are true."""
    return _reduce(data, axis, keepdims, _and)


def any(data, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    """Whether an element along axes is true."""
    return _reduce(data, axis, keepdims, _or)


def _index_reducer(is_max, is_last):
    def combine(lhs, rhs):
        better = lhs[1] > rhs[1] if is_max else lhs[1] < rhs[1]
        first = lhs[0] > rhs[0] if is_last else lhs[0] < rhs[0]
        takes = tir.Or(better, tir.And(tir.EQ(lhs[1], rhs[1]), first))
        return [tir.Select(takes, lhs[0], rhs[0]), tir.Select(better, lhs[1], rhs[1])]

    def identity(index_dtype, dtype):
        return [tir.const(-1, index_dtype), tir.min_value(dtype) if is_max else tir.max_value(dtype)]

    return tir.comm_reducer(combine, identity, "argmax" if is_max else "argmin")


def _reduce_index(data, axis, keepdims, is_max, is_last):
    axes, iters, shape = _reduced(data, axis, keepdims)
    name, extents = data.op.name + "_red", [data.shape[number] for number in axes]
    reducer = _index_reducer(is_max, is_last)

    def value(*i):
        index = utils.ravel_index([item.var for item in iters], extents)
        return reducer((index.astype("int32"), _element(data, axes, iters, i, keepdims)), axis=iters)

    names = utils.axis_names(len(shape))
    found = te.compute(shape, value, name + "_temp", tag.COMM_REDUCE_IDX, varargs_names=names)
    return te.compute(shape, lambda *i: found[0](*i), name, tag.COMM_REDUCE_IDX, varargs_names=names)


def argmax(data, axis=None, keepdims=False, select_last_index=False):
    """The index of the greatest element along axes: the first one, or the last one, of several."""
    return _reduce_index(data, axis, keepdims, True, select_last_index)


def argmin(data, axis=None, keepdims=False, select_last_index=False):
    """The index of the least element along axes: the first one, or the last one, of several."""
    return _reduce_index(data, axis, keepdims, False, select_last_index)


def collapse_sum(data, target_shape):
    """The sum over the dimensions that broadcasting from the target shape would repeat."""
    target_shape = list(target_shape)
    added = data.ndim - len(target_shape)
    axes = [number for number, dim in enumerate(data.shape)
            if number < added or (utils.is_one(target_shape[number - added]) and not utils.is_one(dim))]
    if not axes:
        return data
    iters = [te.reduce_axis((0, data.shape[number]), f"k{number}") for number in axes]

    def value(*i):
        reduced = iter(iters)
        return tir.sum(data(*[next(reduced).var if number in axes else i[number - added] for number in range(data.ndim)]),
                       axis=iters)

    return te.compute(target_shape, value, data.op.name + "_red", tag.COMM_REDUCE,
                      varargs_names=utils.axis_names(len(target_shape)))
