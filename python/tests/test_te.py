"""Tensor expressions, and the PrimFuncs of them."""
import gc

import numpy
import pytest

import iropt
from iropt import executable, ir, relax, runtime, te, tir, topi
from iropt.script import ir as I, relax as R, tir as T  # noqa: F401


def run(tensors, *arrays):
    """The results of a function of the given parameters, of which the last are results."""
    func = te.create_prim_func(tensors)
    outputs = iropt.run(ir.IRModule({"main": func}), "main", *arrays)
    return numpy.asarray(outputs) if not isinstance(outputs, (list, tuple)) else [numpy.asarray(item) for item in outputs]


def test_two_stages_are_two_blocks():
    A = te.placeholder((8, 16), name="A")
    k = te.reduce_axis((0, 16), "k")
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
    C = te.compute((8,), lambda i: B[i] * 2.0, name="C")

    @T.prim_func
    def expected(A: T.Buffer((8, 16), "float32"), C: T.Buffer((8,), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        B = T.alloc_buffer((8,))
        for i, k in T.grid(8, 16):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(B[vi])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                T.reads(B[vi])
                T.writes(C[vi])
                C[vi] = B[vi] * T.float32(2)

    ir.assert_structural_equal(te.create_prim_func([A, C]), expected)
    data = numpy.random.rand(8, 16).astype("float32")
    numpy.testing.assert_allclose(run([A, C], data), data.sum(1) * 2, rtol=1e-5)


def test_reductions_whose_extents_depend_on_axes():
    A = te.placeholder((8, 8), name="A")

    def window(i, j):
        kw = te.reduce_axis((0, 2), "kw")
        kh = te.reduce_axis((j, i + j + 1), "kh")
        return te.sum(A[kh, j * 2 + kw], axis=[kw, kh])

    B = te.compute((4, 3), window, name="B")
    data = numpy.random.rand(8, 8).astype("float32")
    expected = [[data[j:i + j + 1, j * 2:j * 2 + 2].sum() for j in range(3)] for i in range(4)]
    numpy.testing.assert_allclose(run([A, B], data), expected, rtol=1e-5)


def test_names_of_blocks_are_unique():
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1.0, name="main")
    C = te.compute((4,), lambda i: B[i] + 1.0, name="main")
    sch = tir.Schedule(te.create_prim_func([A, C]))
    assert [sch.get(sch.get_block(name)).name_hint for name in ("main", "main_1")] == ["main", "main_1"]


def test_functions_of_the_same_tensors_have_variables_of_their_own():
    n = te.var("n", "int64")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
    module = ir.IRModule({name: te.create_prim_func([A, B]).with_attr("global_symbol", name) for name in "fg"})
    assert tir.analysis.verify_well_formed(module)
    assert numpy.asarray(iropt.run(module, "g", numpy.zeros(3, "float32"), numpy.zeros(3, "float32"))).tolist() == [1, 1, 1]


def test_functions_made_by_hand_have_variables_of_their_own_in_a_module():
    n, i = tir.Var("n", "int64"), tir.Var("i", "int64")
    A, B = tir.decl_buffer((n,), "float32", "A"), tir.decl_buffer((n,), "float32", "B")
    func = tir.PrimFunc([A, B], tir.For(i, 0, n, 0, tir.BufferStore(B, A[i] + 1.0, [i])))
    module = ir.IRModule({name: func.with_attr("global_symbol", name) for name in "fg"})
    assert tir.analysis.verify_well_formed(module)


def test_several_results_share_loops():
    A = te.placeholder((4, 4), name="A")
    B, C = te.compute((4, 4), lambda i, j: (A[i, j] + 1.0, A[j, i] * 2.0), name="B")
    data = numpy.arange(16, dtype="float32").reshape(4, 4)
    results = run([A, B, C], data)
    assert (results[0] == data + 1).all() and (results[1] == data.T * 2).all()
    assert len(te.create_prim_func([A, B, C]).body.block.body.body.body.seq) == 2


def test_index_dtype_is_that_of_the_shape_or_given():
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1.0, name="B")
    assert te.create_prim_func([A, B]).body.block.body.loop_var.dtype == "int32"
    assert te.create_prim_func([A, B], "int64").body.block.body.loop_var.dtype == "int64"


def test_scalar_parameters_and_shapes_of_them():
    m, n = te.var("m", "int64"), te.var("n", "int64")
    A = te.placeholder((n,), name="A")
    B = te.compute((m,), lambda i: A[i] * tir.Cast("float32", m), name="B")
    func = te.create_prim_func([A, m, B])
    assert [param.name for param in func.params] == ["var_A", "m", "var_B"]


def test_reduction_of_a_tuple():
    A = te.placeholder((3, 5), name="A")
    k = te.reduce_axis((0, 5), "k")

    def combine(x, y):
        better = x[1] >= y[1]
        return tir.Select(better, x[0], y[0]), tir.Select(better, x[1], y[1])

    argmax = te.comm_reducer(combine, lambda t0, t1: (tir.const(-1, t0), te.min_value(t1)), name="argmax")
    index, value = te.compute((3,), lambda i: argmax((k.var, A[i, k]), axis=k), name="argmax")
    data = numpy.random.rand(3, 5).astype("float32")
    found = run([A, index, value], data)
    assert (found[0] == data.argmax(1)).all() and (found[1] == data.max(1)).all()


def test_condition_and_start_of_a_reduction():
    A = te.placeholder((6,), name="A")
    k, r = te.reduce_axis((0, 6), "k"), te.reduce_axis((0, 6), "r")
    B = te.compute((), lambda: te.sum(A[k], axis=k, where=k.var % 2 == 0), name="B")
    C = te.compute((), lambda: te.sum(A[r], axis=r, init=tir.const(10.0, "float32")), name="C")
    results = run([A, B, C], numpy.arange(6, dtype="float32"))
    assert results[0] == 6 and results[1] == 25


def test_reduction_over_nothing_has_the_neutral_value():
    A = te.placeholder((3, 0), name="A")
    k = te.reduce_axis((0, 0), "k")
    B = te.compute((3,), lambda i: te.sum(A[i, k], axis=k), name="B")
    assert run([A, B], numpy.zeros((3, 0), "float32")).tolist() == [0, 0, 0]


def test_reductions_are_whole_values():
    A = te.placeholder((4,), name="A")
    k = te.reduce_axis((0, 4), "k")
    with pytest.raises(iropt.Error, match="only allowed at the top level"):
        te.compute((1,), lambda i: te.sum(A[k], axis=k) + 1.0)


def test_extern_with_statements():
    A = te.placeholder((4,), name="A")

    def body(ins, outs):
        builder = tir.ir_builder.create()
        source, out = builder.buffer_ptr(ins[0]), builder.buffer_ptr(outs[0])
        with builder.for_range(0, 4, "i") as i:
            out[i] = source[i] + 1.0
        return builder.get()

    B = te.extern((4,), [A], body, name="B", in_buffers=[tir.decl_buffer((4,), "float32", "A")],
                  out_buffers=[tir.decl_buffer((4,), "float32", "B")])
    C = te.compute((4,), lambda i: B[i] * 2.0, name="C")
    assert run([A, C], numpy.arange(4, dtype="float32")).tolist() == [2, 4, 6, 8]
    # The tensor that it reads may be computed, too.
    D = te.extern((4,), [C], body, name="D")
    assert run([A, D], numpy.arange(4, dtype="float32")).tolist() == [3, 5, 7, 9]


def test_extern_packed_function():
    A = te.placeholder((4, 4), name="A")
    B = te.extern((4, 4), [A], lambda ins, outs: tir.call_packed("f", ins[0], outs[0], 1), name="B")
    text = te.create_prim_func([A, B]).script()
    assert "T.call_packed" in text or "T.tvm_call_packed" in text
    assert text.count("T.tvm_stack_make_array") == 2


def test_extern_primfunc():
    @T.prim_func
    def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)

    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1.0, name="B")
    C = te.extern_primfunc([B], double)
    assert run([A, C], numpy.arange(4, dtype="float32")).tolist() == [2, 4, 6, 8]


def test_tensors_of_an_expression_live_as_long_as_it():
    def element():
        return te.compute((4,), lambda i: i * 2, name="inner")[1]

    value = element()
    gc.collect()
    B = te.compute((2,), lambda i: value + i, name="B")
    gc.collect()
    assert run([B]).tolist() == [2, 3]


def test_operators_on_tensors():
    A, B = te.placeholder((2, 3), name="A"), te.placeholder((3,), name="B")
    C = (A + B) * 2.0 - 1.0 / (B + 1.0)
    a, b = numpy.random.rand(2, 3).astype("float32"), numpy.random.rand(3).astype("float32")
    numpy.testing.assert_allclose(run([A, B, C], a, b), (a + b) * 2 - 1 / (b + 1), rtol=1e-5)
    assert (-A).op.name == "compute" and A == A and A != B


def test_layout_free_placeholders():
    A, B = te.placeholder((4,), name="A"), te.placeholder((4,), name="B")
    C = te.compute((4,), lambda i: B[i] + 1.0, name="C")
    D = te.compute((4,), lambda i: A[i] + C[i], name="D", attrs={"layout_free_placeholders": [B, C]})
    func = te.create_prim_func([A, B, D])
    assert list(func.attrs["layout_free_buffers"]) == [1]
    assert 'T.block_attr({"layout_free_placeholders": [C]})' in func.script()


def test_what_cannot_be_a_function():
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1.0, name="B")
    with pytest.raises(ValueError, match="does not appear as a function argument"):
        te.create_prim_func([B])
    with pytest.raises(TypeError, match="a tensor or a variable"):
        te.create_prim_func([A, 3])
    state = te.placeholder((4, 4))
    scan = te.scan(te.compute((1, 4), lambda _, i: A[i]), te.compute((4, 4), lambda t, i: state[t - 1, i]), state)
    with pytest.raises(TypeError, match="ScanOp cannot be a part of a PrimFunc"):
        te.create_prim_func([A, scan])
    with pytest.raises(ValueError, match="Number of args to fcompute"):
        te.compute((4, 4), lambda i: A[i])


def test_tags():
    with te.tag_scope("mine"):
        B = te.compute((4,), lambda i: i)
    assert B.op.tag == "mine"


# ---- In Relax


def test_emit_te_of_a_function_with_symbolic_shapes():
    n = tir.Var("n", "int64")
    x = relax.Var("x", R.Tensor((n, 4), "float32"))
    bb = relax.BlockBuilder()

    def rows(a, count):
        return te.compute((count, 4), lambda i, j: a[i % a.shape[0], j] + tir.Cast("float32", count), name="rows")

    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit_te(rows, x, n + 1, primfunc_name_hint="repeat_rows", primfunc_attrs={"mine": 1})
            out = bb.emit_output(bb.call_te(topi.nn.softmax, y, axis=-1))
        bb.emit_func_output(out)
    module = bb.get()
    assert relax.analysis.well_formed(module)
    assert module["repeat_rows"].attrs["mine"] == 1
    ir.assert_structural_equal(y.struct_info.shape[0], n + 1)
    result = numpy.asarray(iropt.run(module, "main", numpy.ones((2, 4), "float32")))
    numpy.testing.assert_allclose(result, numpy.full((3, 4), 0.25), rtol=1e-6)


def test_emit_te_passes_on_variables_that_no_shape_gives():
    n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
    x = relax.Var("x", R.Tensor((n,), "float32"))
    shape = relax.Var("shape", R.Shape([m]))
    bb = relax.BlockBuilder()

    def plus(a):
        return te.compute(a.shape, lambda i: a[i] + tir.Cast("float32", m), name="plus")

    with bb.function("main", [x, shape]):
        bb.emit_func_output(bb.emit_te(plus, x))
    module = bb.get()
    assert relax.analysis.well_formed(module)
    assert "tir_vars=R.shape([m])" in module["main"].script()
    assert [param.name for param in module["plus"].params] == ["var_x", "var_plus", "m"]


def test_emit_te_of_several_results_and_scalars():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        both = bb.emit_te(lambda a, by: (a + by, a * by), x, 2.0, primfunc_name_hint="both")
        bb.emit_func_output(both)
    results = iropt.run(bb.get(), "main", numpy.arange(4, dtype="float32"))
    assert numpy.asarray(results[0]).tolist() == [2, 3, 4, 5] and numpy.asarray(results[1]).tolist() == [0, 2, 4, 6]


def test_emit_te_of_what_is_no_tensor():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with pytest.raises(AssertionError, match="only support te.tensor"):
            bb.emit_te(lambda a: 3, x)
        bb.emit_func_output(x)


def test_shapes_of_relax_are_shapes():
    info = relax.TensorStructInfo((2, 3), "float32")
    assert [dim.value for dim in te.compute(info.shape, lambda i, j: i + j).shape] == [2, 3]


def scheduled_values(build):
    A = te.placeholder((30, 32), name="A")
    B = te.compute((30, 32), lambda i, j: A[i, j] + 1.0, name="B")
    k = te.reduce_axis((0, 32), name="k")
    C = te.compute((30,), lambda i: te.sum(B[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    build(s, A, B, C)
    func = s.prim_func([A, C])
    value = numpy.random.RandomState(0).rand(30, 32).astype("float32")
    numpy.testing.assert_allclose(iropt.run(iropt.IRModule({"main": func}), "main", value).numpy(), (value + 1).sum(1), rtol=1e-5)
    return func.script()


def test_schedules_of_tensors():
    def loops(s, A, B, C):
        del A
        outer, inner = s[C].split(C.op.axis[0], factor=4)
        s[C].reorder(outer, C.op.reduce_axis[0], inner)
        s[B].compute_at(s[C], outer)
        s[B].vectorize(s[B].op.axis[1])

    text = scheduled_values(loops)
    assert "T.vectorized(32)" in text and text.index('T.block("B")') < text.index('T.block("C")')

    def memory(s, A, B, C):
        s.cache_read(A, "local", [B])
        written = s.cache_write(C, "local")
        fused = s[B].fuse(*B.op.axis)
        s[B].parallel(fused)
        outer, _ = s[C].split(C.op.axis[0], nparts=3)
        s[written].compute_at(s[C], outer)
        s[written].pragma(written.op.axis[0], "unroll", 1)

    text = scheduled_values(memory)
    assert "A_local" in text and "C_local" in text and "T.parallel(960)" in text and '"pragma_unroll": 1' in text
    assert "(A[" not in scheduled_values(lambda s, A, B, C: s[B].compute_inline()).split('T.block("C")')[0]


def test_axis_of_a_reduction_belongs_to_the_tensor_that_a_schedule_computes_in_other_memory():
    A, B = te.placeholder((16, 32), name="A"), te.placeholder((32, 64), name="B")
    k = te.reduce_axis((0, 32), name="k")
    C = te.compute((16, 64), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    written = s.cache_write(C, "local")
    assert len(s[C].leaf_iter_vars) == 2 and len(s[written].leaf_iter_vars) == 3
    _, outer, _, _ = s[C].tile(*C.op.axis, 4, 16)
    s[written].compute_at(s[C], outer)
    s[written].split(k, factor=8)
    a, b = numpy.random.rand(16, 32).astype("float32"), numpy.random.rand(32, 64).astype("float32")
    c = runtime.array(numpy.zeros((16, 64), "float32"))
    executable.build(s, [A, B, C], "llvm")(runtime.array(a), runtime.array(b), c)
    numpy.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-5)


@pytest.mark.parametrize("is_inline", [True, False])
def test_tensors_that_are_computed_elsewhere_are_parameters(is_inline):
    """In TVM, nothing is stored to the parameter of a tensor that is computed inline."""
    A = te.placeholder((8, 16), name="A")
    B = te.compute((8, 16), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((8, 16), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    if is_inline:
        s[B].compute_inline()
    else:
        s[B].compute_at(s[C], C.op.axis[0])
    a = numpy.random.rand(8, 16).astype("float32")
    b, c = (runtime.array(numpy.zeros((8, 16), "float32")) for _ in range(2))
    executable.build(s, [A, B, C], "llvm")(runtime.array(a), b, c)
    numpy.testing.assert_array_equal(c.numpy(), (a + 1) * 2)
    numpy.testing.assert_array_equal(b.numpy(), numpy.zeros_like(a) if is_inline else a + 1)


def test_schedules_of_tensors_are_built_and_lowered():
    from iropt import _tvm as tvm

    A = te.placeholder((21,), name="A")
    B = te.compute((21,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], 4)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    value, result = numpy.arange(21, dtype="float32"), tvm.nd.empty((21,), "float32")
    tvm.build(s, [A, B], "llvm", name="twice")["twice"](value, result)
    numpy.testing.assert_array_equal(result.numpy(), value * 2)
    assert "blockIdx.x" in tvm.lower(s, [A, B])["main"].script()
    assert "T.likely" in str(te.schedule.ScheduleOps(s, te.schedule.InferBound(s)))
    with pytest.raises(ValueError, match="is not a loop of the stage"):
        s[B].unroll(B.op.axis[0]), s[B].split(B.op.axis[0], 2)
    with pytest.raises(NotImplementedError, match="tensorize of a stage"):
        s[B].tensorize(inner, None)


def test_schedules_reduce_in_two_steps():
    n, m = te.var("n"), te.var("m")
    a, k = te.placeholder((n, m), name="A"), te.reduce_axis((0, m), "k")
    b = te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="B")
    sch = te.create_schedule(b.op)
    _, inner = sch[b].split(b.op.reduce_axis[0], factor=16)
    partial = sch.rfactor(b, inner)
    outer, row = sch[b].split(sch[b].op.axis[0], factor=32)
    sch[b].bind(outer, te.thread_axis("blockIdx.x"))
    sch[b].bind(row, te.thread_axis("threadIdx.y"))
    sch[b].bind(sch[b].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    sch[partial].compute_at(sch[b], sch[b].op.reduce_axis[0])
    module = executable.build(sch, [a, b], "cuda")
    data, result = numpy.random.default_rng(0).random((5, 40), "float32"), runtime.array(numpy.zeros(5, "float32"))
    module(runtime.array(data), result)
    numpy.testing.assert_allclose(result.numpy(), data.sum(1), rtol=1e-5)
    (code,) = module.imported_modules
    assert code.type_key == "cuda" and "threadIdx.x" in code.get_source() and code.imported_modules == []
    assert executable.build(sch, [a, b], "llvm").imported_modules == []


def test_results_that_are_no_arguments_are_memory_of_the_function():
    a = te.placeholder((4, 3), name="A")
    b = te.compute((4,), lambda i: a[i, 0] * 2.0, name="B")
    func = te.create_schedule(b.op).prim_func([a])
    assert len(func.params) == 1 and [buffer.name for buffer in func.body.block.alloc_buffers] == ["B"]
    executable.build(te.create_schedule(b.op), [a])(runtime.array(numpy.ones((4, 3), "float32")))


def test_copies_of_copies():
    a = te.placeholder((8, 8), name="A")
    b = te.compute((8, 8), lambda i, j: a[i, j] + 1.0, name="B")
    sch = te.create_schedule(b.op)
    shared = sch.cache_read(a, "shared", [b])
    local = sch.cache_read(shared, "local", [b])
    assert tuple(local.shape) == (8, 8) and local.dtype == "float32"
    func = sch.prim_func([a, b])
    assert [buffer.scope() for buffer in func.body.block.alloc_buffers] == ["shared", "local"]
    result = runtime.array(numpy.zeros((8, 8), "float32"))
    executable.build(func)(runtime.array(numpy.ones((8, 8), "float32")), result)
    assert (result.numpy() == 2).all()


def test_arguments_of_one_name_that_are_computed_where_others_need_them():
    a = te.placeholder((8, 16), name="A")
    b = te.compute((8, 16), lambda i, j: a[i, j] + 1.0)
    c = te.compute((8, 16), lambda i, j: b[i, j] * 2.0)
    d = te.compute((8, 16), lambda i, j: c[i, j] - b[i, j] + 3.0)
    sch = te.create_schedule(d.op)
    sch[c].compute_at(sch[d], d.op.axis[0])
    data, results = numpy.random.default_rng(0).random((8, 16), "float32"), [runtime.array(numpy.zeros((8, 16), "float32")) for _ in range(2)]
    executable.build(sch, [a, c, d], "llvm")(runtime.array(data), *results)
    numpy.testing.assert_allclose(results[0].numpy(), (data + 1) * 2, rtol=1e-6)
    numpy.testing.assert_allclose(results[1].numpy(), (data + 1) + 3, rtol=1e-6)


def test_results_may_be_lists():
    data = te.placeholder((4, 8), name="data")
    both = topi.topk(data, k=3, axis=1, ret_type="both")
    ir.assert_structural_equal(te.create_prim_func([data, both]), te.create_prim_func([data, *both]))
