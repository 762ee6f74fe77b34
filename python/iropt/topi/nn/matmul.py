"""Matrix products."""
from ... import te, tir
from .. import utils
from ..broadcast import add

__all__ = ["batch_matmul", "bias_add", "dense", "matmul"]

_KINDS = {(True, True): "TT", (True, False): "TN", (False, True): "NT", (False, False): "NN"}


def _batch(a, b):
    """The common dimensions in front of the matrices."""
    from ..broadcast import broadcast_shapes

    return broadcast_shapes(a.shape[:-2], b.shape[:-2])


def _own(tensor, i):
    """The indices of a tensor in front of its matrix."""
    count = tensor.ndim - 2
    return [0 if utils.is_one(dim) else index for index, dim in zip(i[len(i) - 2 - count:-2], tensor.shape)]


def _product(a, b, shape, transpose_a, transpose_b, out_dtype, name, tag, names=None):
    length_a, length_b = a.shape[-2 if transpose_a else -1], b.shape[-1 if transpose_b else -2]
    if isinstance(length_a, tir.IntImm) and isinstance(length_b, tir.IntImm) and length_a.value != length_b.value:
        raise AssertionError(f"Reduction dimensions of dense do not match. {length_a} vs {length_b}.")
    k = te.reduce_axis((0, length_a), "k")

    def value(*i):
        left = a(*_own(a, i), *([k.var, i[-2]] if transpose_a else [i[-2], k.var]))
        right = b(*_own(b, i), *([i[-1], k.var] if transpose_b else [k.var, i[-1]]))
        return tir.sum(left.astype(out_dtype) * right.astype(out_dtype), axis=k)

    return te.compute(shape, value, name, tag, {"layout_free_placeholders": [b]}, names)


def matmul(tensor_a, tensor_b, bias=None, out_dtype=None, transpose_a=False, transpose_b=False,
           auto_scheduler_rewritten_layout="", meta_schedule_original_shape=None):
    """Matrix products of operands, each of which may be given transposed, plus a bias of the columns."""
    del auto_scheduler_rewritten_layout, meta_schedule_original_shape
    if tensor_a.ndim < 2 or tensor_b.ndim < 2:
        raise AssertionError("1-dim matmul is not supported yet.")
    shape = [*_batch(tensor_a, tensor_b), tensor_a.shape[-1 if transpose_a else -2], tensor_b.shape[-2 if transpose_b else -1]]
    out_dtype = out_dtype or tensor_a.dtype
    tag = "dense" if (transpose_a, transpose_b) == (False, True) else "matmul"
    result = _product(tensor_a, tensor_b, shape, transpose_a, transpose_b, out_dtype,
                      f"T_matmul_{_KINDS[bool(transpose_a), bool(transpose_b)]}", tag)
    return result if bias is None else add(result, bias.astype(out_dtype) if bias.dtype != out_dtype else bias)


def dense(data, weight, bias=None, out_dtype=None, auto_scheduler_rewritten_layout="", meta_schedule_original_shape=None):
    """The product of a matrix and of a transposed one, plus a bias."""
    del auto_scheduler_rewritten_layout, meta_schedule_original_shape
    return matmul(data, weight, bias, out_dtype, False, True)


def batch_matmul(tensor_a, tensor_b, oshape=None, out_dtype=None, transpose_a=False, transpose_b=True,
                 auto_scheduler_rewritten_layout="", meta_schedule_original_shape=None):
    """The products of two lists of matrices, of which the second is given transposed unless told otherwise."""
    del auto_scheduler_rewritten_layout, meta_schedule_original_shape
    if oshape is None:
        oshape = [*_batch(tensor_a, tensor_b), tensor_a.shape[2 if transpose_a else 1], tensor_b.shape[1 if transpose_b else 2]]
    return _product(tensor_a, tensor_b, oshape, transpose_a, transpose_b, out_dtype or tensor_a.dtype,
                    f"T_batch_matmul_{_KINDS[bool(transpose_a), bool(transpose_b)]}", "batch_matmul", ["b", "i", "j"])


def bias_add(data, bias, axis=1):
    """The tensor plus the bias of each channel."""
    from ..transform import expand_dims

    axis = utils.real_axis(data.ndim, axis)
    added = data.ndim - axis - 1
    return add(data, expand_dims(bias, 1, added) if added else bias)
