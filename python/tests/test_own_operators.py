"""Operators of Relax that programs add by register_op_attr."""
import numpy as np
import pytest

import iropt
from iropt import ir, relax, transform
from iropt.script import ir as I, relax as R

NAME = "test_own.scale"


@pytest.fixture
def scale():
    def infer(call, context):
        del context
        if len(call.args) != 2:
            raise ValueError("scale has two operands")
        return call.args[0].struct_info

    def legalize(builder, call):
        return builder.emit(relax.op.multiply(call.args[0], relax.const(float(call.args[1].value.value), "float32")))

    attrs = {"FInferStructInfo": infer, "FLegalize": legalize, "FPurity": True}
    for key, value in attrs.items():
        ir.register_op_attr(NAME, key, value)
    yield ir.Op.get(NAME)
    for key in attrs:
        ir.Op.get(NAME).reset_attr(key)


def module(scale):
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 2), "float32")):
            with R.dataflow():
                y = relax.Call(scale, [x, R.prim_value(3)])
                z = R.add(y, x)
                R.output(z)
            return z

    return Module


def test_operators_of_programs_are_operators(scale):
    found = module(scale)
    binding = found["main"].body.blocks[0].bindings[0]
    assert binding.value.op == scale and str(binding.var.struct_info) == 'R.Tensor((n, 2), dtype="float32")'
    assert "R.test_own.scale(x, R.prim_value(3))" in found.script()
    assert iropt.from_source(found.script())["main"].body.blocks[0].bindings[0].value.op == scale
    unused = transform.Sequential([relax.transform.EliminateCommonSubexpr(), relax.transform.DeadCodeElimination()])(found)
    ir.assert_structural_equal(unused, found)
    lowered = relax.transform.LegalizeOps()(found)
    assert "test_own" not in lowered.script()
    x = np.array([[1, 2]], "float32")
    assert iropt.run(lowered, "main", x).numpy().tolist() == [[4, 8]]
    assert scale.get_attr("FPurity") is True
    x = relax.Var("x", R.Tensor((2,), "int8"))
    infer = ir.Op.get("relax.add").get_attr("FInferStructInfo")
    assert infer(relax.op.add(x, x), relax.BlockBuilder()) == x.struct_info


def test_rules_that_fail_are_errors(scale):
    x = relax.Var("x", R.Tensor((2,), "float32"))
    builder = relax.BlockBuilder()
    with pytest.raises(iropt.Error, match="scale has two operands"):
        with builder.function("main", [x]):
            builder.emit_func_output(builder.emit(relax.Call(scale, [x])))
    scale.reset_attr("FInferStructInfo")
    with pytest.raises(iropt.Error, match="no type rule"):
        relax.Call(scale, [x, relax.PrimValue(1)]).struct_info
    with pytest.raises(NotImplementedError, match="table of operators"):
        ir.register_op_attr("relax.add", "FPurity", False)
    with pytest.raises(AttributeError):
        ir.Op.get("test_own.unknown")


def test_calls_are_as_their_operator_wants_them(scale):
    ir.register_op_attr(NAME, "FNormalize", lambda builder, call: relax.Call(call.op, [call.args[0], relax.PrimValue(1)])
                        if call.args[1].value.value != 1 else call)
    try:
        found = module(scale)
        assert not relax.analysis.well_formed(found)
        changed = relax.PyExprMutator().visit_expr(found["main"])
        assert "scale(x, R.prim_value(1))" in changed.script()
        assert relax.analysis.well_formed(changed)
    finally:
        scale.reset_attr("FNormalize")


def test_legalization_of_an_operator_of_the_library():
    ir.register_op_attr("relax.nn.silu", "FLegalize", lambda builder, call: relax.op.nn.relu(call.args[0]))
    try:
        @I.ir_module
        class Module:
            @R.function
            def main(x: R.Tensor((2,), "float32")):
                return R.nn.silu(x)

        lowered = relax.transform.LegalizeOps()(Module)
        assert iropt.run(lowered, "main", np.array([-1, 2], "float32")).numpy().tolist() == [0, 2]
    finally:
        ir.Op.get("relax.nn.silu").reset_attr("FLegalize")
    assert iropt.run(relax.transform.LegalizeOps()(Module), "main", np.array([-1, 2], "float32")).numpy()[0] < 0


def test_legalizations_are_registered_by_the_name_of_the_program():
    from iropt.relax.legalizing import _try_convert_to_scalar_const, register_legalize

    @ir.register_op_attr("test_own.double", "FInferStructInfo")
    def infer(call, builder):
        del builder
        return call.args[0].struct_info

    ir.register_op_attr("test_own.double", "FPurity", True)
    register_legalize("test_own.double", lambda bb, call: bb.call_te(lambda x: x + x, call.args[0], primfunc_name_hint="double"))
    op = ir.Op.get("test_own.double")
    assert op.name == "test_own.double" and ir.Op.get("relax.add").name == "relax.add"
    x = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit_output(relax.Call(op, [x]))
        bb.emit_func_output(y)
    lowered = relax.transform.LegalizeOps()(bb.get())
    assert "cls.double" in lowered.script() and "test_own" not in lowered.script()
    assert _try_convert_to_scalar_const(relax.const(2, "int32")).dtype == "int32"
    assert _try_convert_to_scalar_const(relax.const(2, "int32"), python_native=True) == 2
    assert _try_convert_to_scalar_const(x) is x
