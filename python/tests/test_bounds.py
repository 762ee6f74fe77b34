"""What conditions say about variables."""
import itertools

import pytest

from iropt import arith, ir, tir
from iropt.arith.bound import domain_touched, narrow_predicate_expression
from iropt.arith.int_set import neg_inf, pos_inf
from iropt.script import tir as T

A, B, C = (tir.Var(name, "int32") for name in "abc")


def value(expr, values):
    """The value of an expression for values of variables."""
    return int(arith.Analyzer().simplify(tir.stmt_functor.substitute(expr, {var: tir.const(v, "int32") for var, v in values.items()})))


def test_deduced_bounds_hold_and_are_tight():
    relaxed = {B: arith.IntervalSet(-2, 3)}
    for factor, limit in itertools.product((-4, 3), (-7, 17)):
        found = arith.deduce_bound(A, B + A * factor < limit, relaxed, relaxed)

        def holds(a, factor=factor, limit=limit):
            return all(b + a * factor < limit for b in range(-2, 4))

        end = int(found.max_value if factor > 0 else found.min_value)
        assert holds(end) and not holds(end + (1 if factor > 0 else -1))
    assert arith.deduce_bound(A, A + B, {}, {}).is_nothing()
    nothing = arith.deduce_bound(A, tir.max(A, 5) < 0, {}, {})
    assert str(nothing.min_value) == "pos_inf" and str(nothing.max_value) == "neg_inf"


def test_linear_equations():
    factor, rest = arith.detect_linear_equation(A * 4 + (A + 1) + B * C, [A])
    assert factor.value == 5 and value(rest, {B: 3, C: 2}) == 7
    assert len(arith.detect_linear_equation(A * A + B, [A])) == 0
    assert len(arith.detect_linear_equation(A * B, [A, B])) == 0
    assert len(arith.detect_linear_equation(B * 7, [])) == 1


def test_clip_bounds():
    bounds = arith.detect_clip_bound(tir.all(A < B * 6, A - 1 > 0, A > 4), [A])
    assert bounds[0].value == 5 and value(bounds[1], {B: 2}) == 11
    bounds = arith.detect_clip_bound(tir.all(tir.EQ(A, 4), B >= 3), [A, B])
    assert (bounds[0].value, bounds[1].value, bounds[2].value, bounds[3]) == (4, 4, 3, None)
    assert len(arith.detect_clip_bound(A < B, [A, B])) == 0 and len(arith.detect_clip_bound(A * 3 < 8 * C, [A])) == 0
    assert len(arith.detect_clip_bound(tir.NE(A, 3), [A])) == 0


def test_common_subexpressions():
    total = (A + B) * C + tir.exp((A + B).astype("float32")).astype("int32")
    assert {str(part): count for part, count in arith.detect_common_subexpr(total, 2).items()} == {"a + b": 2}


def test_unions():
    def union(*ends):
        found = arith.int_set.union_lower_bound([arith.IntervalSet(*pair) for pair in ends])
        return str(found.min_value), str(found.max_value)

    assert union((0, 4), (5, 9)) == ("0", "9") and union((0, 4), (6, 9)) == ("0", "4")
    assert union((neg_inf(), 0), (1, pos_inf())) == ("neg_inf", "pos_inf")
    assert union((pos_inf(), neg_inf()), (2, 3)) == ("2", "3")
    assert arith.int_set.union_lower_bound([]).is_nothing() and arith.IntervalSet(pos_inf(), 3).is_nothing()


@pytest.mark.parametrize("condition", [
    A + B < 4, A - B * 2 >= 1, tir.EQ(A, B), tir.NE(A - 2, B), tir.Not(tir.Or(A < B, tir.EQ(A, 2))), (A + B) // -3 < 1,
    tir.And(tir.min(A, B) > 1, A * B < 3), A % B < 1, tir.max(A, 3 - B) // 2 <= 1])
def test_narrowed_conditions_imply_the_condition(condition):
    narrowed = narrow_predicate_expression(condition, {B: ir.Range(1, 4)})
    assert not any(var.same_as(B) for var in tir.analysis.undefined_vars(narrowed))
    for a in range(-5, 6):
        if value(narrowed, {A: a}):
            assert all(value(condition, {A: a, B: b}) for b in range(1, 4))


def test_accessed_domains():
    @T.prim_func
    def func(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
        for i, j in T.grid(10, 8):
            A[i, j] = B[i + 1, j * 2] + A[i + 2, j]

    def ranges(index, *kinds):
        return [(r.min.value, r.extent.value) for r in domain_touched(func.body, list(func.buffer_map.values())[index], *kinds)]

    assert ranges(0) == [(0, 12), (0, 8)] and ranges(0, True, False) == [(2, 10), (0, 8)]
    assert ranges(1) == [(1, 10), (0, 15)] and not ranges(1, False, True)
