"""Analyses of Relax."""
import pytest

import iropt
from iropt import relax, tir
from iropt import IRModule, relax, tir
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


def test_layouts_that_follow_from_an_output():
    @T.prim_func(private=True)
    def padded(A: T.Buffer((2, 8, 4, 4), "float32"), bias: T.Buffer((8,), "float32"), B: T.Buffer((2, 8, 4, 4), "float32")):
        for n, c, h, w in T.grid(2, 8, 4, 4):
            with T.block("add"):
                vn, vc, vh, vw = T.axis.remap("SSSS", [n, c, h, w])
                B[vn, vc, vh, vw] = A[vn, vc, vh, vw] + bias[vc]

    suggest = relax.analysis.suggest_layout_transforms
    (block, maps), = suggest(padded, [lambda n, c, h, w: (n, h, w, c // 4, c % 4)]).items()
    found = {getattr(key, "name", key): len(index_map.results) for key, index_map in maps.items() if key is not block}
    assert found == {"A": 5, "bias": 2, "B": 5}
    schedule = tir.Schedule(padded)
    for buffer in block.reads[0].buffer, block.reads[1].buffer, block.writes[0].buffer:
        schedule.transform_layout("add", buffer, maps[buffer])
    schedule.transform_block_layout("add", maps[block])
    assert [list(map(int, buffer.shape)) for buffer in schedule.mod["main"].buffer_map.values()] == [
        [2, 4, 4, 2, 4], [2, 4], [2, 4, 4, 2, 4]]
    # 3 does not divide the channels.
    assert suggest(padded, [lambda n, c, h, w: (n, c // 3, h, w, c % 3)]) == {}
    with pytest.raises(iropt.Error, match="Mismatch between output buffer shape"):
        suggest(padded, [lambda n, c, h: (n, h, c)])


def test_relation_and_dimensions_of_types():
    n = tir.Var("n", "int64")
    check, result = relax.analysis.struct_info_base_check, relax.analysis.BaseCheckResult
    symbolic, known = R.Tensor((n, 3), "float32"), R.Tensor((2, 3), "float32")
    assert check(symbolic, symbolic) == result.PASS
    assert check(symbolic, known) == result.FAIL_L2
    assert check(known, R.Tensor(ndim=2, dtype="float32")) == result.FAIL_L2
    assert check(R.Tensor(ndim=2, dtype="float32"), R.Tensor(ndim=2)) == result.FAIL_L1
    assert check(known, R.Shape([2, 3])) == result.FAIL_L0
    dims = relax.analysis.collect_non_negative_expressions(R.Tuple(R.Tensor((n, 3, n + 1), "float32"), R.Shape([n])))
    assert [str(dim) for dim in dims] == ["n", "n + T.int64(1)"]
    call = relax.Call(relax.ExternFunc("f"), [relax.Var("x", known)])
    callee = relax.FuncStructInfo([R.Tensor((n, 3), "float32")], R.Tensor((n * 2,), "float32"))
    assert str(relax.analysis.derive_call_ret_struct_info(callee, call, relax.BlockBuilder())) == 'R.Tensor((4,), dtype="float32")'
    assert relax.analysis.erase_to_well_defined(R.Shape([n, n + 1]), {n: 2}) == R.Shape([2, 3])
def test_verify_races():
    @T.prim_func
    def exchange(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        tx = T.launch_thread("threadIdx.x", 64)
        S = T.allocate([64], "float32", "shared")
        S_1 = T.Buffer((64,), data=S, scope="shared")
        S_1[tx] = A[tx]
        B[tx] = S_1[63 - tx]

    @T.prim_func
    def scatter(A: T.Buffer((64,), "float32"), I: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32")):
        for i in T.parallel(64):
            B[I[i]] = A[i]

    race, = tir.analysis.verify_races(exchange)
    assert race.kind == "race"
    assert race.message.startswith("threads of a block race on 'S': the thread with threadIdx.x = ")
    assert isinstance(race.at, tir.BufferStore) and race.at.buffer.name == "S"
    assert isinstance(race.other, tir.BufferLoad) and race.other_message == "the other one reads it here"
    complete = tir.transform.ThreadSync("shared")(IRModule({"main": exchange}))["main"]
    assert tir.analysis.verify_races(complete) == []
    undecided, = tir.analysis.verify_races(scatter)
    assert undecided.kind == "not decided" and undecided.message.endswith("it depends on values in memory")
    assert undecided.other is None
    for other in (IRModule({"main": exchange}), exchange.body, 1):
        with pytest.raises(TypeError, match=f"expected a PrimFunc, not {type(other).__name__}"):
            tir.analysis.verify_races(other)
