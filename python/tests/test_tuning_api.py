"""Choices, knobs, traces and databases of relax.transform.tuning_api, and converted arguments."""
from typing import List, Optional

import iropt
import pytest
from iropt import relax
from iropt.relax import Expr
from iropt.relax.analysis import contains_impure_call, remove_all_unused, well_formed
from iropt.relax.tuning_api import (Choice, JSONDatabase, Knob, Trace, TuningRecord, default_generate_candidate, get_trace,
                                    select_best_candidate)
from iropt.relax.utils import args_converter
from iropt.script import ir as I
from iropt.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.sin(x)


@iropt.packed.register_func("tests.mark", override=True)
def mark(mod, value):
    mod["main"] = mod["main"].with_attr("mark", value)
    return mod


iropt.packed.register_func("tests.is_marked", lambda mod: "mark" in mod["main"].attrs, override=True)


def test_choices_apply_where_they_may():
    assert Choice("tests.mark", [1]).apply_transform_func(Module)["main"].attrs["mark"] == 1
    assert "mark" not in Module["main"].attrs
    assert Choice("tests.mark", [1], "tests.is_marked").apply_transform_func(Module) is Module
    knob = Knob.from_json(Knob("k", [Choice(), Choice("tests.mark", [2])]).as_json())
    assert knob.verify(1) and not knob.verify(2)
    assert knob.apply(Module, 1)["main"].attrs["mark"] == 2
    with pytest.raises(ValueError, match="not a choice of k"):
        knob.apply(Module, "2")


def test_traces_keep_decisions():
    knob = Knob("k", {"no": Choice(), "yes": Choice("tests.mark", [2]), "again": Choice("tests.mark", [3], "tests.is_marked")})
    trace = Trace(Module, [knob], ["no"])
    trace.set_perf(5)
    assert (trace.size, trace.perf) == (1, 5)
    trace.add(knob, "yes")
    assert (trace.size, trace.perf) == (2, -1)
    read = Trace.from_json(trace.as_json())
    iropt.ir.assert_structural_equal(read.out_mod, trace.out_mod)
    assert str(read) == str(trace)
    # The third choice is one after the second only.
    candidates = default_generate_candidate([knob, knob], get_trace(Module["main"]))
    assert [candidate.decisions for candidate in candidates] == [
        ["no", "no"], ["no", "yes"], ["yes", "no"], ["yes", "yes"], ["yes", "again"]]
    for i, candidate in enumerate(candidates):
        candidate.set_perf(abs(i - 3))
    assert select_best_candidate(candidates) is candidates[3]


def test_databases_are_read_again(tmp_path):
    paths = [str(tmp_path / name) for name in ("workloads", "records", "measurements")]
    database = JSONDatabase(*paths)
    workload = database.commit_workload(Module)
    assert database.get_measurement_record(workload, "llvm") == []
    database.commit_measurement_record(workload, "llvm", [1.0, 2.0])
    for seconds in (3.0, 1.0, 2.0):
        database.commit_tuning_record(workload, "llvm", TuningRecord(Trace(Module), [seconds]))
    again = JSONDatabase(*paths, allow_missing=False)
    workload = again.commit_workload(Module)
    assert again.has_workload(Module) and again.get_measurement_record(workload, "llvm") == [1.0, 2.0]
    assert [record.run_secs for record in again.get_top_k(workload, "llvm", 2)] == [[1.0], [2.0]]
    assert not again.has_tuning_record(workload, "cuda")


def test_arguments_become_expressions():
    @args_converter.auto
    def both(x: Expr, *xs: List[Expr], y: Optional[Expr] = None, n: int = 0):
        return x, xs, y, n

    x, xs, y, n = both(1, [2, (3,)], n=4)
    assert isinstance(x, relax.PrimValue) and isinstance(xs[0][1], relax.Tuple) and y is None and n == 4
    with pytest.raises(TypeError, match="expected a list of expressions"):
        both(1, 2)


def test_effects_of_inner_functions_count_where_they_are_called():
    @R.function(pure=False)
    def outer(x: R.Tensor((), "int32")):
        @R.function(pure=False)
        def inner(y: R.Tensor((), "int32")) -> R.Object:
            z = R.call_packed("effect", y, sinfo_args=R.Object)
            return z

        return x

    assert not contains_impure_call(outer)
    inner = outer.body.blocks[0].bindings[0].value
    assert contains_impure_call(inner)
    assert well_formed(inner.with_attr("global_symbol", "inner"))


def test_bindings_of_private_functions_are_removed():
    @R.function(private=True)
    def func(x: R.Tensor((2,), "float32")):
        y = R.sin(x)
        z = R.cos(x)
        return z

    assert [item.var.name_hint for item in remove_all_unused(func).body.blocks[0].bindings] == ["z"]
    assert "global_symbol" not in (remove_all_unused(func).attrs or {})
    assert len(remove_all_unused(func.body).blocks[0].bindings) == 1


def test_symbolic_variables_that_are_not_there_are_refused():
    with pytest.raises(iropt.Error, match="no symbolic variable 'n'"):
        Module["main"].bind_symbolic_vars({"n": 2})
    x = relax.Var("x", relax.TensorStructInfo((1, 1, 4, 4), "float32"))
    with pytest.raises(iropt.Error, match="groups must be positive"):
        relax.op.nn.conv2d(x, x, groups=0)


def test_functions_get_one_of_a_few_schedules():
    from iropt import target, tir
    from iropt.meta_schedule.arg_info import ArgInfo
    from iropt.script import tir as T

    @I.ir_module
    class Loops:
        @T.prim_func
        def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
            for i, j in T.grid(64, 64):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)

        @T.prim_func
        def done(A: T.Buffer((64,), "float32")):
            T.func_attr({"tir.is_scheduled": True})
            for i in range(64):
                with T.block("A"):
                    vi = T.axis.spatial(64, i)
                    A[vi] = T.float32(0)

    with target.Target("llvm"):
        tuned = relax.transform.FewShotTuning(valid_count=2)(Loops)
    assert tuned["main"].attrs["tir.is_scheduled"] and isinstance(tuned["main"], tir.PrimFunc)
    iropt.ir.assert_structural_equal(tuned["done"], Loops["done"])
    assert iropt.running.check_semantics(Loops, tuned) == ""
    assert [info.as_json() for info in ArgInfo.from_prim_func(Loops["main"])] == [["TENSOR", "float32", [64, 64]]] * 2


def test_only_functions_are_called():
    tensor = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
    with pytest.raises(ValueError, match="only a function can be called"):
        relax.Call(tensor, [tensor])
    name = iropt.ir.GlobalVar("f")
    relax.expr._update_struct_info(name, relax.FuncStructInfo([], relax.ObjectStructInfo()))
    assert name.struct_info == relax.FuncStructInfo([], relax.ObjectStructInfo())
    with pytest.raises(iropt.Error):
        relax.TupleStructInfo(1)
    assert isinstance(tensor.checked_type, relax.DynTensorType)
    n = iropt.tir.Var("n", "int64")
    iropt.ir.assert_structural_equal(n % 16 == 0, iropt.tir.EQ(n % 16, 0))


def test_inputs_have_the_dtype_and_the_bounds():
    from iropt.meta_schedule.tune_utils import generate_input_data

    assert generate_input_data((2, 3), "float16").dtype == "float16"
    values = generate_input_data([50], "int8", low=3, high=5)
    assert values.dtype == "int8" and set(values) == {3, 4}
