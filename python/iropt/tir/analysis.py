"""Analyses of the loop level."""
from .._core import native


def verify_well_formed(obj, assert_mode=True):
    """Returns whether a PrimFunc or a module is well-formed."""
    from .. import ir

    module = obj if isinstance(obj, ir.IRModule) else ir.IRModule({"main": obj})
    text = module._module.verify()
    if text and assert_mode:
        raise ValueError(text)
    return not text


def expr_deep_equal(lhs, rhs):
    """Returns whether two expressions are equal, with the same variables."""
    return native.structural_equal(lhs, rhs, False)


def undefined_vars(node, defs=None):
    """The variables that are used and not defined."""
    from .. import ir

    known = {native.node_id(var) for var in defs or []}
    return ir.Array(var for var in native.free_vars(node) if native.node_id(var) not in known)
