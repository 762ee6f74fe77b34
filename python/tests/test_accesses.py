"""What blocks and functions access."""
import pytest

import iropt
from iropt import tir
from iropt.script import tir as T


@T.prim_func
def gemm(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for i, j, k in T.grid(4, 16, 16):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            for ii in range(4):
                C[vi * 4 + ii, vj] = C[vi * 4 + ii, vj] + A[vi * 4 + ii, vk] * B[vk, vj]


def test_regions_of_blocks():
    loops = gemm.body.block.body if isinstance(gemm.body, tir.BlockRealize) else gemm.body
    block = loops.body.body.body.block
    buffers = {buffer.data: buffer for buffer in gemm.buffer_map.values()}
    reads, writes, opaques = tir.analysis.get_block_access_region(block, buffers)
    assert [str(region) for region in (*reads, *writes)] == [str(region) for region in (*block.reads, *block.writes)]
    assert len(reads) == 3 and len(writes) == 1 and not len(opaques)
    first = next(iter(buffers))
    assert [len(part) for part in tir.analysis.get_block_read_write_region(block, {first: buffers[first]})] == [1, 0]
    scopes = tir.analysis.detect_buffer_access_lca(gemm)
    assert {buffer.name for buffer in scopes} == {"A", "B", "C"}
    assert all(scope is None or isinstance(scope, (tir.For, tir.Block)) for scope in scopes.values())


def check(func):
    return tir.analysis.OOBChecker()(iropt.IRModule({"main": func}))


def test_accesses_out_of_bounds():
    @T.prim_func
    def loads(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i + 1]

    @T.prim_func
    def stores(B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i - 1] = T.float32(0)

    @T.prim_func
    def guarded(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):
        for i in range(8):
            if i < 4:
                B[i] = T.if_then_else(i < 3, A[i + 1], A[n])

    with pytest.raises(tir.ScheduleError, match="reads buffer A at index i . 1 of an axis with extent 4"):
        check(loads)
    with pytest.raises(tir.ScheduleError, match="writes buffer B"):
        check(stores)
    assert [name.name_hint for name, _ in check(guarded).items()] == ["main"]


def test_maps_with_padding():
    inverse, predicate = tir.IndexMap.from_func(lambda i: [i // 4, i % 4], index_dtype="int32").non_surjective_inverse([14])
    assert str(inverse.map_indices([3, 1])[0]) == "13"
    values = [tir.stmt_functor.substitute(predicate, dict(zip(inverse.initial_indices, (tir.const(3), tir.const(j))))) for j in range(4)]
    simplify = iropt.arith.Analyzer().simplify
    assert [bool(simplify(value)) for value in values] == [False, False, True, True]
    _, predicate = tir.IndexMap.from_func(lambda i: [i // 4, i % 4]).non_surjective_inverse([16])
    assert not predicate
