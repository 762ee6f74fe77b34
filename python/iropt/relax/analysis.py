"""Analyses of the graph level."""
import enum
import sys

from .. import _newer, ir, tir
from .._core import Array, native
from ..arith import Analyzer
from .expr import (Call, DataflowVar, Expr, FuncStructInfo, Function, MatchCast, PrimStructInfo, SeqExpr, ShapeExpr,  # noqa: F401
                   ShapeStructInfo, TensorStructInfo, TupleStructInfo, Var, VarBinding)
from .old_types import DynTensorType


def well_formed(obj, check_struct_info=True, check_ty=True):
    """Returns whether a module or a function is well-formed; prints why it is not. In newer versions that is an error."""
    del check_struct_info, check_ty
    text = _why_ill_formed(obj)
    if text and _newer.version() >= (0, 25):
        raise native.Error(text)
    if text:
        print(text, file=sys.stderr)
    return not text


def _why_ill_formed(obj):
    """The errors of a module or a function as text."""
    functions = obj.values() if isinstance(obj, ir.IRModule) else [obj]
    for func in functions:
        for call in _nodes(func) if ir.op_attrs.is_used("FNormalize") and isinstance(func, Function) else ():
            if isinstance(call, Call) and ir.op_attrs.normalized(call, None) != call:
                return f"error: a call of {call.op.name} is not as its function FNormalize makes it: {call}"
    if isinstance(obj, ir.IRModule):
        return obj._module.verify()
    symbol = obj.attrs.get("global_symbol") if isinstance(obj, ir.BaseFunc) and obj.attrs is not None else None
    return ir.IRModule({symbol or "main": obj})._module.verify()


def check_well_formed(obj, check_ty=True):
    """Returns whether a module or a function is well-formed."""
    del check_ty
    return not _why_ill_formed(obj)


def post_order_visit(expr, fvisit):
    """Calls a function on every node below, children first."""
    native.post_order_visit(expr, fvisit)


def _nodes(expr):
    return native.post_order(expr)


def _unique(variables):
    seen = {}
    for var in variables:
        seen.setdefault(native.node_id(var), var)
    return Array(seen.values())


def all_vars(expr):
    return _unique(value for value in _nodes(expr) if isinstance(value, Var))


def bound_vars(expr):
    """The variables that the expression defines; parameters come before those of the body."""
    params, found = [], []
    for value in _nodes(expr):
        if isinstance(value, Function):
            params[:0] = value.params
        elif isinstance(value, (VarBinding, MatchCast)):
            found.append(value.var)
    return _unique([*params, *found])


def free_vars(expr):
    """The variables that the expression uses and does not define."""
    bound = {native.node_id(var) for var in bound_vars(expr)}
    return Array(var for var in all_vars(expr) if native.node_id(var) not in bound)


def used_vars(expr):
    """The variables that the expression uses, defined in it or not."""
    from .expr_functor import PyExprVisitor

    defined, uses = {native.node_id(var) for var in bound_vars(expr)}, set()

    class Uses(PyExprVisitor):
        def visit_var_(self, op):
            uses.add(native.node_id(op))

        visit_dataflow_var_ = visit_var_

    Uses().visit_expr(expr)
    return Array(var for var in all_vars(expr) if native.node_id(var) in uses or native.node_id(var) not in defined)


def all_global_vars(expr):
    return _unique(value for value in _nodes(expr) if isinstance(value, ir.GlobalVar))


called_global_vars = all_global_vars


def udchain(block):
    """The variables of a block with those that use them."""
    uses = {var: [] for var in bound_vars(block)}
    for binding in block.bindings:
        for var in all_vars(binding.value):
            uses.setdefault(var, []).append(binding.var)
    return uses


def name_to_binding(func):
    """The bindings by the names of their variables."""
    table = {}
    for value in _nodes(func):
        if isinstance(value, (VarBinding, MatchCast)):
            table.setdefault(value.var.name, []).append(value)
    return table


def get_var2val(func):
    """The values by the variables that are bound to them."""
    return {value.var: value.value for value in _nodes(func) if isinstance(value, VarBinding)}


def contains_impure_call(expr, own_name=None):
    """Returns whether the expression calls something that has effects, other than a function of the given name.

    What functions inside of it do counts only where they are called.
    """
    nodes = _nodes(expr)
    inner = {native.node_id(node) for func in nodes if isinstance(func, Function) and not func.same_as(expr)
             for node in _nodes(func) if not node.same_as(func)}

    def is_own(call):
        return own_name is not None and getattr(call.op, "name", None) == getattr(own_name, "name", own_name)

    return any(isinstance(value, Call) and native.node_id(value) not in inner and not is_own(value)
               and native.is_impure_call(value) for value in nodes)


def remove_all_unused(func):
    """The function, or the blocks with their result, without bindings that nothing uses."""
    from . import transform

    if isinstance(func, ir.IRModule):
        return transform.DeadCodeElimination()(func)
    if isinstance(func, SeqExpr):
        return remove_all_unused(Function(free_vars(func), func, is_pure=not contains_impure_call(func))).body
    # A function that is private and that nothing calls would be removed.
    symbol = func.attrs.get("global_symbol") if func.attrs is not None else None
    module = ir.IRModule({"main": func.with_attr("global_symbol", symbol or "main")})
    found = transform.DeadCodeElimination()(module)["main"]
    return found if symbol else native.copy_with(found, {"attrs": func.attrs})


class BaseCheckResult(enum.IntEnum):
    """How the values of a type are among those of another one: none of them; not by what is known of the types; perhaps, as
    dimensions decide that are not known; all of them."""

    FAIL_L0 = 0
    FAIL_L1 = 1
    FAIL_L2 = 2
    PASS = 3


def _type(value):
    """A type as a node: those of scalars have another class, too."""
    return value._node_() if hasattr(value, "_node_") else value


def struct_info_base_check(base, derived):
    return BaseCheckResult(native.type_base_check(_type(base), _type(derived)))


def derive_call_ret_struct_info(func_sinfo, call, ctx=None):
    """The type of a call of a function of a type, in a BlockBuilder."""
    return native.call_type(func_sinfo, call, None if ctx is None else ctx.get()._module)


def collect_non_negative_expressions(sinfo):
    """The dimensions of shapes in a type that are not constants, each once."""
    found = []

    def collect(info):
        if isinstance(info, (TensorStructInfo, ShapeStructInfo)):
            dims = info.values if isinstance(info, ShapeStructInfo) else getattr(info.shape, "values", None)
            for dim in dims or ():
                if not isinstance(dim, tir.IntImm) and not any(native.structural_equal(dim, other, False) for other in found):
                    found.append(dim)
        elif isinstance(info, TupleStructInfo):
            for field in info.fields:
                collect(field)
        elif isinstance(info, FuncStructInfo):
            for part in [*(info.params or ()), info.ret]:
                collect(part)

    collect(sinfo)
    return Array(found)


def get_static_type(info):
    """The type without shapes: ranks and dtypes stay."""
    if isinstance(info, TensorStructInfo):
        return DynTensorType(info.ndim, info.dtype)
    if isinstance(info, ShapeStructInfo):
        return ShapeStructInfo(ndim=info.ndim)
    if isinstance(info, TupleStructInfo):
        return TupleStructInfo([get_static_type(field) for field in info.fields])
    if isinstance(info, FuncStructInfo) and info.params is not None:
        return FuncStructInfo([get_static_type(param) for param in info.params], get_static_type(info.ret))
    return ir.PrimType(info.dtype) if isinstance(info, PrimStructInfo) else info


def has_reshape_pattern(func):
    return native.has_reshape_pattern(func)


def struct_info_lca(lhs, rhs):
    """The most precise type that both types are."""
    return native.type_lca(_type(lhs), _type(rhs))


# ---- Symbolic variables


def definable_tir_vars_in_struct_info(info):
    return native.defined_sym_vars(info)


def tir_vars_in_struct_info(info):
    """The symbolic variables of a type."""
    return _unique(var for dim in scalars(info) for var in native.free_vars(dim))


def scalars(info):
    """The scalar expressions of a type."""
    if isinstance(info, TensorStructInfo):
        return list(info.dims) if info.known else []
    if isinstance(info, ShapeStructInfo):
        return list(info.values) if info.known else []
    if isinstance(info, PrimStructInfo):
        return [] if info.value is None else [info.value]
    parts = []
    if isinstance(info, TupleStructInfo):
        parts = info.fields
    elif isinstance(info, FuncStructInfo):
        parts = [*(info.params or ()), *([] if info.ret is None else [info.ret])]
    return [scalar for part in parts for scalar in scalars(part)]


def defined_symbolic_vars(func):
    """The symbolic variables that parameters and match_cast define."""
    types = [param.type for param in func.params]
    types += [value.struct_info for value in _nodes(func) if isinstance(value, MatchCast)]
    return _unique(var for info in types if info is not None for var in native.defined_sym_vars(info))


def free_symbolic_vars(func):
    """The symbolic variables that a function uses and does not define."""
    defined = {native.node_id(var) for var in defined_symbolic_vars(func)}
    return _unique(var for var in _used_symbolic_vars(func) if native.node_id(var) not in defined)


def _used_symbolic_vars(func):
    for value in [*func.params, *_nodes(func.body)]:
        if isinstance(value, Expr) and value.type is not None:
            yield from tir_vars_in_struct_info(value.type)
        if isinstance(value, tir.PrimExpr):
            yield from native.free_vars(value)


def erase_to_well_defined(sinfo, shape_var_map=None, var_map=None):
    """A type without what is not known outside of a scope: variables that the maps have not are unknown, others are replaced."""
    shape_var_map = {var: tir.const(value, var.dtype) if isinstance(value, int) else value
                     for var, value in (shape_var_map or {}).items()}
    var_map = var_map or {}

    def erase(info):
        if isinstance(info, TensorStructInfo):
            shape = info.shape
            if isinstance(shape, ShapeExpr):
                shape = replaced(shape.values)
            elif shape is not None:
                shape = var_map.get(shape)
            return TensorStructInfo(shape, info.dtype, info.vdevice, ndim=info.ndim if shape is None else -1)
        if isinstance(info, ShapeStructInfo):
            values = replaced(info.values) if info.known else None
            return ShapeStructInfo(values, info.ndim if values is None else -1)
        if isinstance(info, PrimStructInfo):
            values = None if info.value is None else replaced([info.value])
            return PrimStructInfo(info.dtype) if values is None else PrimStructInfo(value=values[0])
        if isinstance(info, TupleStructInfo):
            return TupleStructInfo([erase(field) for field in info.fields])
        return info

    def replaced(dims):
        if any(var not in shape_var_map for dim in dims for var in native.free_vars(dim)):
            return None
        return [Analyzer().simplify(tir.stmt_functor.substitute(dim, shape_var_map)) for dim in dims]

    return erase(sinfo)


# ---- Functions


def detect_recursion(mod):
    """The groups of functions of Relax that call each other, or themselves."""
    calls = {name.name: [var.name for var in all_global_vars(func)] for name, func in mod.items() if isinstance(func, Function)}
    reached = {}
    for name in calls:
        found, stack = set(), list(calls[name])
        while stack:
            callee = stack.pop()
            if callee in calls and callee not in found:
                found.add(callee)
                stack += calls[callee]
        reached[name] = found
    groups = []
    for name in calls:
        if name in reached[name] and not any(name in group for group in groups):
            groups.append([other for other in calls if other == name or (other in reached[name] and name in reached[other])])
    return [[ir.GlobalVar(name) for name in group] for group in groups]


def computable_at_compile_time(func):
    """The parameters that are not inputs (the attribute num_input counts these), and what is computed of such alone."""
    count = func.attrs.get("num_input") if func.attrs is not None else None
    if count is None:
        return Array()
    known = {native.node_id(param): param for param in func.params[int(count):]}
    symbols = {native.node_id(var) for param in func.params[int(count):] for var in tir_vars_in_struct_info(param.struct_info)}
    for block in func.body.blocks:
        for binding in block.bindings:
            used = [native.node_id(var) for var in free_vars(binding.value)]
            is_known = all(var in known for var in used) and not contains_impure_call(binding.value)
            if is_known and isinstance(binding, MatchCast):
                symbols |= {native.node_id(var) for var in tir_vars_in_struct_info(binding.struct_info)}
            if is_known and all(native.node_id(var) in symbols for var in _symbols_of(binding)):
                known[native.node_id(binding.var)] = binding.var
    return Array(known.values())


def _symbols_of(binding):
    found = [] if binding.var.type is None else list(tir_vars_in_struct_info(binding.var.type))
    for value in _nodes(binding.value):
        if isinstance(value, tir.PrimExpr):
            found += native.free_vars(value)
    return found


def suggest_layout_transforms(func, write_buffer_transforms):
    """The maps of blocks and of the buffers that they read, by block, that follow from maps of the outputs of a PrimFunc."""
    from .layout_suggestions import suggest_layout_transforms as suggest

    return suggest(func, write_buffer_transforms)


_newer.add_names("relax.analysis", globals())
