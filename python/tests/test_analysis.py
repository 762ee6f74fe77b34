"""Analyses of Relax."""
from iropt import relax, tir
from iropt.relax import analysis
from iropt.script import ir as I, relax as R, tir as T


@I.ir_module
class Calls:
    @R.function
    def even(x: R.Object) -> R.Object:
        return Calls.odd(x)

    @R.function
    def odd(x: R.Object) -> R.Object:
        return Calls.even(Calls.last(x))

    @R.function
    def last(x: R.Object) -> R.Object:
        return x

    @R.function
    def again(x: R.Object) -> R.Object:
        return Calls.again(x)


def test_groups_of_functions_that_call_each_other():
    assert [sorted(name.name for name in group) for group in analysis.detect_recursion(Calls)] in (
        [["again"], ["even", "odd"]], [["even", "odd"], ["again"]])


def test_symbolic_variables_of_types():
    n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
    info = R.Tuple(R.Tensor([n, m + 1], "float32"), R.Shape([n * 2]))
    assert list(analysis.tir_vars_in_struct_info(info)) == [n, m]
    assert list(analysis.definable_tir_vars_in_struct_info(info)) == [n]
    erased = analysis.erase_to_well_defined(info, {n: tir.IntImm("int64", 4)})
    assert erased == R.Tuple(R.Tensor(ndim=2, dtype="float32"), R.Shape([8]))


def test_symbolic_variables_of_functions():
    @R.function(private=True)
    def func(x: R.Tensor(("n",), "float32"), y: R.Tensor(dtype="float32")):
        m = T.int64()
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        return (x, z)

    assert [var.name for var in analysis.defined_symbolic_vars(func)] == ["n", "m"]
    assert list(analysis.free_symbolic_vars(func)) == []


def test_most_precise_common_type():
    a, b = R.Tensor([2, 3], "float32"), R.Tensor([2, 4], "float32")
    assert analysis.struct_info_lca(a, b) == R.Tensor(ndim=2, dtype="float32")
    assert analysis.struct_info_lca(a, R.Shape([2])) == R.Object()


def test_what_is_known_when_a_module_is_built():
    @R.function
    def func(x: R.Tensor([4], "float32"), w: R.Tensor([4], "float32"), v: R.Tensor(dtype="float32")):
        R.func_attr({"num_input": 1})
        n = T.int64()
        a = R.add(w, w)
        b = R.add(a, x)
        c = R.match_cast(v, R.Tensor([n], "float32"))
        d = R.add(c, c)
        return (b, d)

    assert [var.name for var in analysis.computable_at_compile_time(func)] == ["w", "v", "a", "c", "d"]
    assert relax.analysis.computable_at_compile_time(func.without_attr("num_input")) == ()
