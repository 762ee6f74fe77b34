"""Functions that pick or place elements by indices, and that add up elements in order."""
import string

from .. import te, tir
from .._core import native
from ..te.tensor import Tensor, as_expr
from . import tag, utils
from .transform import _injective

__all__ = ["adv_index", "cumprod", "cumsum", "einsum", "embed_grad", "gather", "gather_nd", "index_tensor", "invert_permutation",
           "matrix_set_diag", "scatter_elements", "scatter_nd", "searchsorted", "sequence_mask", "take", "unravel_index"]


def _in_range(index, length, mode):
    if mode == "clip":
        zero = tir.const(0, index.dtype)
        return tir.min(tir.max(zero, index), as_expr(length).astype(index.dtype) - 1)
    if mode == "wrap":
        return tir.truncmod(tir.truncmod(index, length) + length, length)
    return index


def take(a, indices, axis=None, batch_dims=0, mode="clip"):
    """The elements at indices along an axis, or of the flattened tensor. `mode` says what an index that is out of range
    stands for: the nearest one ("clip"), one that is counted round ("wrap"), anything ("fast"), or NaN ("nan")."""
    if not isinstance(indices, Tensor):
        number = as_expr(indices)
        positions, index_at = [], lambda i: number  # noqa: E731
    else:
        positions, index_at = list(indices.shape), lambda i: indices(*i)  # noqa: E731
    if axis is None:
        length = utils.prod(a.shape)

        def flat(*i):
            return _taken(a, utils.unravel_index(_in_range(index_at(i), length, mode), a.shape), index_at(i), length, mode)

        return _injective(positions, flat, "T_take")
    axis, batch_dims = utils.real_axis(a.ndim, axis), utils.get_const_int(batch_dims)
    if batch_dims < 0:
        batch_dims += len(positions)
    rest = len(positions) - batch_dims
    shape = [*a.shape[:axis], *positions[batch_dims:], *a.shape[axis + 1:]]

    def value(*i):
        index = index_at((*i[:batch_dims], *i[axis:axis + rest]))
        own = (*i[:axis], _in_range(index, a.shape[axis], mode), *i[axis + rest:])
        return _taken(a, own, index, a.shape[axis], mode)

    return _injective(shape, value, "T_take")


def _taken(a, own, index, length, mode):
    if mode != "nan":
        return a(*own)
    return tir.if_then_else(tir.all(index >= 0, index < length), a(*own), tir.const(float("nan"), a.dtype))


def gather(data, axis, indices):
    """The elements whose position on an axis is that in a tensor of indices."""
    axis = utils.real_axis(data.ndim, axis)
    return _injective(list(indices.shape), lambda *i: data(*i[:axis], indices(*i), *i[axis + 1:]), "T_gather")


def gather_nd(a, indices, batch_dims=0):
    """The elements, or parts, at the positions that the columns of a tensor of indices are."""
    count, batch_dims = utils.get_const_int(indices.shape[0]), utils.get_const_int(batch_dims)
    positions = list(indices.shape[1:])
    shape = [*positions, *a.shape[batch_dims + count:]]

    def value(*i):
        at = i[:len(positions)]
        own = [indices(number, *at) for number in range(count)]
        own = [index if index.dtype.startswith("int") else index.astype("int32") for index in own]
        return a(*i[:batch_dims], *own, *i[len(positions):])

    return _injective(shape, value, "T_gather_nd")


def adv_index(data, indices):
    """The elements at positions that tensors of indices, which are broadcast, give for the first axes."""
    from .broadcast import broadcast_shapes, element_at

    positions = broadcast_shapes(*[index.shape for index in indices])
    shape = [*positions, *data.shape[len(indices):]]

    def value(*i):
        at = i[:len(positions)]
        return data(*[element_at(index, at, positions) for index in indices], *i[len(positions):])

    return _injective(shape, value, "advanced_index")


def index_tensor(data, indices):
    """The elements at indices, one tensor of integers for each of the first axes."""
    return adv_index(data, indices)


def unravel_index(indices, shape):
    """The indices of elements by their positions in a flat array, as the rows of a tensor."""
    rows = utils.get_const_int(shape.shape[0])

    def value(*i):
        number = i[0]
        index = indices(*i[1:]) if indices.ndim else indices()
        results = []
        for axis in reversed(range(rows)):
            results.append(tir.indexmod(index, shape(axis)))
            index = tir.indexdiv(index, shape(axis))
        results.reverse()
        result = tir.const(0, indices.dtype)
        for axis, row in enumerate(results):
            result = tir.if_then_else(tir.EQ(number, axis), row, result)
        return result

    return _injective([rows, *indices.shape], value, "T_unravel")


def sequence_mask(data, valid_length, mask_value=0, axis=0):
    """The elements before the length that each sequence has along an axis (0 or 1), another value from there on."""
    if axis not in (0, 1) or data.ndim < 2:
        raise ValueError("the axis of sequence_mask is 0 or 1, of a tensor of at least two dimensions")

    def value(*i):
        return tir.if_then_else(i[axis] >= valid_length(i[1 - axis]), tir.const(mask_value, data.dtype), data(*i))

    return _injective(list(data.shape), value, "T_sequence_mask")


def matrix_set_diag(data, diagonal, k=0, align="RIGHT_LEFT"):
    """Matrices with other elements on a diagonal, or on those from k[0] to k[1]."""
    k1, k2 = (k, k) if isinstance(k, int) else tuple(k) if len(k) == 2 else (k[0], k[0])
    rows, columns = data.shape[-2:]
    longest = min(utils.get_const_int(rows) + min(k2, 0), utils.get_const_int(columns) - max(k1, 0))

    def value(*i):
        row, column = i[-2:]
        number = column - row
        start = tir.Select(number >= 0, row, column)
        if k1 == k2:
            at = (*i[:-2], start)
        else:
            length = tir.min(columns - tir.max(number, 0), rows + tir.min(number, 0))
            words = align.split("_")
            right_upper, right_lower = words[0] == "RIGHT", words[1] == "RIGHT"
            moves = tir.Select(number >= 0, tir.const(right_upper, "bool"), tir.const(right_lower, "bool"))
            at = (*i[:-2], k2 - number, start + tir.Select(moves, longest - length, 0))
        inside = tir.all(number >= k1, number <= k2)
        return tir.if_then_else(inside, diagonal(*at), data(*i))

    return _injective(list(data.shape), value, "T_matrix_set_diag")


def einsum(subscripts, *operand):
    """The sum of products that subscripts such as "ij,jk->ik" describe; "..." stands for the axes that have no letter."""
    tensors = list(operand[0]) if len(operand) == 1 and isinstance(operand[0], (list, tuple)) else list(operand)
    words, output = _letters(subscripts.replace(" ", ""), [tensor.ndim for tensor in tensors])
    if len(words) != len(tensors) or any(len(word) != tensor.ndim for word, tensor in zip(words, tensors)):
        raise ValueError(f"the subscripts {subscripts} are not those of the operands")
    dims = {}
    for word, tensor in zip(words, tensors):
        for letter, dim in zip(word, tensor.shape):
            dims.setdefault(letter, []).append(dim)
    extents = {letter: _broadcast(found) for letter, found in dims.items()}
    iters = {letter: te.reduce_axis((0, dim), letter) for letter, dim in extents.items() if letter not in output}

    def value(*i):
        places = {letter: item.var for letter, item in iters.items()}
        places.update(zip(output, i))
        product = None
        for word, tensor in zip(words, tensors):
            element = tensor(*[_place(places[letter], dim, extents[letter]) for letter, dim in zip(word, tensor.shape)])
            product = element if product is None else product * element
        return tir.sum(product, axis=list(iters.values())) if iters else product

    return te.compute([extents[letter] for letter in output], value, "T_einsum", "einsum",
                      varargs_names=utils.axis_names(len(output)))


def _letters(subscripts, ranks):
    """The letters of the axes of each operand and of the result, with letters for the axes of "..."."""
    inputs, arrow, output = subscripts.partition("->")
    words = inputs.split(",")
    free = [letter for letter in string.ascii_letters if letter not in subscripts]
    counts = [rank - len(word.replace("...", "")) for word, rank in zip(words, ranks) if "..." in word]
    rest = "".join(free[:max(counts, default=0)])
    words = [word.replace("...", rest[max(len(rest) - (rank - len(word) + 3), 0):]) for word, rank in zip(words, ranks)]
    if not arrow:
        letters = "".join(words)
        output = rest + "".join(sorted(letter for letter in set(letters) - set(rest) if letters.count(letter) == 1))
    return words, output.replace("...", rest)


def _broadcast(dims):
    """The size of an axis that has these sizes in operands, of which those of size 1 are repeated."""
    dims = [dim for dim in dims if not utils.is_one(dim)]
    fixed = next((dim for dim in dims if isinstance(dim, (int, tir.IntImm))), None)
    if fixed is not None or not dims:
        return 1 if fixed is None else fixed
    result = dims[0]
    for dim in dims[1:]:
        result = result if _same(result, dim) else tir.max(result, dim)
    return result


def _place(place, dim, extent):
    """The place along an axis of an operand, which is repeated if its size is 1."""
    if utils.is_one(dim):
        return 0
    if _same(dim, extent) or isinstance(dim, (int, tir.IntImm)):
        return place
    return tir.if_then_else(dim.equal(1), 0, place)


def _same(a, b):
    return a is b or native.structural_equal(tir.convert(a), tir.convert(b), False)


# ---- By loops of their own


def _by_loops(name, inputs, shape, dtype, body):
    """A tensor by a function of an IRBuilder and of the buffers of the inputs and of the result."""

    def build(ins, outs):
        builder = tir.ir_builder.create()
        body(builder, *[builder.buffer_ptr(buffer) for buffer in ins], builder.buffer_ptr(outs[0]))
        return builder.get()

    buffers = [tir.decl_buffer(tensor.shape, tensor.dtype, tensor.op.name) for tensor in inputs]
    result = tir.decl_buffer(shape, dtype, name)
    return te.extern([list(shape)], inputs, build, name=name, dtype=dtype, in_buffers=buffers, out_buffers=[result],
                     tag=name)


def _grid(builder, shape, names):
    """The scopes of nested loops, and their variables."""
    import contextlib

    scope = contextlib.ExitStack()
    variables = [scope.enter_context(builder.for_range(0, dim, name)) for dim, name in zip(shape, names)]
    return scope, variables


def _scan(name, data, axis, dtype, exclusive, function, start):
    dtype = dtype or data.dtype
    if axis is None:
        from .transform import reshape

        data, axis = reshape(data, [utils.prod(data.shape)]), 0
    axis = utils.real_axis(data.ndim, axis)

    def body(builder, source, out):
        scope, outer = _grid(builder, [dim for n, dim in enumerate(data.shape) if n != axis], [f"i{n}" for n in range(data.ndim)])
        with scope, builder.for_range(0, data.shape[axis], "k") as k:
            at = (*outer[:axis], k, *outer[axis:])
            before = (*outer[:axis], k - 1, *outer[axis:])
            with builder.if_scope(tir.EQ(k, 0)):
                out[at] = tir.const(start, dtype) if exclusive else source[at].astype(dtype)
            with builder.else_scope():
                out[at] = function(out[before], source[before if exclusive else at].astype(dtype))

    return _by_loops(name, [data], data.shape, dtype, body)


def cumsum(data, axis=None, dtype=None, exclusive=None):
    """The sums of the elements up to each one along an axis, or of the flattened tensor; without it if exclusive."""
    return _scan("cumsum_generic", data, axis, dtype, exclusive, lambda a, b: a + b, 0)


def cumprod(data, axis=None, dtype=None, exclusive=None):
    """The products of the elements up to each one along an axis, or of the flattened tensor; without it if exclusive."""
    return _scan("cumprod_generic", data, axis, dtype, exclusive, lambda a, b: a * b, 1)


_UPDATES = {"update": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "min": tir.min, "max": tir.max}


def scatter_elements(data, indices, updates, axis=0, reduction="update"):
    """The tensor with each update at the position on an axis that its index names, or combined with what is there."""
    if reduction not in _UPDATES:
        raise ValueError(f"the reduction {reduction} is not one of {', '.join(_UPDATES)}")
    axis, combine = utils.real_axis(data.ndim, axis), _UPDATES[reduction]

    def body(builder, source, places, values, out):
        scope, at = _grid(builder, data.shape, [f"i{n}" for n in range(data.ndim)])
        with scope:
            out[tuple(at)] = source[tuple(at)]
        scope, at = _grid(builder, indices.shape, [f"j{n}" for n in range(data.ndim)])
        with scope:
            index = places[tuple(at)]
            index = index + tir.Select(index < 0, as_expr(data.shape[axis]).astype(index.dtype), tir.const(0, index.dtype))
            own = (*at[:axis], index, *at[axis + 1:])
            out[own] = combine(out[own], values[tuple(at)])

    return _by_loops("scatter_elements_generic", [data, indices, updates], data.shape, data.dtype, body)


def scatter_nd(data, indices, updates, mode="update"):
    """The tensor with each update at the position that a column of the indices is, or combined with what is there."""
    if mode not in _UPDATES:
        raise ValueError(f"scatter_nd mode not in [update, add, mul, min, max]: {mode}")
    count, combine = utils.get_const_int(indices.shape[0]), _UPDATES[mode]
    rest = data.shape[count:]

    def body(builder, source, places, values, out):
        scope, at = _grid(builder, data.shape, [f"i{n}" for n in range(data.ndim)])
        with scope:
            out[tuple(at)] = source[tuple(at)]
        scope, at = _grid(builder, [*indices.shape[1:], *rest], [f"j{n}" for n in range(indices.ndim - 1 + len(rest))])
        with scope:
            column = at[:indices.ndim - 1]
            own = (*[places[(number, *column)] for number in range(count)], *at[indices.ndim - 1:])
            out[own] = combine(out[own], values[tuple(at)])

    return _by_loops("scatter_nd_generic", [data, indices, updates], data.shape, data.dtype, body)


def invert_permutation(data):
    """The permutation that undoes a permutation."""

    def body(builder, source, out):
        with builder.for_range(0, data.shape[0], "i") as i:
            out[source[i]] = i.astype(data.dtype)

    return _by_loops("invert_permutation", [data], data.shape, data.dtype, body)


def embed_grad(grad, indices, weight):
    """The gradient of the rows that indices picked of a table, which is like `weight`."""

    def body(builder, gradient, places, out):
        scope, at = _grid(builder, weight.shape, ["i", "j"])
        with scope:
            out[tuple(at)] = tir.const(0, grad.dtype)
        scope, at = _grid(builder, [*indices.shape, weight.shape[1]], [f"k{n}" for n in range(indices.ndim + 1)])
        with scope:
            row = (places[tuple(at[:-1])], at[-1])
            out[row] = out[row] + gradient[tuple(at)]

    return _by_loops("embed_grad", [grad, indices], weight.shape, grad.dtype, body)


def searchsorted(sorted_sequence, values, right=False, out_dtype="int64"):
    """The positions in sorted sequences before which values would be inserted: the last one of several if right."""
    length = sorted_sequence.shape[-1]
    k = te.reduce_axis((0, length), "k")

    def value(*i):
        element = sorted_sequence(*([k.var] if sorted_sequence.ndim == 1 else [*i[:-1], k.var]))
        is_before = element <= values(*i) if right else element < values(*i)
        return tir.sum(is_before.astype(out_dtype), axis=k)

    return te.compute(values.shape, value, "searchsorted", tag.INJECTIVE)
