"""Functions that rearrange elements."""
import math

from .. import te, tir
from . import tag, utils

__all__ = ["concatenate", "const_vector", "dynamic_strided_slice", "expand_dims", "expand_like", "flip", "hamming_window",
           "layout_transform", "matmul", "repeat", "reshape", "reverse_sequence", "slice_scatter", "sliding_window", "split", "squeeze", "stack", "strided_slice",
           "tensordot", "tile", "transpose", "trilu", "where"]


def _injective(shape, value, name):
    return te.compute(shape, value, name, tag.INJECTIVE, varargs_names=utils.axis_names(len(shape)))


def _is_empty(shape):
    return any(dim == 0 for dim in utils.get_const_tuple(shape))


def expand_dims(a, axis, num_newaxis=1):
    """The tensor with new axes of length 1 at a position."""
    axis = utils.real_axis(a.ndim + 1, axis)
    shape = [*a.shape[:axis], *[1] * num_newaxis, *a.shape[axis:]]
    return te.compute(shape, lambda *i: a(*i[:axis], *i[axis + num_newaxis:]), "T_expand_dims", tag.BROADCAST,
                      varargs_names=utils.axis_names(len(shape)))


def expand_like(a, shape_like, axis):
    """The tensor repeated along the given axes of another one."""
    axes = utils.real_axes(shape_like.ndim, axis)
    if a.ndim == 1 and len(axes) == shape_like.ndim:
        return te.compute(shape_like.shape, lambda *_: a(0), "T_expand_like")
    return te.compute(shape_like.shape, lambda *i: a(*[index for number, index in enumerate(i) if number not in axes]),
                      "T_expand_like", tag.BROADCAST)


def transpose(a, axes=None):
    """The tensor with its axes in another order; reversed for None."""
    order = [utils.real_axis(a.ndim, axis) for axis in axes] if axes else list(reversed(range(a.ndim)))
    if sorted(order) != list(range(a.ndim)):
        raise ValueError(f"{axes} is not an order of {a.ndim} axes")
    return _injective([a.shape[axis] for axis in order], lambda *i: a(*[i[order.index(axis)] for axis in range(a.ndim)]),
                      "T_transpose")


def flip(a, axis=0):
    """The tensor with the elements along an axis in reverse order."""
    axis = utils.real_axis(a.ndim, axis)
    return _injective(a.shape, lambda *i: a(*i[:axis], a.shape[axis] - 1 - i[axis], *i[axis + 1:]), "T_reverse_sequence")


def reverse_sequence(a, seq_lengths, seq_axis=1, batch_axis=0):
    """The tensor with the first elements along an axis reversed, as many as the length for each batch says."""
    seq_axis, batch_axis = utils.real_axis(a.ndim, seq_axis), utils.real_axis(a.ndim, batch_axis)

    def value(*i):
        whole, index = a.shape[seq_axis], i[seq_axis]
        length = tir.min(seq_lengths(i[batch_axis]).astype(index.dtype), whole)
        return a(*i[:seq_axis], tir.if_then_else(index < length, length - 1 - index, index), *i[seq_axis + 1:])

    return _injective(a.shape, value, "T_reverse_sequence")


def reshape(a, newshape):
    """The tensor in another shape. One dimension may be -1: it is what the number of elements gives."""
    shape = list(newshape) if isinstance(newshape, (list, tuple)) else [newshape]
    for position, dim in enumerate(shape):
        if isinstance(dim, int) and dim == -1:
            rest = utils.prod(shape[:position] + shape[position + 1:])
            shape[position] = utils.simplify(tir.floordiv(utils.prod(a.shape), rest))
    if _is_empty(shape) or _is_empty(a.shape):
        return _injective(shape, lambda *_: tir.const(0, a.dtype), "T_reshape")
    return _injective(shape, lambda *i: a(*utils.unravel_index(utils.ravel_index(i, shape), a.shape)), "T_reshape")


def squeeze(a, axis=None):
    """The tensor without axes of length 1: the given ones, or all."""
    axes = utils.real_axes(a.ndim, axis) if axis is not None else [n for n, dim in enumerate(a.shape) if utils.is_one(dim)]
    shape = [dim for number, dim in enumerate(a.shape) if number not in axes]

    def value(*i):
        rest = iter(i)
        return a(*[0 if number in axes else next(rest) for number in range(a.ndim)])

    return _injective(shape, value, "T_squeeze")


def concatenate(a_tuple, axis=0):
    """Tensors one after another along an axis."""
    inputs, axis = list(a_tuple), utils.real_axis(a_tuple[0].ndim, axis)
    shape = list(inputs[0].shape)
    shape[axis] = utils.simplify(sum_of([x.shape[axis] for x in inputs]))

    def value(*i):
        result, index = inputs[0](*i), i[axis]
        for previous, x in zip(inputs, inputs[1:]):
            index = index - previous.shape[axis]
            result = tir.if_then_else(index >= 0, x(*i[:axis], index, *i[axis + 1:]), result)
        return result

    return _injective(shape, value, "T_concat")


def sum_of(values):
    """The sum of numbers and expressions."""
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def stack(tensors, axis):
    """Tensors of one shape along a new axis."""
    inputs, axis = list(tensors), utils.real_axis(tensors[0].ndim + 1, axis)
    shape = [*inputs[0].shape[:axis], len(inputs), *inputs[0].shape[axis:]]

    def value(*i):
        own = (*i[:axis], *i[axis + 1:])
        result = inputs[0](*own)
        for number, x in enumerate(inputs[1:], 1):
            result = tir.if_then_else(tir.EQ(i[axis], number), x(*own), result)
        return result

    return _injective(shape, value, "T_stack")


def split(ary, indices_or_sections, axis=0):
    """The parts of a tensor between positions on an axis, or a number of equal parts."""
    axis = utils.real_axis(ary.ndim, axis)
    length = ary.shape[axis]
    name = "T_split"
    if isinstance(indices_or_sections, (list, tuple)):
        begins = [0, *indices_or_sections]
    else:
        sections, name = utils.get_const_int(indices_or_sections), "T_split_sections"
        size = tir.floordiv(length + (sections - 1), sections) if not utils.is_equal(
            tir.floormod(length, sections), 0) else tir.floordiv(length, sections)
        begins = [size * number for number in range(sections)]
        begins[0] = 0
    ends = [*begins[1:], length]

    def part(begin, end):
        shape = list(ary.shape)
        shape[axis] = utils.simplify(end - begin)
        return _injective(shape, lambda *i: ary(*i[:axis], i[axis] + begin, *i[axis + 1:]), name)

    return [part(begin, end) for begin, end in zip(begins, ends)]


def repeat(a, repeats, axis):
    """The tensor with each element along an axis repeated."""
    axis = utils.real_axis(a.ndim, axis)
    shape = list(a.shape)
    shape[axis] = repeats * shape[axis]
    return te.compute(shape, lambda *i: a(*i[:axis], tir.indexdiv(i[axis], repeats), *i[axis + 1:]), "T_repeat", tag.BROADCAST,
                      varargs_names=utils.axis_names(len(shape)))


def tile(a, reps):
    """The tensor repeated as a whole along each axis."""
    reps = list(reps) if isinstance(reps, (list, tuple)) else [reps]
    ndim = max(a.ndim, len(reps))
    dims, reps = [1] * (ndim - a.ndim) + list(a.shape), [1] * (ndim - len(reps)) + reps
    shape = [dim * times for dim, times in zip(dims, reps)]
    if _is_empty(shape):
        return _injective(shape, lambda *_: tir.const(0, a.dtype), "T_tile")
    return te.compute(shape, lambda *i: a(*[tir.indexmod(index, dim) for index, dim in zip(i[ndim - a.ndim:], a.shape)]),
                      "T_tile", tag.BROADCAST, varargs_names=utils.axis_names(len(shape)))


def where(condition, x, y):
    """The elements of x where the condition is not 0, else those of y; shapes are broadcast."""
    from ..te.tensor import Tensor, as_expr
    from .broadcast import broadcast_shapes, element_at

    shape = broadcast_shapes(*[item.shape for item in (condition, x, y) if isinstance(item, Tensor)])

    def value(*i):
        chosen, a, b = (element_at(item, i, shape) if isinstance(item, Tensor) else as_expr(item)
                        for item in (condition, x, y))
        chosen = chosen if chosen.dtype == "bool" else tir.NE(chosen, tir.const(0, chosen.dtype))
        return tir.Select(chosen, a, b)

    return te.compute(shape, value, "T_where", tag.BROADCAST, varargs_names=utils.axis_names(len(shape)))


def _slice_of_axis(length, begin, end, stride):
    """The begin and the number of elements of a slice, as of Python's lists."""
    length, begin, end = utils.get_const_tuple((length, begin, end))
    stride = 1 if stride is None else utils.get_const_int(stride)
    if all(isinstance(item, int) or item is None for item in (length, begin, end)):
        first, last, stride = slice(begin, end, stride).indices(length)
        return first, len(range(first, last, stride)), stride
    first = (0 if stride > 0 else length - 1) if begin is None else begin
    last = (length if stride > 0 else -1) if end is None else end
    if isinstance(last, int) and last >= 2**31 - 1:
        last = length
    count = tir.ceildiv(last - first, stride) if stride > 0 else tir.ceildiv(first - last, -stride)
    return first, utils.simplify(count), stride


def strided_slice(a, begin, end, strides=None, axes=None, slice_mode="end", assume_inbound=True):
    """Every stride-th element from begin to end along axes, as slices of Python; in the mode "size", `end` has lengths.

    assume_inbound: whether places are known to be in the tensor; here they are cut off anyway.
    """
    del assume_inbound
    begin, end = ([item] if not isinstance(item, (list, tuple)) else list(item) for item in (begin, end))
    count = len(begin)
    axes = list(range(count)) if not axes else [utils.real_axis(a.ndim, axis) for axis in axes]
    strides = [1] * count if not strides else (list(strides) if isinstance(strides, (list, tuple)) else [strides])
    strides += [1] * (count - len(strides))
    if slice_mode == "size":
        strides = [1] * count
        end = [a.shape[axis] if isinstance(size, int) and size < 0 else first + size
               for first, size, axis in zip(begin, end, axes)]
    shape, places = list(a.shape), {}
    for first, last, stride, axis in zip(begin, end, strides, axes):
        first, shape[axis], stride = _slice_of_axis(a.shape[axis], first, last, stride)
        places[axis] = (first, stride)

    def value(*i):
        return a(*[index * places[axis][1] + places[axis][0] if axis in places else index for axis, index in enumerate(i)])

    return _injective(shape, value, "T_strided_slice_with_axes")


def dynamic_strided_slice(a, begin, end, strides, output_shape):
    """Every stride-th element from begin on; begin and strides are tensors, and the shape of the result is given."""

    def value(*i):
        own = []
        for axis, index in enumerate(i):
            if axis < utils.get_const_int(begin.shape[0]):
                own.append(index * strides(axis) + begin(axis))
            else:
                own.append(index)
        return a(*own)

    del end
    return _injective(list(output_shape), value, "T_strided_slice_dynamic")


def slice_scatter(input_tensor, src, start, end, step, axis):
    """A tensor with a slice of an axis, `start:end:step`, replaced by another one. A list of one tensor."""
    shape, axis = input_tensor.shape, utils.real_axis(input_tensor.ndim, axis)
    last = src.shape[axis] - 1

    def value(*i):
        place = i[axis] - start
        inside = tir.all(i[axis] >= start, i[axis] < end, tir.EQ(tir.floormod(place, step), 0))
        own = tir.max(tir.min(tir.floordiv(place, step), last), 0)
        return tir.if_then_else(inside, src(*i[:axis], own, *i[axis + 1:]), input_tensor(*i))

    return [te.compute(shape, value, "slice_scatter", tag.INJECTIVE)]


def hamming_window(window_size, periodic, alpha, beta, dtype):
    """The window alpha - beta * cos(2 * pi * i / n), where n is the number of elements, or one less if it is not periodic."""
    if window_size == 1:
        return te.compute((1,), lambda i: tir.const(1, dtype), "hamming_window")
    turn = tir.const(2 * math.pi / (window_size if periodic else window_size - 1), dtype)
    return te.compute((window_size,), lambda i: tir.const(alpha, dtype) - tir.const(beta, dtype) * tir.cos(i.astype(dtype) * turn),
                      "hamming_window")


def trilu(data, k, upper):
    """The upper, or the lower, triangle of matrices from the k-th diagonal on; zeros elsewhere."""
    from ..te.tensor import Tensor

    def value(*i):
        column = i[-1] - (k() if isinstance(k, Tensor) else k)
        inside = i[-2] <= column if upper else i[-2] >= column
        return tir.Select(inside, data(*i), tir.const(0, data.dtype))

    return te.compute(data.shape, value, "trilu", tag.ELEMWISE)


def sliding_window(data, axis, window_shape, strides):
    """The windows that slide over the axes from a given one on: their positions, then their elements."""
    axis = utils.real_axis(data.ndim, axis)
    dims = data.shape[axis:]
    counts = [utils.simplify(tir.floordiv(dim - size, stride) + 1) for dim, size, stride in zip(dims, window_shape, strides)]
    shape = [*data.shape[:axis], *counts, *window_shape]
    ndim = len(dims)
    return _injective(shape, lambda *i: data(*i[:axis], *[i[axis + n] * strides[n] + i[axis + ndim + n] for n in range(ndim)]),
                      "T_sliding_window")


def matmul(a, b, transp_a=False, transp_b=False):
    """The product of two matrices, each of which may be given transposed."""
    k = te.reduce_axis((0, a.shape[0 if transp_a else 1]), "k")
    shape = (a.shape[1 if transp_a else 0], b.shape[0 if transp_b else 1])
    return te.compute(shape, lambda i, j: tir.sum((a[k, i] if transp_a else a[i, k]) * (b[j, k] if transp_b else b[k, j]),
                                                  axis=k), "T_matmul", "matmul")


def tensordot(a, b, axes):
    """The sum of products over the last axes of one and the first ones of another tensor, or over pairs of axes."""
    if isinstance(axes, int):
        a_axes, b_axes = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        a_axes, b_axes = (list(item) if isinstance(item, (list, tuple)) else [item] for item in axes)
    iters = [te.reduce_axis((0, a.shape[axis]), f"k{number}") for number, axis in enumerate(a_axes)]
    shape = [dim for n, dim in enumerate(a.shape) if n not in a_axes] + [dim for n, dim in enumerate(b.shape) if n not in b_axes]

    def value(*i):
        rest = iter(i)
        own_a = [iters[a_axes.index(n)].var if n in a_axes else next(rest) for n in range(a.ndim)]
        own_b = [iters[b_axes.index(n)].var if n in b_axes else next(rest) for n in range(b.ndim)]
        return tir.sum(a(*own_a) * b(*own_b), axis=iters)

    return te.compute(shape, value, "T_tensordot", "matmul")


def layout_transform(array, src_layout, dst_layout, schedule_rule="None"):
    """The tensor in another layout, such as "NCHW" to "NCHW4c"."""
    from .layout import convert

    del schedule_rule
    shape, position = convert(src_layout, dst_layout, array.shape)
    return _injective(shape, lambda *i: array(*position(i)), "T_layout_trans")


def const_vector(vector, name="const_vector"):
    """A tensor of the elements of an array of one dimension."""
    row, dtype = list(vector), str(vector.dtype)

    def value(i):
        result = tir.const(row[-1].item(), dtype)
        for number in reversed(range(len(row) - 1)):
            result = tir.if_then_else(tir.EQ(i, number), tir.const(row[number].item(), dtype), result)
        return result

    return te.compute((len(row),), value, name)
