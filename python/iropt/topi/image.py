"""Images in other sizes."""
import itertools

from .. import te, tir
from . import utils
from .layout import axes_of

__all__ = ["resize", "resize1d", "resize2d", "resize3d"]


def _as_float(value):
    return tir.const(float(value), "float32") if isinstance(value, (int, float)) else value.astype("float32")


def _source(x, length, target, mode, begin, end):
    """The position in the source of an index of the result."""
    whole, out = _as_float(length), _as_float(target)
    scale = whole / out
    is_single = isinstance(target, (int, tir.IntImm)) and int(target) == 1
    if mode == "half_pixel":
        return (x + 0.5) * scale - 0.5
    if mode == "align_corners":
        return tir.const(0.0, "float32") if is_single else (whole - 1.0) / (out - 1.0) * x
    if mode == "asymmetric":
        return scale * x
    if mode == "pytorch_half_pixel":
        return tir.if_then_else(target > 1, (x + 0.5) * scale - 0.5, 0.0)
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) * scale
    if mode == "tf_crop_and_resize":
        middle = (begin + end) * 0.5 * (whole - 1.0)
        return middle if is_single else begin * (whole - 1.0) + x * (end - begin) * (whole - 1.0) / (out - 1.0)
    raise ValueError(f"Unsupported coordinate_transformation_mode: {mode}")


_NEAREST = {
    "round": lambda x: tir.round(x),
    "round_prefer_floor": lambda x: tir.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: tir.floor(x + 0.5),
    # Positions that are whole numbers may be a little less, or more, as floats.
    "floor": lambda x: tir.floor(x + 1e-5),
    "ceil": lambda x: tir.ceil(x - 1e-5),
}


def _cubic_weights(t, alpha):
    t2, t3 = t * t, t * t * t
    return [(t3 - t2 * 2.0 + t) * alpha, t3 * (alpha + 2.0) - t2 * (alpha + 3.0) + 1.0,
            t3 * -(alpha + 2.0) + t2 * (2.0 * alpha + 3.0) - t * alpha, t2 * alpha - t3 * alpha]


def _weights(position, length, method, alpha, exclude_outside):
    """The indices around a position, and their weights."""
    first = tir.floor(position)
    index, part = first.astype("int32"), position - first
    if method == "linear":
        return [index, index + 1], [1.0 - part, part]
    weights = _cubic_weights(part, alpha)
    if exclude_outside:
        inside = [tir.all(index + (n - 1) >= 0, index + (n - 1) < length) for n in range(4)]
        weights = [tir.if_then_else(hit, weight, 0.0) for hit, weight in zip(inside, weights)]
        total = weights[0] + weights[1] + weights[2] + weights[3]
        weights = [weight / total for weight in weights]
    return [index + (n - 1) for n in range(4)], weights


def resize(data, size, layout, method="linear", coordinate_transformation_mode="half_pixel", rounding_method="",
           roi=None, bicubic_alpha=-0.5, bicubic_exclude=0, extrapolation_value=0.0, out_dtype=None):
    """The tensor with other sizes of the axes D, H and W of its layout; see resize2d."""
    mode = coordinate_transformation_mode
    axes = [n for n, (letter, _) in enumerate(axes_of(layout)) if letter in "DHW"]
    size = list(size) if isinstance(size, (list, tuple)) else [size]
    shape = list(data.shape)
    for axis, extent in zip(axes, size):
        shape[axis] = extent
    begins, ends = (roi[:len(axes)], roi[len(axes):]) if roi is not None and len(roi) else ([0.0] * len(axes), [1.0] * len(axes))
    rounding = rounding_method or ("round" if mode == "align_corners" else "floor")
    if method == "nearest_neighbor" and rounding not in _NEAREST:
        raise ValueError(f"Unknown rounding method: {rounding}")
    if method not in ("nearest_neighbor", "linear", "cubic"):
        raise ValueError(f"Unknown resize method: {method}")

    def limited(index, axis):
        return tir.max(tir.min(index, data.shape[axis] - 1), 0)

    def value(*i):
        places = [_source(i[axis].astype("float32"), data.shape[axis], extent, mode, *map(_as_float, bounds))
                  for axis, extent, bounds in zip(axes, size, zip(begins, ends))]
        if method == "nearest_neighbor":
            choices = [([_NEAREST[rounding](place).astype("int32")], [None]) for place in places]
        else:
            choices = [_weights(place, data.shape[axis], method, bicubic_alpha, bicubic_exclude)
                       for axis, place in zip(axes, places)]
        result = None
        for numbers in itertools.product(*[range(len(indices)) for indices, _ in choices]):
            own, weight = list(i), None
            for axis, number, (indices, weights) in zip(axes, numbers, choices):
                own[axis] = limited(indices[number], axis)
                if weights[number] is not None:
                    weight = weights[number] if weight is None else weight * weights[number]
            element = data(*own)
            element = element if weight is None else element.astype("float32") * weight
            result = element if result is None else result + element
        result = result.astype(out_dtype or data.dtype)
        if mode == "tf_crop_and_resize":
            outside = [tir.any(place < 0.0, place > _as_float(data.shape[axis]) - 1.0) for axis, place in zip(axes, places)]
            result = tir.if_then_else(tir.any(*outside), tir.const(extrapolation_value, result.dtype), result)
        return result

    return te.compute(shape, value, "resize", "injective")


def _resizer(name, default_layout):
    def apply(data, roi, size, layout=default_layout, method="linear", coordinate_transformation_mode="half_pixel",
              rounding_method="", bicubic_alpha=-0.5, bicubic_exclude=0, extrapolation_value=0.0, out_dtype=None,
              output_shape=None):
        del output_shape
        return resize(data, size, layout, method, coordinate_transformation_mode, rounding_method, roi, bicubic_alpha,
                      bicubic_exclude, extrapolation_value, out_dtype)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"""The tensor in another size.

    Args:
        data: the tensor in {default_layout}, or in the given layout.
        roi: the begin and the end of the part that "tf_crop_and_resize" takes, as fractions of each axis.
        size: the new sizes.
        layout: see data.
        method: "nearest_neighbor", "linear" or "cubic".
        coordinate_transformation_mode: "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
            "tf_half_pixel_for_nn" or "tf_crop_and_resize".
        rounding_method: of the nearest neighbor: "round", "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil".
        bicubic_alpha, bicubic_exclude: the coefficient of cubic weights, and whether those outside count as zero.
        extrapolation_value: the value outside of the image.
        out_dtype: that of the result.

    Returns: the tensor.
    """
    return apply


resize1d, resize2d, resize3d = _resizer("resize1d", "NCW"), _resizer("resize2d", "NCHW"), _resizer("resize3d", "NCDHW")
