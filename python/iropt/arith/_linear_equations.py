"""The integer solutions of linear equations: a matrix is made diagonal by changes of rows and columns."""
from .. import tir
from .bound import detect_linear_equation
from .int_set import _end
from .int_solver import IntConstraints, IntConstraintsTransform, bound_analyzer, interval_sets, substitute, unsolvable


def _euclid(a, b):
    """The greatest common divisor g and factors so that g = x * a + y * b."""
    x, next_x, y, next_y = 1, 0, 0, 1
    while b:
        quotient = a // b
        a, b = b, a - quotient * b
        x, next_x = next_x, x - quotient * next_x
        y, next_y = next_y, y - quotient * next_y
    return (a, x, y) if a >= 0 else (-a, -x, -y)


def _step(pivot, other):
    """The 2 x 2 matrix, which is its own kind's inverse, that brings (pivot, other) to (divisor, 0)."""
    if other % pivot == 0:
        return pivot, 1, 0
    return _euclid(pivot, other)


class _Matrix:
    """The equations `rows * values = sums`, where the variables are `columns * values`.

    Rows and columns change by matrices of integers whose inverses are such, so the solutions stay the same.
    """

    def __init__(self, rows, sums, variables):
        self.rows, self.sums, self.values = rows, sums, list(variables)
        self.columns = [[int(i == j) for j in range(len(variables))] for i in range(len(variables))]

    def make_diagonal(self):
        """Makes all elements zero that are not on the diagonal."""
        for index in range(min(len(self.rows), len(self.values))):
            while self._find_pivot(index) and (self._clear_column(index), self._clear_row(index))[1]:
                pass

    def _find_pivot(self, index):
        """Brings the least element of a column to the diagonal, or one of the row; returns whether there is one."""
        candidates = [i for i in range(index, len(self.rows)) if self.rows[i][index]]
        if candidates:
            best = min(candidates, key=lambda i: abs(self.rows[i][index]))
            for items in (self.rows, self.sums):
                items[index], items[best] = items[best], items[index]
            return True
        column = next((j for j in range(index + 1, len(self.values)) if self.rows[index][j]), None)
        if column is None:
            return False
        for row in [*self.rows[index:], *self.columns, self.values]:
            row[index], row[column] = row[column], row[index]
        return True

    def _clear_column(self, index):
        for i in range(index + 1, len(self.rows)):
            pivot, row = self.rows[index], self.rows[i]
            if not row[index]:
                continue
            divisor, x, y = _step(pivot[index], row[index])
            own, others = pivot[index] // divisor, row[index] // divisor
            self.rows[index] = [x * a + y * b for a, b in zip(pivot, row)]
            self.rows[i] = [others * a - own * b for a, b in zip(pivot, row)]
            a, b = self.sums[index], self.sums[i]
            self.sums[index], self.sums[i] = _sum(a, x, b, y), _sum(a, others, b, -own)

    def _clear_row(self, index):
        """Returns whether the column may have new elements."""
        has_changed = False
        for j in range(index + 1, len(self.values)):
            pivot, other = self.rows[index][index], self.rows[index][j]
            if not other:
                continue
            divisor, x, y = _step(pivot, other)
            has_changed |= other % pivot != 0
            own, others = pivot // divisor, other // divisor
            for row in [*self.rows[index:], *self.columns]:
                row[index], row[j] = x * row[index] + y * row[j], others * row[index] - own * row[j]
            a, b = self.values[index], self.values[j]
            self.values[index], self.values[j] = _sum(a, own, b, others), _sum(a, y, b, -x)
        return has_changed


def _sum(a, x, b, y):
    return a * x + b * y


def _rows(system, analyzer):
    """The rows of the coefficients of equations, their sums, and the other relations."""
    rows, sums, rest = [], [], []
    for relation in system.relations:
        found = []
        if isinstance(relation, tir.EQ) and system.variables:
            found = list(detect_linear_equation(analyzer.simplify(relation.a - relation.b), system.variables))
        if found and all(isinstance(coefficient, tir.IntImm) for coefficient in found[:-1]):
            rows.append([coefficient.value for coefficient in found[:-1]])
            sums.append(-found[-1])
        else:
            rest.append(relation)
    return rows, sums, rest


def _conditions(matrix, analyzer):
    """What must hold for a solution to be there; None if it does not."""
    relations = []
    for index, total in enumerate(matrix.sums):
        factor = matrix.rows[index][index] if index < len(matrix.values) else 0
        relation = analyzer.simplify((tir.floormod(total, abs(factor)) if factor else total).equal(0))
        if not isinstance(relation, tir.IntImm):
            relations.append(relation)
        elif not relation.value:
            return None
    return relations


def _solved(matrix, analyzer):
    """The values, each a number or a new variable, and what the new variables are."""
    values, new = [], {}
    for index, value in enumerate(matrix.values):
        factor = matrix.rows[index][index] if index < len(matrix.rows) else 0
        if factor:
            total = matrix.sums[index] if factor > 0 else -matrix.sums[index]
            values.append(analyzer.simplify(tir.floordiv(total, abs(factor))))
            continue
        old = analyzer.simplify(value)
        var = tir.Var(f"n{len(new)}" + (f"_{old.name}" if isinstance(old, tir.Var) else ""), value.dtype)
        values.append(var)
        new[var] = old
    return values, new


def _ranges(new, system, analyzer):
    """The ranges of new variables, and of variables that are not solved for."""
    ranges = {var: rng for var, rng in system.ranges.items() if not any(var.same_as(other) for other in system.variables)}
    sets = interval_sets(system.ranges)
    for var, value in new.items():
        found = analyzer.int_set(value, sets)
        low, high = _end(found.min_value), _end(found.max_value)
        if low is not None and high is not None:
            ranges[var] = tir.Range.from_min_extent(low, analyzer.simplify(high - low + 1))
    return ranges


def solve(system):
    """The transform that solves the equations of a system."""
    analyzer = bound_analyzer(system.ranges)
    rows, sums, rest = _rows(system, analyzer)
    matrix = _Matrix(rows, sums, system.variables)
    matrix.make_diagonal()
    relations = _conditions(matrix, analyzer)
    if relations is None:
        return IntConstraintsTransform(system, unsolvable(), {}, {})
    values, new = _solved(matrix, analyzer)
    old = {}
    for var, row in zip(system.variables, matrix.columns):
        total = tir.IntImm(var.dtype, 0)
        for factor, value in zip(row, values):
            total = total + value * factor
        old[var] = analyzer.simplify(total)
    ranges = _ranges(new, system, analyzer)
    # The ranges of new variables say less than those of the old ones.
    after = bound_analyzer(ranges)
    for var in system.variables:
        rng = system.ranges.get(var)
        if rng is None:
            continue
        for condition in (tir.LE(rng.min, old[var]), tir.LT(old[var], rng.min + rng.extent)):
            condition = after.simplify(condition)
            if not isinstance(condition, tir.IntImm) or not condition.value:
                relations.append(condition)
    relations += [substitute(relation, old) for relation in rest]
    return IntConstraintsTransform(system, IntConstraints(list(new), ranges, relations), old, new)
