"""A model that is built in Python, run on arrays of NumPy, and compared with itself after passes."""
import numpy as np

import iropt
from iropt import relax, transform
from iropt.script import relax as R


def build(batch, features):
    """Two layers."""
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(features, features)).astype("float32") for _ in range(2)]
    x = relax.Var("x", R.Tensor((batch, features), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            value = x
            for weight in weights:
                value = bb.emit(relax.op.nn.relu(relax.op.matmul(value, relax.const(weight))))
            result = bb.emit_output(value)
        bb.emit_func_output(result)
    return bb.get(), weights


def main():
    module, weights = build(2, 16)
    x = np.ones((2, 16), "float32")
    expected = x
    for weight in weights:
        expected = np.maximum(expected @ weight, 0)

    result = iropt.run(module, "main", x)
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-4, atol=1e-4)

    with transform.PassContext(opt_level=3):
        lowered = iropt.Pipeline("LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR")(module)
    np.testing.assert_allclose(np.asarray(iropt.run(lowered, "main", x)), expected, rtol=1e-4, atol=1e-4)
    assert iropt.check_semantics(module, lowered) == ""
    print("the passes have kept what the model computes")


if __name__ == "__main__":
    main()
