"""Schedules."""
import inspect

import pytest

import iropt
from iropt import ir, tir
from iropt.script import ir as I
from iropt.script import tir as T
from iropt.tir.schedule.testing import verify_trace_roundtrip


@T.prim_func
def chain(A: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    B = T.alloc_buffer((64, 64))
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(64, 64):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)


def test_primitives_and_trace():
    sch = tir.Schedule(chain)
    i, j = sch.get_loops(sch.get_block("C"))
    outer, inner = sch.split(j, factors=[None, 16])
    sch.vectorize(inner)
    sch.compute_at("B", outer)
    assert sch.get(inner).kind == tir.ForKind.VECTORIZED
    assert sch.get(inner).extent == 16 and sch.get(i).extent == 64
    assert sch.trace.as_python()[2] == ("l3, l4 = sch.split(loop=l2, factors=[None, 16], preserve_unit_iters=True, "
                                        "disable_predication=False)")
    verify_trace_roundtrip(sch, chain)
    iropt.check_semantics(ir.IRModule({"main": chain}), sch.mod)


def test_methods_have_signatures_of_the_table():
    parameters = inspect.signature(tir.Schedule.compute_at).parameters
    assert list(parameters) == ["self", "block", "loop", "preserve_unit_loops", "index"]
    assert parameters["index"].default == -1
    assert inspect.signature(tir.Schedule.fuse).parameters["loops"].kind is inspect.Parameter.VAR_POSITIONAL
    assert tir.Schedule.split.__doc__ == "Split a loop into nested loops."


def test_refused_primitive_leaves_the_schedule():
    sch = tir.Schedule(chain)
    before = sch.mod
    with pytest.raises(tir.ScheduleError, match="wrong"):
        sch.get_block("wrong")
    i, j = sch.get_loops("B")
    with pytest.raises(tir.ScheduleError) as raised:
        sch.fuse(j, i)
    assert raised.value.diagnostics[0]["kind"] == "schedule"
    assert " before it:\n" in str(raised.value) and "^  ^" in str(raised.value)
    assert ir.structural_equal(before, sch.mod)
    sch.fuse(i, j)
    with pytest.raises(IndexError):
        sch.get(i)


def test_buffers_by_name_and_index_maps():
    sch = tir.Schedule(chain)
    sch.transform_layout("B", buffer="B", index_map=lambda i, j: (j, i // 4, i % 4))
    assert [int(extent) for extent in sch.get(sch.get_block("B")).writes[0].buffer.shape] == [64, 16, 4]
    assert "lambda i, j: (j, i // 4, i % 4)" in str(sch.trace)
    copy = sch.cache_read("C", "B", "local")
    assert sch.get(copy).name_hint == "B_local"
    verify_trace_roundtrip(sch, chain)


def test_copies_and_sampling():
    sch = tir.Schedule(chain, seed=7)
    block = sch.get_block("C")
    i, _ = sch.get_loops(block)
    factors = sch.sample_perfect_tile(i, n=2, decision=[4, 16])
    assert [sch.get(factor) for factor in factors] == [4, 16]
    other = sch.copy()
    other.split(i, factors)
    assert len(sch.get_loops(block)) == 2 and len(other.get_loops(block)) == 3
    chosen = sch.sample_perfect_tile(i, n=2)
    assert chosen and sch.trace.as_json()[1][-1][1] == [sch.get(factor) for factor in chosen]


def test_registered_intrinsic():
    @T.prim_func
    def desc(a: T.handle, c: T.handle):
        A = T.match_buffer(a, (16,), "float32", offset_factor=1)
        C = T.match_buffer(c, (16,), "float32", offset_factor=1)
        with T.block("root"):
            T.reads(A[0:16])
            T.writes(C[0:16])
            for i in range(16):
                with T.block("copy"):
                    vi = T.axis.spatial(16, i)
                    C[vi] = A[vi] + T.float32(1)

    @T.prim_func
    def impl(a: T.handle, c: T.handle):
        A = T.match_buffer(a, (16,), "float32", offset_factor=1)
        C = T.match_buffer(c, (16,), "float32", offset_factor=1)
        with T.block("root"):
            T.reads(A[0:16])
            T.writes(C[0:16])
            C[T.Ramp(0, 1, 16)] = A[T.Ramp(0, 1, 16)] + T.Broadcast(T.float32(1), 16)

    tir.TensorIntrin.register("test.add_one", desc, impl)
    with pytest.raises(ValueError, match="already"):
        tir.TensorIntrin.register("test.add_one", desc, impl)
    sch = tir.Schedule(chain)
    _, j = sch.get_loops("C")
    _, inner = sch.split(j, [None, 16])
    sch.tensorize(inner, "test.add_one")
    assert "T.Broadcast(T.float32(1.0), 16)" in sch.mod.script()
    assert tir.TensorIntrin.get("missing", allow_missing=True) is None


def test_built_in_intrinsics():
    from iropt.tir import tensor_intrin

    names = [value for name, value in vars(tensor_intrin).items() if name.endswith("_INTRIN")]
    assert len(names) == 11
    for name in names:
        assert isinstance(tir.TensorIntrin.get(name).desc, tir.PrimFunc)


def test_references_and_dependences():
    sch = tir.Schedule(chain)
    b, c = (sch.get_sref(sch.get_block(name)) for name in "BC")
    root = b.parent.parent.parent
    assert root.parent is None and root.stmt.name_hint == "root"
    (dependence,) = sch.state.get_block_scope(root).get_deps_by_src(b)
    assert dependence.dst == c and dependence.kind == tir.schedule.DepKind.RAW
    assert sch.state._get_cached_flags(b) == (True, True, True)
    assert sch.get_sref(b.stmt) == b


def made_trace():
    from iropt.tir.schedule import BlockRV, Instruction, InstructionKind, LoopRV

    block, loops = BlockRV(), [LoopRV(), LoopRV()]
    insts = [Instruction(InstructionKind.get("GetBlock"), [], ["B", "main"], [block]),
             Instruction(InstructionKind.get("GetLoops"), [block], [], loops),
             Instruction(InstructionKind.get("Annotate"), [block, 'a "b"'], ["note"], [])]
    return tir.schedule.Trace(insts, {}), insts


def test_traces_are_made_of_instructions():
    trace, insts = made_trace()
    assert trace.as_python() == ['b0 = sch.get_block(name="B", func_name="main")', "l1, l2 = sch.get_loops(block=b0)",
                                 'sch.annotate(block_or_loop=b0, ann_key="note", ann_val="a \\"b\\"")']
    assert str(insts[1]) == "_, _ = sch.get_loops(block=_)"
    assert insts[0].kind.is_pure and not insts[2].kind.is_pure
    assert trace.pop() is insts[2] and len(trace.insts) == 2 and trace.decisions == {}
    trace.append(insts[2])
    assert tir.schedule.Trace(trace.as_json()).as_python() == trace.as_python()


def test_decisions_of_traces():
    @T.prim_func
    def func(A: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.block("B"):
                vi = T.axis.spatial(64, i)
                A[vi] = T.float32(1)

    sch = tir.Schedule(func, seed=1)
    loop, = sch.get_loops("B")
    first, second = sch.sample_perfect_tile(loop, n=2)
    sch.split(loop, [first, second])
    trace = sch.trace
    sampled = trace.insts[2]
    assert trace.decisions[sch.trace.insts[2]] == trace.get_decision(sampled)
    assert first * second == 64 and 2 * first == first + first
    other = tir.Schedule(func)
    trace.with_decision(sampled, [16, 4]).apply_to_schedule(other)
    assert other.get(other.get_loops("B")[0]).extent == 16
    other = tir.Schedule(func)
    trace.apply_to_schedule(other, decision_provider=lambda inst, inputs, attrs, decision: [8, 8])
    assert other.get(other.get_loops("B")[0]).extent == 8


def test_results_of_primitives_can_be_removed_and_errors_shortened():
    @T.prim_func
    def func(A: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                A[vi] = T.float32(1)

    sch = tir.Schedule(func)
    block = sch.get_block("B")
    assert tir.schedule.analysis.is_output_block(sch, block)
    sch.remove_rv(block)
    with pytest.raises(IndexError, match="was removed"):
        sch.get(block)
    for level, lines in (("none", 1), ("fast", 1)):
        with pytest.raises(tir.ScheduleError) as raised:
            tir.Schedule(func, error_render_level=level).get_block("wrong")
        assert str(raised.value).count("\n") + 1 == lines
    assert "(not rendered)" in str(pytest.raises(tir.ScheduleError, tir.Schedule(func, error_render_level="none").get_block, "x").value)


def test_a_schedule_of_several_functions_needs_a_name():
    @I.ir_module
    class Two:
        @T.prim_func
        def a(A: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("A"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = T.float32(1)

        @T.prim_func
        def b(A: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = T.float32(1)

    sch = tir.Schedule(Two)
    with pytest.raises(ValueError, match="which function to be working on"):
        sch.get_block("B")
    sch.work_on("b")
    sch.get_block("B")
    assert sch.func_working_on.name_hint == "b"


def test_index_maps_of_functions_with_any_parameters():
    make = tir.IndexMap.from_func
    assert len(make(lambda a, *b, c: [c, *b, a], ndim=4).params) == 4
    made, separators = make(lambda i: i + 1, ndim=1), tir.IndexMap.from_func_with_separators(lambda i: i + 1, ndim=1)[1]
    assert len(made.results) == 1 and separators == []


def test_candidates_are_drawn_by_their_probabilities():
    sch = tir.Schedule(chain, seed=42)
    drawn = [sch.get(sch.sample_categorical([5, 2, 7, 1], [0.15, 0.55, 0.05, 0.25])) for _ in range(1000)]
    for value, prob in zip((5, 2, 7, 1), (0.15, 0.55, 0.05, 0.25)):
        assert abs(drawn.count(value) / 1000 - prob) < 0.05


def test_variables_are_those_of_the_function():
    @T.prim_func
    def func(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        B = T.alloc_buffer((8, 8), "float32")
        for i, j in T.grid(8, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2.0
        for i, j in T.grid(8, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + 1.0

    blocks = {}
    tir.stmt_functor.post_order_visit(
        func.body, lambda node: blocks.setdefault(node.name_hint, node) if isinstance(node, tir.Block) else None)
    sch = tir.Schedule(func)
    block = sch.get_block("C")
    first = sch.get(block)
    assert first.iter_vars[0].var.same_as(blocks["C"].iter_vars[0].var)
    # A primitive makes a new function, whose block has the same variables and buffers.
    sch.parallel(sch.get_loops(sch.get_block("B"))[0])
    for expected in (first, blocks["C"]):
        assert [axis.var for axis in sch.get(block).iter_vars] == [axis.var for axis in expected.iter_vars]
        assert {axis.var: 1 for axis in expected.iter_vars}[sch.get(block).iter_vars[1].var] == 1
    assert sch.get(block).writes[0].buffer.same_as(func.buffer_map[func.params[1]])
    # Also within new expressions.
    now = sch.get(block)
    found = iropt.arith.normalize_to_iter_sum(now.writes[0].buffer.offset_of([axis.var for axis in now.iter_vars])[0],
                                              {axis.var: axis.dom for axis in now.iter_vars})
    assert [split.source.source for split in found.args] == [axis.var for axis in first.iter_vars]
    # Copies of the schedule, and a new variable where a primitive makes one.
    copy = sch.copy()
    outer, _ = copy.split(copy.get_loops(copy.get_block("C"))[0], factors=[2, 4])
    assert not copy.get(outer).loop_var.same_as(sch.get(sch.get_loops(block)[0]).loop_var)
    assert copy.get(copy.get_block("C")).iter_vars[0].var.same_as(first.iter_vars[0].var)


def test_a_name_is_what_is_written():
    @T.prim_func
    def product(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        for i, j, k in T.grid(8, 8, 8):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk]

    sch, other = tir.Schedule(product), tir.Schedule(product)
    sch.reindex("update", "C")
    other.reindex("update", ("write", 0))
    ir.assert_structural_equal(sch.mod, other.mod)


def test_parameters_have_the_names_of_older_versions():
    @T.prim_func
    def copied(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        for i, j in T.grid(8, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]

    sch, other = tir.Schedule(copied), tir.Schedule(copied)
    sch.blockize(loop=sch.get_loops("C")[1])
    other.blockize(target=other.get_loops("C")[1])
    ir.assert_structural_equal(sch.mod, other.mod)
    sch = tir.Schedule(copied)
    sch.annotate_buffer_access("C", buffer_index=0, buf_type="read", gen_new_ranges=lambda i, j: [(i, i + 2), j])
    assert "T.reads(A[vi:vi + 2, vj])" in sch.mod.script()


def test_loops_of_other_blocks():
    @T.prim_func
    def nested(A: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32")):
        B = T.alloc_buffer((64,))
        for i in range(64):
            with T.block("B"):
                vi = T.axis.spatial(64, i)
                B[vi] = A[vi]
        for i in range(8):
            with T.block("outer"):
                vo = T.axis.spatial(8, i)
                for j in range(8):
                    with T.block("inner"):
                        vi = T.axis.spatial(64, vo * 8 + j)
                        C[vi] = B[vi]

    sch = tir.Schedule(nested)
    with pytest.raises(tir.ScheduleError, match="the loop 'j': expected a loop in the same block scope"):
        sch.compute_at("B", sch.get_loops("inner")[0])
    with pytest.raises(tir.ScheduleError, match="the loop 'i' is an ancestor of block 'B'"):
        sch.compute_at("B", sch.get_loops("B")[0])
