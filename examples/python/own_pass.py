"""A pass in Python: x * y + z becomes one call of a function, with a mutator and as a module pass."""
from iropt import ir, relax, transform
from iropt.script import ir as I
from iropt.script import relax as R


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            product = R.multiply(x, y)
            total = R.add(product, x)
            R.output(total)
        return total


class MultiplyAdd(relax.PyExprMutator):
    """Replaces an addition of a product, and adds the function that it calls."""

    def visit_call_(self, op):
        op = self.visit_expr_post_order(op)
        if op.op != ir.Op.get("relax.add"):
            return op
        product = self.lookup_binding(op.args[0])
        if not isinstance(product, relax.Call) or product.op != ir.Op.get("relax.multiply"):
            return op
        params = [relax.Var(name, arg.struct_info) for name, arg in zip("abc", [*product.args, op.args[1]])]
        builder = relax.BlockBuilder()
        with builder.function("multiply_add", params, private=True):
            with builder.dataflow():
                result = builder.emit_output(params[0] * params[1] + params[2])
            builder.emit_func_output(result)
        name = self.builder_.add_func(builder.get()["multiply_add"], "multiply_add")
        return relax.Call(name, [*product.args, op.args[1]])


@transform.module_pass(opt_level=1, name="FuseMultiplyAdd")
class FuseMultiplyAdd:
    """Runs the mutator over all Relax functions."""

    def transform_module(self, mod, _):
        mutator = MultiplyAdd(mod)
        for name, func in mod.items():
            if isinstance(func, relax.Function):
                mutator.builder_.update_func(name, relax.analysis.remove_all_unused(mutator.visit_expr(func)))
        return mutator.builder_.get()


def main():
    fused = FuseMultiplyAdd()(Model)
    assert relax.analysis.well_formed(fused)
    fused.show()


if __name__ == "__main__":
    main()
