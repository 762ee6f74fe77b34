"""Functions and statements of the loop level that are built call by call."""
import pytest

from iropt import ir, tir
from iropt.script import ir as I  # noqa: F401
from iropt.script import ir_module_builder
from iropt.script import tir as T
from iropt.script import tir_builder as B
from iropt.script.ir_builder import IRBuilder


def test_functions_are_those_of_scripts():
    @T.prim_func
    def main(A: T.Buffer((16, 16), "float32"), b: T.handle, n: T.int32):
        T.func_attr({"tir.noalias": True})
        C = T.match_buffer(b, (16, n), "float32")
        D = T.alloc_buffer((16, 16), "float32")
        for i, j in T.grid(16, 16):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = A[vj, vi]
        for i in T.parallel(16):
            with T.block("sum"):
                vi = T.axis.spatial(16, i)
                vk = T.axis.reduce(16, T.int32(0))
                T.where(i < 3)
                T.block_attr({"key": "value"})
                with T.init():
                    C[vi, 0] = T.float32(0)
                C[vi, 0] = C[vi, 0] + D[vi, vk]

    with IRBuilder() as ib:
        with B.prim_func():
            B.func_name("main")
            B.func_attr({"tir.noalias": True})
            a = B.arg("A", B.Buffer((16, 16), "float32"))
            b = B.arg("b", B.handle())
            n = B.arg("n", B.int32())
            c = ib.name("C", B.match_buffer(b, (16, n), "float32"))
            d = ib.name("D", B.alloc_buffer((16, 16), "float32"))
            with B.grid(16, 16) as (i, j):
                ib.name_many(["i", "j"], [i, j])
                with B.block("copy"):
                    vi, vj = ib.name_many(["vi", "vj"], B.axis.remap("SS", [i, j]))
                    B.buffer_store(d, a[vj, vi], [vi, vj])
            with B.parallel(16) as i:
                ib.name("i", i)
                with B.block("sum"):
                    vi = ib.name("vi", B.axis.spatial(16, i))
                    vk = ib.name("vk", B.axis.reduce(16, 0))
                    B.where(i < 3)
                    B.block_attr({"key": "value"})
                    with B.init():
                        B.buffer_store(c, 0, [vi, 0])
                    B.buffer_store(c, c[vi, 0] + d[vi, vk], [vi, 0])
    ir.assert_structural_equal(ib.get(), main)
    assert ib.get().script() == main.script()


def test_scopes():
    def built(scope):
        with IRBuilder() as ib:
            with scope() as value:
                B.evaluate(value if isinstance(value, tir.Var) else 0)
        return ib.get()

    assert isinstance(built(lambda: B.While(B.int32() > 0)), tir.While)
    assert built(lambda: B.LetStmt(tir.const(2))).value.value == 2
    assert built(lambda: B.allocate([10], "float32", "local")).buffer_var.pointer[:2] == ("float32", "local")
    assert isinstance(built(lambda: B.decl_buffer([4])), tir.Allocate)
    assert built(lambda: B.launch_thread("threadIdx.x", 32)).attr_key == "thread_extent"
    assert built(lambda: B.launch_thread("vthread", 2)).attr_key == "virtual_thread"
    assert built(lambda: B.thread_binding(4, thread="blockIdx.x")).thread_binding.thread_tag == "blockIdx.x"
    assert built(lambda: B.serial(2, 10)).extent.value == 8
    assert built(lambda: B.allocate_const([1, 2], "int32", [2])).data.numpy().tolist() == [1, 2]
    assert built(lambda: B.realize(B.Buffer((4,))[0:4], "shared")).body.condition.value
    with IRBuilder() as ib:
        with B.If(B.int32() > 0):
            with B.Then():
                B.evaluate(1)
            with B.Else():
                B.evaluate(2)
    assert (ib.get().then_case.value.value, ib.get().else_case.value.value) == (1, 2)


def test_what_is_missing_is_named():
    with IRBuilder(), pytest.raises(ValueError, match="in the scope of a BlockFrame"):
        B.reads()
    with IRBuilder(), pytest.raises(ValueError, match="has a branch"):
        with B.If(B.int32() > 0):
            pass
    with IRBuilder(), pytest.raises(ValueError, match="needs T.reads"):
        with B.prim_func():
            a = B.arg("A", B.Buffer((16,)))
            with B.block("opaque"):
                B.evaluate(tir.call_extern("int32", "f", a.data))


def test_modules():
    with IRBuilder() as ib:
        with ir_module_builder.ir_module():
            ir_module_builder.module_attrs({"version": 1})
            with B.prim_func():
                B.func_name("main")
                B.evaluate(0)
    assert [name.name_hint for name, _ in ib.get().items()] == ["main"] and ib.get().attrs["version"] == 1
