"""Modules: reading, printing, a mapping of functions."""
import pytest

import iropt
from iropt import ir, relax
from iropt.script import ir as I
from iropt.script import relax as R
from iropt.script import tir as T


def test_text_reads_back(module):
    again = iropt.from_source(module.script())
    assert iropt.ir.structural_equal(module, again)
    assert again.script() == module.script()


def test_is_a_mapping(module):
    assert [name.name for name in module] == ["main"]
    assert "main" in module and ir.GlobalVar("main") in module and "other" not in module
    module["other"] = module["main"].with_attr("global_symbol", "other")
    assert len(module) == 2 and module["other"].attrs["global_symbol"] == "other"
    del module["other"]
    assert len(module) == 1
    with pytest.raises(ValueError, match="no function 'other'"):
        module["other"]


def test_copy_is_another_module(module):
    copy = module.copy()
    del copy["main"]
    assert "main" in module


def test_error_has_place_and_data():
    with pytest.raises(iropt.Error) as caught:
        iropt.from_source("@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((2,), 'float32')):\n"
                          "        return R.ad(x, x)\n", "broken.ir")
    assert str(caught.value).startswith("broken.ir:5:")
    first = caught.value.diagnostics[0]
    assert first["severity"] == "error" and first["place"][:2] == ("broken.ir", 5)


def test_captured_values():
    size, dtype, factor = 8, "float16", 3

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((size, size * 2), dtype)):
            return R.multiply(x, R.const(factor, dtype))

    info = Module["main"].params[0].struct_info
    assert [int(dim) for dim in info.shape] == [8, 16] and info.dtype == "float16"


def test_function_alone():
    @T.prim_func
    def double(A: T.Buffer((4,), "int32")):
        for i in range(4):
            A[i] = A[i] * 2

    assert double.attrs["global_symbol"] == "double"
    assert str(double).startswith("# from tvm.script")


def test_difference_is_named(module):
    other = module.with_attr("x", 1)
    with pytest.raises(ValueError, match="not structurally equal"):
        ir.assert_structural_equal(module, other)


def test_write_and_read(tmp_path, module):
    path = tmp_path / "module.ir"
    module.write(path)
    assert iropt.from_file(path).script() == module.script()


def test_nodes_keep_what_they_need():
    def first_binding():
        text = "@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n    y = R.add(x, x)\n    return y\n"
        return iropt.from_source(text)["main"].body.blocks[0].bindings[0]

    binding = first_binding()
    assert isinstance(binding, relax.VarBinding) and binding.value.op.name == "relax.add"
    assert binding.value.args[0] == binding.value.args[1]
    assert binding.span[1] == 3


def test_shows_html(module):
    assert module._repr_html_().startswith("<pre")


def test_undefined_variables_are_reported():
    module = iropt.from_source("@T.prim_func\ndef main(A: T.Buffer((4,), 'float32')):\n    t = T.int32()\n"
                               "    A[t] = T.float32(0)\n")
    with pytest.raises(ValueError, match="variable 't' is not defined"):
        iropt.tir.analysis.verify_well_formed(module)


def test_functions_get_other_names():
    import iropt
    import pytest
    from iropt.script import ir as I, relax as R, tir as T

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = Module.inner(x)
            return R.call_tir(Module.outer, (y,), out_sinfo=R.Tensor((4,), "float32"))

        @R.function(private=True)
        def inner(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.add(x, x)

        @T.prim_func
        def outer(A: T.Buffer((4,)), B: T.Buffer((4,))):
            Module.loops(A.data, B.data)

        @T.prim_func(private=True)
        def loops(a: T.ptr("float32"), b: T.handle("float32", "global")):
            A = T.decl_buffer((4,), data=a)
            B = T.decl_buffer((4,), data=b)
            for i in range(4):
                B[i] = A[i]

    found = Module.replace_global_vars({"inner": "first", Module.get_global_var("outer"): "main", "main": "outer", "loops": "last"})
    assert [name.name for name in found.keys()] == ["outer", "first", "main", "last"]
    assert [func.attrs.get("global_symbol") if func.attrs else None for func in found.values()] == ["outer", None, "main", None]
    text = found.script()
    assert "cls.first(x)" in text and "R.call_tir(cls.main" in text and "Module.last(A.data, B.data)" in text
    assert iropt.relax.analysis.well_formed(found)
    assert Module.replace_global_vars({}) is Module
    with pytest.raises(ValueError, match="two functions 'main'"):
        Module.replace_global_vars({"inner": "main"})
    with pytest.raises(ValueError, match="no function 'none'"):
        Module.replace_global_vars({"none": "main"})
