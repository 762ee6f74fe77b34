"""Rewriting of dataflow blocks, inlining of functions, and instructions of the virtual machine."""
import iropt
import numpy
import pytest
from iropt import relax
from iropt.script import ir as I
from iropt.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            a = R.sin(x)
            b = R.cos(x)
            c = R.negative(a)
            R.output(c)
        return c


def bindings(func):
    return {binding.var.name_hint: str(binding.value) for block in func.body.blocks for binding in block.bindings}


def rewrite():
    func = Module["main"]
    block = func.body.blocks[0]
    return relax.DataflowBlockRewrite(block, func), {binding.var.name_hint: binding.var for binding in block.bindings}


def test_uses_are_replaced_and_unused_bindings_removed():
    change, variables = rewrite()
    with pytest.raises(iropt.Error, match="'a' is used"):
        change.remove_unused(variables["a"])
    change.replace_all_uses(variables["a"], variables["b"])
    change.remove_unused(variables["a"])
    assert bindings(change.mutated_root_fn()) == {"b": "R.cos(x)", "c": "R.negative(b)"}
    assert bindings(Module["main"])["c"] == "R.negative(a)"
    iropt.ir.assert_structural_equal(change.mutate_irmodule(Module)["main"], change.mutated_root_fn())


def test_bindings_are_added_and_unused_ones_removed():
    change, _ = rewrite()
    change.add(relax.op.tan(Module["main"].params[0]), is_dfvar=True)
    assert bindings(change.mutated_root_fn())["tmp0"] == "R.tan(x)"
    assert isinstance(change.mutated_dfb().bindings[-1].var, relax.DataflowVar)
    change.remove_all_unused()
    assert list(bindings(change.mutated_root_fn())) == ["a", "c"]
    other = relax.Var("other", relax.ObjectStructInfo())
    with pytest.raises(iropt.Error, match="does not define 'other'"):
        change.remove_unused(other)
    change.remove_unused(other, allow_undef=True)


@I.ir_module
class Calls:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Calls
        y = cls.twice(x)
        return cls.twice(y)

    @R.function
    def twice(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return R.add(x, x)

    @R.function
    def loop(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Calls
        return cls.loop(x)


def test_functions_are_inlined():
    inlined = Calls["main"].inline_functions({"twice": Calls["twice"]})
    assert not relax.analysis.called_global_vars(inlined) and inlined.attrs["global_symbol"] == "main"
    run = relax.VirtualMachine(relax.build(iropt.IRModule({"main": inlined})))["main"]
    assert (run(numpy.ones(2, "float32")).numpy() == 4).all()
    name = Calls.get_global_var("twice")
    with pytest.raises(ValueError, match="given twice"):
        Calls["main"].inline_functions({name: Calls["twice"], "twice": Calls["twice"]})
    with pytest.raises(ValueError, match="calls itself"):
        Calls["loop"].inline_functions({"loop": Calls["loop"]})


def test_instructions_run():
    ib = relax.ExecBuilder()
    iropt.packed.register_func("tests.plus", lambda a, b: a + b, override=True)
    with ib.function("main", num_inputs=2):
        ib.emit_if(ib.r(0), 3)
        ib.emit_call("tests.plus", [ib.r(1), ib.imm(5)], dst=ib.r(9))
        ib.emit_goto(2)
        ib.emit_call("tests.plus", [ib.r(1), ib.imm(-5)], dst=ib.r(9))
        ib.emit_ret(ib.r(9))
    with ib.function("bound", num_inputs=1):
        ib.emit_call("vm.builtin.make_closure", [ib.f("main"), ib.r(0)], dst=ib.r(1))
        ib.emit_ret(ib.r(1))
    machine = relax.VirtualMachine(ib.get())
    assert machine["main"](1, 2) == 7 and machine["main"](0, 2) == -3
    assert machine.invoke_closure(machine["bound"](0), 1) == -4
    assert "dst: %2" in ib.get().as_text() and "%9" not in ib.get().as_text()
    with pytest.raises(ValueError, match="takes 2 arguments, not 1"):
        machine["main"](1)


def test_instructions_that_read_nothing_are_refused():
    ib = relax.ExecBuilder()
    with ib.function("main", num_inputs=1):
        ib.emit_ret(ib.r(3))
    with pytest.raises(iropt.Error, match="reads register 3 before it is written"):
        ib.get()
    assert ib.convert_constant("text") == ib.convert_constant("text") != ib.convert_constant((1, 2))


def test_functions_of_a_module_are_linked():
    builder = relax.ExecBuilder()
    module = relax.vm_build._vmcodegen(builder, Module)
    machine = relax.VirtualMachine(relax.vm_build._vmlink(builder, "llvm", module))
    x = numpy.array([0.5, 1], "float32")
    assert numpy.allclose(machine["main"](x).numpy(), -numpy.sin(x), rtol=1e-6)
    machine["set_input"]("main", x)
    machine["invoke_stateful"]("main")
    assert numpy.allclose(machine["get_output"]("main").numpy(), -numpy.sin(x), rtol=1e-6)
    with pytest.raises(TypeError) as caught:
        machine["main"]()
    assert isinstance(caught.value, iropt.Error)


def test_type_errors_of_packed_functions_stay():
    @iropt.packed.register_func("tests.wrong_type", override=True)
    def wrong(x):
        raise TypeError("mine")

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        _ = R.call_packed("tests.wrong_type", x, sinfo_args=R.Object)
        return x

    with pytest.raises(TypeError, match="mine") as caught:
        relax.VirtualMachine(relax.build(iropt.IRModule({"main": main})))["main"](numpy.ones(2, "float32"))
    assert not isinstance(caught.value, iropt.Error)


def test_integers_of_attributes_have_a_dtype():
    x = relax.Var("x", relax.TensorStructInfo((1, 1, 4, 4), "float32"))
    strides = relax.op.nn.conv2d(x, x, strides=(2, 1)).attrs.strides
    assert strides == [2, 1] and strides[0].dtype == "int64" and strides[0].value == 2


def test_slices_of_arrays():
    from iropt.topi.testing import strided_set_python, strided_slice_python

    data = numpy.arange(24).reshape(4, 6)
    assert (strided_slice_python(data, [1, 5], [4, 0], [2, -2]) == data[1:4:2, 5:0:-2]).all()
    assert (strided_slice_python(data, [1], [2], None, "size", [1]) == data[:, 1:3]).all()
    assert (strided_set_python(data, 0, [1, 0], [3, 6], [1, 2])[1:3, ::2] == 0).all() and data[1, 0] == 6
