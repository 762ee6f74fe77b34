"""Functions that add elements around, or between, elements, and that move them between axes."""
from ... import te, tir
from ...te.tensor import as_expr
from .. import tag, utils

__all__ = ["batch_to_space_nd", "circular_pad", "depth_to_space", "dilate", "flatten", "get_padded_shape", "mirror_pad", "pad",
           "pixel_shuffle", "reflect_pad", "replicate_pad", "space_to_batch_nd", "space_to_depth"]


def _value(value, dtype):
    return tir.const(value, dtype) if isinstance(value, (int, float)) else as_expr(value)


def _is_zero(number):
    return isinstance(number, (int, tir.IntImm)) and int(number) == 0


def pad(data, pad_before, pad_after=None, pad_value=0.0, name="PadInput", attrs=None):
    """The tensor with elements of a value before and after it along each axis."""
    pad_after = pad_after or pad_before
    if len(pad_before) != data.ndim or len(pad_after) != data.ndim:
        raise ValueError(f"Input dimension and pad_before dismatch : {data.ndim} vs {len(pad_before)}")
    shape = [utils.simplify(dim + before + after) for dim, before, after in zip(data.shape, pad_before, pad_after)]
    value = _value(pad_value, data.dtype)

    def padded(*i):
        own, inside = [], []
        for index, dim, before, after in zip(i, data.shape, pad_before, pad_after):
            if _is_zero(before) and _is_zero(after):
                own.append(index)
                continue
            own.append(index - before)
            inside += [index >= before, index < dim + before]
        return tir.if_then_else(tir.all(*inside), data(*own), value) if inside else data(*own)

    return te.compute(shape, padded, name, "injective,pad", attrs)


def mirror_pad(data, pad_before, pad_after=None, mode="SYMMETRIC", name="MirrorPadInput"):
    """The tensor with its own elements, mirrored, around it: the border too ("SYMMETRIC"), or not ("REFLECT")."""
    pad_after = pad_after or pad_before
    shape = [utils.simplify(dim + before + after) for dim, before, after in zip(data.shape, pad_before, pad_after)]
    skipped = 0 if mode == "SYMMETRIC" else 1

    def padded(*i):
        own = []
        for index, dim, before in zip(i, data.shape, pad_before):
            inner = index - before
            own.append(tir.if_then_else(inner < 0, -1 - inner + skipped,
                                        tir.if_then_else(inner >= dim, dim * 2 - 1 - inner - skipped, inner)))
        return data(*own)

    return te.compute(shape, padded, name, "injective,pad")


def get_padded_shape(data, pad_before, pad_after=None):
    """The shape of a tensor with elements added before and after each axis."""
    pad_after = pad_after or pad_before
    for name, pads in (("pad_before", pad_before), ("pad_after", pad_after)):
        if len(pads) != data.ndim:
            raise ValueError(f"{name} length {len(pads)} != input dims {data.ndim}")
    return tuple(utils.simplify(dim + before + after) for dim, before, after in zip(data.shape, pad_before, pad_after))


def _padded(data, pad_before, pad_after, name, at):
    """The tensor with elements of its own around it: `at(index, length)` is the place of an index that may be outside."""
    shape = get_padded_shape(data, pad_before, pad_after)

    def value(*i):
        return data(*[at(index - before, dim) for index, before, dim in zip(i, pad_before, data.shape)])

    return te.compute(shape, value, name, tag.INJECTIVE + ",pad")


def reflect_pad(data, pad_before, pad_after=None, name="ReflectPadInput"):
    """The tensor with elements around it that are mirrored; the outermost ones are not repeated."""
    return _padded(data, pad_before, pad_after, name, lambda i, dim: tir.if_then_else(
        i < 0, -i, tir.if_then_else(i >= dim, 2 * dim - 2 - i, i)))


def replicate_pad(data, pad_before, pad_after=None, name="ReplicatePadInput"):
    """The tensor with its outermost elements repeated around it."""
    return _padded(data, pad_before, pad_after, name, lambda i, dim: tir.if_then_else(
        i < 0, tir.const(0, i.dtype), tir.if_then_else(i >= dim, dim - 1, i)))


def circular_pad(data, pad_before, pad_after=None, name="CircularPadInput"):
    """The tensor with elements around it that begin again at its other end."""
    return _padded(data, pad_before, pad_after, name, lambda i, dim: tir.indexmod(i + dim, dim))


def dilate(data, strides, dilation_value=0.0, name="DilatedInput"):
    """The tensor with elements of a value between its elements along each axis."""
    if len(strides) != data.ndim:
        raise ValueError(f"data dimension and strides size dismatch : {data.ndim} vs {len(strides)}")
    shape = [utils.simplify((dim - 1) * stride + 1) for dim, stride in zip(data.shape, strides)]
    value = _value(dilation_value, data.dtype)

    def dilated(*i):
        own, hits = [], []
        for index, stride in zip(i, strides):
            if utils.is_one(stride):
                own.append(index)
                continue
            own.append(tir.indexdiv(index, stride))
            hits.append(tir.EQ(tir.indexmod(index, stride), 0))
        return tir.if_then_else(tir.all(*hits), data(*own), value) if hits else data(*own)

    return te.compute(shape, dilated, name, tag.INJECTIVE)


def flatten(data):
    """The tensor with all axes but the first one as one."""
    rest = data.shape[1:]
    return te.compute((data.shape[0], utils.prod(rest)), lambda i, j: data(i, *utils.unravel_index(j, rest)),
                      tag=tag.INJECTIVE)


def _axes_of(layout):
    if layout not in ("NCHW", "NHWC"):
        raise ValueError("Layout not supported: " + layout)
    return [layout.index(letter) for letter in "NCHW"]


def _ordered(values, layout):
    by_letter = dict(zip("NCHW", values))
    return [by_letter[letter] for letter in layout]


def depth_to_space(data, block_size, layout="NCHW", mode="DCR"):
    """The tensor with channels moved into blocks of the image; the block comes first among channels in the mode "DCR"."""
    batch, channels, height, width = (data.shape[axis] for axis in _axes_of(layout))
    depth = utils.simplify(tir.floordiv(channels, block_size * block_size))
    shape = _ordered((batch, depth, height * block_size, width * block_size), layout)

    def value(*i):
        n, c, y, x = (i[axis] for axis in _axes_of(layout))
        offset = tir.indexmod(y, block_size) * block_size + tir.indexmod(x, block_size)
        channel = depth * offset + c if mode == "DCR" else c * block_size * block_size + offset
        return data(*_ordered((n, channel, tir.indexdiv(y, block_size), tir.indexdiv(x, block_size)), layout))

    return te.compute(shape, value, "depth_to_space", tag.INJECTIVE)


def pixel_shuffle(data, upscale_factor, name="PixelShuffle"):
    """The tensor with channels, the third axis from the end, moved into blocks of the last two axes."""
    if data.ndim < 3:
        raise ValueError(f"a tensor with channels, rows and columns is needed, not one of {data.ndim} axes")
    size = upscale_factor
    *batch, channels, height, width = data.shape
    shape = [*batch, utils.simplify(tir.floordiv(channels, size * size)), height * size, width * size]

    def value(*i):
        *rest, c, y, x = i
        channel = c * size * size + tir.indexmod(y, size) * size + tir.indexmod(x, size)
        return data(*rest, channel, tir.indexdiv(y, size), tir.indexdiv(x, size))

    return te.compute(shape, value, name, tag.INJECTIVE)


def space_to_depth(data, block_size, layout="NCHW"):
    """The tensor with blocks of the image moved into channels."""
    batch, channels, height, width = (data.shape[axis] for axis in _axes_of(layout))
    shape = _ordered((batch, channels * block_size * block_size, tir.floordiv(height, block_size),
                      tir.floordiv(width, block_size)), layout)

    def value(*i):
        n, c, y, x = (i[axis] for axis in _axes_of(layout))
        offset = tir.indexdiv(c, channels)
        own = (n, tir.indexmod(c, channels), y * block_size + tir.indexdiv(offset, block_size),
               x * block_size + tir.indexmod(offset, block_size))
        return data(*_ordered(own, layout))

    return te.compute(shape, value, "space_to_depth", tag.INJECTIVE)


def space_to_batch_nd(data, block_shape, pad_before, pad_after, pad_value=0.0):
    """The tensor, padded, with blocks of the axes after the first one moved into the first one."""
    from ..transform import reshape, transpose

    count, rest = len(block_shape), data.ndim - len(block_shape) - 1
    padded = pad(data, [0, *pad_before, *[0] * rest], [0, *pad_after, *[0] * rest], pad_value)
    shape, batch = [padded.shape[0]], padded.shape[0]
    for dim, size in zip(padded.shape[1:], block_shape):
        shape += [tir.floordiv(dim, size), size]
        batch = batch * size
    shape += padded.shape[1 + count:]
    order = [2 * n + 2 for n in range(count)] + [0] + [2 * n + 1 for n in range(count)] + [2 * count + 1 + n for n in range(rest)]
    moved = transpose(reshape(padded, shape), order)
    return reshape(moved, [batch, *moved.shape[count + 1:]])


def batch_to_space_nd(data, block_shape, crop_begin_list, crop_end_list):
    """The tensor with parts of the first axis moved into blocks of the following ones, and then cropped."""
    from ..transform import reshape, strided_slice, transpose

    count = len(block_shape)
    batch = utils.simplify(tir.floordiv(data.shape[0], utils.prod(block_shape)))
    split = reshape(data, [*block_shape, batch, *data.shape[1:]])
    order = [count]
    for n in range(count):
        order += [count + 1 + n, n]
    moved = transpose(split, order + list(range(2 * count + 1, split.ndim)))
    merged = [dim * size for dim, size in zip(data.shape[1:], block_shape)]
    whole = reshape(moved, [batch, *merged, *data.shape[1 + count:]])
    ends = [dim - crop for dim, crop in zip(whole.shape[1:], crop_end_list)]
    return strided_slice(whole, list(crop_begin_list), ends, axes=list(range(1, count + 1)))
