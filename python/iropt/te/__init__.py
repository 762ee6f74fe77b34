"""Tensor expressions: tensors by what their elements are, and the PrimFuncs that compute them.

    A = te.placeholder((n, 64), name="A")
    k = te.reduce_axis((0, 64), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    func = te.create_prim_func([A, B])

`te.create_schedule`, for programs of TVM 0.18 and older, notes what is done to the loops of tensors, and applies it to the
PrimFunc. Scalar functions (`te.exp`, `te.if_then_else`, ...) are those of `iropt.tir`.
"""
from .. import tir
from .operation import compute, const, extern, extern_primfunc, placeholder, reduce_axis, scan, size_var, thread_axis, var
from .prim_func import create_prim_func
from .schedule import Schedule, Stage, create_schedule
from .tag import tag_scope
from .tensor import ComputeOp, ExternOp, Operation, PlaceholderOp, ScanOp, Tensor, TensorSlice

__all__ = ["ComputeOp", "ExternOp", "Operation", "PlaceholderOp", "ScanOp", "Schedule", "Stage", "Tensor", "TensorSlice", "compute", "const",
           "create_prim_func", "create_schedule", "extern", "extern_primfunc", "placeholder", "reduce_axis", "scan",
           "size_var", "tag_scope", "thread_axis", "var"]


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(tir, name)
