"""Calls of PrimFuncs that are made of tensor expressions: what emit_te and call_te of a BlockBuilder emit."""
import string

from .. import te, tir
from .._core import native
from ..te.prim_func import ordered_operations


class _Arguments:
    """The arguments of a function on tensors, made of those that are expressions of Relax."""

    def __init__(self):
        self.call_args = []  # of call_tir
        self.params = []  # of the PrimFunc: tensors and variables
        self.scalars = []  # expressions that the function is given
        self.vdevice = None

    def _name(self, arg, letters, otherwise):
        from . import Var

        number = len(self.params)
        if isinstance(arg, Var):
            return arg.name_hint
        return letters[number] if number < len(letters) else f"{otherwise}_{number}"

    def _add(self, arg, param):
        self.call_args.append(arg)
        self.params.append(param)
        return param

    def _expression(self, arg):
        from . import PrimStructInfo, ShapeExpr, ShapeStructInfo, TensorStructInfo

        info = arg.struct_info
        if isinstance(info, TensorStructInfo):
            if not isinstance(info.shape, ShapeExpr):
                raise AssertionError("emit_te now only supports Tensor that has ShapeExpr shape")
            self.vdevice = self.vdevice or info.vdevice
            name = self._name(arg, string.ascii_uppercase, "tensor_input")
            return self._add(arg, te.placeholder(list(info.shape.values), info.dtype, name))
        if isinstance(info, ShapeStructInfo):
            if not isinstance(arg, ShapeExpr):
                raise AssertionError("For Expr having ShapeStructInfo, emit_te now only supports ShapeExpr")
            return [self.convert(dim) for dim in arg.values]
        if isinstance(info, PrimStructInfo):
            if info.value is not None:
                return self.convert(info.value)
            return self._add(arg, tir.Var(self._name(arg, string.ascii_lowercase, "scalar_input"), info.dtype))
        raise TypeError(f"not supported type in emit_te: {info}")

    def convert(self, arg):
        """The argument of the function for one of the caller."""
        from . import Expr

        if isinstance(arg, Expr):
            return self._expression(arg)
        if isinstance(arg, (list, tuple)):
            items = [self.convert(item) for item in arg]
            return tuple(items) if type(arg) is tuple else items
        if isinstance(arg, dict):
            return {key: self.convert(value) for key, value in arg.items()}
        if isinstance(arg, tir.PrimExpr):
            self.scalars.append(arg)
        return arg


def _tensors(func, result):
    tensors = [result] if isinstance(result, te.Tensor) else result
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(tensor, te.Tensor) for tensor in tensors):
        name = getattr(func, "__name__", "the function")
        raise AssertionError(f"only support te.tensor or tuple/list/Array of te.tensor as function output: {name} gives "
                             f"{type(result).__name__}")
    return list(tensors)


def _unbound_vars(tensors, outputs, params, scalars):
    """Variables that shapes, given expressions, or elements use and that are the dimension of no parameter."""
    shapes = [dim for tensor in (*tensors, *outputs) for dim in tensor.shape]
    bound = {native.node_id(dim) for dim in shapes if isinstance(dim, tir.Var)}
    bound |= {native.node_id(param) for param in params if isinstance(param, tir.Var)}
    exprs = [*shapes, *scalars]
    for op in ordered_operations(outputs):
        if isinstance(op, te.ComputeOp):
            bound |= {native.node_id(axis.var) for axis in (*op.axis, *op.reduce_axis)}
            exprs += [*op.body, *[axis.dom.extent for axis in op.reduce_axis]]
    unbound = {}
    for expr in exprs:
        for var in native.free_vars(expr):
            if native.node_id(var) not in bound:
                unbound.setdefault(native.node_id(var), var)
    return list(unbound.values())


def _dim(dim):
    """The dimension with the dtype that those of Relax have."""
    return dim.value if isinstance(dim, tir.IntImm) else dim if dim.dtype == "int64" else dim.astype("int64")


def gen_call_tir_inputs(func, *args, **kwargs):
    """What a call of call_tir needs that computes what a function on tensors does.

    Args:
        func: the function, which gives a tensor or several.
        args, kwargs: its arguments, with expressions of Relax in place of tensors; `primfunc_attrs` has attributes of
            the PrimFunc.

    Returns: the PrimFunc, the arguments, the types of the results, and the symbolic variables that it needs besides, or
    None.
    """
    from . import ShapeExpr, TensorStructInfo

    attrs = kwargs.pop("primfunc_attrs", None)
    arguments = _Arguments()
    te_args, te_kwargs = arguments.convert(args), arguments.convert(kwargs)
    outputs = _tensors(func, func(*te_args, **te_kwargs))
    inputs = [param for param in arguments.params if isinstance(param, te.Tensor)]
    unbound = _unbound_vars(inputs, outputs, arguments.params, arguments.scalars)
    prim_func = te.create_prim_func([*arguments.params, *outputs, *unbound], "int64").without_attr("global_symbol")
    if attrs:
        prim_func = prim_func.with_attr(attrs)
    types = [TensorStructInfo(ShapeExpr([_dim(dim) for dim in tensor.shape]), tensor.dtype, arguments.vdevice)
             for tensor in outputs]
    return prim_func, arguments.call_args, types, ShapeExpr(unbound) if unbound else None
