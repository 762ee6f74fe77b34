"""Comparison of modules and nodes by structure."""
from .. import tir
from .._core import Node, native
from .module import IRModule


def structural_equal(lhs, rhs, map_free_vars=False):
    """Returns whether two modules, nodes or values are equal but for names of variables and places in the source."""
    return difference(lhs, rhs, map_free_vars) is None


def difference(lhs, rhs, map_free_vars=False):
    """The path to the first difference and both sides of it; None if there is none."""
    if isinstance(lhs, IRModule) and isinstance(rhs, IRModule):
        found = lhs._module.difference(rhs._module, map_free_vars)
        if found is None or map_free_vars or not _same_free_names(lhs.values(), rhs.values()):
            return found
        return lhs._module.difference(rhs._module, True)
    if isinstance(lhs, Node) and isinstance(rhs, Node):
        if native.structural_equal(lhs, rhs, map_free_vars):
            return None
        found = native.difference(lhs, rhs, map_free_vars) or "the nodes differ"
        if map_free_vars or not _same_free_names([lhs], [rhs]):
            return found
        return native.difference(lhs, rhs, True)
    if isinstance(lhs, (list, tuple)) and isinstance(rhs, (list, tuple)):
        if len(lhs) != len(rhs):
            return f"lists of {len(lhs)} and {len(rhs)} items"
        for index, (a, b) in enumerate(zip(lhs, rhs)):
            found = difference(a, b, map_free_vars)
            if found is not None:
                return f"[{index}].{found}"
        return None
    if isinstance(lhs, Node) or isinstance(rhs, Node):
        if isinstance(lhs, (int, float, tir.PrimExpr)) and isinstance(rhs, (int, float, tir.PrimExpr)):
            return difference(tir.convert(lhs), tir.convert(rhs), map_free_vars)
    return None if type(lhs) is type(rhs) and lhs == rhs else f"{lhs!r}, {rhs!r}"


def _same_free_names(lhs, rhs):
    """Returns whether PrimFuncs use the same names without defining them: variables that several scripts captured."""

    def names(functions):
        return [list(dict.fromkeys(var.name for var in native.free_vars(func))) for func in functions
                if isinstance(func, tir.PrimFunc)]

    found = names(lhs)
    return any(found) and found == names(rhs)


def assert_structural_equal(lhs, rhs, map_free_vars=False):
    """Raises ValueError, with the first difference and both texts, unless both are equal."""
    found = difference(lhs, rhs, map_free_vars)
    if found is not None:
        raise ValueError(f"not structurally equal at {found}\n\nleft:\n{lhs}\n\nright:\n{rhs}")


def structural_hash(value, map_free_vars=False):
    if isinstance(value, IRModule):
        return value._module.hash()
    return native.structural_hash(value, map_free_vars)
