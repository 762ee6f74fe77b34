"""Conditions for patterns."""
from ..expr import DataflowVar


def has_leaking_intermediate_variables(context):
    """Returns whether something outside of a match, a PatternCheckContext, uses a result within it."""
    output = context.value_to_bound_var[context.matched_expr]
    return any(not isinstance(var, DataflowVar) or any(user not in context.matched_bindings
                                                       for user in context.var_usages.get(var, ()))
               for var in context.matched_bindings if not var == output)
