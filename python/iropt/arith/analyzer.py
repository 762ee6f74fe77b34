"""Simplification of scalar expressions, and bounds of their values."""
import enum

from .. import ir, tir
from .._core import native


class ProofStrength(enum.IntEnum):
    """How hard a proof is looked for. There is one strength here."""

    DEFAULT = 0
    SYMBOLIC_BOUND = 1


class Extension(enum.Flag):
    """Rewrites that are off unless they are asked for."""

    NoExtensions = 0
    TransitivelyProveInequalities = 1
    ConvertBooleanToAndOfOrs = 2
    ApplyConstraintsToBooleanBranches = 4
    ComparisonOfProductAndSum = 8


class ModularSet:
    """The numbers base + n * coeff for all n."""

    def __init__(self, coeff, base):
        self.coeff, self.base = coeff, base

    def __repr__(self):
        return f"ModularSet(coeff={self.coeff}, base={self.base})"


class ConstIntBound:
    """The least and the greatest value that are known; POS_INF and NEG_INF where there is none."""

    POS_INF = (1 << 63) - 1
    NEG_INF = -POS_INF

    def __init__(self, min_value, max_value):
        self.min_value, self.max_value = min_value, max_value

    def __repr__(self):
        return f"ConstIntBound[{self.min_value}, {self.max_value}]"


class Analyzer:
    """Simplifies expressions and proves conditions, with what it was told about variables.

    Where versions of TVM simplify to different forms, the result has the form of `version`.
    """

    def __init__(self, version="0.18"):
        self._analyzer = native.Analyzer(version)

    def simplify(self, expr, steps=2):
        """The simplified expression."""
        return self._analyzer.simplify(plain(expr), steps)

    def canonical_simplify(self, expr):
        """The expression as a sum of scaled quotients and remainders."""
        return self._analyzer.canonical_simplify(plain(expr))

    def rewrite_simplify(self, expr):
        """The expression after rewrites by rules."""
        return self._analyzer.rewrite_simplify(plain(expr))

    def can_prove(self, condition, strength=ProofStrength.DEFAULT):
        """Returns whether a condition is known to hold."""
        del strength
        return self._analyzer.can_prove(plain(condition))

    def can_prove_equal(self, lhs, rhs):
        """Returns whether two expressions are known to be equal."""
        return self.can_prove(tir.EQ(plain(lhs), plain(rhs)))

    def can_prove_greater_equal(self, expr, lower_bound):
        """Returns whether the values of an expression are known not to be less than a number."""
        return self.const_int_bound(expr).min_value >= lower_bound or self.can_prove(plain(expr) >= lower_bound)

    def can_prove_less(self, expr, upper_bound):
        """Returns whether the values of an expression are known to be less than a number."""
        return self.const_int_bound(expr).max_value < upper_bound or self.can_prove(plain(expr) < upper_bound)

    def const_int_bound(self, expr):
        """The bounds of the values of an expression, as a ConstIntBound."""
        low, high = self._analyzer.bound(plain(expr))
        return ConstIntBound(max(low, ConstIntBound.NEG_INF), high)

    def modular_set(self, expr):
        """What the values of an expression have in common modulo a number, as a ModularSet."""
        return ModularSet(*self._analyzer.modular(plain(expr)))

    def int_set(self, expr, dom_map=None):
        """The values of an expression while variables run through sets.

        Args:
            expr: the expression.
            dom_map: the IntervalSet of each variable.

        Returns: an IntervalSet.
        """
        from .int_set import IntervalSet, _end

        domains = [(plain(var), _end(domain.min_value), _end(domain.max_value)) for var, domain in dict(dom_map or {}).items()]
        low, high, is_empty = self._analyzer.int_set(plain(expr), domains)
        return IntervalSet(low, high, is_empty)

    def bind(self, var, expr):
        """From now on, the variable has a value, or lies in a range."""
        if isinstance(expr, tir.Range):
            self._analyzer.bind_range(plain(var), expr.min, expr.extent)
        else:
            self._analyzer.bind(plain(var), plain(expr))

    def update(self, var, info, override=False):
        """From now on, a variable has a ConstIntBound or a ModularSet; with override, in place of what was known."""
        var = plain(var)
        if isinstance(info, ConstIntBound):
            low, high = info.min_value, info.max_value
            if not override:
                known = self.const_int_bound(var)
                low, high = max(low, known.min_value), min(high, known.max_value)
            low = -(1 << 63) if low == ConstIntBound.NEG_INF else low
            self._analyzer.set_bound(var, low, high)
        elif isinstance(info, ModularSet):
            self._analyzer.set_modular(var, info.coeff, info.base)
        else:
            raise TypeError(f"expected a ConstIntBound or a ModularSet, not {type(info).__name__}")

    def constraint_scope(self, condition):
        """The scope of a condition that holds."""
        return ConstraintScope(self._analyzer, plain(condition))


class ConstraintScope:
    """A scope in which a condition holds."""

    def __init__(self, analyzer, condition):
        self._analyzer, self._condition = analyzer, condition

    def __enter__(self):
        self._analyzer.push(self._condition)

    def __exit__(self, kind, value, trace):
        self._analyzer.pop()


def plain(expr):
    """The expression of what stands for one."""
    if hasattr(expr, "_node_"):
        return expr._node_()
    return expr.var if isinstance(expr, tir.IterVar) else tir.convert(expr)


class Error(ir.Error):
    """A failed analysis."""
