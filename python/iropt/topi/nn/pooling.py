"""Poolings."""
from ... import te, tir
from .. import utils
from ..layout import axes_of
from ..reduction import _max
from .padding import pad

__all__ = ["adaptive_pool", "adaptive_pool1d", "adaptive_pool3d", "global_pool", "pool1d", "pool2d", "pool3d"]


def _spatial(layout):
    return [n for n, (letter, _) in enumerate(axes_of(layout)) if letter in "DHW"]


def _least(dtype):
    return tir.const(float("-inf"), dtype) if dtype.startswith(("float", "bfloat")) else tir.min_value(dtype)


def _sum_dtype(dtype):
    """Sums of integers are computed in 64 bits: they may not fit."""
    return "int64" if dtype.startswith(("int", "uint")) else dtype


def _check(pool_type):
    if pool_type not in ("max", "avg"):
        raise ValueError(f"the type of a pooling is max or avg, not {pool_type}")


def _divided(total, count, dtype):
    """The quotient of sums, of which those of integers are truncated."""
    count = tir.convert(count).astype(total.dtype)
    return (tir.truncdiv(total, count) if total.dtype.startswith("int") else total / count).astype(dtype)


def _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad):
    _check(pool_type)
    axes = _spatial(layout)
    count = len(axes)
    kernel, stride, dilation = (utils.pair(item, count) for item in (kernel, stride, dilation))
    padding = list(utils.pair(padding, 2 * count))
    before, after, shape, extra = [0] * data.ndim, [0] * data.ndim, list(data.shape), []
    for n, axis in enumerate(axes):
        extra.append(stride[n] - 1 if ceil_mode else 0)
        before[axis], after[axis] = padding[n], padding[n + count] + extra[n]
        reach = data.shape[axis] - (kernel[n] - 1) * dilation[n] - 1 + before[axis] + after[axis]
        shape[axis] = utils.simplify(tir.floordiv(reach, stride[n]) + 1)
    iters = [te.reduce_axis((0, size), f"rv{n}") for n, size in enumerate(kernel)]
    is_padded = any(before) or any(after)
    fill = _least(data.dtype) if pool_type == "max" else tir.const(0, data.dtype)
    source = pad(data, before, after, fill, "pad_temp") if is_padded else data
    names = utils.axis_names(data.ndim)

    def element(i):
        own = list(i)
        for n, axis in enumerate(axes):
            own[axis] = i[axis] * stride[n] + iters[n].var * dilation[n]
        return source(*own)

    if pool_type == "max":
        return te.compute(shape, lambda *i: _max(element(i), axis=iters), "pool_max", "pool_max",
                          {"schedule_rule": "meta_schedule.pool_max"}, names)
    wide = _sum_dtype(data.dtype)
    total = te.compute(shape, lambda *i: tir.sum(element(i).astype(wide), axis=iters), "pool_sum", "pool_sum",
                       varargs_names=names)

    def windows(i):
        """The number of elements in the window."""
        number = 1
        for n, axis in enumerate(axes):
            size, step = data.shape[axis], dilation[n]
            start = i[axis] * stride[n] - padding[n]
            last = start + (kernel[n] - 1) * step
            if count_include_pad:
                end = tir.min(last, size + padding[n + count] - 1)
                number = number * (tir.truncdiv(end - start, step) + 1)
            else:
                jumps = tir.max(tir.truncdiv((step - 1) - start, step), 0)
                number = number * (tir.truncdiv(tir.min(last, size - 1) - (start + jumps * step), step) + 1)
        return number if count_include_pad else tir.max(number, 1)

    return te.compute(shape, lambda *i: _divided(total(*i), windows(i), data.dtype), "pool_avg", "pool_avg",
                      {"schedule_rule": "meta_schedule.pool_avg"}, names)


def pool1d(data, kernel, stride, dilation, padding, pool_type, ceil_mode=False, layout="NCW", count_include_pad=True):
    """The maximum or the mean of windows of sequences; see pool2d."""
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad)


def pool2d(data, kernel, stride, dilation, padding, pool_type, ceil_mode=False, layout="NCHW", count_include_pad=True):
    """The maximum ("max") or the mean ("avg") of windows of images.

    Args:
        data: the tensor.
        kernel, stride, dilation: the size of the window, and the steps of it and in it, for each axis.
        padding: before the axes and then after them.
        pool_type: "max" or "avg".
        ceil_mode: also have windows that are in part beyond the padding.
        layout: such as "NCHW".
        count_include_pad: the mean is over the padding, too.

    Returns: the tensor.
    """
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad)


def pool3d(data, kernel, stride, dilation, padding, pool_type, ceil_mode=False, layout="NCDHW", count_include_pad=True):
    """The maximum or the mean of windows of volumes; see pool2d."""
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad)


def _adaptive(data, output_size, pool_type, layout):
    _check(pool_type)
    axes, shape = _spatial(layout), list(data.shape)
    sizes = utils.pair(output_size, len(axes))
    iters, varies = [], []
    for n, axis in enumerate(axes):
        shape[axis] = sizes[n]
        whole, out = utils.get_const_tuple([data.shape[axis], sizes[n]])
        is_even = isinstance(whole, int) and isinstance(out, int) and whole % out == 0
        varies.append(not is_even)
        # If windows have several sizes, elements beyond a smaller one count as nothing.
        extent = whole // out if is_even else utils.simplify(tir.floordiv(whole + out - 1, out) + 1)
        iters.append(te.reduce_axis((0, extent), f"rv{n}"))

    def window(i, n):
        whole, out = data.shape[axes[n]], sizes[n]
        start = tir.indexdiv(i[axes[n]] * whole, out)
        end = tir.indexdiv((i[axes[n]] + 1) * whole, out)
        end = end if not varies[n] else tir.Select(tir.EQ(tir.indexmod((i[axes[n]] + 1) * whole, out), 0), end, end + 1)
        return start, end - start

    def element(i, fill):
        own, inside = list(i), []
        for n, axis in enumerate(axes):
            start, extent = window(i, n)
            own[axis] = start + iters[n].var
            if varies[n]:
                inside.append(iters[n].var < extent)
        return tir.if_then_else(tir.all(*inside), data(*own), fill) if inside else data(*own)

    names, what = utils.axis_names(data.ndim), f"adaptive_pool_{pool_type}"
    attrs = {"schedule_rule": f"meta_schedule.{what}"}
    if pool_type == "max":
        fill = _least(data.dtype)
        return te.compute(shape, lambda *i: _max(element(i, fill), axis=iters), what, what, attrs, names)
    wide, zero = _sum_dtype(data.dtype), tir.const(0, data.dtype)
    total = te.compute(shape, lambda *i: tir.sum(element(i, zero).astype(wide), axis=iters), "adaptive_pool_sum",
                       "adaptive_pool_sum", varargs_names=names)

    def mean(*i):
        number = 1
        for n in range(len(axes)):
            number = number * window(i, n)[1]
        return _divided(total(*i), number, data.dtype)

    return te.compute(shape, mean, what, "elemwise", attrs, names)


def adaptive_pool(data, output_size, pool_type, layout="NCHW"):
    """The maximum or the mean of as many windows of images as the size of the result says."""
    return _adaptive(data, output_size, pool_type, layout)


def adaptive_pool1d(data, output_size, pool_type, layout="NCW"):
    """The maximum or the mean of as many windows of sequences as the size of the result says."""
    return _adaptive(data, output_size, pool_type, layout)


def adaptive_pool3d(data, output_size, pool_type, layout="NCDHW"):
    """The maximum or the mean of as many windows of volumes as the size of the result says."""
    return _adaptive(data, output_size, pool_type, layout)


def global_pool(data, pool_type, layout="NCHW"):
    """The maximum or the mean of whole images."""
    return _adaptive(data, [1] * len(_spatial(layout)), pool_type, layout)
