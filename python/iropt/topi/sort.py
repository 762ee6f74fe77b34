"""Functions that sort, by functions of the runtime."""
from .. import te, tir
from . import utils

__all__ = ["argsort", "sort", "topk"]


def _extern(function, name, data, shapes, dtypes, *args):
    buffer = tir.decl_buffer(data.shape, data.dtype, "data_buf", data_alignment=8)
    outs = [tir.decl_buffer(shape, dtype, "out_buf", data_alignment=8) for shape, dtype in zip(shapes, dtypes)]
    return te.extern(list(shapes), [data], lambda ins, outs: tir.call_packed(function, ins[0], *outs, *args),
                     name=name, dtype=list(dtypes), in_buffers=[buffer], out_buffers=outs, tag=name)


def sort(data, axis=-1, is_ascend=1):
    """The elements along an axis in order."""
    return _extern("tvm.contrib.sort.sort", "sort_cpu", data, [data.shape], [data.dtype],
                   utils.real_axis(data.ndim, axis), bool(is_ascend))


def argsort(data, valid_count=None, axis=-1, is_ascend=1, dtype="float32"):
    """The indices of the elements along an axis in order."""
    if valid_count is not None:
        raise NotImplementedError("topi.argsort with valid_count is not a part of iropt")
    return _extern("tvm.contrib.sort.argsort", "argsort_cpu", data, [data.shape], [dtype], utils.real_axis(data.ndim, axis),
                   bool(is_ascend))


def topk(data, k=1, axis=-1, ret_type="both", is_ascend=False, dtype="int64"):
    """The first k elements along an axis in order: the values, the indices, or both as a list."""
    if ret_type not in ("both", "values", "indices"):
        raise ValueError(f"ret_type is both, values or indices, not {ret_type}")
    axis = utils.real_axis(data.ndim, axis)
    shape = list(data.shape)
    if not isinstance(k, int) or k >= 1:
        shape[axis] = k
    both = {"both": ["values", "indices"]}.get(ret_type, [ret_type])
    return _extern("tvm.contrib.sort.topk", "topk_cpu", data, [shape] * len(both),
                   [data.dtype if what == "values" else dtype for what in both], k, axis, ret_type, bool(is_ascend))
