"""Systems of integer equations and inequalities, and what analyzers remember."""
import random

import pytest

import iropt
from iropt import arith, tir
from iropt.arith import CompareResult, Extension
from iropt.testing import check_bool_expr_is_true, check_int_constraints_trans_consistency


def _variables(count):
    return [tir.Var(f"x{index}", "int32") for index in range(count)]


def _range(low, high):
    return tir.Range.from_min_extent(low, high - low + 1)


def _relations(rng, variables, count, factors, kinds):
    def total():
        return sum((var * rng.randint(*factors) for var in variables), tir.const(rng.randint(*factors), "int32"))

    return [rng.choice(kinds)(total(), total()) for _ in range(count)]


@pytest.mark.parametrize("variables, relations, factors", [(1, 2, (-5, 5)), (2, 1, (-5, 5)), (2, 3, (-5, 5)), (3, 3, (-2, 2)), (4, 3, (-1, 1))])
def test_equations_have_the_solutions_of_the_system(variables, relations, factors):
    for seed in range(3):
        rng = random.Random(f"{seed} {variables} {relations}")
        names = _variables(variables)
        ranges = {var: _range(-4, 4) for var in names}
        system = _relations(rng, names, relations, factors, [tir.EQ, tir.EQ, tir.EQ, tir.LE, tir.GT])
        check_int_constraints_trans_consistency(arith.solve_linear_equations(system, names, ranges))
        if variables > 1:
            # The last variable is a parameter.
            found = arith.solve_linear_equations(system, names[:-1], ranges)
            check_int_constraints_trans_consistency(found, {names[-1]: ranges[names[-1]]})


@pytest.mark.parametrize("variables, relations, factors", [(1, 2, (-5, 5)), (2, 2, (-5, 5)), (3, 3, (-2, 2))])
def test_inequalities_keep_the_solutions_of_the_system(variables, relations, factors):
    for seed in range(3):
        rng = random.Random(f"{seed} {variables} {relations}")
        names = _variables(variables)
        ranges = {var: _range(-4, 4) for var in names}
        system = _relations(rng, names, relations, factors, [tir.EQ, tir.LE, tir.LT, tir.GE, tir.GT])
        true = tir.const(True, "bool")
        before = tir.all(true, *system)
        found = arith.solve_linear_inequalities(system, names, ranges)
        # Each solution of the system is in the ranges, and fulfils the relations.
        within = [tir.all(var >= rng.min, var < rng.min + rng.extent) for var, rng in found.ranges.items()]
        check_bool_expr_is_true(tir.all(true, *within, *found.relations), ranges, cond=before)
        # What is in the ranges and fulfils the relations is a solution.
        if found.variables:
            check_bool_expr_is_true(before, ranges, cond=tir.all(true, *within, *found.relations))
        check_int_constraints_trans_consistency(arith.solve_linear_inequalities(system, names, ranges, deskew_range=True))


def test_divisibility_is_a_condition():
    x, n = tir.Var("x", "int32"), tir.Var("n", "int32")
    found = arith.solve_linear_equations([tir.EQ(x * 3, n)], [x])
    assert [str(relation) for relation in found.dst.relations] == ["n % 3 == 0"]
    assert str(found.src_to_dst[x]) == "n // 3"
    found = arith.solve_linear_equations([tir.EQ(x * 3, 7)], [x])
    assert [relation.value for relation in found.dst.relations] == [0] and not found.src_to_dst


def test_large_factors_do_not_overflow():
    x, y = _variables(2)
    found = arith.solve_linear_equations([tir.EQ(x * 2147483647 + y * 2147483646, 1)], [x, y])
    (new,) = found.dst.variables
    assert new.dtype == "int32" and not found.dst.relations


def test_systems_name_a_variable_once():
    x = tir.Var("x", "int32")
    with pytest.raises(ValueError, match="variable x appears twice"):
        arith.solve_linear_inequalities([x > 3], [x, x])
    with pytest.raises(TypeError, match="must be integers"):
        arith.solve_linear_inequalities([], [tir.Var("f", "float32")])


def test_bounds_of_ranges():
    x = tir.Var("x", "int32")
    bounds = arith.IntGroupBounds.from_range(_range(2, 9))
    assert (bounds.lower[0].value, bounds.upper[0].value, bounds.equal) == (2, 9, [])
    best = arith.IntGroupBounds(tir.const(3, "int32"), [tir.const(4, "int32"), x], [], [tir.const(20, "int32")]).find_best_range({x: _range(7, 8)})
    assert arith.Analyzer().simplify(best.extent).value <= 5


def test_clones_know_the_same_and_learn_alone():
    analyzer, x, y = arith.Analyzer(), tir.Var("x", "int32"), tir.Var("y", "int32")
    analyzer.bind(x, _range(0, 7))
    analyzer.update(y, arith.IntervalSet(2, 9))
    analyzer.enabled_extensions = Extension.TransitivelyProveInequalities
    copy = analyzer.clone()
    assert copy.can_prove(x < 8) and copy.const_int_bound_is_bound(x) and not copy.const_int_bound_is_bound(y)
    assert copy.int_set(y).max_value.value == 9 and copy.enabled_extensions == Extension.TransitivelyProveInequalities
    copy.update(y, arith.ModularSet(4, 3))
    assert (copy.modular_set(y).coeff, analyzer.modular_set(y).coeff) == (4, 1)
    assert analyzer.int_set(x + 1).min_value.value == 1


def test_comparisons_are_as_exact_as_known():
    analyzer, x, y = arith.Analyzer(), tir.Var("x", "int32"), tir.Var("y", "int32")
    assert analyzer.try_compare(x, y) == CompareResult.UNKNOWN
    with analyzer.constraint_scope(x < y):
        assert analyzer.try_compare(x, y) == CompareResult.LT
        assert analyzer.try_compare(y, x) == CompareResult.GT
    assert analyzer.try_compare(x + 1, x + 1) == CompareResult.EQ


def test_residues_are_least():
    analyzer, x = arith.Analyzer(), tir.Var("x", "int32")
    found = analyzer.modular_set(x * 2 + 7)
    assert (found.coeff, found.base) == (2, 1)


def test_maps_use_the_values_of_an_analyzer():
    analyzer, tile, i = arith.Analyzer(), tir.Var("tile", "int32"), tir.Var("i", "int32")
    analyzer.bind(tile, tir.const(8, "int32"))
    assert arith.detect_iter_map([i % tile], {i: 32}).errors
    (index,) = arith.detect_iter_map([i % tile], {i: 32}, analyzer=analyzer).indices
    assert index.args[0].extent.value == 8


def test_maps_with_conditions_have_the_extents_that_are_left():
    i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
    (index,) = arith.detect_iter_map([i], {i: 48}, predicate=i < 10).indices
    assert iropt.arith.Analyzer().simplify(index.args[0].extent).value == 10
    outer, inner = arith.subspace_divide([i * 4 + j], {i: 8, j: 4}, [j], predicate=i < 6)[1]
    assert str(outer.extent) == "i < 6" and inner.extent.value == 1


def test_maps_of_sums_of_iterators_have_inverses():
    i, n = tir.Var("i", "int32"), tir.Var("n", "int32")
    turned = i % 16 * 4 + i // 16
    indices = arith.detect_iter_map([turned % 8 * 8 + turned // 8], {i: 64}).indices
    value = arith.inverse_affine_iter_map(indices, [n])[i]
    for number in range(64):
        other = number % 16 * 4 + number // 16
        index = other % 8 * 8 + other // 8
        assert arith.Analyzer().simplify(tir.stmt_functor.substitute(value, {n: tir.const(index, "int32")})).value == number
