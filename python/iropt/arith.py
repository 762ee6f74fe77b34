"""Simplification of scalar expressions."""
from . import ir
from ._core import native


class Analyzer:
    """Simplifies expressions and proves conditions."""

    def simplify(self, expr):
        return native.simplify(expr)

    def can_prove(self, condition):
        result = native.simplify(condition._node_() if hasattr(condition, "_node_") else condition)
        return hasattr(result, "value") and bool(result.value)

    def can_prove_equal(self, lhs, rhs):
        return self.can_prove(lhs.equal(rhs))


class Error(ir.Error):
    """A failed analysis."""
