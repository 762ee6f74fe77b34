"""Analyses of the graph level."""
from .. import _newer, ir
from .._core import Array, native
from .expr import Call, DataflowVar, Expr, Function, MatchCast, Var, VarBinding


def well_formed(obj, check_struct_info=True):
    """Returns whether a module or a function is well-formed."""
    del check_struct_info
    module = obj if isinstance(obj, ir.IRModule) else ir.IRModule({"main": obj})
    return not module._module.verify()


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
    """The variables that the expression defines."""
    found = []
    for value in _nodes(expr):
        if isinstance(value, Function):
            found.extend(value.params)
        elif isinstance(value, (VarBinding, MatchCast)):
            found.append(value.var)
    return _unique(found)


def free_vars(expr):
    """The variables that the expression uses and does not define."""
    bound = {native.node_id(var) for var in bound_vars(expr)}
    return Array(var for var in all_vars(expr) if native.node_id(var) not in bound)


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
    """Returns whether the expression calls something that has effects."""
    del own_name
    return any(isinstance(value, Call) and native.is_impure_call(value) for value in _nodes(expr))


def remove_all_unused(func):
    """The function without bindings that nothing uses."""
    from . import transform

    if isinstance(func, ir.IRModule):
        return transform.DeadCodeElimination()(func)
    module = transform.DeadCodeElimination()(ir.IRModule({"main": func}))
    return module["main"]


def struct_info_base_check(base, derived):
    return native.is_base_of(base, derived)


def get_static_type(info):
    return info


def has_reshape_pattern(func):
    return native.has_reshape_pattern(func)


def definable_tir_vars_in_struct_info(info):
    return native.defined_sym_vars(info)


_newer.add_names("relax.analysis", globals())
