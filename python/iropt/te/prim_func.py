"""PrimFuncs of tensor expressions."""
from .. import tir
from .._core import native
from ..ir.supply import UniqueNameSupply
from .tensor import ComputeOp, ExternOp, PlaceholderOp, Tensor


def ordered_operations(tensors):
    """The operations that tensors need, each after those whose results it reads."""
    order, seen = [], set()
    stack = [(tensor.op, False) for tensor in reversed(tensors)]
    while stack:
        op, is_done = stack.pop()
        if is_done:
            order.append(op)
        elif id(op) not in seen:
            seen.add(id(op))
            stack.append((op, True))
            stack.extend((tensor.op, False) for tensor in reversed(op.input_tensors))
    return order


def _stage(op, names):
    """The operation as native.create_prim_func takes it: see python/src/tensor_exprs.cpp."""
    outputs = [tensor._node_() for tensor in op.outputs]
    if isinstance(op, ExternOp):
        return (names.fresh_name(op.name.replace(" ", "_")), [tensor._node_() for tensor in op.inputs], op.input_placeholders, outputs,
                op.output_placeholders, op.body, op.attrs)
    blocks = [op.name] if len(op.reduce_axis) else [tensor.name for tensor in op.outputs]
    return ([names.fresh_name(name.replace(" ", "_")) for name in blocks], op.axis, op.reduce_axis, op.body, outputs, op.attrs)


def create_prim_func(ops, index_dtype_override=None):
    """The PrimFunc that computes tensors.

    Args:
        ops: the parameters in their order: input and result tensors, lists of them, and scalar variables.
        index_dtype_override: the dtype of all indices, such as "int64"; that of the shapes if it is not given.

    Returns: the function. Its variables are its own: another call on the same tensors gives other ones.
    """
    args = []
    for item in ops if isinstance(ops, (list, tuple)) else [ops]:
        # What a function of topi with several results returns is a list.
        args += item if isinstance(item, (list, tuple)) else [item]
    for arg in args:
        if not isinstance(arg, (Tensor, tir.Var)):
            raise TypeError(f"a parameter of a function of tensors is a tensor or a variable, not {type(arg).__name__}")
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    names, stages = UniqueNameSupply(), []
    order = ordered_operations(tensors)
    for op in order:
        if not isinstance(op, (PlaceholderOp, ComputeOp, ExternOp)):
            raise TypeError(f"{type(op).__name__} cannot be a part of a PrimFunc: te.placeholder, te.compute and te.extern can")
    for op in order:
        if isinstance(op, PlaceholderOp):
            if not any(op is tensor.op for tensor in tensors):
                raise ValueError(f"The operation {op} produces tensor {op.output(0)}, but this tensor does not appear as a "
                                 f"function argument.  The function accepts arguments {args}")
        else:
            stages.append(_stage(op, names))
    return native.create_prim_func([arg._node_() if isinstance(arg, Tensor) else arg for arg in args], stages,
                                   index_dtype_override)
