"""Small names of TVM's loop level: dtypes, buffers, index maps, visitors, targets."""
import pickle

import numpy
import pytest

import iropt
from iropt import ir, relax, te, tir
from iropt._dtype import DataType, DataTypeCode
from iropt.arith import Analyzer
from iropt.script import ir as I, relax as R, tir as T  # noqa: F401
from iropt.target import Target


@T.prim_func
def add_one(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)


def test_dtypes():
    half = DataType("float16x4")
    assert (half.bits, half.lanes, half.type_code) == (16, 4, DataTypeCode.FLOAT)
    assert half == "float16x4" and DataType("bool").bits == 1 and DataType("uint8").type_code == DataTypeCode.UINT
    assert DataType("handle").bits == 64 and DataType("int").bits == 32 and DataType(numpy.float32) == "float32"
    assert half.itemsize() == half.itemsize == 8 and half.with_lanes(1) == "float16" and DataType("bfloat16").type_code == DataTypeCode.BFLOAT
    assert tir.Var("x", half).dtype == "float16x4"
    with pytest.raises(ValueError, match="number of elements of int8xvscalex4 is not known"):
        DataType("int8xvscalex4").itemsize  # noqa: B018
    with pytest.raises(ValueError, match="Do not know how to handle type"):
        DataType("floaty")


def test_limits_and_powers():
    assert tir.min_value("int8").value == -128 and tir.max_value("uint8").value == 255
    assert tir.max_value("float16").value == 65504 and tir.infinity("float32").value == float("inf")
    assert tir.max_value("bool").value == 1
    x = tir.Var("x", "float32")
    assert tir.power(x, 2).args[1].dtype == "float32" and tir.abs(x).op.name == "tir.fabs"
    assert tir.abs(tir.Var("n", "uint8")).name == "n"
    for name, kind in (("add", tir.Add), ("subtract", tir.Sub), ("multiply", tir.Mul)):
        assert isinstance(getattr(tir, name)(x, 2.0), kind)
    with pytest.raises(ValueError, match="are not known"):
        tir.min_value("handle")


def test_reducers_combine_several_values():
    x, y, z = (tir.Var(name, "int32") for name in "xyz")
    ir.assert_structural_equal(tir.max(x, y, z), tir.Max(tir.Max(x, y), z))
    ir.assert_structural_equal(tir.sum(x, y), x + y)


def test_offsets_of_buffers():
    n = tir.SizeVar("n", "int32")
    buffer = tir.decl_buffer((4, n), "float32", elem_offset=100)
    ir.assert_structural_equal(buffer.offset_of([2, 3])[0], n * 2 + 103)
    strided = tir.decl_buffer((4, n), "float32", strides=[n + 1, 1])
    ir.assert_structural_equal(strided.offset_of([1, 0])[0], n + 1)
    assert [int(dim) for dim in tir.decl_buffer((4, 8)).get_flattened_buffer().shape] == [32]
    grouped = tir.decl_buffer((4, 8, 2), axis_separators=[2])
    assert [int(dim) for dim in grouped.get_flattened_buffer().shape] == [32, 2]
    assert [int(offset) for offset in grouped.offset_of([1, 2, 1])] == [10, 1]


def test_vectors_of_buffers():
    buffer = tir.decl_buffer((4, 8), "float32")
    load = buffer.vload([1, 0], "float32x4")
    assert load.dtype == "float32x4" and load.indices[1].lanes == 4
    store = buffer.vstore([1, 4], load)
    assert isinstance(store.indices[1], tir.Ramp) and store.value.dtype == "float32x4"
    assert buffer.access_ptr(tir.Buffer.READ | tir.Buffer.WRITE).args[4].value == 3


def test_index_maps():
    index_map = tir.IndexMap.from_func(lambda i, j: [i // 4, j, i % 4])
    assert [int(dim) for dim in index_map.map_shape([16, 8])] == [4, 8, 4]
    assert [int(index) for index in index_map.map_indices([6, 2])] == [1, 2, 2]
    back = index_map.inverse([16, 8])
    assert back.is_equivalent_to(tir.IndexMap.from_func(lambda a, b, c: [a * 4 + c, b]))
    assert not back.is_equivalent_to(tir.IndexMap.from_func(lambda a, b, c: [a + c, b]))
    with pytest.raises(ValueError, match="no inverse"):
        index_map.inverse([14, 8])
    data = numpy.arange(8)
    assert (tir.IndexMap.from_func(lambda i: [i % 2, i // 2]).map_ndarray(data) == data.reshape(4, 2).T).all()


def test_mutator_and_visitor():
    @tir.functor.mutator
    class Doubled(tir.PyStmtExprMutator):
        def visit_float_imm_(self, op):
            return tir.FloatImm(op.dtype, op.value * 2)

        def visit_for_(self, op):
            seen.append(op.loop_var.name)
            return super().visit_for_(op)

    seen = []
    changed = Doubled().visit_stmt(add_one.body)
    assert "T.float32(2.0)" in changed.script() and seen == ["i", "j"]
    assert Doubled().visit_expr(tir.Var("x", "int32")).name == "x"

    @tir.functor.visitor
    class Loads(tir.PyStmtExprVisitor):
        def __init__(self):
            self.names = []

        def visit_buffer_load_(self, op):
            self.names.append(op.buffer.name)
            super().visit_buffer_load_(op)

        def visit_eq_(self, op):
            self.names.append("eq")

    loads = Loads()
    loads.visit_stmt(add_one.body)
    loads.visit_expr(tir.EQ(tir.Var("x", "int32"), 3))
    assert loads.names == ["A", "eq"]


def test_renewed_definitions():
    module = ir.IRModule({"main": add_one})
    renewed = tir.stmt_functor.renew_defs(module["main"])
    ir.assert_structural_equal(renewed, module["main"])
    assert renewed.params[0] != module["main"].params[0]
    assert renewed.buffer_map[renewed.params[0]] != list(module["main"].buffer_map.values())[0]


def test_pickled_modules():
    module = ir.IRModule({"main": add_one})
    ir.assert_structural_equal(pickle.loads(pickle.dumps(module)), module)


def test_targets():
    assert Target.from_device("cpu").kind.name == "llvm" and Target.from_device(iropt.runtime.cpu()).kind.name == "llvm"
    assert Target("llvm -mcpu=skylake").mcpu == "skylake" and Target("llvm").mcpu == "" and Target("llvm").libs == []
    assert int(Target("cuda -max_threads_per_block=512").attrs["max_threads_per_block"]) == 512
    with pytest.raises(ValueError, match="Cannot detect device"):
        Target.from_device("cuda")


def test_scopes_of_builders():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.begin_scope([x])
        assert not bb.current_block_is_dataflow()
        with bb.dataflow():
            assert bb.current_block_is_dataflow()
            out = bb.emit_output(relax.op.add(x, x))
        bb.end_scope()
        bb.emit_func_output(out)
    assert len(bb.get()["main"].body.blocks) == 1


def test_normalized_blocks():
    A = te.placeholder((8,), name="A")
    k = te.reduce_axis((0, 8), "k")
    total = te.compute((), lambda: te.sum(A[k], axis=k), name="total")
    sch = tir.Schedule(te.create_prim_func([A, total]))
    blocks, loops, axes, reductions = tir.schedule.NormalizePrimFunc(sch)
    assert len(blocks) == 1 and reductions == [True]
    assert [axis.iter_type for axis in axes[0]] == [tir.IterVar.DataPar, tir.IterVar.CommReduce] and len(loops[0]) == 2


def test_analyses_of_loops():
    assert not tir.analysis.is_pure_function(add_one)
    with pytest.raises(AssertionError):
        tir.analysis.assert_pure_function(add_one)
    assert tir.analysis.estimate_tir_flops(ir.IRModule({"main": add_one})) == 64
    assert tir.analysis.estimate_tir_flops(ir.IRModule({"main": add_one.with_attr("estimated_flops", 3)})) == 3
    x = tir.Var("x", "int32")
    assert tir.analysis.verify_ssa(tir.PrimFunc([x], tir.Evaluate(x + 1)))
    assert not tir.analysis.verify_ssa(tir.PrimFunc([x], tir.LetStmt(x, 1, tir.Evaluate(x))))
    once, twice = tir.Let(x, 1, x + 1), tir.Let(x, 2, x + 2)
    assert tir.analysis.verify_ssa(tir.PrimFunc([], tir.Evaluate(once + once)))
    assert not tir.analysis.verify_ssa(tir.PrimFunc([], tir.Evaluate(once * twice)))

    @T.prim_func
    def allocates(A: T.Buffer((8,), "float32")):
        B = T.decl_buffer((6,), "float32")
        B[0] = A[0]

    assert tir.analysis.calculate_workspace_bytes(allocates, 16) == 32
    assert tir.analysis.calculate_allocated_bytes(allocates) == {"main": {"global": 24}}
    k = te.reduce_axis((0, 8), "k")
    data = te.placeholder((4, 8), name="data")
    total = te.compute((4,), lambda i: te.sum(data[i, k], axis=k), name="total")
    assert tir.analysis.find_anchor_block(te.create_prim_func([data, total])).name_hint == "total"


# ---- Bounds and maps of iterators


def test_bounds():
    from iropt import arith

    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    analyzer = Analyzer()
    assert not analyzer.can_prove(x >= 0)
    analyzer.bind(x, tir.Range(0, 8))
    bound = analyzer.const_int_bound(x * 4 + 1)
    assert (bound.min_value, bound.max_value) == (1, 29)
    assert analyzer.const_int_bound(tir.Var("z", "int64")).max_value == arith.ConstIntBound.POS_INF
    found = analyzer.modular_set(y * 4 + 1)
    assert (found.coeff, found.base) == (4, 1)
    analyzer.update(y, arith.ModularSet(6, 2))
    assert analyzer.modular_set(y + 1).base == 3
    analyzer.update(y, arith.ConstIntBound(0, 9))
    assert analyzer.can_prove_less(y, 10) and analyzer.can_prove_greater_equal(y, 0)
    values = Analyzer().int_set(x + y, {x: arith.IntervalSet(0, 10)})
    assert Analyzer().can_prove_equal(values.max_value, y + 10)
    assert Analyzer().int_set(x, {x: arith.IntervalSet(arith.neg_inf(), 3)}).min_value is arith.neg_inf()


def test_iter_maps():
    from iropt import arith

    i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
    iters = {i: tir.Range(0, 4), j: tir.Range(0, 8)}
    found = arith.detect_iter_map([i * 8 + j], iters)
    # Several digits are one of an iterator that is their sum.
    digit, = found.indices[0].args
    assert len(found.indices) == 1 and (int(digit.extent), int(digit.scale)) == (32, 1)
    assert [int(arg.scale) for arg in digit.source.source.args] == [8, 1]
    fused = arith.detect_iter_map([i * 16 + j * 2 + 5], iters).indices[0]
    assert int(fused.args[0].scale) == 2 and int(fused.base) == 5
    ir.assert_structural_equal(arith.normalize_iter_map_to_expr(fused), (i * 8 + j) * 2 + 5)
    place = tir.Var("place", "int32")
    back = arith.inverse_affine_iter_map(found.indices, [place])
    assert Analyzer().can_prove_equal(back[j], place % 8)
    ir.assert_structural_equal(arith.normalize_iter_map_to_expr(found.indices[0]), i * 8 + j)
    assert not arith.detect_iter_map([i * 9 + j], iters).indices
    assert not arith.detect_iter_map([i * 7 + j], iters, check_level="bijective").indices
    simple = arith.iter_map_simplify([(i * 8 + j) // 4 * 4 + j % 4], iters)
    assert Analyzer().can_prove_equal(simple[0], i * 8 + j)
    whole = arith.normalize_to_iter_sum(j + i * 16 + 3, iters)
    assert int(whole.base) == 3 and [int(arg.scale) for arg in whole.args] == [16, 1]
    a, b = tir.Var("a", "int32"), tir.Var("b", "int32")
    maps = arith.detect_iter_map([i, j], iters).indices
    back = arith.inverse_affine_iter_map(maps, [a, b])
    assert Analyzer().can_prove_equal(back[i], a) and Analyzer().can_prove_equal(back[j], b)
    parts = arith.subspace_divide([i * 8 + j], iters, [j])
    assert int(parts[0][0].extent) == 4 and int(parts[0][1].extent) == 8


def test_variables_of_functions_in_types():
    @T.prim_func
    def func(a: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 4))
        A[0, 0] = T.float32(0)

    buffer = func.buffer_map[func.params[0]]
    info = relax.TensorStructInfo(buffer.shape, "float32")
    assert info.shape.values[0] == buffer.shape[0] and hash(info.shape.values[0]) == hash(buffer.shape[0])
    assert {buffer.shape[0]: 1}[relax.TensorStructInfo([buffer.shape[0]], "float32").shape.values[0]] == 1
    m = tir.Var("m", "int64")
    ir.assert_structural_equal(tir.stmt_functor.substitute(info.shape.values[0] + 1, {buffer.shape[0]: m}), m + 1)


def test_functions_for_values_of_parameters():
    @T.prim_func
    def func(a: T.handle, b: T.handle, n: T.int32):
        m = T.int32()
        A = T.match_buffer(a, (m, n))
        B = T.match_buffer(b, (m, n))
        for i, j in T.grid(m, n - 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj + 1]

    a, _, n = func.params
    assert func.specialize({}).same_as(func)
    both = func.specialize({a: tir.decl_buffer((4, 8))})
    assert len(both.params) == 2 and "T.grid(4, 7)" in both.script()
    assert [int(dim) for dim in both.buffer_map[both.params[1]].shape] == [4, 8]
    assert "T.grid(m, 7)" in func.specialize({n: 8}).script()
    for wrong, message in (({tir.Var("x", "int32"): 1}, "not a parameter"), ({a: 1}, "expected a buffer"),
                           ({a: tir.decl_buffer((4,))}, "dimensions")):
        with pytest.raises(ValueError, match=message):
            func.specialize(wrong)


def test_constants_are_of_their_dtypes():
    for value, dtype in ((256, "uint8"), (-1, "uint32"), (2**31, "int32"), (1e5, "float16"), (1e39, "float32")):
        with pytest.raises(iropt.Error, match=dtype):
            tir.const(value, dtype)
    assert tir.const(2**31).dtype == "int64" and tir.const(1e39).dtype == "float64"
    assert tir.convert(2**40).value == 2**40
    with pytest.raises(iropt.Error, match="of a float"):
        tir.FloatImm("int32", 1.0)


def test_passes_are_values_of_options():
    seen = []

    @tir.transform.prim_func_pass(opt_level=0)
    def note(func, mod, ctx):
        seen.append(func)
        return func

    from iropt import _tvm as tvm

    @T.prim_func
    def func(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(1)

    with ir.transform.PassContext(config={"tir.add_lower_pass": [(0, note)]}):
        tvm.lower(func)
    assert len(seen) == 1


def test_memories_are_described_by_registered_functions():
    from iropt import packed

    @packed.register_func("tvm.info.mem.global.special", override=True)
    def special():
        return ir.make_node("MemoryInfo", unit_bits=8, max_simd_bits=32, max_num_bits=128,
                            head_address=tir.call_extern("handle", "begin"))

    @T.prim_func
    def func():
        p = T.allocate([16], "float32", scope="global.special")
        T.evaluate(p)

    assert 'call_extern("handle", "begin")' in tir.transform.LowerDeviceStorageAccessInfo()(iropt.IRModule({"main": func})).script()
    packed.remove_global_func("tvm.info.mem.global.special")


def test_attributes_of_own_operators():
    @ir.register_op_attr("tir.own_operator", "")
    def own(x):
        return x

    assert own(1) == 1
    with pytest.raises(NotImplementedError, match="relax.add"):
        ir.register_op_attr("relax.add", "FPurity", own)


def test_substitution_keeps_buffers_one():
    n = tir.Var("n", "int32")
    buffer = tir.decl_buffer((n,), "float32", "A")
    stmt = tir.BufferStore(buffer, tir.BufferLoad(buffer, [0]) + tir.BufferLoad(buffer, [n - 1]), [0])
    new = tir.stmt_functor.substitute(stmt, {n: tir.const(8)})
    assert new.buffer.shape[0].value == 8 and new.value.a.buffer.same_as(new.buffer) and new.value.b.buffer.same_as(new.buffer)


def test_texts_with_declarations():
    a, b = tir.Var("a", "int32"), tir.SizeVar("b", "int32")
    buffer = tir.decl_buffer((128, b), "float16", "A")
    declared = "b = T.int32(is_size_var=True)\nA = T.Buffer((128, b), \"float16\")\n"
    assert (a + b).script(verbose_expr=True) == "a = T.int32()\nb = T.int32(is_size_var=True)\na + b"
    call = tir.call_extern("int32", "f", a)
    assert call.script(verbose_expr=True) == "a = T.int32()\n" + call.script()
    assert (a + b).script() == "a + b" and str(tir.Range(2, 10)) == "I.Range(2, 10)"
    assert buffer.script(verbose_expr=True) == declared + "A" and buffer[4, 1].script(verbose_expr=True) == declared + "A[4, 1]"
    assert buffer[0:4, 1].script(verbose_expr=True) == declared + "A[0:4, 1]"
    assert tir.MatchBufferRegion(tir.decl_buffer((4,), name="B"), buffer[0:4, 1]).script() == "B = T.match_buffer(A[0:4, 1], (4,))"
    assert tir.IterVar((0, 8), a, tir.IterVar.CommReduce).script(verbose_expr=True) == (
        'a = T.int32()\nT.iter_var(a, T.Range(0, 8), "CommReduce", "")')
    combiner = tir.comm_reducer(lambda x, y: x + y, lambda dtype: tir.const(0, dtype))(a, tir.IterVar((0, 8), b, 2)).combiner
    assert combiner.script() == "T.comm_reducer(lambda x, y: x + y, [0])"


def test_types_of_variables_are_equal_by_value():
    pointer = ir.PointerType(ir.PrimType("int32"), "global")
    assert pointer == ir.PointerType(ir.PrimType("int32")) and pointer != ir.PointerType(ir.PrimType("int32"), "local")
    assert len({pointer, ir.PointerType(ir.PrimType("int32"))}) == 1 and pointer.script() == 'T.handle("int32", "global")'
    assert ir.TupleType([ir.PrimType("float32"), pointer]).script() == 'T.Tuple(T.float32, T.handle("int32", "global"))'


def test_layouts_of_data():
    layout = tir.layout("NCHW16c")
    assert (layout.factor_of("C"), layout.factor_of("N"), layout.index_of("c"), layout.index_of("O")) == (16, -1, 4, -1)
    assert layout[-1] == "c" and "H" in layout and tir.layout("NC", dtype="int64").axes[1].dom.extent.dtype == "int64"
    both = tir.bijective_layout("NCHW", "NHWC4c")
    assert [int(dim) for dim in both.forward_shape((1, 10, 7, 5))] == [1, 7, 5, 3, 4]
    assert [int(dim) for dim in both.backward_shape((1, 7, 5, 3, 4))] == [1, 12, 7, 5]
    for index in numpy.ndindex(1, 12, 3, 2):
        there = [int(item) for item in both.forward_index(list(index))]
        assert there[3] == index[1] // 4 and there[4] == index[1] % 4
        assert tuple(int(item) for item in both.backward_index(there)) == index
    assert tir.bijective_layout("NCHW", "ABCD") is None and tir.bijective_layout("", "") is None
    for name in ("NN", "NC16", "N4c", "NCc"):
        with pytest.raises(ValueError, match="layout"):
            tir.layout(name)
    with pytest.raises(TypeError):
        tir.layout("NC", dtype="float32")


def test_targets_have_targets():
    for host in ("llvm", {"kind": "llvm"}, Target("llvm")):
        assert Target("cuda", host).host.kind.name == "llvm"
    both = Target({"kind": "composite", "host": {"kind": "llvm"}, "devices": ["cuda", "opencl"]})
    assert [device.kind.name for device in both.attrs["devices"]] == ["cuda", "opencl"]
    changed = Target({"tag": "nvidia/nvidia-a100", "l2_cache_size_bytes": 12345})
    assert changed.attrs["arch"] == "sm_80" and changed.attrs["l2_cache_size_bytes"] == 12345
    assert changed.tag == "nvidia/nvidia-a100"
    assert all(Target(kind).kind.name == kind for kind in Target.list_kinds())


def test_devices_by_keywords_and_targets():
    from iropt.runtime import device, device_from_target

    assert device("cuda", 1) == device(dev_type="cuda", dev_id=1) == device(device_type="cuda", index=1) == device("cuda:1")
    assert device("llvm").kind == "cpu" and device("cl").kind == "opencl" and device(2).kind == "cuda" and device("sdaccel").device_type == 6
    assert device_from_target("llvm") == device("cpu") and device_from_target("cuda", 1) == device("cuda", 1)
    assert device_from_target({"kind": "vulkan"}).kind == "vulkan"


def test_names_that_differ():
    from iropt.ir.supply import UniqueNameSupply

    names = UniqueNameSupply("my")
    assert [names.fresh_name("f"), names.fresh_name("f"), names.fresh_name("f", add_prefix=False)] == ["my_f", "my_f_1", "f"]
    assert names.reserve_name("g") == "my_g" and names.contains_name("g") and not names.contains_name("g", add_prefix=False)
    assert names.fresh_name("g", add_underscore=False) == "my_g1" and names.fresh_name("a.b") == "my_a_b"


def test_attributes_are_fields():
    attrs = iropt.ir.make_node("ir.DictAttrs", x=1, y=[2, 3])
    assert attrs.x == 1 and list(attrs.y) == [2, 3] and attrs.get("x") == 1 and not hasattr(attrs, "z")
