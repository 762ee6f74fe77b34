"""Nodes: fields, building, equality, visitors and mutators."""
import pytest

from iropt import arith, ir, relax, te, tir
from iropt.script import relax as R
from iropt.script import tir as T


def test_fields_and_kinds(module):
    func = module["main"]
    assert isinstance(func, relax.Function) and isinstance(func, ir.BaseFunc)
    block = func.body.blocks[0]
    assert isinstance(block, relax.DataflowBlock) and len(block.bindings) == 3
    binding = block.bindings[0]
    assert binding.var.name_hint == "a" and binding.value.op == ir.Op.get("relax.add")
    with pytest.raises(AttributeError):
        binding.var = None


def test_types():
    n = tir.Var("n", "int64")
    info = R.Tensor((n, 4), "float32")
    assert info == relax.TensorStructInfo([n, 4], "float32") and info != R.Tensor((n, 5), "float32")
    assert hash(info) == hash(relax.TensorStructInfo([n, 4], "float32"))
    assert str(R.Tuple(info, R.Shape([1, 2]))) == 'R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Shape([1, 2]))'
    assert R.Tensor(ndim=2).ndim == 2 and R.Tensor(ndim=2).shape is None


def test_arithmetic_folds():
    i = tir.Var("i", "int32")
    assert str(i + 1) == "i + 1" and isinstance(i * 0, tir.IntImm)
    assert (tir.const(2, "int64") + 3).value == 5
    assert bool(i == i) and not bool(i == tir.Var("i", "int32"))
    analyzer = arith.Analyzer()
    assert str(analyzer.simplify(i + i - i)) == "i"
    analyzer.bind(i, tir.Range(0, 8))
    assert analyzer.can_prove(i < 8) and not analyzer.can_prove(i < 7)


def test_block_builder():
    n = tir.Var("n", "int64")
    x, y = (relax.Var(name, R.Tensor((n, 4), "float32")) for name in "xy")
    bb = relax.BlockBuilder()
    with bb.function("main", [x, y]):
        with bb.dataflow():
            lv = bb.emit(relax.op.add(x, y))
            gv = bb.emit_output(relax.op.nn.relu(lv))
        bb.emit_func_output(gv)
    module = bb.get()
    assert relax.analysis.well_formed(module)
    assert module["main"].ret_struct_info.dtype == "float32"
    assert isinstance(lv, relax.DataflowVar) and not isinstance(gv, relax.DataflowVar)


def test_prim_func_is_built():
    buffers = [tir.decl_buffer([16], "float32", name) for name in "AB"]
    i = te.var("i")
    loop = tir.For(i, 0, 16, tir.ForKind.SERIAL, tir.BufferStore(buffers[1], buffers[0][i] * 2.0, [i]))
    built = ir.IRModule({"main": tir.PrimFunc(buffers, loop)})

    @T.prim_func(private=True)
    def expected(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            B[i] = A[i] * T.float32(2)

    ir.assert_structural_equal(built["main"], expected)


def test_visitor_sees_all(module):
    class Visitor(relax.PyExprVisitor):
        def __init__(self):
            self.calls = []

        def visit_call_(self, op):
            self.calls.append(op.op.name)
            super().visit_call_(op)

    visitor = Visitor()
    visitor.visit_expr(module["main"])
    assert visitor.calls == ["relax.add", "relax.add", "relax.multiply"]


def test_mutator_rewrites(module):
    class Mutator(relax.PyExprMutator):
        def visit_call_(self, op):
            op = self.visit_expr_post_order(op)
            return relax.op.subtract(*op.args) if op.op == ir.Op.get("relax.add") else op

    changed = ir.IRModule({"main": Mutator().visit_expr(module["main"])})
    assert relax.analysis.well_formed(changed)
    text = changed.script()
    assert text.count("R.subtract") == 2 and "R.add" not in text
    unchanged = relax.PyExprMutator().visit_expr(module["main"])
    assert unchanged.same_as(module["main"])


def test_variables(module):
    func = module["main"]
    assert not relax.analysis.free_vars(func)
    assert [var.name for var in relax.analysis.bound_vars(func)] == ["x", "a", "b", "gv"] or len(
        relax.analysis.bound_vars(func)) == 4
    binding = func.body.blocks[0].bindings[2]
    assert {var.name for var in relax.analysis.free_vars(binding.value)} == {"a", "b"}


def test_operators_by_name():
    x = relax.Var("x", R.Tensor((1, 3, 8, 8), "float32"))
    w = relax.Var("w", R.Tensor((4, 3, 3, 3), "float32"))
    call = relax.op.nn.conv2d(x, w, strides=2, padding=1)
    assert list(call.attrs.strides) == [2, 2] and call.attrs.data_layout == "NCHW"
    with pytest.raises(AttributeError, match="no operator 'nn.conv2e'"):
        relax.op.nn.conv2e


def test_macro_and_functions_in_scripts():
    @T.macro
    def store(buffer, index, value):
        buffer[index] = value

    def twice(value):
        return value + value

    @T.prim_func
    def func(A: T.Buffer((4,), "float32")):
        for i in range(4):
            store(A, i, twice(A[i]))

    assert "A[i] = A[i] + A[i]" in func.script()
