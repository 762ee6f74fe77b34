"""Simplification of scalar expressions."""
from . import ir, tir
from ._core import native


class Analyzer:
    """Simplifies expressions and proves conditions, with what it was told about variables.

    Where versions of TVM simplify to different forms, the result has the form of `version`.
    """

    def __init__(self, version="0.18"):
        self._analyzer = native.Analyzer(version)

    def simplify(self, expr, steps=2):
        return self._analyzer.simplify(_plain(expr), steps)

    def canonical_simplify(self, expr):
        return self._analyzer.canonical_simplify(_plain(expr))

    def rewrite_simplify(self, expr):
        return self._analyzer.rewrite_simplify(_plain(expr))

    def can_prove(self, condition):
        return self._analyzer.can_prove(_plain(condition))

    def can_prove_equal(self, lhs, rhs):
        return self.can_prove(tir.EQ(lhs, rhs))

    def bind(self, var, expr):
        """The variable has a value, or lies in a range."""
        if isinstance(expr, tir.Range):
            self._analyzer.bind_range(var, expr.min, expr.extent)
        else:
            self._analyzer.bind(var, expr)

    def constraint_scope(self, condition):
        """The scope of a condition that holds."""
        return _Constraint(self._analyzer, _plain(condition))


class _Constraint:
    def __init__(self, analyzer, condition):
        self._analyzer, self._condition = analyzer, condition

    def __enter__(self):
        self._analyzer.push(self._condition)

    def __exit__(self, kind, value, trace):
        self._analyzer.pop()


def _plain(expr):
    return expr._node_() if hasattr(expr, "_node_") else tir.convert(expr)


class Error(ir.Error):
    """A failed analysis."""
