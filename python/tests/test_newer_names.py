"""Names that newer versions of TVM have."""
import subprocess
import sys
import tempfile

import numpy
import pytest

from iropt import ir, relax, runtime, tir
from iropt.arith import Analyzer
from iropt.script import relax as R
from iropt.tir import s_tir_transform, tirx_transform


def test_types():
    info = relax.TensorType((2, 3), "float32")
    x = relax.Var("x", ty=info)
    assert relax.TensorType is relax.TensorStructInfo and isinstance(relax.AnyType(), relax.ObjectStructInfo)
    assert ir.structural_equal(x.ty, info) and isinstance(x.ty, relax.Type)


def test_keywords():
    x = relax.Var("x", R.Tensor((2, 3), "float32"))
    out = R.Tensor((2, 3), "float32")
    assert ir.structural_equal(relax.call_dps_packed("f", [x], out_ty=out), relax.call_dps_packed("f", [x], out_sinfo=out))
    assert ir.structural_equal(relax.op.call_tir(ir.GlobalVar("f"), [x], out_ty=out),
                               relax.op.call_tir(ir.GlobalVar("f"), [x], out_sinfo=out))
    call = relax.call_pure_packed("f", x, ty_args=[out])
    assert ir.structural_equal(call, relax.call_pure_packed("f", x, sinfo_args=[out]))
    assert list(relax.Call(relax.extern("f"), [x], ty_args=[out]).ty_args) == [out]


def test_fields(module):
    assert module["main"].ret_ty == module["main"].ret_struct_info
    assert relax.prim_value(3).value == 3


def test_schedules(loops):
    assert tir.SBlock is tir.Block and tir.schedule.SBlockRV is tir.schedule.BlockRV
    assert tir.Schedule.get_sblock is tir.Schedule.get_block


@pytest.mark.parametrize("module, name", [(tirx_transform, "FlattenBuffer"), (s_tir_transform, "LowerCrossThreadReduction"),
                                          (tirx_transform, "CommonSubexprElim"), (relax.transform, "UpdateParamType")])
def test_passes(module, name):
    made = getattr(module, name)
    assert made.__name__ == name and made.__doc__


def test_passes_do_what_they_do_in_their_version(loops):
    """Of FlattenBuffer the newer one declares the buffers that it makes."""
    assert "decl_buffer" not in str(tir.transform.FlattenBuffer()(loops))
    assert "decl_buffer" in str(tirx_transform.FlattenBuffer()(loops))


def test_short_floats_have_the_codes_of_dlpack():
    from iropt._tvm import DataType, DataTypeCode

    dtype = DataType("float8_e4m3fnx4")
    assert (dtype.type_code, dtype.bits, dtype.lanes, dtype.itemsize()) == (DataTypeCode.Float8E4M3FN, 8, 4, 4)
    assert DataType("float8_e5m2").type_code == DataTypeCode.Float8E5M2 and DataType("float4_e2m1fn").bits == 4
    with pytest.raises(ValueError, match="float8_nothing"):
        DataType("float8_nothing")


def test_dtype_of_a_tensor_is_a_type_with_a_dtype():
    info = relax.TensorStructInfo((2,), "float16")
    assert info.dtype == "float16" and info.dtype.dtype == "float16" and isinstance(info.dtype, str)


def test_analyses():
    small, large = relax.TensorStructInfo((2, 3), "float32"), relax.TensorStructInfo((4, 3), "float32")
    assert relax.analysis.type_lca(small, large) == relax.TensorStructInfo(dtype="float32", ndim=2)
    x, y, z = (relax.Var(name, small) for name in "xyz")
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(z, relax.op.add(x, x)), relax.VarBinding(y, z)])], x)
    assert [var.name_hint for var in relax.analysis.used_vars(relax.Function([x], body, small))] == ["x", "z"]
    assert tir.analysis.get_sblock_access_region is tir.analysis.get_block_access_region


def test_variables_and_shapes():
    assert tir.Var("x", ty=ir.PrimType("int64")).dtype == "int64"
    assert tir.Var("p", ty=ir.PointerType(ir.PrimType("float32"))).dtype == "handle"
    assert tir.is_buffer_var(tir.decl_buffer((2,))) and not tir.is_buffer_var(tir.Var("x"))
    assert relax.expr.make_shape([2, 3]) == [2, 3]
    with pytest.raises(TypeError, match="int"):
        relax.expr.make_shape(2)
    # The type of a scalar is the same at both levels.
    ir.assert_structural_equal(relax.PrimStructInfo("float32"), ir.PrimType("float32"))
    with pytest.raises(ValueError):
        ir.assert_structural_equal(relax.PrimStructInfo("float32"), ir.PrimType("float16"))


def test_views_of_parts_of_tensors():
    tensor = runtime.tensor(numpy.arange(6, dtype="float32"))
    assert tensor._create_view((2, 3)).numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensor._create_view((2,), "float32", relative_byte_offset=8).numpy().tolist() == [2, 3]
    assert tensor._create_view((4,), "uint8", relative_byte_offset=20).numpy().view("float32").tolist() == [5]
    with pytest.raises(ValueError, match="24"):
        tensor._create_view((2,), "float32", relative_byte_offset=20)


def test_index_maps_take_an_analyzer():
    index_map, analyzer = tir.IndexMap.from_func(lambda i: [i // 4, i % 4]), Analyzer()
    n = tir.Var("n", "int64")
    analyzer.bind(n, ir.Range(0, 4))
    assert [str(index) for index in index_map.map_indices([n], analyzer=analyzer)] == ["T.int64(0)", "n"]
    assert index_map.is_equivalent_to(index_map, analyzer=analyzer)
    assert index_map.inverse([16], analyzer=analyzer).is_equivalent_to(index_map.non_surjective_inverse([16], analyzer=analyzer)[0])


def test_instructions_and_attributes_of_operators():
    assert tir.schedule.InstructionKind.get("GetSBlock") is tir.schedule.InstructionKind.get("GetBlock")
    ir.register_op_attr("test_newer.same", "FInferType", lambda call, builder: call.args[0].ty)
    op = ir.Op.get("test_newer.same")
    assert op.get_attr("FInferStructInfo") is op.get_attr("FInferType") is not None
    op.reset_attr("FInferType")
    assert op.get_attr("FInferStructInfo") is None


def test_functions_are_marked_as_their_version_does():
    program = """
import sys, tvm
from tvm.script import ir as I, {tir} as T
from {module} import dlight

@I.ir_module{arguments}
class Module:
    @T.prim_func{arguments}
    def main(A: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.{block}("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = 1.0

with tvm.target.Target("cuda"):
    mod = dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(Module)
print(type(mod["main"].attrs["tir.is_scheduled"]).__name__)
"""
    for version, names, expected in (
            ("0.18", {"tir": "tir", "module": "tvm", "arguments": "", "block": "block"}, "int"),
            ("0.27", {"tir": "tirx", "module": "tvm.s_tir", "arguments": "(s_tir=True)", "block": "sblock"}, "bool")):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(program.format(**names))
            file.flush()
            done = subprocess.run([sys.executable, "-m", "iropt.as_tvm", "--tvm-version", version, file.name], check=True,
                                  capture_output=True, text=True)
        assert done.stdout.split() == [expected]


def test_machines_have_no_devices():
    from iropt.testing import env

    assert not env.has_cuda() and not env.has_cuda_compute(9) and not env.has_multi_gpu(count=2)


def test_expressions_of_any_level():
    """`Expr` of newer versions: isinstance, where older ones have PrimExpr and RelaxExpr."""
    assert tir.Expr is ir.Expr
    assert isinstance(tir.IntImm("int64", 1), ir.Expr)
    assert isinstance(relax.Var("x"), ir.Expr) and isinstance(ir.GlobalVar("f"), ir.Expr)
    assert not isinstance(ir.PrimType("int64"), ir.Expr) and not isinstance(1, ir.Expr)


def test_variables_and_calls_of_both_levels_have_one_class():
    x, y, p = ir.Var("x", "int32"), ir.Var("y", relax.TensorStructInfo((2,), "float32")), ir.Var("p", "handle")
    assert isinstance(x, tir.Var) and isinstance(y, relax.Var) and p.dtype == "handle"
    assert isinstance(x, ir.Var) and isinstance(y, ir.Var) and not isinstance(x + 1, ir.Var)
    assert isinstance(ir.Var("z", ir.PrimType("int64")), tir.Var) and ir.Var(name_hint="n").name_hint == "n"
    assert ir.is_prim_var(x) and not ir.is_prim_var(p) and not ir.is_prim_var(y) and ir.is_prim_expr(x + 1)
    with pytest.raises(TypeError, match="not both"):
        ir.Var("a", "int32", name_hint="b")
    call = ir.Call("relax.add", [y, y])
    assert isinstance(call, relax.Call) and isinstance(call, ir.Call) and not isinstance(call, ir.Var)
    exp = ir.Call("tirx.exp", [tir.const(1.0, "float32")], ret_ty="float32")
    assert isinstance(exp, tir.Call) and exp.dtype == "float32" and exp.op.name == "tir.exp" and isinstance(exp, ir.Call)


def test_bindings_and_returns_are_statements():
    x = tir.Var("x", "int32")
    body = tir.SeqStmt([tir.Evaluate(1), tir.Bind(x, tir.const(3, "int32")), tir.Evaluate(x + 1), tir.Return(x)])
    assert isinstance(body, tir.SeqStmt) and isinstance(body.seq[1], tir.LetStmt) and body.seq[1].var.same_as(x)
    inner = body.seq[1].body
    assert isinstance(inner.seq[1], tir.Return) and not isinstance(inner.seq[0], tir.Return)
    alone = tir.SeqStmt([tir.Bind(x, tir.const(3, "int32")), tir.Evaluate(x)])
    assert isinstance(alone, tir.LetStmt)
    assert isinstance(tir.stmt_seq(tir.Bind(x, tir.const(3, "int32"))).body, tir.Evaluate)
