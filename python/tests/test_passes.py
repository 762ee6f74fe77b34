"""Passes, contexts and instruments."""
import pytest

import iropt
from iropt import ir, relax, tir, transform
from iropt.instrument import PassTimingInstrument, pass_instrument
from iropt.script import ir as I, relax as R


def count_adds(module):
    found = []
    relax.analysis.post_order_visit(
        module["main"], lambda node: found.append(node) if getattr(node, "op", None) == ir.Op.get("relax.add") else None)
    return len(found)


def test_pass_of_the_table(module):
    assert count_adds(module) == 2
    assert count_adds(relax.transform.EliminateCommonSubexpr()(module)) == 1
    assert relax.transform.FuseOps(fuse_opt_level=0).info.name == "FuseOps"
    with pytest.raises(TypeError, match="no option 'x'"):
        relax.transform.FuseOps(x=1)
    with pytest.raises(AttributeError, match="no pass 'NoSuchPass'"):
        relax.transform.NoSuchPass()


def test_products_that_a_condition_allows():
    @R.function(private=True)
    def products(x: R.Tensor((2, 4), "float32"), y: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 3), "float32"),
                 b: R.Tensor((4, 3), "float32"), c: R.Tensor((4, 3), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, b)
            r = R.matmul(x, c)
            s = R.matmul(y, a)
            t = R.matmul(y, b)
            out = (p, q, r, s, t)
            R.output(out)
        return out

    asked = []

    def holds(left, factors, biases, bindings):
        asked.append((left.name_hint, [factor.name_hint for factor in factors], list(biases), len(bindings)))
        return len(factors) > 2

    module = ir.IRModule.from_expr(products)

    def count_products(changed):
        found = []
        relax.analysis.post_order_visit(changed["main"], lambda node: found.append(node) if getattr(
            node, "op", None) == ir.Op.get("relax.matmul") else None)
        return len(found)

    assert count_products(relax.transform.CombineParallelMatmul(holds)(module)) == 3
    assert asked == [("x", ["a", "b", "c"], [], 6), ("y", ["a", "b"], [], 6)]
    assert count_products(relax.transform.CombineParallelMatmul()(module)) == 2
    with pytest.raises(ZeroDivisionError):
        relax.transform.CombineParallelMatmul(lambda *_: 1 / 0)(module)


def test_sequential_and_levels(module):
    passes = transform.Sequential([relax.transform.EliminateCommonSubexpr()])
    with transform.PassContext(opt_level=0):
        assert count_adds(passes(module)) == 2
    with transform.PassContext(opt_level=0, required_pass=["EliminateCommonSubexpr"]):
        assert count_adds(passes(module)) == 1
    with transform.PassContext(opt_level=3, disabled_pass=["EliminateCommonSubexpr"]):
        assert count_adds(passes(module)) == 2


def test_pipeline_text(module):
    assert count_adds(iropt.Pipeline("default<O3>")(module)) == 0  # x + x is x * 2
    with pytest.raises(iropt.Error, match="unknown pass 'FoldConstants'"):
        iropt.Pipeline("FoldConstants")


def test_context():
    with transform.PassContext(opt_level=3, config={"tir.UnrollLoop": {"auto_max_step": 16}}) as outer:
        assert transform.PassContext.current() is outer and outer.config["tir.UnrollLoop"]["auto_max_step"] == 16
        with transform.PassContext(opt_level=1):
            assert transform.PassContext.current().opt_level == 1
        assert transform.PassContext.current().opt_level == 3
    assert transform.PassContext.current().opt_level == 2
    with pytest.raises(iropt.Error, match="unknown"):
        transform.PassContext(config={"tir.NoSuchKey": 1})


def test_module_pass(module):
    @transform.module_pass(opt_level=1, name="Rename")
    def rename(mod, ctx):
        assert ctx.opt_level == 2
        return ir.IRModule({"renamed": mod["main"].with_attr("global_symbol", "renamed")})

    assert rename.info.name == "Rename" and rename.info.opt_level == 1
    assert list(rename(module))[0].name == "renamed"


def test_class_of_a_pass_with_arguments(module):
    @transform.module_pass(opt_level=2)
    class AddAttr:
        def __init__(self, key, value):
            self.key, self.value = key, value

        def transform_module(self, mod, _):
            return mod.with_attr(self.key, self.value)

    made = AddAttr("k", 3)
    assert made.key == "k" and made(module).attrs["k"] == 3


def test_function_passes(module, loops):
    seen = []

    @transform.function_pass(opt_level=0)
    def look(func, mod, ctx):
        seen.append(type(func))
        return func.with_attr("seen", 1)

    @tir.transform.prim_func_pass(opt_level=0)
    def look_at_loops(func, mod, ctx):
        seen.append(type(func))
        return func

    assert look(module)["main"].attrs["seen"] == 1
    assert ir.structural_equal(look_at_loops(loops), loops)
    assert seen == [relax.Function, tir.PrimFunc]


def test_exception_of_a_pass_comes_back(module):
    class Own(Exception):
        pass

    @transform.module_pass(opt_level=0)
    def fail(mod, ctx):
        raise Own("as it is")

    with pytest.raises(Own, match="as it is"):
        transform.Sequential([fail])(module)

    @transform.function_pass(opt_level=0)
    def fail_on_function(func, mod, ctx):
        raise Own("in a function")

    with pytest.raises(Own, match="in a function") as raised:
        transform.Sequential([fail_on_function])(module)
    assert raised.traceback[-1].name == "fail_on_function"


def test_instruments(module):
    events = []

    @pass_instrument
    class Recorder:
        def enter_pass_ctx(self):
            events.append("enter")

        def exit_pass_ctx(self):
            events.append("exit")

        def should_run(self, mod, info):
            return info.name != "FoldConstant"

        def run_before_pass(self, mod, info):
            events.append("before " + info.name)

        def run_after_pass(self, mod, info):
            events.append("after " + info.name)

    with transform.PassContext(instruments=[Recorder()]):
        relax.transform.FoldConstant()(module)
        relax.transform.Normalize()(module)
    assert events == ["enter", "before Normalize", "after Normalize", "exit"]


def test_instrument_that_fails_to_enter():
    events = []

    @pass_instrument
    class Fails:
        def __init__(self, name, fails):
            self.name, self.fails = name, fails

        def enter_pass_ctx(self):
            events.append(self.name + " enter")
            if self.fails:
                raise ValueError(self.name)

        def exit_pass_ctx(self):
            events.append(self.name + " exit")

    context = transform.PassContext(instruments=[Fails("a", False), Fails("b", True), Fails("c", False)])
    with pytest.raises(ValueError, match="b"):
        with context:
            pass
    assert events == ["a enter", "b enter", "a exit"] and not context.instruments


def test_timing(module):
    timing = PassTimingInstrument()
    with transform.PassContext(instruments=[timing]):
        relax.transform.Normalize()(module)
        assert "Normalize" in timing.render()


def test_instruments_are_replaced(module):
    timing = PassTimingInstrument()
    with transform.PassContext() as context:
        context.override_instruments([timing])
        relax.transform.Normalize()(module)
        assert "Normalize" in timing.render() and context.instruments == [timing]


def test_default_context_gets_instruments(module):
    timing = PassTimingInstrument()
    transform.PassContext.current().override_instruments([timing])
    try:
        relax.transform.Normalize()(module)
        assert "Normalize" in timing.render()
    finally:
        transform.PassContext.current().override_instruments([])


def test_instruments_by_name(module, capsys):
    made = [iropt.instrument.make(name) for name in ("verify-each", "print-changed", "timing")]
    with transform.PassContext(instruments=[*made, iropt.instrument.make("opt-bisect", limit=1)]):
        relax.transform.EliminateCommonSubexpr()(module)
        relax.transform.LegalizeOps()(module)
    shown = capsys.readouterr()
    assert "# After EliminateCommonSubexpr" in shown.out and "LegalizeOps" not in shown.out
    assert "NOT running pass (2) LegalizeOps" in shown.err


def test_progress_bar(module):
    import io

    from iropt.instrument import ProgressBar

    out = io.StringIO()
    pipeline = transform.Sequential([relax.transform.Normalize(), relax.transform.DeadCodeElimination()])
    assert pipeline.num_passes == 2
    with transform.PassContext(instruments=[ProgressBar(pipeline.num_passes, width=4, file=out)]):
        pipeline(module)
    assert out.getvalue() == ("\r[....] 0/2 Normalize\r[##..] 1/2 DeadCodeElimination\r[####] 2/2" + " " * 20 + "\n")


def test_report_in_a_notebook(module, tmp_path):
    report = iropt.instrument.Report()
    with transform.PassContext(opt_level=3, instruments=[report]):
        iropt.Pipeline("EliminateCommonSubexpr,DeadCodeElimination")(module)
    page = report.html()
    assert page.startswith("<!DOCTYPE html>") and "EliminateCommonSubexpr" in page
    shown = report._repr_html_()
    assert shown.startswith("<iframe") and shown.count('"') == 6 and "&lt;!DOCTYPE html&gt;" in shown
    report.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf8") == page


INTERRUPTED = """
import _thread, threading
import iropt
from iropt import transform

lines = ["@I.ir_module", "class Module:"]
for i in range(3000):
    lines += ["    @R.function", f"    def f{i}(x: R.Tensor((4,), 'float32')) -> R.Tensor((4,), 'float32'):",
              "        y = R.nn.relu(x)", "        return y"]
module = iropt.from_source("\\n".join(lines) + "\\n")
passes = transform.Sequential([iropt.Pipeline("Normalize")] * 100000)
threading.Timer(0.2, _thread.interrupt_main).start()
try:
    passes(module)
except KeyboardInterrupt:
    print("interrupted")
print(len(iropt.Pipeline("Normalize")(module)))
"""


def test_interrupt_ends_a_run():
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", INTERRUPTED], check=False, capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted\n3000\n", done.stderr


def test_parameters_are_read_when_they_are_needed():
    module = iropt.from_source('''
@I.ir_module
class Module:
    @R.function
    def main_transform_params(params: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))) -> R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")):
        R.func_attr({"relax.force_pure": True})
        a = params[0]
        b = params[1]
        c = R.exp(b)
        result = (c, a)
        return result
''')
    func = relax.transform.LazyTransformParams()(module)["main_transform_params"]
    calls = [binding.value for block in func.body.blocks for binding in block.bindings if isinstance(binding.value, relax.Call)]
    names = [getattr(call.op, "name", None) or call.op.global_symbol for call in calls]
    assert names == ["get_item", "set_item", "relax.vm.kill_object", "get_item", "relax.exp", "relax.vm.kill_object", "set_item"]
    assert not func.params and not func.is_pure


def test_a_kind_of_pass_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="expected module, function, prim_func or dataflow_block"):
        iropt.ir.transform.python_pass("functional", lambda function, module, context: function, "Mine")


def test_types_of_parameters_by_a_function(module):
    def type_of(param):
        return relax.TensorStructInfo((5, 4), "float32") if param.name_hint == "x" else None

    changed = relax.transform.UpdateParamStructInfo(type_of)(module)["main"]
    assert changed.ret_struct_info == relax.TensorStructInfo((5, 4), "float32")
    assert changed.body.blocks[0].bindings[0].var.struct_info == changed.ret_struct_info


def test_functions_that_do_not_match_are_external(module):
    seen = []

    @transform.module_pass(opt_level=0)
    def look(mod, ctx):
        seen.append({name.name: type(func).__name__ for name, func in mod.items()})
        return mod

    module["other"] = module["main"].with_attr("global_symbol", "other")
    result = transform.ApplyPassToFunction(look, "main")(module)
    assert seen == [{"main": "Function", "other": "ExternFunc"}]
    assert all(isinstance(func, relax.Function) for func in result.values())


def test_private_functions_that_match_are_kept_for_the_others():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            cls = Module
            gv = cls.helper(x)
            return gv

        @R.function(private=True)
        def helper(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            unused = R.add(x, x)
            return x

    result = transform.ApplyPassToFunction(relax.transform.DeadCodeElimination(), "helper")(Module)
    assert sorted(name.name for name in result) == ["helper", "main"]
    assert not result["helper"].body.blocks
    assert "global_symbol" not in (result["helper"].attrs or {})


def test_symbolic_variables_are_bound_where_they_are():
    @I.ir_module
    class Module:
        @R.function
        def first(x: R.Tensor(("n",), "float32")):
            return x

        @R.function
        def second(x: R.Tensor(("n",), "float32")):
            return x

    n = Module["first"].params[0].struct_info.shape[0]
    bound = relax.transform.BindSymbolicVars({n: 4})(Module)
    assert bound["first"].params[0].struct_info == relax.TensorStructInfo((4,), "float32")
    assert bound["second"].params[0].struct_info.shape[0].name == "n"
    both = relax.transform.BindSymbolicVars({"n": 4})(Module)
    assert both["second"].params[0].struct_info == relax.TensorStructInfo((4,), "float32")
    with pytest.raises(iropt.Error, match="no function has the symbolic variable 'm'"):
        relax.transform.BindSymbolicVars({tir.Var("m", "int64"): 4})(Module)


def test_gradients_are_of_variables_of_the_function():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            with R.dataflow():
                gv = R.sum(x)
                R.output(gv)
            return gv

        @R.function
        def other(x: R.Tensor((2,), "float32")):
            return x

    assert "main_adjoint" in relax.transform.Gradient("main", require_grads=Module["main"].params[0])(Module)
    with pytest.raises(iropt.Error, match="'x' is not a variable of function 'main'"):
        relax.transform.Gradient("main", require_grads=Module["other"].params[0])(Module)
