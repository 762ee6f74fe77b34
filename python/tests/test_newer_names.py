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
