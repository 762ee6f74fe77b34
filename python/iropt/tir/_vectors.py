"""What vectors have to be: their lanes, and the masks of accesses to buffers."""
import numbers

from .._core import Error, native


def lanes_of(dtype):
    """The number of lanes of a dtype, as a multiple of vscale if they are scalable, and whether they are."""
    _, scalable, count = dtype.partition("xvscalex")
    if scalable:
        return int(count), True
    count = dtype.partition("x")[2]
    return int(count) if count else 1, False


def _is_vscale(expr):
    return getattr(getattr(expr, "op", None), "name", None) == "tir.vscale"


def are_both_vscale(a, b):
    """Returns whether both expressions are the unknown factor of vectors, which is one number."""
    return _is_vscale(a) and _is_vscale(b)


def lanes(value):
    """The lanes of a vector in their form: an int32, or vscale times a number."""
    from .expr import IntImm, Mul, const

    if isinstance(value, IntImm):
        return const(value.value, "int32")
    if isinstance(value, Mul):
        a, b = (value.b, value.a) if isinstance(value.a, IntImm) else (value.a, value.b)
        if _is_vscale(a) and isinstance(b, IntImm):
            return native.make(Mul._kind_, {"a": a, "b": b})
    if isinstance(value, numbers.Integral):
        return int(value)
    raise native.ArgumentError(f"the lanes of a vector are a number, or vscale times a number, not {value}")


def check_mask(predicate, dtype, is_load):
    """Raises Error unless a mask fits the vector of a dtype that is loaded or stored."""
    if predicate is None:
        return
    (mask, is_mask_scalable), (count, is_scalable) = lanes_of(predicate.dtype), lanes_of(dtype)
    if is_mask_scalable != is_scalable:
        raise Error(f"Predicate mask dtype and {'load indices' if is_load else 'value dtype'} must both be scalable.")
    if mask != count:
        raise Error(f"Got a predicate mask with {mask} lanes, but trying to {'load a vector' if is_load else 'store a value'} "
                    f"with {count} lanes. The number of lanes must match.")
    element = predicate.dtype.partition("x")[0]
    if element not in ("bool", "uint1", "int1"):
        raise Error(f"Predicate mask elements must be boolean values, but got {element}.")
