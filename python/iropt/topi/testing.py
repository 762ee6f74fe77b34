"""What operators compute, on arrays of NumPy."""


def strided_slice_python(data, begin, end, strides, slice_mode="end", axes=None):
    """The slice of an array from `begin` to `end` with steps.

    slice_mode: "end", or "size" if `end` has the lengths of the slice, with a negative one for all that is left.
    axes: those that the lists are for; the first ones by default.
    """
    slices = [slice(None)] * data.ndim
    for i, axis in enumerate(range(data.ndim) if axes is None else axes):
        first = begin[i] if i < len(begin) else None
        last = end[i] if i < len(end) else None
        step = strides[i] if strides is not None and i < len(strides) else None
        if slice_mode == "size" and last is not None:
            last, step = None if last < 0 else first + last, None
        slices[axis] = slice(first, last, step)
    return data[tuple(slices)]


def strided_set_python(data, v, begin, end, strides):
    """A copy of an array with other values in a slice."""
    result = data.copy()
    strides = list(strides or []) + [None] * (data.ndim - len(strides or []))
    result[tuple(slice(*bounds) for bounds in zip(begin, end, strides))] = v
    return result
