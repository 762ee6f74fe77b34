"""A pass in Python that ir-opt loads: conversions to the dtype, and reshapes to the shape, that the operand has are removed.

    ir-opt -load-pass-plugin=examples/python/no_ops.py -passes=RemoveNoOps,CanonicalizeBindings in.ir
"""
import iropt
from iropt import ir, relax
from iropt.script import ir as I
from iropt.script import relax as R

NO_OPS = (ir.Op.get("relax.astype"), ir.Op.get("relax.reshape"))


@relax.expr_functor.mutator
class NoOpRemover(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        if call.op not in NO_OPS:
            return call
        operand = call.args[0]
        type_ = operand.struct_info
        # Without a shape, tensors of equal type may have different shapes.
        has_shape = isinstance(type_, relax.TensorStructInfo) and type_.shape is not None
        return operand if has_shape and ir.structural_equal(type_, call.struct_info) else call


def register(registry):
    @registry.add(kind="function", opt_level=1, summary="remove conversions and reshapes that change nothing")
    def RemoveNoOps(func, mod, ctx):
        return NoOpRemover(mod).visit_expr(func)


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.astype(x, "float32")
            b = R.reshape(a, R.shape([2, 3]))
            c = R.astype(b, "float16")
            R.output(c)
        return c


def main():
    iropt.load_plugin(__file__)
    text = iropt.Pipeline("RemoveNoOps,CanonicalizeBindings")(Module).script()
    print(text)
    assert text.count("R.astype(") == 1 and "R.reshape(" not in text


if __name__ == "__main__":
    main()
