"""A module as Python source, passes over it, and what they have changed."""
import iropt
from iropt import relax, transform
from iropt.script import ir as I
from iropt.script import relax as R

# The source below captures these values.
rows, dtype = 8, "float32"


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((rows, 16), dtype), w: R.Tensor((16, rows), dtype)) -> R.Tensor((rows, rows), dtype):
        with R.dataflow():
            scaled = R.multiply(x, R.const(2, dtype))
            again = R.multiply(x, R.const(2, dtype))
            product = R.matmul(R.add(scaled, again), w)
            R.output(product)
        return product


def main():
    Model.show()

    # Passes are called directly.
    smaller = relax.transform.CanonicalizeBindings()(relax.transform.EliminateCommonSubexpr()(Model))
    print("bindings before and after:", *(len(module["main"].body.blocks[0].bindings) for module in (Model, smaller)))

    # Several under a context: the level decides which of them run.
    with transform.PassContext(opt_level=3):
        lowered = transform.Sequential([
            relax.transform.EliminateCommonSubexpr(),
            relax.transform.CanonicalizeBindings(),
            relax.transform.LegalizeOps(),
            relax.transform.AnnotateTIROpPattern(),
            relax.transform.FuseOps(),
            relax.transform.FuseTIR(),
        ])(Model)
        print("functions of the lowered module:", ", ".join(name.name for name in lowered))

        # The same as text, as the command line takes it.
        pipeline = iropt.Pipeline("EliminateCommonSubexpr,CanonicalizeBindings,LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR")
        assert iropt.ir.structural_equal(lowered, pipeline(Model))


if __name__ == "__main__":
    main()
