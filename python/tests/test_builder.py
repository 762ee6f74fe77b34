"""Types and names that a block builder and modules give."""
import pytest

from iropt import ir, relax
from iropt.script import relax as R


def test_output_of_a_function_is_its_name():
    bb = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((2, 3), "float32"))
    with bb.function("f", [x]):
        name = bb.emit_func_output(relax.op.add(x, x))
    assert name.name_hint == "f"
    assert isinstance(bb.get()[name], relax.Function)
    assert isinstance(name.struct_info, relax.FuncStructInfo)


def test_function_without_an_output():
    bb = relax.BlockBuilder()
    with pytest.raises(RuntimeError, match="emit_func_output must be called"):
        with bb.function("f", []):
            pass


def test_names_know_the_types_of_functions(module):
    name = module.get_global_var("main")
    assert ir.structural_equal(name.struct_info, module["main"].struct_info)
    assert name == ir.GlobalVar("main")
    with pytest.raises(ValueError, match="the type of 'main' is that of a function of a module"):
        ir.GlobalVar("main").struct_info


def test_type_of_a_call_that_is_not_bound():
    x = relax.Var("x", R.Tensor((2, 3), "float32"))
    call = relax.op.add(relax.op.nn.relu(x), x)
    assert call.struct_info.dtype == "float32" and list(call.ty.shape) == [2, 3]
