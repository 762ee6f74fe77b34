"""Activations, softmax, and losses."""
from ... import te, tir
from .. import tag, utils
from ..elementwise import elementwise

__all__ = ["fast_softmax", "leaky_relu", "log_softmax", "nll_loss", "prelu", "relu", "scale_shift_nchw", "scale_shift_nhwc",
           "softmax", "softmax_common", "softplus"]


def relu(x):
    """The elements that are not negative; 0 in place of others."""
    return elementwise(x, lambda v: tir.max(v, tir.const(0, v.dtype)))


def leaky_relu(x, alpha):
    """The elements that are positive; others times a factor."""
    return elementwise(x, lambda v: tir.Select(v > tir.const(0, v.dtype), v, v * tir.const(alpha, v.dtype)))


def prelu(x, slope, axis=1):
    """The elements that are positive; others times the factor of their channel."""
    axis = utils.real_axis(x.ndim, axis)
    return te.compute(x.shape, lambda *i: tir.Select(x(*i) > 0, x(*i), x(*i) * slope(i[axis])))


def scale_shift_nchw(Input, Scale, Shift):
    """The elements times the scale of their channel, plus its shift."""
    return te.compute(Input.shape, lambda b, c, i, j: Input[b, c, i, j] * Scale[c] + Shift[c], "ScaleShift")


def scale_shift_nhwc(Input, Scale, Shift):
    """The elements times the scale of their channel, which is the last axis, plus its shift."""
    return te.compute(Input.shape, lambda b, i, j, c: Input[b, i, j, c] * Scale[c] + Shift[c], "ScaleShift")


def softmax_common(x, axis, use_fast_exp=False):
    """The exponentials along an axis divided by their sum."""
    del use_fast_exp
    axis = utils.real_axis(x.ndim, axis)
    reduced = [dim for number, dim in enumerate(x.shape) if number != axis]
    k1, k2 = (te.reduce_axis((0, x.shape[axis]), "k") for _ in range(2))

    def without(i):
        return (*i[:axis], *i[axis + 1:])

    def along(i, k):
        return (*i[:axis], k.var, *i[axis:])

    attrs = {"axis": axis}
    greatest = te.compute(reduced, lambda *i: tir.max(x(*along(i, k1)), axis=k1), "T_softmax_maxelem")
    exp = te.compute(x.shape, lambda *i: tir.exp(x(*i) - greatest(*without(i))), "T_softmax_exp")
    expsum = te.compute(reduced, lambda *i: tir.sum(exp(*along(i, k2)), axis=k2), "T_softmax_expsum")
    return te.compute(x.shape, lambda *i: exp(*i) / expsum(*without(i)), "T_softmax_norm", attrs=attrs, tag="softmax_output")


def softmax(x, axis=-1):
    """The exponentials along an axis divided by their sum."""
    return softmax_common(x, axis)


def fast_softmax(x, axis=-1):
    """As softmax; the intrinsic computes the exponentials, and no approximation."""
    return softmax_common(x, axis)


def softplus(x, beta=1.0, threshold=20.0):
    """log(1 + exp(beta * x)) / beta; the element itself where beta * x is above the threshold."""

    def value(*i):
        own, factor = x(*i), tir.const(beta, x.dtype)
        curve = tir.log(tir.const(1, x.dtype) + tir.exp(factor * own)) / factor
        return tir.Select(factor * own > tir.const(threshold, x.dtype), own, curve)

    return te.compute(x.shape, value, tag=tag.ELEMWISE)


def log_softmax(x, axis=-1):
    """The logarithm of softmax."""
    axis = utils.real_axis(x.ndim, axis)
    reduced = [dim for number, dim in enumerate(x.shape) if number != axis]
    k1, k2 = (te.reduce_axis((0, x.shape[axis]), "k") for _ in range(2))

    def without(i):
        return (*i[:axis], *i[axis + 1:])

    def along(i, k):
        return (*i[:axis], k.var, *i[axis:])

    greatest = te.compute(reduced, lambda *i: tir.max(x(*along(i, k1)), axis=k1), "T_softmax_maxelem")
    expsum = te.compute(reduced, lambda *i: tir.sum(tir.exp(x(*along(i, k2)) - greatest(*i)), axis=k2))
    return te.compute(x.shape, lambda *i: x(*i) - greatest(*without(i)) - tir.log(expsum(*without(i))), attrs={"axis": axis})


def nll_loss(predictions, targets, weights, reduction, ignore_index):
    """The negative predictions of targets, weighted: all, their sum, or their mean over the weights."""
    from ..broadcast import divide
    from ..reduction import sum as topi_sum

    def at(i):
        return (targets(*i), ) if not i else (i[0], targets(*i), *i[1:])

    def used(i):
        return tir.NE(targets(*i), ignore_index)

    zero = tir.const(0, predictions.dtype)
    loss = te.compute(targets.shape, lambda *i: tir.Select(used(i), -predictions(*at(i)) * weights(targets(*i)), zero),
                      "nll_loss", tag.INJECTIVE)
    if reduction == "none":
        return loss
    axes = list(range(targets.ndim))
    total = topi_sum(loss, axes)
    if reduction == "sum":
        return total
    counted = te.compute(targets.shape, lambda *i: tir.Select(used(i), weights(targets(*i)), zero), "nll_loss", tag.INJECTIVE)
    return divide(total, topi_sum(counted, axes))
