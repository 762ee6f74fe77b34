"""Functions that are built call by call with the names of scripts."""
import pytest

from iropt import ir, relax
from iropt.script import ir as I, relax as R
from iropt.script import relax_builder
from iropt.script.ir_builder import IRBuilder


def test_functions_have_parameters_blocks_and_names():
    with IRBuilder() as builder:
        with relax_builder.function():
            R.func_name("main")
            R.func_attr({"key": 1})
            x = R.arg("x", R.Tensor((2, 3), "float32"))
            with R.dataflow() as frame:
                parts = [R.emit(R.add(x, x)), R.emit(R.exp(x))]
                IRBuilder.name("sum", parts[0])
                R.output(R.emit(R.concat(parts, axis=1)), parts[1])
            (joined, exp) = frame.output_vars
            IRBuilder.name("joined", joined)
            R.func_ret_value((joined, exp))
    func = builder.get()

    @I.ir_module
    class Expected:
        @R.function
        def main(x: R.Tensor((2, 3), "float32")):
            R.func_attr({"key": 1})
            with R.dataflow():
                a = R.add(x, x)
                b = R.exp(x)
                c = R.concat((a, b), axis=1)
                R.output(b, c)
            return (c, b)

    ir.assert_structural_equal(func, Expected["main"])
    names = [binding.var.name_hint for binding in func.body.blocks[0].bindings]
    assert names[0] == "sum" and names[2] == "joined"
    assert isinstance(func.body.blocks[0].bindings[0].var, relax.DataflowVar)


def test_errors_say_what_lacks():
    with pytest.raises(ValueError, match="no scope of an IRBuilder"):
        IRBuilder.current()
    with pytest.raises(ValueError, match="nothing was built"):
        IRBuilder().get()
    with IRBuilder():
        with pytest.raises(ValueError, match=r"no scope of R.function\(\)"):
            R.func_name("main")
        with pytest.raises(ValueError, match="needs R.func_ret_value"):
            with relax_builder.function():
                R.arg("x", R.Tensor((2,), "float32"))
