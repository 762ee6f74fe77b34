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


class CompareResult(enum.IntEnum):
    """What is known about the order of two expressions."""

    INCONSISTENT = 0
    EQ = 1
    LT = 2
    LE = 3
    GT = 4
    GE = 5
    NE = 6
    UNKNOWN = 7


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

    # The solver of TVM's builds with Z3 is not asked here; the library has one of its own.
    is_z3_enabled = False

    def __init__(self, version="0.18"):
        self._analyzer = native.Analyzer(version)
        self._version, self._extensions = version, Extension.NoExtensions
        self._facts = []  # what was told, as (method, arguments)
        self._values, self._domains, self._bounded = {}, {}, set()

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
        coeff, base = self._analyzer.modular(plain(expr))
        return ModularSet(coeff, base % coeff if coeff else base)

    def int_set(self, expr, dom_map=None):
        """The values of an expression while variables run through sets.

        Args:
            expr: the expression.
            dom_map: the IntervalSet of each variable; without it, what the analyzer was told.

        Returns: an IntervalSet.
        """
        from .int_set import IntervalSet, _end

        known = self._domains if dom_map is None else dict(dom_map)
        domains = [(plain(var), _end(domain.min_value), _end(domain.max_value)) for var, domain in known.items()]
        low, high, is_empty = self._analyzer.int_set(plain(expr), domains)
        return IntervalSet(low, high, is_empty)

    def bind(self, var, expr, allow_override=False):
        """From now on, the variable has a value, or lies in a range."""
        var = plain(var)
        self._facts.append(("bind", (var, expr, allow_override)))
        if isinstance(expr, tir.Range):
            from .int_set import IntervalSet

            self._analyzer.bind_range(var, expr.min, expr.extent)
            self._domains[var] = IntervalSet(expr.min, expr.min + expr.extent - 1)
            self._bounded.add(var)
        else:
            self._analyzer.bind(var, plain(expr))
            self._values[var] = plain(expr)

    def update(self, var, info, override=False):
        """From now on, a variable has a ConstIntBound, ModularSet or IntSet; with override, in place of what was known."""
        from .int_set import IntSet

        var = plain(var)
        if isinstance(info, ConstIntBound):
            low, high = info.min_value, info.max_value
            if not override:
                known = self.const_int_bound(var)
                low, high = max(low, known.min_value), min(high, known.max_value)
            low = -(1 << 63) if low == ConstIntBound.NEG_INF else low
            self._analyzer.set_bound(var, low, high)
            self._bounded.add(var)
        elif isinstance(info, ModularSet):
            self._analyzer.set_modular(var, info.coeff, info.base)
        elif isinstance(info, IntSet):
            self._domains[var] = info
        else:
            raise TypeError(f"expected a ConstIntBound, a ModularSet or an IntSet, not {type(info).__name__}")
        self._facts.append(("update", (var, info, override)))

    def const_int_bound_is_bound(self, var):
        """Returns whether the analyzer was told a range or a bound of a variable."""
        return plain(var) in self._bounded

    def try_compare(self, lhs, rhs, propagate_inequalities=True):
        """The most exact CompareResult that is known of two expressions.

        Constraints are always combined, so propagate_inequalities=False may tell more than was asked for.
        """
        del propagate_inequalities
        lhs, rhs = plain(lhs), plain(rhs)
        kinds = {"EQ": tir.EQ, "LT": tir.LT, "GT": tir.GT, "LE": tir.LE, "GE": tir.GE, "NE": tir.NE}
        return next((CompareResult[name] for name, kind in kinds.items() if self.can_prove(kind(lhs, rhs))), CompareResult.UNKNOWN)

    @property
    def enabled_extensions(self):
        """The rewrites that were asked for."""
        return self._extensions

    @enabled_extensions.setter
    def enabled_extensions(self, flags):
        self._extensions = Extension(flags)
        self._analyzer.set_extensions(*(flag in self._extensions for flag in (
            Extension.TransitivelyProveInequalities, Extension.ConvertBooleanToAndOfOrs, Extension.ApplyConstraintsToBooleanBranches)))

    def clone(self):
        """An analyzer that knows the same, and is told what comes by itself. Conditions of scopes are left out."""
        copy = Analyzer(self._version)
        for method, arguments in self._facts:
            getattr(copy, method)(*arguments)
        copy.enabled_extensions = self._extensions
        return copy

    def with_values(self, expr):
        """The expression with the values that variables have."""
        return tir.stmt_functor.substitute(plain(expr), self._values) if self._values else plain(expr)

    def _without_z3(self, *_):
        raise RuntimeError("the Z3 backend is not a part of iropt: see is_z3_enabled")

    get_smtlib2 = set_z3_timeout_ms = set_z3_rlimit = get_z3_stats = _without_z3

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
