"""Functions of each element."""
from .. import te, tir
from ..te.tensor import Tensor, as_expr
from . import tag, utils

_INTRINSICS = ("acos acosh asin asinh atan atanh cos cosh erf exp log log10 log2 rsqrt sigmoid sin sinh sqrt tan tanh").split()
_ROUNDING = "ceil floor round trunc".split()

__all__ = [*_INTRINSICS, *_ROUNDING, "abs", "cast", "ceil_log2", "clip", "elemwise_sum", "fast_erf", "fast_exp", "fast_tanh",
           "fixed_point_multiply", "identity", "isfinite", "isinf", "isnan", "negative", "reinterpret", "sign"]


def elementwise(x, function, name="compute", axes=None):
    """The function of each element."""
    return te.compute(x.shape, lambda *i: function(x(*i)), name, tag.ELEMWISE, varargs_names=axes)


def _function(name, function):
    def apply(x):
        return elementwise(x, function)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"`{name}` of each element."
    return apply


def _intrinsic(name):
    return lambda x: tir.Call(x.dtype, "tir." + name, [x])


def _is_integer(x):
    return x.dtype.startswith(("int", "uint", "bool"))


def _rounding(name):
    return lambda x: x if _is_integer(x) else tir.Call(x.dtype, "tir." + name, [x])


for _name in _INTRINSICS:
    globals()[_name] = _function(_name, _intrinsic(_name))
for _name in _ROUNDING:
    globals()[_name] = _function(_name, _rounding(_name))
abs = _function("abs", tir.abs)  # pylint: disable=redefined-builtin
isnan, isinf, isfinite = (_function(name, getattr(tir, name)) for name in ("isnan", "isinf", "isfinite"))


def identity(x):
    """The tensor itself, as the result of a computation."""
    return elementwise(x, lambda v: v)


def negative(x):
    """The negated elements."""
    return elementwise(x, lambda v: v * tir.const(-1, v.dtype))


def sign(x):
    """-1, 0 or 1 for each element."""

    def value(v):
        zero, one = tir.const(0, v.dtype), tir.const(1, v.dtype)
        if v.dtype.startswith(("uint", "bool")):
            return tir.Select(v > zero, one, zero)
        return tir.Select(v > zero, one, tir.Select(v < zero, tir.const(-1, v.dtype), zero))

    return elementwise(x, value, "T_sign", utils.axis_names(x.ndim))


def _clip_bound(bound, dtype):
    if not isinstance(bound, (int, float)):
        return as_expr(bound).astype(dtype)
    if dtype.startswith(("int", "uint")):
        least, greatest = tir.min_value(dtype), tir.max_value(dtype)
        bound = int(max(min(bound, greatest.value if isinstance(greatest, tir.IntImm) else 2**64 - 1), least.value))
    return tir.const(bound, dtype)


def clip(x, a_min, a_max):
    """The elements, limited to the range from a_min to a_max."""
    low, high = _clip_bound(a_min, x.dtype), _clip_bound(a_max, x.dtype)
    return elementwise(x, lambda v: tir.max(tir.min(v, high), low))


def cast(x, dtype, span=None):
    """The elements, or a scalar, in another dtype."""
    del span
    if isinstance(x, Tensor):
        return elementwise(x, lambda v: v.astype(dtype))
    return as_expr(x).astype(dtype)


def reinterpret(x, dtype):
    """The bits of the elements as those of another dtype of the same size."""
    return elementwise(x, lambda v: tir.Call(dtype, "tir.reinterpret", [v]), "tensor", utils.axis_names(x.ndim))


def elemwise_sum(xs):
    """The sum of several tensors of one shape."""

    def value(*indices):
        result = xs[0](*indices)
        for x in xs[1:]:
            result = result + x(*indices)
        return result

    return te.compute(xs[0].shape, value, "T_elemwise_sum", tag.ELEMWISE, varargs_names=utils.axis_names(xs[0].ndim))


def fixed_point_multiply(x, multiplier, shift):
    """x * multiplier * 2^(shift - 31), rounded; the multiplier is a fraction of 31 bits."""
    args = [tir.const(multiplier, "int32"), tir.const(31, "int32"), tir.const(shift, "int32")]
    return elementwise(x, lambda v: tir.Call(v.dtype, "tir.q_multiply_shift", [v, *args]))


def ceil_log2(x):
    """The logarithm of base 2, rounded up, in the dtype of the operand."""
    wide = "float64" if x.dtype.endswith("64") else "float32"

    def value(v):
        if _is_integer(v):
            return tir.ceil(tir.log2(v.astype(wide))).astype(v.dtype)
        return tir.ceil(tir.log2(v))

    return elementwise(x, value) if isinstance(x, Tensor) else value(as_expr(x))


def _fast(name):
    def apply(x):
        return globals()[name](x)

    apply.__name__ = apply.__qualname__ = "fast_" + name
    apply.__doc__ = f"`{name}` of each element; the intrinsic computes it, and no approximation."
    return apply


fast_exp, fast_tanh, fast_erf = (_fast(name) for name in ("exp", "tanh", "erf"))

