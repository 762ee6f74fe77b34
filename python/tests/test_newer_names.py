"""Names that newer versions of TVM have."""
import pytest

from iropt import ir, relax, tir
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
