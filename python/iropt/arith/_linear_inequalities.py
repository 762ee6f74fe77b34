"""The solutions of linear inequalities: a variable is eliminated by adding its upper bounds to its lower ones."""
import math

from .. import ir, tir
from .._core import native
from .bound import detect_linear_equation
from .int_solver import (IntConstraints, IntConstraintsTransform, IntGroupBounds, bound_analyzer, substitute,
                         unsolvable, _is_int)

# Rewrites by rules, as a sum, and by rules again.
_STEPS = 3
_EACH_WAY = {tir.GT: tir.LT, tir.GE: tir.LE}


def _normal(relation, analyzer):
    """A comparison with 0 on its right; `<` and `>` of integers are `<=`."""
    if isinstance(relation, (tir.GT, tir.GE)):
        relation = _EACH_WAY[type(relation)](relation.b, relation.a)
    if not isinstance(relation, (tir.LT, tir.LE, tir.EQ, tir.NE)):
        return relation
    a, b, kind = relation.a, relation.b, type(relation)
    if kind is tir.LT and a.dtype.startswith(("int", "uint")):
        return tir.LE(analyzer.simplify(a - b + 1), tir.IntImm(a.dtype, 0))
    return kind(analyzer.simplify(a - b), tir.const(0, a.dtype))


def _add(relations, new, analyzer):
    """Adds a relation that does not follow from others, and removes those that follow from it."""
    if analyzer.can_prove(new) or any(ir.structural_equal(other, new) for other in relations):
        return
    if isinstance(new, tir.LE):
        others = [other for other in relations if isinstance(other, tir.LE)]
        if any(analyzer.can_prove(new.a - other.a <= 0) for other in others):
            return
        weaker = {id(other) for other in others if analyzer.can_prove(other.a - new.a <= 0)}
        relations[:] = [other for other in relations if id(other) not in weaker]
    relations.append(new)


class _Elimination:
    """The bounds of each variable, and the relations that are left."""

    def __init__(self, system):
        self.analyzer = bound_analyzer(system.ranges)
        self.bounds, self.rest, self._open = {}, [], []
        for relation in system.relations:
            relation = self.analyzer.simplify(relation, _STEPS)
            _add(self._open, _normal(relation, self.analyzer), self.analyzer)
        for var in system.variables:
            if var in self.bounds:
                raise ValueError(f"variable {var.name} appears twice among those that are solved for")
            self._eliminate(var, system.ranges.get(var))
        self.relations = self._left() + self.rest

    def _left(self):
        left = []
        for relation in self._open:
            relation = self.analyzer.simplify(relation, _STEPS)
            if not isinstance(relation, tir.IntImm):
                left.append(relation)
            elif not relation.value:
                return [relation]
        return left

    def _eliminate(self, var, rng):
        analyzer, following = self.analyzer, []
        # Pairs (c, e) of c * var + e <= 0, where c is positive in `above` and negative in `below`.
        above, below = [], []
        if rng is not None:
            above.append((1, -analyzer.simplify(rng.min + rng.extent - 1, _STEPS)))
            below.append((-1, analyzer.simplify(rng.min, _STEPS)))
        for relation in self._open:
            self._classify(var, relation, above, below, following)
        for high, high_rest in above:
            for low, low_rest in below:
                divisor = math.gcd(high, low)
                total = low_rest * (high // divisor) - high_rest * (low // divisor)
                relation = analyzer.simplify(tir.LE(total, tir.const(0, total.dtype)), _STEPS)
                _add(following, _normal(relation, analyzer), analyzer)
        common = math.lcm(1, *(abs(factor) for factor, _ in above + below))
        uppers = self._best(above, common, lambda a, b: a - b <= 0)
        lowers = self._best(below, common, lambda a, b: a - b >= 0)
        equal = [bound for bound in uppers if any(ir.structural_equal(bound, other) for other in lowers)]
        uppers, lowers = ([bound for bound in bounds if not any(ir.structural_equal(bound, other) for other in equal)]
                          for bounds in (uppers, lowers))
        equal.sort(key=lambda bound: len(native.post_order(bound)))
        self.bounds[var] = IntGroupBounds(tir.IntImm(var.dtype, common), lowers, equal, uppers)
        self._open = following

    def _classify(self, var, relation, above, below, following):
        found = []
        if isinstance(relation, (tir.LE, tir.EQ)):
            found = list(detect_linear_equation(relation.a, [var]))
        if not found or not isinstance(found[0], tir.IntImm):
            self.rest.append(relation)
            return
        factor, rest = found[0].value, found[1]
        if factor == 0:
            _add(following, relation, self.analyzer)
        elif isinstance(relation, tir.LE):
            (above if factor > 0 else below).append((factor, rest))
        else:
            sign = 1 if factor > 0 else -1
            above.append((sign * factor, rest * sign))
            below.append((-sign * factor, rest * -sign))

    def _best(self, pairs, common, is_better):
        """The bounds of common * var without those that follow from others."""
        bounds = []
        for factor, rest in pairs:
            bound = self.analyzer.simplify(rest * (-common // factor), _STEPS)
            if any(self.analyzer.can_prove(is_better(other, bound)) for other in bounds):
                continue
            bounds = [other for other in bounds if not self.analyzer.can_prove(is_better(bound, other))] + [bound]
        return bounds

    def conditions(self):
        """All relations."""
        return [condition for var, bounds in self.bounds.items() for condition in bounds.conditions(var)] + self.relations


def as_conditions(variables, ranges=None, relations=None):
    """The relations that follow for each variable by those after it."""
    system = variables if isinstance(variables, IntConstraints) else IntConstraints(variables, ranges, relations)
    return _Elimination(system).conditions()


def _is_empty(rng, analyzer):
    return analyzer.can_prove_greater_equal(-rng.extent, 0)


def ranges(system):
    """The system with the ranges that follow from its relations."""
    solved, known, found = _Elimination(system), dict(system.ranges), {}
    for var in reversed(system.variables):
        analyzer, bounds = bound_analyzer(known), solved.bounds[var]
        if _is_int(bounds.coef, 1) and bounds.equal:
            rng = tir.Range.from_min_extent(bounds.equal[0], tir.IntImm(var.dtype, 1))
        else:
            rng = (bounds.within(known[var]) if var in known else bounds).find_best_range(known)
        if rng is None:
            continue
        if _is_empty(rng, analyzer):
            return unsolvable()
        found[var] = known[var] = rng
    analyzer = bound_analyzer(known)
    relations = [condition for condition in solved.conditions() if not analyzer.can_prove(condition)]
    return IntConstraints(system.variables, found, relations)


def shifted(system):
    """The transform to variables that begin with zero."""
    solved, known = _Elimination(system), dict(system.ranges)
    old, new, variables, found = {}, {}, [], {}
    analyzer = bound_analyzer(known)
    for var in reversed(system.variables):
        bounds = solved.bounds[var].substituted(old)
        if _is_int(bounds.coef, 1) and bounds.equal:
            old[var] = bounds.equal[0]
            continue
        rng = (bounds.within(known[var]) if var in known else bounds).find_best_range(known)
        if rng is None:
            old[var] = new[var] = var
            variables.append(var)
        elif _is_int(rng.extent, 1):
            old[var] = rng.min
        elif _is_empty(rng, analyzer):
            return IntConstraintsTransform(system, unsolvable(), {}, {})
        else:
            made = tir.Var(var.name + ".shifted", var.dtype)
            old[var] = made + rng.min
            new[made] = analyzer.simplify(var - substitute(rng.min, new))
            variables.append(made)
            found[made] = known[made] = tir.Range.from_min_extent(tir.IntImm(made.dtype, 0), rng.extent)
            analyzer.bind(made, found[made])
    conditions = [analyzer.simplify(substitute(condition, old)) for condition in solved.conditions()]
    relations = [condition for condition in conditions if not _is_int(condition, 1)]
    return IntConstraintsTransform(system, IntConstraints(variables[::-1], found, relations), old, new)
