"""Where versions of TVM differ, a program is transformed as its own version does it, whoever asks: a pass or a schedule."""
import pytest

import iropt
from iropt import arith, ir, tir
from iropt._core import native

VERSIONS = ("0.18", "0.24", "0.27")

SOURCE = """
from tvm.script import ir as I
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def chain(a: T.handle, c: T.handle):
        n = T.int64()
        m = T.int64()
        A = T.match_buffer(a, (n, m, 4))
        C = T.match_buffer(c, (n, m, 4))
        B = T.alloc_buffer((n, m, 4))
        for i, j, k in T.grid(n, m, 4):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vi, vj, vk] * T.float32(2)
        for i, j, k in T.grid(n, m, 4):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                C[vi, vj, vk] = B[vi, vj, vk] + T.float32(1)

    @T.prim_func
    def matmul(A: T.Buffer((60, 64)), B: T.Buffer((64, 70)), D: T.Buffer((60, 70)), E: T.Buffer((60, 70))):
        C = T.alloc_buffer((60, 70))
        for i, j, k in T.grid(60, 70, 64):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(60, 70):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = C[vi, vj] + D[vi, vj]

    @T.prim_func
    def pad(A: T.Buffer((30,)), B: T.Buffer((32,)), C: T.Buffer((29,))):
        for i in range(32):
            with T.block("B"):
                vi = T.axis.spatial(32, i)
                B[vi] = T.if_then_else(1 <= vi and vi < 31, A[vi - 1], T.float32(0))
        for i in range(29):
            with T.block("C"):
                vi = T.axis.spatial(29, i)
                C[vi] = B[vi] + B[vi + 1] + B[vi + 2]

    @T.prim_func
    def pool(A: T.Buffer((10, 16)), C: T.Buffer((8, 16))):
        B = T.alloc_buffer((10, 16))
        for i, j in T.grid(10, 16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j, k in T.grid(8, 16, 3):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + B[vi + vk, vj]

    @T.prim_func
    def dot(A: T.Buffer((8, 4), "uint8"), B: T.Buffer((16, 4), "int8"), C: T.Buffer((8, 16), "int32")):
        for j, i, k in T.grid(8, 16, 4):
            with T.block("C"):
                vj, vi, vk = T.axis.remap("SSR", [j, i, k])
                with T.init():
                    C[vj, vi] = 0
                C[vj, vi] = C[vj, vi] + T.Cast("int32", A[vj, vk]) * T.Cast("int32", B[vi, vk])

    @T.prim_func
    def inplace(A: T.Buffer((64,))):
        for i in range(4):
            with T.block("A"):
                T.reads(A[0])
                T.writes(A[0])
                A[0] = A[0] + T.float32(1)

    @T.prim_func
    def twins(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        C = T.match_buffer(c, (n,))
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(n):
            with T.block("C"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] + T.float32(1)

    @T.prim_func
    def branches(A: T.Buffer((64,)), B: T.Buffer((64,))):
        for i in range(64):
            with T.block("B"):
                vi = T.axis.spatial(64, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi]
        for i in range(64):
            with T.block("again"):
                vi = T.axis.spatial(64, i)
                B[vi] = B[vi] * T.float32(2)
"""


def _tile(s, sample):
    loop = s.get_loops(s.get_block("C", "matmul"))[0]
    s.split(loop, sample(loop))


def _index_map(i, j):
    return j, i // 4, i % 4


# A use of each primitive, by its name.
USES = {
    "add_unit_loop": lambda s: s.add_unit_loop(s.get_block("C", "chain")),
    "annotate": lambda s: s.annotate(s.get_block("C", "chain"), "pragma_key", 1),
    "annotate_buffer_access": lambda s: s.annotate_buffer_access(
        s.get_block("B", "pool"), 0, "write", lambda i, j: ((i, i + 1), (j, j + 1))),
    "bind": lambda s: s.bind(s.fuse(*s.get_loops(s.get_block("C", "chain"))), "threadIdx.x"),
    "blockize": lambda s: s.blockize(s.get_loops(s.get_block("C", "chain"))[1]),
    "cache_index": lambda s: s.cache_index(s.get_block("C", "pool"), "global", 0),
    "cache_inplace": lambda s: s.cache_inplace(s.get_block("A", "inplace"), 0, "local"),
    "cache_read": lambda s: s.compute_at(s.cache_read(s.get_block("C", "chain"), 0, "local"),
                                         s.get_loops(s.get_block("C", "chain"))[1]),
    "cache_write": lambda s: s.reverse_compute_at(s.cache_write(s.get_block("C", "chain"), 0, "local"),
                                                  s.get_loops(s.get_block("C", "chain"))[1]),
    "compute_at": lambda s: s.compute_at(s.get_block("B", "chain"), s.get_loops(s.get_block("C", "chain"))[0]),
    "compute_inline": lambda s: s.compute_inline(s.get_block("B", "chain")),
    "decompose_padding": lambda s: s.decompose_padding(s.get_block("B", "pad"), s.get_loops(s.get_block("B", "pad"))[0]),
    "decompose_reduction": lambda s: s.decompose_reduction(s.get_block("C", "matmul"),
                                                           s.get_loops(s.get_block("C", "matmul"))[1]),
    "enter_postproc": lambda s: s.enter_postproc(),
    "fuse": lambda s: s.fuse(*s.get_loops(s.get_block("C", "chain"))),
    "fuse_reduction_epilogue": lambda s: s.fuse_reduction_epilogue(s.get_block("C", "matmul"), s.get_block("E", "matmul")),
    "get_block": lambda s: s.get_block("C", "chain"),
    "get_child_blocks": lambda s: s.get_child_blocks(s.blockize(s.get_loops(s.get_block("C", "chain"))[1])),
    "get_consumers": lambda s: s.get_consumers(s.get_block("B", "chain")),
    "get_loops": lambda s: s.get_loops(s.get_block("C", "chain")),
    "get_output_blocks": lambda s: s.get_output_blocks(s.get_block("root", "chain")),
    "get_producers": lambda s: s.get_producers(s.get_block("C", "chain")),
    "loop_partition": lambda s: s.loop_partition(s.get_loops(s.get_block("E", "matmul"))[0], [20, 20]),
    "merge": lambda s: s.merge(s.get_loops(s.get_block("B", "twins"))[0], s.get_loops(s.get_block("C", "twins"))[0]),
    "pad_einsum": lambda s: s.pad_einsum(s.get_block("C", "matmul"), [16, 16, 16]),
    "parallel": lambda s: s.parallel(s.fuse(*s.get_loops(s.get_block("C", "chain"))[:2])),
    "read_at": lambda s: s.read_at(s.get_loops(s.get_block("C", "matmul"))[1], s.get_block("C", "matmul"), 0, "shared"),
    "reindex": lambda s: s.reindex(s.get_block("C", "matmul"), ("read", 0)),
    "reindex_cache_read": lambda s: s.reindex_cache_read(s.get_block("E", "matmul"), 0, "local", _index_map),
    "reindex_cache_write": lambda s: s.reindex_cache_write(s.get_block("E", "matmul"), 0, "local", _index_map),
    "reorder": lambda s: s.reorder(*reversed(s.get_loops(s.get_block("C", "chain")))),
    "reorder_block_iter_var": lambda s: s.reorder_block_iter_var(s.get_block("C", "matmul"), [2, 0, 1]),
    "reverse_compute_at": lambda s: s.reverse_compute_at(s.get_block("C", "chain"),
                                                         s.get_loops(s.get_block("B", "chain"))[1]),
    "reverse_compute_inline": lambda s: s.reverse_compute_inline(s.get_block("C", "chain")),
    "rfactor": lambda s: s.rfactor(s.split(s.get_loops(s.get_block("C", "matmul"))[2], [None, 8])[1], 0),
    "rolling_buffer": lambda s: (s.compute_at(s.get_block("B", "pool"), s.get_loops(s.get_block("C", "pool"))[0]),
                                 s.rolling_buffer(s.get_block("B", "pool"), 0)),
    "sample_categorical": lambda s: s.sample_categorical([8, 16], [0.5, 0.5]),
    "sample_compute_location": lambda s: s.compute_at(s.get_block("B", "pool"),
                                                      s.sample_compute_location(s.get_block("B", "pool"))),
    "sample_partitioned_tile": lambda s: _tile(s, lambda loop: s.sample_partitioned_tile(loop, 2, 1, 4)),
    "sample_perfect_tile": lambda s: _tile(s, lambda loop: s.sample_perfect_tile(loop, 3)),
    "set_axis_separator": lambda s: s.set_axis_separator(s.get_block("C", "matmul"), ("write", 0), [1]),
    "set_scope": lambda s: s.set_scope(s.get_block("B", "chain"), 0, "shared"),
    "split": lambda s: s.split(s.fuse(*s.get_loops(s.get_block("C", "chain"))), [None, 32]),
    "storage_align": lambda s: s.storage_align(s.get_block("B", "pool"), 0, 0, 32, 8),
    "tensorize": lambda s: (s.decompose_reduction(s.get_block("C", "dot"), s.get_loops(s.get_block("C", "dot"))[0]),
                            s.tensorize(s.get_loops(s.get_block("C_update", "dot"))[1], "dot_16x4_vnni")),
    "transform_block_layout": lambda s: s.transform_block_layout(s.get_block("E", "matmul"), lambda i, j: (i * 70 + j,)),
    "transform_layout": lambda s: s.transform_layout(s.get_block("C", "matmul"), ("write", 0), _index_map),
    "unannotate": lambda s: (s.annotate(s.get_block("C", "chain"), "pragma_key", 1),
                             s.unannotate(s.get_block("C", "chain"), "pragma_key")),
    "unroll": lambda s: s.unroll(s.get_loops(s.get_block("C", "chain"))[2]),
    "unsafe_hide_buffer_access": lambda s: s.unsafe_hide_buffer_access(s.get_block("again", "branches"), "read", [0]),
    "unsafe_set_dtype": lambda s: s.unsafe_set_dtype(s.get_block("B", "pool"), 0, "float16"),
    "vectorize": lambda s: s.vectorize(s.get_loops(s.get_block("C", "chain"))[2]),
    "write_at": lambda s: s.write_at(s.get_loops(s.get_block("C", "matmul"))[1], s.get_block("C", "matmul"), 0, "shared"),
}


@pytest.fixture(scope="module", params=VERSIONS)
def module(request):
    return iropt.from_source(iropt.from_source(SOURCE).script(version=request.param))


def test_all_primitives_are_used():
    assert sorted(USES) == sorted(row["python"] for row in native.primitive_table())


@pytest.mark.parametrize("primitive", sorted(USES))
def test_schedules_do_what_passes_do(module, primitive):
    sch = tir.Schedule(module, seed=1)
    USES[primitive](sch)
    trace = "\n".join(sch.trace.as_python())
    assert f"sch.{primitive}(" in trace
    assert tir.transform.ApplyTrace(trace=trace)(module).script() == sch.mod.script()


def test_versions_differ():
    """Otherwise the comparison would find nothing."""
    def fused(version):
        sch = tir.Schedule(iropt.from_source(iropt.from_source(SOURCE).script(version=version)))
        USES["fuse"](sch)
        return sch.mod.script(version="0.18")

    assert "// (T.int64(4) * m)" in fused("0.18")
    assert "// (m * T.int64(4))" in fused("0.27")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_analyzer_does_what_the_pass_does(version):
    x, y, z = (tir.Var(name, "int32") for name in "xyz")
    simple = arith.Analyzer(version).simplify(x * y + x * z)
    source = """
@T.prim_func
def f(A: T.Buffer((1,), "int32"), x: T.int32, y: T.int32, z: T.int32):
    A[0] = x * y + x * z
"""
    program = iropt.from_source(iropt.from_source(source).script(version=version))
    store = tir.transform.Simplify()(program).script().splitlines()[-1].strip()
    assert store == f"A[0] = {simple}"
    with pytest.raises(ValueError, match="unknown version '1.0' of TVM: expected one of 0.18, "):
        arith.Analyzer("1.0")
