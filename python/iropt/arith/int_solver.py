"""Systems of equations and inequalities of integers, and what their solutions are."""
from .. import tir
from .analyzer import Analyzer, plain


class IntGroupBounds:
    """What is known about a variable: coef * var >= each of `lower`, == each of `equal`, <= each of `upper`."""

    _structure_ = ("coef", "lower", "equal", "upper")

    def __init__(self, coef, lower, equal, upper):
        self.coef = tir.convert(coef)
        self.lower, self.equal, self.upper = (list(map(plain, values)) for values in (lower, equal, upper))

    @staticmethod
    def from_range(rng):
        """The bounds of the numbers of a range."""
        return IntGroupBounds(tir.IntImm(rng.min.dtype, 1), [], [], []).within(rng)

    def within(self, rng):
        """The bounds with those of a range before them."""
        analyzer = Analyzer()
        first = analyzer.simplify(rng.min * self.coef)
        if _is_int(rng.extent, 1):
            return IntGroupBounds(self.coef, self.lower, [first, *self.equal], self.upper)
        last = analyzer.simplify((rng.min + rng.extent - 1) * self.coef)
        return IntGroupBounds(self.coef, [first, *self.lower], self.equal, [last, *self.upper])

    def substituted(self, values):
        """The bounds with values for variables."""
        parts = [[substitute(bound, values) for bound in bounds] for bounds in (self.lower, self.equal, self.upper)]
        return IntGroupBounds(self.coef, *parts)

    def conditions(self, var):
        """The comparisons of the variable with its bounds."""
        scaled = var if _is_int(self.coef, 1) else self.coef * var
        return ([tir.EQ(scaled, bound) for bound in self.equal] + [tir.GE(scaled, bound) for bound in self.lower] +
                [tir.LE(scaled, bound) for bound in self.upper])

    def find_best_range(self, vranges_addl=None):
        """The range of the variable that is known to be shortest while other variables are in ranges; None without one."""
        ranges = dict(vranges_addl or {})
        analyzer = bound_analyzer(ranges)
        lowers, uppers = [*self.equal, *self.lower], [*self.equal, *self.upper]
        if len(lowers) == len(uppers) == 1 and _is_int(self.coef, 1):
            return _range(analyzer, lowers[0], uppers[0] + 1)
        best = None
        for low in lowers:
            least = analyzer.simplify(tir.floordiv(low + self.coef - 1, self.coef), 3)
            for high in uppers:
                sizes = [_greatest(analyzer, size, ranges) for size in (
                    tir.floordiv(high - low, self.coef), tir.floordiv(high, self.coef) - least)]
                for size in sizes:
                    if size is not None and (best is None or analyzer.can_prove(size < best[1])):
                        best = least, size
        return None if best is None else tir.Range.from_min_extent(best[0], analyzer.simplify(best[1] + 1))

    def __repr__(self):
        return f"IntGroupBounds(coef={self.coef}, lower={self.lower}, equal={self.equal}, upper={self.upper})"


class IntConstraints:
    """Variables, the ranges of some, and relations between them."""

    _structure_ = ("variables", "ranges", "relations")

    def __init__(self, variables, ranges, relations):
        self.variables, self.ranges = list(map(plain, variables or ())), dict(ranges or {})
        self.relations = list(map(plain, relations or ()))
        if not all(var.dtype.startswith(("int", "uint")) for var in self.variables):
            raise TypeError("Variables in IntConstraints must be integers")

    def __repr__(self):
        return f"IntConstraints(variables={self.variables}, ranges={self.ranges}, relations={self.relations})"


class IntConstraintsTransform:
    """A system in other variables: the old and the new one, and the variables of each by those of the other."""

    _structure_ = ("src", "dst", "src_to_dst", "dst_to_src")

    def __init__(self, src, dst, src_to_dst, dst_to_src):
        self.src, self.dst = src, dst
        self.src_to_dst, self.dst_to_src = dict(src_to_dst), dict(dst_to_src)

    def __repr__(self):
        return f"IntConstraintsTransform(src={self.src}, dst={self.dst}, src_to_dst={self.src_to_dst}, dst_to_src={self.dst_to_src})"


def solve_linear_equations(equations, variables=None, ranges=None):
    """Solves the equations of a system that are linear with integers as coefficients.

    Args:
        equations: a list of relations, or IntConstraints. What is not such an equation stays a relation.
        variables: those that are solved for.
        ranges: the ranges of variables.

    Returns: an IntConstraintsTransform to a system with fewer variables, whose one relation is False without a solution.
    """
    from ._linear_equations import solve

    return solve(_system(equations, variables, ranges))


def solve_linear_inequalities(equations, variables=None, ranges=None, deskew_range=False):
    """Solves inequalities, each variable by those after it.

    Args:
        equations: a list of relations, or IntConstraints.
        variables: those that are solved for.
        ranges: the ranges of variables.
        deskew_range: whether new variables begin with zero.

    Returns: IntConstraints with the ranges, or with deskew_range an IntConstraintsTransform. Relations are what ranges do
    not say; the only one is False without a solution.
    """
    from . import _linear_inequalities

    system = _system(equations, variables, ranges)
    return _linear_inequalities.shifted(system) if deskew_range else _linear_inequalities.ranges(system)


def _system(equations, variables, ranges):
    return equations if isinstance(equations, IntConstraints) else IntConstraints(variables, ranges, equations)


def unsolvable():
    """The system without a solution."""
    return IntConstraints([], {}, [tir.const(False, "bool")])


def substitute(expr, values):
    """The expression with values for variables."""
    return tir.stmt_functor.substitute(expr, values) if values else expr


def bound_analyzer(ranges):
    """An analyzer that knows the ranges of variables."""
    analyzer = Analyzer()
    for var, rng in ranges.items():
        analyzer.bind(var, rng)
    return analyzer


def _is_int(expr, value):
    return isinstance(expr, tir.IntImm) and expr.value == value


def _range(analyzer, begin, end):
    begin = analyzer.simplify(begin)
    return tir.Range.from_min_extent(begin, analyzer.simplify(end - begin))


def _greatest(analyzer, expr, ranges):
    """The greatest value while variables are in ranges; None if it is not known."""
    from .int_set import _end

    expr = analyzer.simplify(expr, 3)
    high = _end(analyzer.int_set(expr, interval_sets(ranges)).max_value)
    return None if high is None else analyzer.simplify(high, 3)


def interval_sets(ranges):
    """The sets of the numbers of ranges."""
    from .int_set import IntervalSet

    return {var: IntervalSet(rng.min, rng.min + rng.extent - 1) for var, rng in ranges.items()}
