"""Types and names that a block builder and modules give."""
import pytest

from iropt import Error, ir, relax, tir
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


def test_variables_of_the_program_are_those_of_the_module():
    bb = relax.BlockBuilder()
    n = tir.Var("n", "int64")
    x = relax.Var("x", R.Tensor((n, 3), "float32"))
    with bb.function("f", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.add(x, x))
            out = bb.emit_output(relax.op.multiply(y, x))
        bb.emit_func_output(out)
    func = bb.get()["f"]
    bindings = func.body.blocks[0].bindings
    assert func.params[0] == x and func.params[0].same_as(x) and hash(func.params[0]) == hash(x)
    assert bindings[0].var.same_as(y) and bindings[1].var.same_as(out) and bindings[0].value.args[0].same_as(x)
    assert func.params[0].struct_info.shape[0].same_as(n)
    assert {x, y, out} == set(relax.analysis.bound_vars(func))
    # A copy has variables of its own.
    other = relax.utils.copy_with_new_vars(func)
    assert other.params[0] != x
    ir.assert_structural_equal(other, func)


def test_buffers_of_the_program_are_those_of_the_module():
    data = tir.decl_buffer((4,), "float32", "A")
    param = tir.Var("a", "handle")
    func = tir.PrimFunc([param], tir.Evaluate(tir.BufferLoad(data, [0])), buffer_map={param: data})
    stored = ir.IRModule({"f": func})["f"]
    assert stored.params[0].same_as(param) and stored.buffer_map[stored.params[0]].same_as(data)


def test_each_error_of_a_builder_is_raised():
    bb = relax.BlockBuilder()
    x, y = relax.Var("x", R.Tensor((2, 3), "float32")), relax.Var("y", R.Tensor((4,), "float32"))
    messages = []
    for call in (relax.op.add(x, y), relax.op.matmul(x, y), relax.op.add(x, y)):
        with pytest.raises(Error) as raised:
            bb.normalize(call)
        messages.append(str(raised.value))
    assert "R.add" in messages[0] and "R.matmul" in messages[1] and "R.add" not in messages[1]
    assert bb.normalize(relax.op.add(x, x)).struct_info == R.Tensor((2, 3), "float32")


def test_functions_get_parameters_and_results_once():
    x = relax.Var("x", R.Tensor((2, 3), "float32"))
    for given, later, message in (([x], [x], "its parameters already"), (None, None, "has no parameters")):
        bb = relax.BlockBuilder()
        with pytest.raises(RuntimeError, match=message):
            with bb.function("f", given):
                bb.emit_func_output(bb.emit(relax.op.add(x, x)), later)
    bb = relax.BlockBuilder()
    with pytest.raises(RuntimeError, match="its result already"):
        with bb.function("f", [x]):
            bb.emit_func_output(x)
            bb.emit_func_output(x)


def test_functions_of_indices_are_arguments_of_operators():
    x = relax.Var("x", R.Tensor((8,), "float32"))
    call = relax.op.layout_transform(x, index_map=lambda i: (i // 4, i % 4))
    assert call.struct_info == R.Tensor((2, 4), "float32")
