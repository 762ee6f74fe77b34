"""Normalizations."""
from ... import te, tir
from .. import tag, utils
from ..broadcast import add, divide, multiply, subtract
from ..elementwise import cast, sqrt  # type: ignore[attr-defined]
from ..reduction import sum as topi_sum
from ..transform import reshape

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "lrn", "rms_norm"]


def _extent(data, axes, dtype):
    extent = tir.const(1, dtype)
    for axis in axes:
        extent = extent * data.shape[axis].astype(dtype)
    return extent


def _deviations(data, axes):
    """The mean over axes and the mean of the squared deviations from it, in float32 for float16.

    The mean of squares less the square of the mean would lose all digits where the mean is large.
    """
    wide = "float32" if data.dtype == "float16" else data.dtype
    own = cast(data, wide) if wide != data.dtype else data
    others = [n for n in range(data.ndim) if n not in axes]
    shape, extent = [data.shape[n] for n in others], _extent(data, axes, wide)

    def sum_of(function, name):
        iters = [te.reduce_axis((0, data.shape[axis]), f"k{axis}") for axis in axes]

        def value(*i):
            places = dict(zip(others, i))
            places.update((axis, item.var) for axis, item in zip(axes, iters))
            return tir.sum(function(own(*[places[n] for n in range(data.ndim)]), i), axis=iters)

        return te.compute(shape, value, name, tag.COMM_REDUCE, varargs_names=utils.axis_names(len(shape)))

    total = sum_of(lambda v, _: v, data.op.name + "_red")
    mean = te.compute(shape, lambda *i: total(*i) / extent, "mean", tag.INJECTIVE)
    squares = sum_of(lambda v, i: (v - mean(*i)) * (v - mean(*i)), data.op.name + "_red")
    variance = te.compute(shape, lambda *i: squares(*i) / extent, "variance", tag.INJECTIVE)
    return mean, variance


def _normalized(data, axes, epsilon, name, scale_and_shift):
    """The deviations from the mean in units of the standard deviation, scaled and shifted."""
    mean, variance = _deviations(data, axes)

    def value(*i):
        others = [index for n, index in enumerate(i) if n not in axes]
        deviation = variance(*others) + tir.const(epsilon, variance.dtype)
        standard = (data(*i).astype(mean.dtype) - mean(*others)) * tir.rsqrt(deviation)
        return scale_and_shift(standard.astype(data.dtype), i)

    return te.compute(data.shape, value, name, tag.INJECTIVE, varargs_names=utils.axis_names(data.ndim))


def _times(value, gamma, beta, at):
    value = value * gamma(*at) if gamma is not None else value
    return value + beta(*at) if beta is not None else value


def layer_norm(data, gamma, beta, axis, epsilon=1e-5):
    """The tensor normalized over axes, times gamma, plus beta, each of which may be None."""
    axes = utils.real_axes(data.ndim, axis)
    return _normalized(data, axes, epsilon, "T_layer_norm", lambda v, i: _times(v, gamma, beta, [i[n] for n in axes]))


def instance_norm(data, gamma, beta, channel_axis, axis=1e-5, epsilon=1e-5):
    """The tensor normalized over axes, times gamma and plus beta of each channel.

    TVM 0.18 has no channel: instance_norm(data, gamma, beta, axes, epsilon) has gamma and beta of the axes, as layer_norm.
    """
    if isinstance(channel_axis, (list, tuple)):
        return layer_norm(data, gamma, beta, channel_axis, axis)
    axes, channel = utils.real_axes(data.ndim, axis), utils.real_axis(data.ndim, channel_axis)
    return _normalized(data, axes, epsilon, "T_instance_norm", lambda v, i: _times(v, gamma, beta, [i[channel]]))


def group_norm(data, gamma, beta, num_groups, channel_axis, axes, epsilon=1e-5):
    """The tensor normalized over groups of channels and over axes, times gamma and plus beta of each channel."""
    channel = utils.real_axis(data.ndim, channel_axis)
    size = utils.simplify(tir.floordiv(data.shape[channel], num_groups))
    shape = [*data.shape[:channel], num_groups, size, *data.shape[channel + 1:]]
    parts = reshape(data, shape)
    gamma, beta = (None if item is None else reshape(item, [num_groups, size]) for item in (gamma, beta))
    reduced = sorted([channel + 1] + [axis if axis < channel else axis + 1 for axis in utils.real_axes(data.ndim, axes)])
    normal = _normalized(parts, reduced, epsilon, "T_group_norm",
                         lambda v, i: _times(v, gamma, beta, i[channel:channel + 2]))
    return reshape(normal, data.shape)


def rms_norm(data, weight, axis, epsilon=1e-5):
    """The tensor divided by the root of the mean of its squares over axes, times a weight."""
    wide = data.dtype if data.dtype == "float64" else "float32"
    axes = utils.real_axes(data.ndim, axis)
    own, scale = (cast(item, wide) if item.dtype != wide else item for item in (data, weight))
    squares = topi_sum(multiply(own, own), axes)
    extent = _extent(data, axes, wide)
    rsqrt = te.compute(squares.shape, lambda *i: tir.rsqrt(squares(*i) / extent + tir.const(epsilon, wide)), "rsqrt", tag.INJECTIVE,
                       varargs_names=utils.axis_names(squares.ndim))

    def value(*i):
        others = [index for n, index in enumerate(i) if n not in axes]
        return rsqrt(*others) * own(*i) * scale(*[i[n] for n in axes])

    result = te.compute(data.shape, value, "T_rms_norm", tag.INJECTIVE, varargs_names=utils.axis_names(data.ndim))
    return cast(result, data.dtype) if data.dtype != wide else result


def batch_norm(data, gamma, beta, moving_mean, moving_var, axis=None, epsilon=None, center=None, scale=None, training=None,
               momentum=None):
    """The tensor normalized by channels, and the new moving mean and variance, as a list of three tensors."""
    axis = utils.real_axis(data.ndim, 1 if axis is None else axis)
    epsilon, momentum = 1e-5 if epsilon is None else epsilon, 0.1 if momentum is None else momentum
    shape = [dim if n == axis else 1 for n, dim in enumerate(data.shape)]
    mean, variance, moved = moving_mean, moving_var, [moving_mean, moving_var]
    if training:
        mean, variance = _deviations(data, [n for n in range(data.ndim) if n != axis])
        moved = [add(multiply(old, 1 - momentum), multiply(new, momentum)) for old, new in zip(moved, (mean, variance))]
    deviation = sqrt(add(reshape(variance, shape), tir.const(epsilon, variance.dtype)))
    out = divide(subtract(data, reshape(mean, shape)), deviation)
    if scale is None or scale:
        out = multiply(out, reshape(gamma, shape))
    if center is None or center:
        out = add(out, reshape(beta, shape))
    if not training:
        # The moving statistics are results, too, and no result is an operand.
        moved = [multiply(item, tir.const(1, item.dtype)) for item in moved]
    return [out, *moved]


def lrn(data, size, axis=1, alpha=0.0001, beta=0.75, bias=2):
    """The tensor divided by a power of the squares of its neighbors along an axis."""
    from .padding import pad

    axis = utils.real_axis(data.ndim, axis)
    radius = size // 2
    before = [radius if n == axis else 0 for n in range(data.ndim)]
    padded = pad(data, before, before, 0.0, "pad_data")
    k = te.reduce_axis((0, size), "rxs")
    squares = te.compute(data.shape, lambda *i: tir.sum(
        padded(*i[:axis], i[axis] + k.var, *i[axis + 1:]) * padded(*i[:axis], i[axis] + k.var, *i[axis + 1:]), axis=k))
    powers = te.compute(data.shape, lambda *i: tir.power(
        tir.const(bias, data.dtype) + tir.const(alpha / size, data.dtype) * squares(*i), tir.const(beta, data.dtype)))
    return divide(data, powers)
