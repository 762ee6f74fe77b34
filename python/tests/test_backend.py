"""Passes of relax.backend, for targets."""
import numpy as np
import pytest

import iropt
from iropt import relax
from iropt.relax.backend import DispatchSampling, DispatchSortScan
from iropt.script import ir as I, relax as R
from iropt.target import Target


@I.ir_module
class Sorted:
    @R.function
    def main(x: R.Tensor((2, 5), "float32")):
        with R.dataflow():
            a = R.argsort(x, axis=1, descending=True, dtype="int32")
            b = R.sort(x, axis=1)
            c = R.topk(x, k=2, axis=1)
            d = R.cumsum(x, axis=1)
            R.output(a, b, c, d)
        return (a, b, c, d)


@I.ir_module
class Sampled:
    @R.function
    def main(prob: R.Tensor((2, 3), "float32"), sample: R.Tensor((4, 1), "float32"), rows: R.Tensor((4, 1), "int64")):
        with R.dataflow():
            drawn = R.multinomial_from_uniform(prob, sample, rows, dtype="int32")
            R.output(drawn)
        return drawn


@pytest.mark.parametrize("target", ["llvm", "nvidia/nvidia-a100"])
def test_sorting_and_scanning_become_functions(target):
    with Target(target):
        after = DispatchSortScan()(Sorted)
    text = after["main"].script()
    assert text.count("R.call_tir") == 4 and "R.sort" not in text
    x = np.random.default_rng(0).normal(size=(2, 5)).astype("float32")
    order, values, (top, _), sums = iropt.run(after, "main", x)
    np.testing.assert_array_equal(np.asarray(order), np.argsort(-x, 1))
    np.testing.assert_array_equal(np.asarray(values), np.sort(x, 1))
    np.testing.assert_array_equal(np.asarray(top), -np.sort(-x, 1)[:, :2])
    np.testing.assert_allclose(np.asarray(sums), np.cumsum(x, 1), rtol=1e-5)


def test_samples_are_drawn_by_sums():
    with Target("llvm"):
        after = DispatchSampling()(Sampled)
    assert "R.cumsum" in after["main"].script() and "multinomial" not in after.script()
    prob = np.array([[0.25, 0.5, 0.25], [0.0, 0.0, 1.0]], "float32")
    sample, rows = np.array([[0.1], [0.3], [0.9], [0.0]], "float32"), np.array([[0], [0], [0], [1]], "int64")
    drawn = np.asarray(iropt.run(after, "main", prob, sample, rows))
    assert drawn.dtype == "int32" and drawn.ravel().tolist() == [0, 1, 2, 2]


def test_a_target_is_needed():
    with pytest.raises(ValueError, match="no target"):
        DispatchSortScan()(Sorted)


def test_modules_of_other_compilers_are_attached():
    after = relax.transform.AttachExternModules([])(Sorted)
    assert list(after.attrs["external_mods"]) == []
