"""Convolutions."""
from ... import te, tir
from .. import utils
from ..utils import pair
from .padding import dilate, pad

__all__ = ["conv", "conv1d", "conv1d_ncw", "conv1d_nwc", "conv1d_transpose_ncw", "conv2d", "conv2d_hwcn", "conv2d_nchw",
           "conv2d_nhwc", "conv2d_transpose_nchw", "conv3d_ncdhw", "conv3d_ndhwc", "conv3d_transpose_ncdhw",
           "depthwise_conv2d_nchw", "depthwise_conv2d_nhwc", "group_conv1d_ncw", "group_conv1d_nwc", "group_conv2d_nchw",
           "group_conv2d_nhwc", "group_conv2d_transpose_nchw"]


def padding_of(padding, kernel):
    """The padding before and after each axis of windows of the given sizes.

    Args:
        padding: a number, numbers of each axis, those before and then those after, "VALID" (none), or "SAME".
        kernel: the sizes of the windows.

    Returns: two lists.
    """
    count = len(kernel)
    if isinstance(padding, (list, tuple)):
        if len(padding) == 2 * count:
            return list(padding[:count]), list(padding[count:])
        if len(padding) != count:
            raise ValueError(f"Size of padding can only be {count} or {2 * count}")
        return list(padding), list(padding)
    if isinstance(padding, int):
        return [padding] * count, [padding] * count
    if padding not in ("VALID", "SAME"):
        raise ValueError(f"Unknown padding option {padding}")
    whole = [0 if padding == "VALID" else size - 1 for size in kernel]
    before = [tir.floordiv(size + 1, 2) if not isinstance(size, int) else (size + 1) // 2 for size in whole]
    return before, [size - first for size, first in zip(whole, before)]


def _order(layout, first, second):
    """The positions in a layout of two axes, and of the others in their order."""
    return [layout.find(first), layout.find(second)] + [n for n, letter in enumerate(layout) if letter not in (first, second)]


def _placed(values, order):
    """Values in the order batch, channel, space, in the order of a layout."""
    result = [None] * len(values)
    for value, position in zip(values, order):
        result[position] = value
    return result


def _default_kernel(data_layout):
    space = "".join(letter for letter in data_layout if letter not in "NC")
    return "OI" + space if data_layout.find("C") < data_layout.find(space[0]) else space + "IO"


def conv(inp, filt, stride, padding, dilation, groups, data_layout, kernel_layout="", out_dtype=None,
         auto_scheduler_rewritten_layout=None, meta_schedule_original_shape=None, auto_scheduler_should_rewrite_layout=False):
    """The convolution of a tensor with filters, in one, two or three dimensions.

    Args:
        inp, filt: the tensor and the filters.
        stride, dilation: a number, or one for each dimension.
        padding: see padding_of.
        groups: the number of parts of the channels that are convolved by themselves.
        data_layout, kernel_layout: such as "NCHW" and "OIHW".
        out_dtype: that of the products and of the result; that of the tensor if it is not given.

    Returns: the tensor in the layout of the data.
    """
    del auto_scheduler_rewritten_layout, meta_schedule_original_shape
    dim = inp.ndim - 2
    out_dtype = out_dtype or inp.dtype
    strides, dilations = pair(stride, dim), pair(dilation, dim)
    data_order = _order(data_layout, "N", "C")
    kernel_order = _order(kernel_layout or _default_kernel(data_layout), "O", "I")
    batch, in_channel, *sizes = utils.get_const_tuple([inp.shape[n] for n in data_order])
    filters, _, *kernel = utils.get_const_tuple([filt.shape[n] for n in kernel_order])
    before, after = padding_of(padding, [(size - 1) * dil + 1 for size, dil in zip(kernel, dilations)])
    out = [utils.simplify(tir.floordiv(size - (k - 1) * dil - 1 + first + last, step) + 1)
           for size, k, dil, first, last, step in zip(sizes, kernel, dilations, before, after, strides)]
    padded = pad(inp, _placed([0, 0, *before], data_order), _placed([0, 0, *after], data_order), name="pad_temp")
    group_inputs = in_channel if groups == 1 else tir.floordiv(in_channel, groups)
    iters = [te.reduce_axis((0, extent), name) for name, extent in zip(("rc", "ry", "rx", "rz"), [group_inputs, *kernel])]

    def value(*i):
        n, f, *space = [i[position] for position in data_order]
        rc, *window = [item.var for item in iters]
        channel = rc if groups == 1 else tir.floordiv(f, tir.floordiv(filters, groups)) * group_inputs + rc
        at = [n, channel, *[x * step + r * dil for x, step, r, dil in zip(space, strides, window, dilations)]]
        product = (padded(*_placed(at, data_order)).astype(out_dtype) *
                   filt(*_placed([f, rc, *window], kernel_order)).astype(out_dtype))
        # The loops of the reduction are in the order of the layout.
        return tir.sum(product, axis=[item for item in _placed([None, *iters], data_order) if item is not None])

    name = f"{'group_' if groups > 1 else ''}conv{dim}d_{data_layout.lower()}"
    attrs = {"layout_free_placeholders": [filt]} if auto_scheduler_should_rewrite_layout else {}
    return te.compute(_placed([batch, filters, *out], data_order), value, name, name, attrs,
                      _placed(["nn", "ff", "yy", "xx", "zz"][:dim + 2], data_order))


def conv2d(data, kernel, strides, padding, dilation, data_layout="NCHW", kernel_layout="", out_dtype=None):
    """The convolution of images."""
    return conv(data, kernel, strides, padding, dilation, 1, data_layout, kernel_layout, out_dtype)


def _of_layout(name, layout, kernel_layout, free=False):
    def convolve(Input, Filter, stride, padding, dilation, out_dtype=None, auto_scheduler_rewritten_layout="",
                 meta_schedule_original_shape=None):
        del auto_scheduler_rewritten_layout, meta_schedule_original_shape
        return conv(Input, Filter, stride, padding, dilation, 1, layout, kernel_layout, out_dtype,
                    auto_scheduler_should_rewrite_layout=free)

    convolve.__name__ = convolve.__qualname__ = name
    convolve.__doc__ = f"The convolution of a tensor in {layout} with filters in {kernel_layout}; see conv."
    return convolve


conv2d_nchw, conv2d_hwcn = _of_layout("conv2d_nchw", "NCHW", "OIHW"), _of_layout("conv2d_hwcn", "HWCN", "HWIO")
conv2d_nhwc = _of_layout("conv2d_nhwc", "NHWC", "HWIO", free=True)


def _grouped(name, layout, kernel_layout):
    def convolve(Input, Filter, stride, padding, dilation, groups, out_dtype=None):
        return conv(Input, Filter, stride, padding, dilation, groups, layout, kernel_layout, out_dtype)

    convolve.__name__ = convolve.__qualname__ = name
    convolve.__doc__ = f"The convolution by groups of channels of a tensor in {layout} with filters in {kernel_layout}."
    return convolve


group_conv2d_nchw, group_conv2d_nhwc = (_grouped("group_conv2d_nchw", "NCHW", "OIHW"),
                                        _grouped("group_conv2d_nhwc", "NHWC", "HWIO"))
group_conv1d_ncw, group_conv1d_nwc = (_grouped("group_conv1d_ncw", "NCW", "OIW"),
                                      _grouped("group_conv1d_nwc", "NWC", "WIO"))


def conv3d_ncdhw(Input, Filter, stride, padding, dilation, groups, out_dtype=None):
    """The convolution of volumes in NCDHW."""
    return conv(Input, Filter, stride, padding, dilation, groups, "NCDHW", "OIDHW", out_dtype)


def conv3d_ndhwc(Input, Filter, stride, padding, dilation, groups, out_dtype="float32", auto_scheduler_rewritten_layout="",
                 meta_schedule_origin_shape=None):
    """The convolution of volumes in NDHWC."""
    del auto_scheduler_rewritten_layout, meta_schedule_origin_shape
    return conv(Input, Filter, stride, padding, dilation, groups, "NDHWC", "DHWIO", out_dtype)


def conv1d(data, kernel, strides=1, padding="VALID", dilation=1, groups=1, data_layout="NCW", kernel_layout="", out_dtype=None):
    """The convolution of sequences."""
    return conv(data, kernel, strides, padding, dilation, groups, data_layout, kernel_layout, out_dtype)


def conv1d_ncw(data, kernel, strides=1, padding="VALID", dilation=1, out_dtype=None):
    """The convolution of sequences in NCW."""
    return conv(data, kernel, strides, padding, dilation, 1, "NCW", "OIW", out_dtype)


def conv1d_nwc(data, kernel, strides=1, padding="VALID", dilation=1, out_dtype=None):
    """The convolution of sequences in NWC."""
    return conv(data, kernel, strides, padding, dilation, 1, "NWC", "WIO", out_dtype)


def depthwise_conv2d_nchw(Input, Filter, stride, padding, dilation, out_dtype=None):
    """The convolution of each channel of images in NCHW with several filters of its own."""
    return _depthwise(Input, Filter, stride, padding, dilation, out_dtype, "NCHW")


def depthwise_conv2d_nhwc(Input, Filter, stride, padding, dilation, kernel_layout="HWOI", out_dtype=None):
    """The convolution of each channel of images in NHWC with several filters of its own."""
    return _depthwise(Input, Filter, stride, padding, dilation, out_dtype, "NHWC", kernel_layout)


def _depthwise(Input, Filter, stride, padding, dilation, out_dtype, layout, kernel_layout="OIHW"):
    out_dtype = out_dtype or Input.dtype
    (step_y, step_x), (dil_y, dil_x) = pair(stride), pair(dilation)
    order, kernel_order = _order(layout, "N", "C"), _order(kernel_layout, "O", "I")
    batch, channels, height, width = [Input.shape[n] for n in order]
    _, times, rows, columns = [Filter.shape[n] for n in kernel_order]
    before, after = padding_of(padding, utils.get_const_tuple([(rows - 1) * dil_y + 1, (columns - 1) * dil_x + 1]))
    padded = pad(Input, _placed([0, 0, *before], order), _placed([0, 0, *after], order), name="PaddedInput")
    out = [utils.simplify(tir.floordiv(size - (k - 1) * dil - 1 + first + last, step) + 1) for size, k, dil, first, last, step in
           zip((height, width), (rows, columns), (dil_y, dil_x), before, after, (step_y, step_x))]
    di, dj = te.reduce_axis((0, rows), "di"), te.reduce_axis((0, columns), "dj")

    def value(*i):
        n, c, y, x = [i[position] for position in order]
        channel, number = tir.indexdiv(c, times), tir.indexmod(c, times)
        source = padded(*_placed([n, channel, y * step_y + di * dil_y, x * step_x + dj * dil_x], order))
        weight = Filter(*_placed([channel, number, di.var, dj.var], kernel_order))
        return tir.sum(source.astype(out_dtype) * weight.astype(out_dtype), axis=[di, dj])

    return te.compute(_placed([batch, utils.simplify(channels * times), *out], order), value, "DepthwiseConv2d",
                      f"depthwise_conv2d_{layout.lower()}", varargs_names=_placed(["b", "c", "i", "j"], order))


def _transposed(data, kernel, stride, padding, out_dtype, output_padding, groups, name):
    """The transposed convolution of data in NC..., with filters in IO...: a convolution of the dilated data."""
    dim = data.ndim - 2
    strides, extra = pair(stride, dim), pair(output_padding, dim)
    if any(more >= step for more, step in zip(extra, strides)):
        raise ValueError(f"the output padding {extra} must be less than the strides {strides}")
    out_dtype = out_dtype or data.dtype
    channels, per_group = data.shape[1], kernel.shape[1]
    window = utils.get_const_tuple(kernel.shape[2:])
    before, after = padding_of(padding, window)
    dilated = dilate(data, [1, 1, *strides], name="data_dilate")
    padded = pad(dilated, [0, 0, *[size - 1 - first for size, first in zip(window, before)]],
                 [0, 0, *[size - 1 - last + more for size, last, more in zip(window, after, extra)]], name="data_pad")
    rotated = te.compute([per_group, channels, *window],
                         lambda *i: kernel(i[1], i[0], *[size - 1 - index for size, index in zip(window, i[2:])]),
                         "kernel" if dim == 1 else "kernel_transform", varargs_names=["o", "i", *"dhw"[3 - dim:]])
    group_inputs = channels if groups == 1 else tir.floordiv(channels, groups)
    iters = [te.reduce_axis((0, extent), axis) for axis, extent in
             zip(["dc", *["d" + letter for letter in "dhw"[3 - dim:]]], [group_inputs, *window])]

    def value(*i):
        dc, *space = [item.var for item in iters]
        channel = dc if groups == 1 else tir.floordiv(i[1], per_group) * group_inputs + dc
        source = padded(i[0], channel, *[index + step for index, step in zip(i[2:], space)])
        weight = rotated(i[1] if groups == 1 else tir.floormod(i[1], per_group), channel, *space)
        return tir.sum(source.astype(out_dtype) * weight.astype(out_dtype), axis=iters)

    shape = [data.shape[0], utils.simplify(per_group * groups),
             *[utils.simplify(dim - size + 1) for dim, size in zip(padded.shape[2:], window)]]
    return te.compute(shape, value, tag=name, varargs_names=["b", "c", *"dhw"[3 - dim:]])


def conv1d_transpose_ncw(data, kernel, stride, padding, out_dtype, output_padding):
    """The transposed convolution of sequences in NCW."""
    return _transposed(data, kernel, stride, padding, out_dtype, output_padding, 1, "conv1d_transpose_ncw")


def conv2d_transpose_nchw(Input, Filter, strides, padding, out_dtype, output_padding):
    """The transposed convolution of images in NCHW."""
    return _transposed(Input, Filter, strides, padding, out_dtype, output_padding, 1, "conv2d_transpose_nchw")


def group_conv2d_transpose_nchw(data, kernel, stride, padding, out_dtype, output_padding, groups):
    """The transposed convolution of images in NCHW by groups of channels."""
    return _transposed(data, kernel, stride, padding, out_dtype, output_padding, groups, "group_conv2d_transpose_nchw")


def conv3d_transpose_ncdhw(Input, Filter, strides, padding, out_dtype, output_padding):
    """The transposed convolution of volumes in NCDHW."""
    return _transposed(Input, Filter, strides, padding, out_dtype, output_padding, 1, "conv3d_transpose_ncdhw")
