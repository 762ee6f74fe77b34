"""Functions that make patterns."""
from ... import ir
from .pattern import (CallPattern, ConstantPattern, DataflowVarPattern, ExprPattern, ExternFuncPattern, GlobalVarPattern,
                      NotPattern, PrimArrPattern, TupleGetItemPattern, TuplePattern, UnorderedTuplePattern, VarPattern,
                      WildcardPattern)


def wildcard():
    """A pattern of anything."""
    return WildcardPattern()


def is_var(name=""):
    """A pattern of a variable; of any if there is no name."""
    return VarPattern(name)


def is_dfv(name=""):
    """A pattern of a variable of a dataflow block."""
    return DataflowVarPattern(name)


def is_gv(name=""):
    """A pattern of a function of the module."""
    return GlobalVarPattern(name)


def is_const():
    """A pattern of a constant tensor."""
    return ConstantPattern()


def is_expr(expr):
    """A pattern of an expression that is equal to the given one."""
    return ExprPattern(expr)


def is_op(op_name):
    """A pattern of an operator: `is_op("relax.add")(x, y)` is one of its calls."""
    return ExprPattern(ir.Op.get(op_name))


def is_tuple(fields, unordered=False):
    """A pattern of a tuple of patterns, with `unordered` in any order."""
    if not isinstance(fields, (list, tuple)):
        raise ValueError("fields must be a list, tuple, or Array")
    return UnorderedTuplePattern(fields) if unordered else TuplePattern(fields)


def is_tuple_get_item(tuple_value, index=None):
    """A pattern of a field of a tuple; of any field if there is no index."""
    return TupleGetItemPattern(tuple_value, index)


def is_shape(shape):
    """A pattern of a shape expression."""
    if not isinstance(shape, (list, tuple)):
        raise ValueError("is_shape takes a list or tuple as input.")
    return PrimArrPattern(shape)


def has_dtype(dtype, pattern=None):
    """A pattern of a tensor of a dtype."""
    return (pattern or wildcard()).has_dtype(dtype)


def has_attr(attrs, pattern=None):
    """A pattern of a call, an operator or a function with attributes."""
    return (pattern or wildcard()).has_attr(attrs)


def has_struct_info(struct_info, pattern=None):
    """A pattern of an expression of a type."""
    return (pattern or wildcard()).has_struct_info(struct_info)


has_ty = has_struct_info


def reject(pattern):
    """A pattern of what another one does not match."""
    return NotPattern(pattern)


def is_call_tir(func_name, args=None, tir_vars=None):
    """A pattern of a call of a PrimFunc with the arguments; of any arguments without them."""
    extra = () if tir_vars is None else (tir_vars,)
    return _call("relax.call_tir", GlobalVarPattern(func_name), args, extra)


def is_call_dps_packed(func_name, args=None):
    """A pattern of a call of an external function that writes into its last arguments."""
    return _call("relax.call_dps_packed", ExternFuncPattern(func_name), args, ())


def is_call_packed(func_name, args=None):
    """A pattern of a call of an external function."""
    function = ExternFuncPattern(func_name)
    if args is None:
        return function(varg_default_wildcard=True, add_constraint=False)
    return function(*args)


def _call(op, function, args, extra):
    operands = wildcard() if args is None else TuplePattern(args) if isinstance(args, (list, tuple)) else args
    return CallPattern(is_op(op), (function, operands, *extra), add_constraint=False)


def make_fused_bias_activation_pattern(op_name, with_bias=False, activation=None):
    """A pattern of a call with two operands, with an addition after it, and with a call of `activation` after that."""
    out = is_op(op_name)(wildcard(), wildcard())
    if with_bias:
        out = is_op("relax.add")(out, wildcard())
    return is_op(activation)(out) if activation else out
