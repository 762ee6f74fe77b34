"""The layers that tuners are measured with."""
import numpy as np
import pytest

from iropt import IRModule, executable, runtime, te, tir
from iropt.meta_schedule import te_workload


def computed(tensors, *arrays):
    """The result of tensor expressions for inputs."""
    function = executable.build(IRModule({"main": te.create_prim_func(tensors)}), target="llvm")
    result = runtime.array(np.zeros([int(dim) for dim in tensors[-1].shape], "float32"))
    function["main"](*(runtime.array(array) for array in arrays), result)
    return result.numpy()


def some(*shape):
    return np.random.RandomState(0).rand(*shape).astype("float32")


@pytest.mark.parametrize("stride, padding, dilation, groups", [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1)])
def test_convolution(stride, padding, dilation, groups):
    x, w = some(1, 7, 7, 4), some(3, 3, 4 // groups, 4)
    got = computed(te_workload.conv2d_nhwc(1, 7, 7, 4, 4, 3, stride, padding, dilation, groups), x, w)
    padded = np.pad(x, [(0, 0), (padding, padding), (padding, padding), (0, 0)])
    expected = np.zeros(got.shape, "float32")
    for _, h, wide, co in np.ndindex(*got.shape):
        first = co // (4 // groups) * (4 // groups)
        rows, columns = h * stride + dilation * np.arange(3), wide * stride + dilation * np.arange(3)
        window = padded[0][rows][:, columns, first : first + 4 // groups]
        expected[0, h, wide, co] = (window * w[..., co]).sum()
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize("stride, padding", [(1, 0), (2, 1), (3, 1)])
def test_transposed_convolution(stride, padding):
    x, w = some(1, 4, 4, 2), some(4, 4, 2, 3)
    got = computed(te_workload.conv2d_transpose_nhwc(1, 4, 4, 2, 3, 4, stride, padding), x, w)
    size = 3 * stride + 4
    expected = np.zeros((1, size, size, 3), "float32")
    for h, wide in np.ndindex(4, 4):
        expected[0, h * stride : h * stride + 4, wide * stride : wide * stride + 4] += np.einsum("c,abco->abo", x[0, h, wide], w)
    np.testing.assert_allclose(got, expected[:, padding : size - padding, padding : size - padding], rtol=1e-5)


def test_products():
    a, b = some(3, 4), some(4, 5)
    np.testing.assert_allclose(computed(te_workload.matmul(3, 5, 4), a, b), a @ b, rtol=1e-5)
    query, value = some(1, 5, 2, 3), some(1, 5, 2, 3)
    expected = np.einsum("bihk,bjhk->bhij", query, value)
    np.testing.assert_allclose(computed(te_workload.transpose_batch_matmul(1, 5, 2, 3), query, value), expected, rtol=1e-5)


@pytest.mark.parametrize("name", te_workload.CONFIGS)
def test_all_are_functions(name):
    for index in range(len(te_workload.CONFIGS[name][1])):
        assert isinstance(te_workload.create_te_workload(name, index), tir.PrimFunc)
