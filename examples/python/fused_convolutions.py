"""Two convolutions become one PrimFunc, whose loops are scheduled by hand; both compute the same.

    PYTHONPATH=build/python python3 examples/python/fused_convolutions.py
"""
import iropt
from iropt import relax, tir, topi
from iropt.script import relax as R

# %% A module with a PrimFunc for each convolution
builder = relax.BlockBuilder()
x = relax.Var("x", R.Tensor((1, 4, 16, 16), "float32"))
w1 = relax.Var("w1", R.Tensor((4, 4, 3, 3), "float32"))
w2 = relax.Var("w2", R.Tensor((4, 4, 3, 3), "float32"))
with builder.function("main", [x, w1, w2]):
    with builder.dataflow():
        first = builder.emit_te(topi.nn.conv2d, x, w1, strides=1, padding=1, dilation=1)
        second = builder.emit_output(builder.emit_te(topi.nn.conv2d, first, w2, strides=1, padding=1, dilation=1))
    builder.emit_func_output(second)
module = builder.get()

# %% A pass that puts both calls into a function that FuseTIR makes a PrimFunc of


@relax.expr_functor.mutator
class GroupCalls(relax.PyExprMutator):
    """Groups a call of a PrimFunc with the call that computes its first argument."""

    def visit_call_(self, call):
        inner = self.lookup_binding(call.args[1][0]) if call.op.name == "relax.call_tir" else None
        if inner is None:
            return call
        arguments = [inner.args[1][0], inner.args[1][1], call.args[1][1]]
        params = [relax.Var(f"p{i}", argument.struct_info) for i, argument in enumerate(arguments)]
        lv = relax.DataflowVar("lv", inner.struct_info)
        gv = relax.Var("gv", call.struct_info)
        bindings = [relax.VarBinding(lv, relax.call_tir(inner.args[0], params[:2], inner.struct_info)),
                    relax.VarBinding(gv, relax.call_tir(call.args[0], [lv, params[2]], call.struct_info))]
        function = relax.Function(params, relax.SeqExpr([relax.DataflowBlock(bindings)], gv), call.struct_info)
        function = function.with_attr("Primitive", 1)
        grouped = self.builder_.add_func(self.builder_.normalize(function), "grouped")
        return relax.Call(grouped, arguments)


@iropt.ir.transform.module_pass(opt_level=0)
class Group:
    """Groups calls in the function main."""

    def transform_module(self, mod, ctx):
        mutator = GroupCalls(mod)
        name = mod.get_global_var("main")
        mutator.builder_.update_func(name, relax.analysis.remove_all_unused(mutator.visit_expr(mod[name])))
        return mutator.builder_.get()


fused = relax.transform.FuseTIR()(Group()(module))
print("functions:", *sorted(name.name for name in fused.keys()))

# %% A schedule: the first convolution is computed where the second one reads it
sch = tir.Schedule(fused)
sch.work_on("grouped")
batch, channel, row, column, inner, *window = sch.get_loops("conv2d_nchw_1")
sch.reorder(batch, row, column, channel, inner, *window)
sch.compute_at("pad_temp_1", row)
sch.compute_at("conv2d_nchw", row)
print(sch.trace)
iropt.check_semantics(module, sch.mod)
