"""dlight: rules of the library as classes, rules in Python, and the pass that applies them."""
import numpy as np
import pytest

import iropt
from iropt import dlight as dl, tir
from iropt.script import ir as I, tir as T
from iropt.target import Target


@I.ir_module
class Loops:
    @T.prim_func
    def add(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        for i, j in T.grid(64, 64):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)

    @T.prim_func
    def product(var_a: T.handle, W: T.Buffer((64, 64), "float16"), var_c: T.handle):
        n = T.int64()
        A = T.match_buffer(var_a, (n, 64), "float16")
        C = T.match_buffer(var_c, (n, 64), "float16")
        for i, j, k in T.grid(n, T.int64(64), T.int64(64)):
            with T.block("NT_matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float16(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * W[vj, vk]


@pytest.fixture
def cuda():
    with Target("nvidia/nvidia-a100") as target:
        yield target


def test_functions_are_scheduled_by_the_first_rule_that_applies(cuda):
    after = dl.ApplyDefaultSchedule(dl.gpu.Matmul(), dl.gpu.Fallback())(Loops.clone())
    assert all(func.attrs["tir.is_scheduled"] == 1 for func in after.values())
    assert "threadIdx.x" in after["add"].script() and "C_reindex_pad_local" in after["product"].script()
    x = np.arange(4096, dtype="float32").reshape(64, 64)
    np.testing.assert_array_equal(np.asarray(iropt.run(after, "add", x)), x + 1)


def test_rules_are_only_for_their_targets():
    assert dl.gpu.Fallback().apply(Loops["add"], Target("llvm"), False) is None
    assert not dl.gpu.Fallback().is_target_available(Target("llvm"))
    assert dl.gpu.Reduction().apply(Loops["add"], Target("cuda"), False) is None
    with pytest.raises(RuntimeError, match="no current target"):
        dl.ApplyDefaultSchedule(dl.gpu.Fallback())(Loops.clone())


@pytest.mark.parametrize("bucket", [2, 4])
def test_number_of_vectors_of_a_rule(cuda, bucket):
    sch = dl.gpu.LowBatchGEMV(bucket).apply(Loops["product"], cuda, False)
    assert f"factors=[None, {bucket}]" in "\n".join(sch.trace.as_python())
    a, w = (np.random.default_rng(0).integers(-2, 3, size=size).astype("float16") for size in ((bucket, 64), (64, 64)))
    c = np.zeros((bucket, 64), "float16")
    iropt.run(sch.mod, "main", a, w, c)
    np.testing.assert_array_equal(c, a @ w.T)


def test_rules_in_python(cuda):
    @dl.ScheduleRule.from_callable("Reversed")
    def rule(func, target, tunable):
        assert target.kind.name == "cuda" and tunable is False
        sch = tir.Schedule(func)
        infos = dl.normalize_prim_func(sch)
        if infos is None or not infos[0].is_injective():
            return None
        sch.reorder(*reversed([axis.loop_rv for axis in infos[0].iters]))
        return sch

    after = dl.ApplyDefaultSchedule(rule)(Loops.clone())
    assert after["add"].body.block.body.loop_var.name == "ax1"
    assert "tir.is_scheduled" not in (after["product"].attrs or {})


def test_blocks_of_a_function():
    sch = tir.Schedule(Loops["product"])
    (info,) = dl.normalize_prim_func(sch)
    assert (info.dom_kind(), info.dom()[1:], info.is_reduction()) == ("SSR", [64, 64], True)
    assert dl.base.suggest_threads_per_block(Target("cuda"), [sch.get(axis.loop_rv) for axis in info.iters[1:]]) == [64, 16]
    assert dl.base.get_bytes("float16") == 2 and dl.base.get_max_threads_per_block(Target("cuda")) == 1024
