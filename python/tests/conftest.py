"""Modules that several tests use."""
import pytest

import iropt
from iropt.script import ir as I
from iropt.script import relax as R


@pytest.fixture
def module():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
            with R.dataflow():
                a = R.add(x, x)
                b = R.add(x, x)
                gv = R.multiply(a, b)
                R.output(gv)
            return gv

    return Module


@pytest.fixture
def loops():
    return iropt.from_source(
        """
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            B[i] = A[i] + T.float32(1) * T.float32(2)
""")
