"""Nodes: fields, building, equality, visitors and mutators."""
import inspect
import re

import numpy
import pytest

import iropt
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


def test_none_for_an_operand_is_a_type_error():
    one, stmt = tir.IntImm("int32", 1), tir.Evaluate(0)
    for cls in (tir.Add, tir.And, tir.Div, tir.EQ, tir.FloorDiv, tir.FloorMod, tir.GE, tir.GT, tir.LE, tir.LT, tir.Max, tir.Min,
                tir.Mod, tir.Mul, tir.NE, tir.Or, tir.Sub):
        for operands in ((None, None), (one, None), (None, one)):
            with pytest.raises(TypeError):
                cls(*operands)
    x = relax.Var("x", R.Tensor((2,), "float32"))
    for make in (lambda: tir.AssertStmt(None, None, None), lambda: tir.AttrStmt(None, "key", None, None), lambda: tir.Broadcast(None, 4),
                 lambda: tir.Cast("int32", None), lambda: tir.DeclBuffer(None, None), lambda: tir.Evaluate(None),
                 lambda: tir.IfThenElse(None, stmt, None), lambda: tir.IfThenElse(one < 2, None, None), lambda: tir.Not(None),
                 lambda: tir.Let(None, None, None), lambda: tir.Ramp(None, 1, 4), lambda: tir.Select(None, None, None),
                 lambda: tir.While(None, None), lambda: tir.call_packed(None), lambda: tir.reinterpret("int32", None),
                 lambda: tir.stmt_seq(None), lambda: tir.SeqStmt([stmt, None]), lambda: relax.If(None, None, None),
                 lambda: relax.VarBinding(None, None), lambda: relax.MatchCast(None, None, None), lambda: relax.Tuple([x, None]),
                 lambda: relax.Call(None, []), lambda: relax.TupleStructInfo([None])):
        with pytest.raises(TypeError, match="None"):
            make()
    # What a node may lack.
    assert tir.IfThenElse(one < 2, stmt, None).else_case is None


def test_none_for_all_arguments_is_a_type_error():
    handles = {"BlockScope", "StmtSRef"}  # of schedules
    compares = {"EqualOp", "NotEqualOp"}  # x == None is false
    classes = {}
    for module in (tir, relax, ir):
        for name, cls in vars(module).items():
            if inspect.isclass(cls) and not name.startswith("_") and cls.__module__.startswith("iropt"):
                classes[cls] = name
    tried = 0
    for cls, name in classes.items():
        try:
            parameters = inspect.signature(cls).parameters.values()
        except ValueError:
            continue
        required = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if required and name not in handles | compares:
            with pytest.raises(TypeError):
                cls(*[None] * len(required))
            tried += 1
    assert tried > 80


def test_what_is_not_a_node_is_a_type_error():
    from iropt import _iropt

    with pytest.raises(TypeError, match="expected a node, not an object of type tuple"):
        _iropt.place((1, 2))


def test_objects_of_the_library_are_not_pickled(module):
    import pickle

    from iropt import _iropt

    for value in (_iropt.PythonInstrument("x", object()), module._module):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="cannot pickle"):
                pickle.dumps(value, protocol)


def test_iteration_ends(module):
    x = relax.Var("x", R.Tuple(R.Tensor((2,), "float32"), R.Tensor((3,), "float32")))
    assert [field.index for field in x] == [0, 1]
    first, second = x
    assert (first.index, second.index) == (0, 1)
    for value in (module["main"], relax.Var("y", R.Tensor((2,), "float32")), relax.Var("z"), tir.decl_buffer((4,)),
                  tir.ir_builder.create().allocate("int32", 4)):
        with pytest.raises(TypeError, match="not iterable"):
            list(value)
    with pytest.raises(TypeError, match="not iterable"):
        relax.Call(ir.Op.get("relax.add"), module["main"])


def test_texts_of_weights_are_short():
    np = pytest.importorskip("numpy")
    x = relax.Var("x", R.Tensor((1, 1024), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.matmul(x, relax.const(np.ones((1024, 1024), "float32")))))
    mod = builder.get()
    binding = mod["main"].body.blocks[0].bindings[0]
    for text in (repr(mod), str(mod), mod._repr_html_(), repr(mod["main"]), str(binding), repr(binding.value.args[1])):
        assert len(text) < 2000
    assert 'R.const(..., R.Tensor((1024, 1024), dtype="float32"))' in repr(binding)
    assert repr(relax.const([1.0, 2.0])) == 'R.const([1.0, 2.0], "float32")'
    # The text that script() gives can be read.
    assert ir.structural_equal(ir.IRModule.from_source(mod.script()), mod)


size = 128


def test_names_of_macros_that_are_not_hygienic():
    @T.macro(hygienic=False)
    def element(A, B):
        B[0] = A[size]

    @T.macro
    def global_element(A, B):
        B[0] = A[size]

    @T.prim_func
    def uses(A: T.Buffer((1024,), "int32"), B: T.Buffer((1,), "int32")):
        for size in range(10):
            element(A, B)
            global_element(A, B)

    @T.prim_func
    def has_none(A: T.Buffer((1024,), "int32"), B: T.Buffer((1,), "int32")):
        element(A, B)

    assert "B[0] = A[size]" in uses.script() and "B[0] = A[128]" in uses.script()
    assert "B[0] = A[128]" in has_none.script()


def test_operators_have_signatures():
    import inspect

    signature = inspect.signature(relax.op.nn.conv2d)
    assert list(signature.parameters)[:3] == ["data", "weight", "strides"]
    assert signature.parameters["groups"].default == 1 and signature.parameters["data"].default is inspect.Parameter.empty
    assert "strides : int | list[int]" in relax.op.nn.conv2d.__doc__ and "Returns" in relax.op.nn.conv2d.__doc__


def test_texts_of_targets_and_contexts():
    import iropt
    from iropt.target import Target

    target = Target({"kind": "cuda", "max_num_threads": 256})
    assert str(target).startswith("cuda -keys=cuda,gpu -arch=") and "-max_num_threads=256" in repr(target)
    assert Target(str(target)).config == target.config
    assert repr(iropt.PassContext(opt_level=3, disabled_pass=["FuseOps"])) == "PassContext(opt_level=3, disabled_pass=['FuseOps'])"


def test_scripts_of_parts_declare_what_they_use():
    n = tir.Var("n", "int64")
    x = relax.Var("x", relax.TensorStructInfo((n, 2), "float32"))
    y = relax.DataflowVar("y", relax.TensorStructInfo((n, 2), "float32"))
    z = relax.Var("z", relax.TensorStructInfo((n, 2), "float32"))
    head = 'n = T.int64()\nx: R.Tensor((n, 2), dtype="float32")\n'
    call = relax.op.sin(x)
    assert call.script() == head + "R.sin(x)"
    assert str(call) == "R.sin(x)"
    assert relax.Tuple([x, x]).script() == head + "(x, x)"
    assert relax.VarBinding(z, call).script() == head + 'z: R.Tensor((n, 2), dtype="float32") = R.sin(x)'
    block = relax.DataflowBlock([relax.VarBinding(y, call), relax.VarBinding(z, relax.op.sin(y))])
    assert block.script() == head + (
        'with R.dataflow():\n    y: R.Tensor((n, 2), dtype="float32") = R.sin(x)\n'
        '    z: R.Tensor((n, 2), dtype="float32") = R.sin(y)\n    R.output(z)')
    assert relax.SeqExpr([block], z).script() == block.script() + "\nz"
    assert x.struct_info.script() == 'n = T.int64()\nR.Tensor((n, 2), dtype="float32")'
    assert str(x.struct_info) == 'R.Tensor((n, 2), dtype="float32")'


@pytest.mark.parametrize("value", [
    relax.TensorStructInfo((tir.Var("n", "int64"), 2), "float16"), relax.TensorStructInfo(ndim=3), relax.ShapeStructInfo(ndim=2),
    relax.TupleStructInfo([relax.ObjectStructInfo(), relax.PrimStructInfo("int64")]),
    relax.FuncStructInfo([relax.ShapeStructInfo((1, 2))], relax.ObjectStructInfo()), relax.ExternFunc("f"),
    relax.const([1.5, -2.0]), relax.PrimValue(tir.Var("n", "int64") + 1), relax.StringImm("text"),
    relax.VarBinding(relax.Var("x", relax.PrimStructInfo("int64")), relax.PrimValue(3)), tir.Var("i", "int32") * 2 + 1,
    ir.VDevice("llvm", 1, "global"),
])
def test_nodes_are_saved_and_read(value):
    ir.assert_structural_equal(ir.load_json(ir.save_json(value)), value, map_free_vars=True)


def test_saved_lists_share_their_variables():
    n = tir.Var("n", "int64")
    first, second = ir.load_json(ir.save_json([n, n + 1]))
    assert second.a.same_as(first)


@pytest.mark.parametrize("version", ["0.18", "0.27"])
def test_metadata_of_a_printed_module_is_read(version):
    value = numpy.arange(64, dtype="float32").reshape(8, 8)
    text = iropt.from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 8), "float32")) -> R.Tensor((8, 8), "float32"):
        return x
""")
    text["main"] = relax.Function(text["main"].params, relax.op.add(text["main"].params[0], relax.const(value)))
    printed = text.script(show_meta=True, version=version)
    quoted = re.search(r'load_json\("""(.*?)"""\)', printed, re.DOTALL).group(1)
    metadata = ir.load_json(quoted.replace('\\"', '"').replace("\\\\", "\\"))
    assert list(metadata) == ["relax.expr.Constant"]
    assert (metadata["relax.expr.Constant"][0].data.numpy() == value).all()


def test_texts_that_are_not_saved_values_are_refused():
    for text in ('{"root": 0, "nodes": [{"type_key": "IntImm"}]}', '{"nodes": []}', "[1]"):
        with pytest.raises(ValueError, match="written neither by save_json"):
            ir.load_json(text)


def test_attributes_are_not_saved_silently():
    x = relax.Var("x", relax.TensorStructInfo((1, 1, 2, 2), "float32"))
    with pytest.raises(NotImplementedError, match="Conv2DAttrs"):
        ir.save_json(relax.op.nn.conv2d(x, x))


def test_types_without_shapes():
    x = relax.Var("x", relax.TensorStructInfo((2, 3), "float16"))
    assert x.checked_type == relax.TensorStructInfo(ndim=2, dtype="float16")
    assert relax.ShapeStructInfo(ndim=2).values is None
    assert relax.FuncStructInfo.opaque_func(ret=relax.ObjectStructInfo()).params is None
    with pytest.raises(TypeError) as caught:
        relax.PrimStructInfo([1])
    assert isinstance(caught.value, ir.base.Error)
