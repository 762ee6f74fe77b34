"""Search for schedules by measuring, and its databases."""
import numpy as np
import pytest

import iropt
from iropt import meta_schedule as ms
from iropt import relax, tir
from iropt.executable import VirtualMachine
from iropt.script import ir as I
from iropt.script import relax as R
from iropt.script import tir as T


@I.ir_module
class Matmul:
    @T.prim_func
    def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
        for i, j, k in T.grid(64, 64, 64):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


def stochastic(sch):
    block = sch.get_block("C", "main")
    i, j, k = sch.get_loops(block)
    outer, inner = sch.split(j, sch.sample_perfect_tile(j, n=2))
    sch.reorder(i, outer, k, inner)
    sch.decompose_reduction(block, k)


def test_a_space_of_a_function_is_searched(tmp_path):
    database = ms.tune_tir(Matmul, "llvm -num-cores=1", str(tmp_path), 4, space=ms.space_generator.ScheduleFn(stochastic))
    assert 1 <= len(database) <= 4
    sch = ms.tir_integration.compile_tir(database, Matmul, "llvm -num-cores=1")
    assert "sch.sample_perfect_tile" in str(sch.trace)
    best = database.query(Matmul, "llvm", kind="record")
    assert best.run_secs[0] == min(record.run_secs[0] for record in database.get_all_tuning_records())
    a, b = (np.random.RandomState(0).rand(64, 64).astype("float32") for _ in range(2))
    np.testing.assert_allclose(iropt.run(sch.mod, "main", a, b).numpy(), a @ b, rtol=1e-4)


def test_databases_are_those_of_the_passes(tmp_path):
    ms.tune_tir(Matmul, "llvm", str(tmp_path), 2)
    again = ms.database.JSONDatabase(work_dir=str(tmp_path))
    assert again.has_workload(Matmul) and len(again) >= 1 and str(again.get_all_tuning_records()[0].target.kind) == "llvm"
    from iropt.relax.transform import MetaScheduleApplyDatabase

    applied = MetaScheduleApplyDatabase(work_dir=str(tmp_path))(Matmul)
    assert not iropt.ir.structural_equal(applied, Matmul)
    # Files may have other names.
    (tmp_path / "other").mkdir()
    paths = [str(tmp_path / "other" / name) for name in ("work.json", "records.json")]
    again.dump_pruned(ms.database.JSONDatabase(*paths))
    found = ms.database.JSONDatabase(*paths, allow_missing=False).query_tuning_record(Matmul)
    assert found.run_secs == again.query_tuning_record(Matmul).run_secs
    with pytest.raises(ValueError, match="has no database: expected a.json and b.json"):
        ms.database.JSONDatabase(str(tmp_path / "a.json"), str(tmp_path / "b.json"), allow_missing=False)
    with pytest.raises(ValueError, match="expected the folder of the database"):
        ms.database.JSONDatabase()


def test_wrong_candidates_are_not_recorded():
    def wrong(sch):
        sch.unroll(sch.get_loops(sch.get_block("C"))[2])
        return [sch, tir.Schedule(Other)]

    @I.ir_module
    class Other:
        @T.prim_func
        def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
            for i, j in T.grid(64, 64):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = A[vi, vj] + B[vi, vj]

    database = ms.tune_tir(Matmul, "llvm", None, 4, space=wrong)
    assert [record.trace.as_python()[-1] for record in database.get_all_tuning_records()] == ["sch.unroll(loop=l3)"]


def test_tasks_of_a_module_of_relax(tmp_path):
    @I.ir_module
    class Model:
        @R.function
        def main(x: R.Tensor((32, 32), "float32"), w: R.Tensor((32, 32), "float32")):
            with R.dataflow():
                y = R.matmul(x, w)
                z = R.matmul(y, w)
                r = R.nn.relu(z)
                R.output(r)
            return r

    mod = relax.get_pipeline("zero")(Model)
    tasks = ms.relax_integration.extract_tasks(mod, "llvm")
    assert sorted(task.weight for task in tasks)[-1] >= 1 and all(task.dispatched[0]["main"] for task in tasks)
    database = ms.relax_integration.tune_relax(mod, {}, "llvm", str(tmp_path), 3)
    vm = VirtualMachine(ms.relax_integration.compile_relax(database, mod, "llvm", {}))
    x, w = (np.random.RandomState(i).rand(32, 32).astype("float32") for i in range(2))
    np.testing.assert_allclose(vm["main"](x, w).numpy(), np.maximum(x @ w @ w, 0), rtol=1e-4)


def test_only_cpus_are_measured():
    with pytest.raises(NotImplementedError, match="target cuda cannot be measured here"):
        ms.tune_tir(Matmul, "cuda", None, 1)


def test_tuning_is_a_pass_and_a_pipeline(tmp_path):
    @I.ir_module
    class Model:
        @R.function
        def main(x: R.Tensor((64, 64), "float32"), w: R.Tensor((64, 64), "float32")):
            return R.matmul(x, w)

    mod = relax.get_pipeline("static_shape_tuning", target="llvm", total_trials=2, work_dir=str(tmp_path))(Model)
    assert len(ms.database.JSONDatabase(work_dir=str(tmp_path))) >= 1
    x, w = (np.random.RandomState(i).rand(64, 64).astype("float32") for i in range(2))
    np.testing.assert_allclose(VirtualMachine(relax.build(mod, "llvm"))["main"](x, w).numpy(), x @ w, rtol=1e-4)


def test_pass_tunes_functions_of_some_names(tmp_path):
    module = iropt.from_source("""
@I.ir_module
class Module:
    @T.prim_func
    def first(A: T.Buffer((64,)), B: T.Buffer((64,))):
        for i in range(64):
            with T.block("B"):
                v = T.axis.spatial(64, i)
                B[v] = A[v] + T.float32(1)
    @T.prim_func
    def second(A: T.Buffer((64,)), B: T.Buffer((64,))):
        for i in range(64):
            with T.block("B"):
                v = T.axis.spatial(64, i)
                B[v] = A[v] * T.float32(2)
    @R.function
    def main(x: R.Tensor((64,), "float32")):
        cls = Module
        y = R.call_tir(cls.first, (x,), out_sinfo=R.Tensor((64,), "float32"))
        z = R.call_tir(cls.second, (y,), out_sinfo=R.Tensor((64,), "float32"))
        return z
""")
    tune = iropt.relax.transform.MetaScheduleTuneIRMod({}, str(tmp_path), 2, op_names=["second"])
    with iropt.target.Target("llvm -num-cores=1"):
        assert iropt.ir.structural_equal(tune(module), module)
    found = iropt.meta_schedule.database.create(work_dir=str(tmp_path))
    assert {"second"} == {name for name in ("first", "second") if found.has_workload(module[name])}
    with iropt.target.Target("cuda"):
        iropt.relax.transform.MetaScheduleTuneTIR(str(tmp_path), 0)(module)
    with pytest.raises(ValueError, match="unknown kind"):
        iropt.meta_schedule.database.create("union")


def test_databases_of_a_program():
    @ms.utils.derived_object
    class Last(ms.database.PyDatabase):
        """Answers with the record that was added last."""

        def __init__(self):
            super().__init__()
            self.found = []

        def has_workload(self, mod):
            return bool(self.found)

        def commit_workload(self, mod):
            return ms.database.Workload(mod)

        def commit_tuning_record(self, record):
            self.found.append(record)

        def get_top_k(self, workload, top_k):
            return self.found[::-1][:top_k]

    def record(database, seconds, steps=lambda sch: None):
        sch = tir.Schedule(Matmul)
        steps(sch)
        infos = ms.arg_info.ArgInfo.from_prim_func(Matmul["main"])
        made = ms.database.TuningRecord(sch.trace, database.commit_workload(Matmul), [seconds], iropt.target.Target("llvm"), infos)
        database.commit_tuning_record(made)
        return made

    slow, fast = ms.database.MemoryDatabase(), Last()
    record(slow, 2.0)
    assert fast.query(Matmul, "llvm", kind="record") is None
    record(fast, 1.0)
    wanted = record(fast, 1.5, lambda sch: sch.decompose_reduction("C", sch.get_loops("C")[2]))
    assert fast.query(Matmul, "llvm", kind="record") is wanted and wanted.run_secs[0].value == 1.5
    iropt.ir.assert_structural_equal(fast.query(Matmul, "llvm", kind="ir_module"), wanted.schedule().mod)
    assert ms.database.UnionDatabase(slow, fast).query_tuning_record(Matmul).run_secs == [1.5]
    assert ms.database.OrderedUnionDatabase(slow, fast).query_tuning_record(Matmul).run_secs == [2.0]
    assert ms.database.OrderedUnionDatabase(ms.database.MemoryDatabase(), fast).query_tuning_record(Matmul) is wanted
    assert ms.database.UnionDatabase().query_schedule(Matmul) is None
    with pytest.raises(NotImplementedError, match="UnionDatabase answers queries only"):
        ms.database.UnionDatabase(slow).commit_workload(Matmul)
    again = ms.database.TuningRecord.from_json(wanted.as_json(), wanted.workload)
    assert str(again.trace) == str(wanted.trace) and again.run_secs == [1.5] and str(again.target) == str(wanted.target)
    assert [str(info) for info in again.args_info] == ['TensorInfo("float32", [64, 64])'] * 3

    def schedule(sch):
        sch.decompose_reduction("C", sch.get_loops("C")[2])
        return True

    by_function = ms.database.ScheduleFnDatabase(schedule)
    iropt.ir.assert_structural_equal(by_function.query_ir_module(Matmul), wanted.schedule().mod)
    assert ms.database.ScheduleFnDatabase(lambda sch: False).query_schedule(Matmul) is None


def test_schedules_of_a_database_have_the_name_of_the_function_that_is_asked_for(tmp_path):
    named = iropt.ir.IRModule({"multiply": Matmul["main"].with_attr("global_symbol", "multiply")})
    database = ms.tune_tir(named, "llvm -num-cores=1", str(tmp_path), 2)
    sch = database.query(named, "llvm")
    assert sch.mod["main"].attrs["global_symbol"] == "multiply"
    assert iropt.executable.build(sch.mod, target="llvm").implements_function("multiply")
    assert database.query(Matmul, "llvm").mod["main"].attrs["global_symbol"] == "main"


def test_builders_and_runners_measure():
    from iropt.meta_schedule.builder import BuilderInput
    from iropt.meta_schedule.runner import EvaluatorConfig, LocalRunner, RunnerInput

    infos = ms.arg_info.ArgInfo.from_prim_func(Matmul["main"])
    built = ms.Builder.create("local", max_workers=1).build([BuilderInput(Matmul, "llvm")])[0]
    assert built.error_msg is None
    runner = LocalRunner(evaluator_config=EvaluatorConfig(number=1, repeat=3, min_repeat_ms=0))
    future, failed = runner.run([RunnerInput(path, "llvm", infos) for path in (built.artifact_path, "missing.tar")])
    assert future.done() and len(future.result().run_secs) == 3 and min(future.result().run_secs) > 0
    assert failed.result().run_secs is None and "missing.tar" in failed.result().error_msg
    ms.measure_callback.RemoveBuildArtifact().apply(None, 0, [], [built], [])
    assert ms.Runner.create("local", max_workers=2).run([RunnerInput(built.artifact_path, "llvm", infos)])[0].result().error_msg
    with pytest.raises(NotImplementedError, match="runs on other machines"):
        ms.Runner.create("rpc")


def test_tools_of_a_program_are_used(tmp_path):
    class Built(ms.builder.PyBuilder):
        def build(self, build_inputs):
            return [ms.builder.BuilderResult("somewhere", None) for _ in build_inputs]

    @ms.derived_object
    class Run(ms.runner.PyRunner):
        def __init__(self):
            self.number = 0

        def run(self, runner_inputs):
            assert [item.artifact_path for item in runner_inputs] == ["somewhere"]
            self.number += 1
            return [ms.runner.LocalRunnerFuture([1.0 / self.number])]

    class Seen(ms.measure_callback.PyMeasureCallback):
        seconds = []

        def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
            assert task_scheduler.tasks_[task_id].task_name == "main" and measure_candidates[0].sch.mod["main"]
            self.seconds += [result.run_secs[0] for result in runner_results]

    callbacks = ms.MeasureCallback.create("default") + [Seen()]
    database = ms.tune_tir(Matmul, "llvm", str(tmp_path), 3, builder=Built(), runner=Run(), measure_callbacks=callbacks)
    assert Seen.seconds == [1.0, 0.5, 1.0 / 3]
    assert database.query_tuning_record(Matmul).run_secs == [1.0 / 3]
    failing = ms.builder.LocalBuilder(f_build=lambda mod, target, params: 1 / 0)
    assert ms.tune_tir(Matmul, "llvm", None, 2, database="memory", builder=failing).query_tuning_record(Matmul) is None


def test_contexts_of_tasks():
    other = iropt.ir.IRModule({"matmul": Matmul["main"].with_attr("global_symbol", "matmul")})
    assert list(ms.TuneContext(other, target="llvm").mod.keys())[0].name == "main"
    with pytest.raises(TypeError, match="PrimFunc or IRModule"):
        ms.TuneContext(3)
    context = ms.TuneContext(other, target="llvm", space_generator="post-order-apply", search_strategy="evolutionary")
    assert context.num_threads > 0 and context.generate_design_space()
    context.pre_tuning(max_trials=3, num_trials_per_iter=2)
    assert [len(context.generate_measure_candidates()) for _ in range(2)] == [2, 1]
    assert context.generate_measure_candidates() is None
    tasks = ms.relax_integration.extract_tasks(Matmul, "llvm")
    contexts, weights = ms.relax_integration.extracted_tasks_to_tune_contexts(tasks, space=stochastic)
    database = ms.tune_tasks(tasks=contexts, task_weights=weights, work_dir=None, max_trials_global=2, database="memory")
    assert len(database.get_all_tuning_records()) == 2
    with pytest.raises(ValueError, match="construct TuneContext with space_generator"):
        ms.TuneContext(Matmul, target="llvm").generate_design_space()


def test_tools_of_words_and_none():
    class Runs(ms.runner.PyRunner):
        def run(self, runner_inputs):
            return [ms.runner.LocalRunnerFuture([0.5]) for _ in runner_inputs]

    database = ms.tune_tir(Matmul, "llvm -num-cores=1", None, 2, builder=None, runner=Runs())
    assert {record.run_secs[0] for record in database.get_all_tuning_records()} == {0.5}
    with pytest.raises(NotImplementedError, match="runs on other machines"):
        ms.tune_tir(Matmul, "llvm -num-cores=1", None, 2, runner="rpc")
    with pytest.raises(ValueError, match="Unknown Builder: far"):
        ms.tune_tir(Matmul, "llvm -num-cores=1", None, 2, builder="far")


def test_an_error_of_a_cleanup_is_one_of_the_run(tmp_path):
    def fails():
        raise RuntimeError("not cleaned up")

    target = iropt.target.Target("llvm")
    built = ms.builder.create().build([ms.builder.BuilderInput(Matmul, target)])[0]
    infos = ms.arg_info.ArgInfo.from_entry_func(Matmul)
    ran = ms.runner.LocalRunner(f_cleanup=fails).run([ms.runner.RunnerInput(built.artifact_path, "llvm", infos)])[0].result()
    assert ran.run_secs is None and "not cleaned up" in ran.error_msg
    ms.measure_callback.RemoveBuildArtifact().apply(None, 0, [], [built], [ran])
    import os
    assert not os.path.exists(os.path.dirname(built.artifact_path))
