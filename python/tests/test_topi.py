"""Functions of topi on tensors, compared with NumPy."""
import numpy
import pytest

import iropt
from iropt import executable, ir, runtime, te, tir, topi

rng = numpy.random.default_rng(0)


def run(function, *arrays, **options):
    """What a function of topi gives for arrays."""
    inputs = [te.placeholder(array.shape, str(array.dtype), f"in{n}") for n, array in enumerate(arrays)]
    outputs = function(*inputs, **options)
    is_list = isinstance(outputs, (list, tuple))
    outputs = list(outputs) if is_list else [outputs]
    func = te.create_prim_func([*inputs, *outputs], "int64")
    module = ir.IRModule({"main": func})
    assert tir.analysis.verify_well_formed(module)
    results = iropt.run(module, "main", *map(numpy.ascontiguousarray, arrays))
    results = [numpy.asarray(item) for item in results] if isinstance(results, (list, tuple)) else [numpy.asarray(results)]
    return results if is_list else results[0]


def check(found, expected, rtol=1e-4, atol=1e-5):
    expected = numpy.asarray(expected)
    assert found.shape == expected.shape
    numpy.testing.assert_allclose(found.astype("float64"), expected.astype("float64"), rtol=rtol, atol=atol)


def floats(*shape):
    return rng.uniform(0.1, 1, shape).astype("float32")


def ints(low, high, *shape):
    return rng.integers(low, high, shape).astype("int32")


UNARY = {name: getattr(numpy, name) for name in
         "exp log sqrt sin cos tan sinh cosh tanh floor ceil trunc negative sign log2 log10 isnan isinf isfinite".split()}
UNARY.update(abs=numpy.abs, rsqrt=lambda x: 1 / numpy.sqrt(x), sigmoid=lambda x: 1 / (1 + numpy.exp(-x)), identity=lambda x: x,
             asin=numpy.arcsin, acos=numpy.arccos, atan=numpy.arctan, asinh=numpy.arcsinh, atanh=numpy.arctanh, round=numpy.round,
             fast_exp=numpy.exp, fast_tanh=numpy.tanh)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    x = floats(3, 4) * 0.9
    check(run(getattr(topi, name), x), UNARY[name](x))


BINARY = {name: getattr(numpy, name) for name in
          "add subtract multiply divide maximum minimum power greater less equal not_equal greater_equal less_equal".split()}
BINARY.update(floor_divide=numpy.floor_divide, floor_mod=numpy.mod, log_add_exp=numpy.logaddexp)


@pytest.mark.parametrize("name", BINARY)
def test_binary_of_floats(name):
    a, b = floats(2, 1, 4), floats(3, 1)
    check(run(getattr(topi, name), a, b), BINARY[name](a, b))
    check(run(lambda x: getattr(topi, name)(x, 0.5), a), BINARY[name](a, numpy.float32(0.5)))


INTEGER = {name: getattr(numpy, name) for name in "bitwise_and bitwise_or bitwise_xor left_shift right_shift floor_divide".split()}
INTEGER.update(mod=numpy.fmod, trunc_mod=numpy.fmod, floor_mod=numpy.mod, trunc_divide=lambda a, b: numpy.trunc(a / b))


@pytest.mark.parametrize("name", INTEGER)
def test_binary_of_integers(name):
    a = ints(-8, 8, 3, 4) if name not in ("left_shift", "right_shift") else ints(0, 8, 3, 4)
    b = ints(1, 5, 4)
    check(run(getattr(topi, name), a, b), INTEGER[name](a, b))


def test_logical():
    a, b = ints(0, 2, 4).astype("bool"), ints(0, 2, 4).astype("bool")
    for name in ("logical_and", "logical_or", "logical_xor"):
        assert (run(getattr(topi, name), a, b) == getattr(numpy, name)(a, b)).all()
    assert (run(topi.logical_not, a) == ~a).all()
    assert (run(topi.bitwise_not, ints(0, 9, 4)) < 0).all()


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="Incompatible broadcast dims: 3 and 4"):
        topi.add(te.placeholder((3,)), te.placeholder((4,)))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("axis, keepdims", [(1, False), ((0, 2), True), (None, False), (-1, True)])
def test_reductions(name, axis, keepdims):
    x = floats(2, 3, 4)
    if name.startswith("arg"):
        if isinstance(axis, tuple):
            return
        expected = getattr(numpy, name)(x, axis=axis, keepdims=keepdims)
    else:
        expected = getattr(numpy, name)(x, axis=axis, keepdims=keepdims)
    check(run(lambda a: getattr(topi, name)(a, axis, keepdims), x), expected)


def test_reductions_of_conditions():
    x = ints(0, 2, 3, 4).astype("bool")
    assert (run(lambda a: topi.all(a, 1), x) == x.all(1)).all()
    assert (run(lambda a: topi.any(a, 0), x) == x.any(0)).all()
    check(run(lambda a: topi.collapse_sum(a, (3, 1)), floats(2, 3, 4) * 0 + 1), numpy.full((3, 1), 8.0))


def test_rearranging():
    x = floats(2, 3, 4)
    check(run(lambda a: topi.transpose(a, (2, 0, 1)), x), x.transpose(2, 0, 1))
    check(run(topi.transpose, x), x.T)
    check(run(lambda a: topi.reshape(a, (4, -1)), x), x.reshape(4, -1))
    check(run(lambda a: topi.expand_dims(a, 1, 2), x), x[:, None, None])
    check(run(topi.squeeze, x[:, :1]), x[:, 0])
    check(run(lambda a: topi.flip(a, -1), x), x[..., ::-1])
    check(run(lambda a: topi.repeat(a, 2, 1), x), x.repeat(2, 1))
    check(run(lambda a: topi.tile(a, (2, 1, 1, 2)), x), numpy.tile(x, (2, 1, 1, 2)))
    check(run(lambda a: topi.broadcast_to(a, (5, 2, 3, 4)), x), numpy.broadcast_to(x, (5, 2, 3, 4)))
    check(run(lambda a, b: topi.concatenate((a, b), 1), x, x + 1), numpy.concatenate((x, x + 1), 1))
    check(run(lambda a, b: topi.stack((a, b), 1), x, x + 1), numpy.stack((x, x + 1), 1))
    for found, expected in zip(run(lambda a: topi.split(a, (1, 3), 2), x), numpy.split(x, (1, 3), 2)):
        check(found, expected)
    for found, expected in zip(run(lambda a: topi.split(a, 2, 2), x), numpy.split(x, 2, 2)):
        check(found, expected)
    check(run(lambda a: topi.trilu(a, 1, True), x), numpy.triu(x, 1))
    check(run(lambda a: topi.trilu(a, -1, False), x), numpy.tril(x, -1))
    check(run(lambda a: topi.sliding_window(a, 1, (2, 2), (1, 2)), x)[0, 1, 1], x[0, 1:3, 2:4])
    lengths = numpy.array([1, 3], "int32")
    expected = x.copy()
    expected[1] = x[1, ::-1]
    check(run(lambda a, n: topi.reverse_sequence(a, n, 1, 0), x, lengths), expected)


@pytest.mark.parametrize("begin, end, strides, expected", [
    ((0, 1), (2, 4), (1, 2), (slice(0, 2), slice(1, 4, 2))),
    ((1,), (100,), None, (slice(1, None),)),
    ((-1, -1), (-10, -5), (-1, -2), (slice(None, None, -1), slice(None, None, -2))),
])
def test_strided_slice(begin, end, strides, expected):
    x = floats(3, 4)
    check(run(lambda a: topi.strided_slice(a, begin, end, strides), x), x[expected])


def test_layout_transform():
    x = floats(2, 8, 3, 5)
    packed = run(lambda a: topi.layout_transform(a, "NCHW", "NCHW4c"), x)
    check(packed, x.reshape(2, 2, 4, 3, 5).transpose(0, 1, 3, 4, 2))
    check(run(lambda a: topi.layout_transform(a, "NCHW4c", "NHWC"), packed), x.transpose(0, 2, 3, 1))


def test_creation():
    check(run(lambda a: topi.full_like(a, 2), floats(2, 3)), numpy.full((2, 3), 2))
    check(run(lambda a: topi.add(a, topi.arange(0, 8, 2, "int32")), ints(0, 1, 4)), numpy.arange(0, 8, 2))
    check(run(lambda a: topi.one_hot(a, 1, 0, 4, -1, "float32"), ints(0, 4, 3) * 0 + 2), numpy.eye(4)[[2, 2, 2]])
    check(run(lambda a: topi.add(a, topi.eye(3, k=1)), floats(3, 3) * 0), numpy.eye(3, k=1))
    for found, expected in zip(run(lambda a, b: topi.meshgrid((a, b), "ij"), floats(2) * 0, floats(3) * 0 + 1), [0, 1]):
        check(found, numpy.full((2, 3), expected))
    check(run(lambda a: topi.shape(a, "int32"), floats(2, 3)), [2, 3])


def test_picking():
    x, at = floats(4, 5), ints(0, 4, 3, 2)
    check(run(lambda a, i: topi.take(a, i, 0), x, at), x[at])
    check(run(topi.take, x, at * 5), x.ravel()[at * 5])
    check(run(lambda a, i: topi.take(a, i, 1, mode="wrap"), x, at - 9), x[:, (at - 9) % 5])
    check(run(lambda a, i: topi.take(a, i, 1, mode="clip"), x, at + 3), x[:, numpy.minimum(at + 3, 4)])
    check(run(lambda a, i: topi.gather(a, 1, i), x, ints(0, 5, 4, 3) * 0 + 2), x[:, [2, 2, 2]])
    rows = numpy.array([[0, 3], [1, 4]], "int32")
    check(run(topi.gather_nd, x, rows), x[rows[0], rows[1]])
    check(run(lambda a, i, j: topi.adv_index(a, [i, j]), x, rows[0], rows[1]), x[rows[0], rows[1]])
    chosen = ints(0, 2, 4, 5)
    check(run(topi.where, chosen, x, x + 1), numpy.where(chosen, x, x + 1))
    check(run(lambda a, n: topi.sequence_mask(a, n, 9.0, 1), x[:2], numpy.array([1, 4], "int32")),
          numpy.where(numpy.arange(5) >= numpy.array([[1], [4]]), 9, x[:2]))
    check(run(lambda a, b: topi.searchsorted(a, b), numpy.sort(x[0]), x[0]), numpy.searchsorted(numpy.sort(x[0]), x[0]))
    check(run(topi.unravel_index, numpy.array([7, 11], "int32"), numpy.array([3, 4], "int32")),
          numpy.unravel_index([7, 11], (3, 4)))


def test_in_order():
    x = floats(3, 4)
    check(run(lambda a: topi.cumsum(a, 1), x), x.cumsum(1))
    check(run(lambda a: topi.cumsum(a), x), x.cumsum())
    check(run(lambda a: topi.cumprod(a, 0), x), x.cumprod(0))
    check(run(lambda a: topi.cumsum(a, 1, exclusive=True), x), x.cumsum(1) - x)
    # Functions of the runtime sort.
    A = te.placeholder((3, 4), name="A")
    for sorted_ in (topi.argsort(A, axis=1, dtype="int32"), topi.sort(A, axis=0), *topi.topk(A, 2, 1)):
        assert "tvm.contrib.sort." in te.create_prim_func([A, sorted_] if sorted_.op.num_outputs == 1 else
                                                          [A, *sorted_.op.outputs]).script()


def test_placing():
    x, at, new = floats(4, 3), numpy.array([[2, 0, 1]], "int32"), floats(1, 3)
    expected = x.copy()
    numpy.put_along_axis(expected, at.astype("int64"), new, 0)
    check(run(topi.scatter_elements, x, at, new), expected)
    check(run(lambda a, i, u: topi.scatter_elements(a, i, u, 0, "add"), x, at, new), x + (expected != x) * new)
    rows = numpy.array([[0, 3]], "int32")
    expected = x.copy()
    expected[[0, 3]] += 1
    check(run(lambda a, i, u: topi.scatter_nd(a, i, u, "add"), x, rows, numpy.ones((2, 3), "float32")), expected)
    check(run(topi.invert_permutation, numpy.array([2, 0, 1], "int32")), [1, 2, 0])
    check(run(lambda a, d: topi.matrix_set_diag(a, d), x[:3] * 1, numpy.zeros(3, "float32")), x[:3] * (1 - numpy.eye(3)))


@pytest.mark.parametrize("text, shapes", [("ij,jk->ik", [(2, 3), (3, 4)]), ("ii->i", [(3, 3)]), ("bij,bj", [(2, 3, 4), (2, 4)]),
                                          ("ij->", [(2, 3)])])
def test_einsum(text, shapes):
    arrays = [floats(*shape) for shape in shapes]
    check(run(lambda *a: topi.einsum(text, *a), *arrays), numpy.einsum(text, *arrays))


def test_products():
    a, b = floats(2, 3), floats(3, 4)
    check(run(topi.matmul, a, b), a @ b)
    check(run(lambda x, y: topi.nn.matmul(x, y, transpose_a=True, transpose_b=True), a.T.copy(), b.T.copy()), a @ b)
    check(run(topi.nn.dense, a, b.T.copy(), floats(4) * 0 + 1), a @ b + 1)
    x, y = floats(2, 3, 4), floats(2, 5, 4)
    check(run(topi.nn.batch_matmul, x, y), x @ y.transpose(0, 2, 1))
    check(run(lambda m, n: topi.tensordot(m, n, 1), x, floats(4, 2) * 0 + 1), numpy.tensordot(x, numpy.ones((4, 2)), 1))
    check(run(lambda d, e: topi.nn.bias_add(d, e, 1), x, floats(3) * 0 + 1), x + 1)


def test_softmax():
    x = floats(2, 3, 4)
    exp = numpy.exp(x - x.max(1, keepdims=True))
    check(run(lambda a: topi.nn.softmax(a, 1), x), exp / exp.sum(1, keepdims=True))
    check(run(lambda a: topi.nn.log_softmax(a, 1), x), numpy.log(exp / exp.sum(1, keepdims=True)))


def test_norms():
    x, gamma, beta = floats(2, 4, 3) + 100, floats(4), floats(4)
    wide = x.astype("float64")

    def normal(axes):
        return (wide - wide.mean(axes, keepdims=True)) / numpy.sqrt(wide.var(axes, keepdims=True) + 1e-5)

    check(run(lambda *a: topi.nn.layer_norm(*a, axis=[-1]), x, gamma[:3], beta[:3]), normal(2) * gamma[:3] + beta[:3], 1e-3, 1e-3)
    check(run(lambda *a: topi.nn.instance_norm(*a, channel_axis=1, axis=[2]), x, gamma, beta),
          normal(2) * gamma[:, None] + beta[:, None], 1e-3, 1e-3)
    grouped = wide.reshape(2, 2, 2, 3)
    grouped = (grouped - grouped.mean((2, 3), keepdims=True)) / numpy.sqrt(grouped.var((2, 3), keepdims=True) + 1e-5)
    check(run(lambda *a: topi.nn.group_norm(*a, num_groups=2, channel_axis=1, axes=[2]), x, gamma, beta),
          grouped.reshape(2, 4, 3) * gamma[:, None] + beta[:, None], 1e-3, 1e-3)
    check(run(lambda a, w: topi.nn.rms_norm(a, w, [-1]), x, gamma[:3]),
          wide / numpy.sqrt((wide ** 2).mean(-1, keepdims=True) + 1e-5) * gamma[:3])
    out, mean, _ = run(lambda *a: topi.nn.batch_norm(*a, training=True), x, gamma, beta, gamma, beta)
    check(out, normal((0, 2)) * gamma[:, None] + beta[:, None], 1e-3, 1e-3)
    check(mean, 0.9 * gamma + 0.1 * wide.mean((0, 2)))


def direct_conv(x, w, stride, pads, groups=1):
    x = numpy.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    rows, columns = (x.shape[2] - w.shape[2]) // stride + 1, (x.shape[3] - w.shape[3]) // stride + 1
    out = numpy.zeros((x.shape[0], w.shape[0], rows, columns))
    per, size = x.shape[1] // groups, w.shape[0] // groups
    for f in range(w.shape[0]):
        part = x[:, f // size * per:(f // size + 1) * per]
        for i in range(rows):
            for j in range(columns):
                window = part[:, :, i * stride:i * stride + w.shape[2], j * stride:j * stride + w.shape[3]]
                out[:, f, i, j] = (window * w[f]).sum((1, 2, 3))
    return out


def test_convolutions():
    x, w = floats(1, 4, 6, 5), floats(6, 4, 3, 3)
    check(run(lambda a, b: topi.nn.conv2d(a, b, 2, (1, 0, 1, 2), 1), x, w), direct_conv(x, w, 2, (1, 0, 1, 2)))
    check(run(lambda a, b: topi.nn.conv2d_nhwc(a, b, 1, 0, 1), x.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 1, 0).copy()),
          direct_conv(x, w, 1, (0, 0, 0, 0)).transpose(0, 2, 3, 1))
    check(run(lambda a, b: topi.nn.group_conv2d_nchw(a, b, 1, "SAME", 1, 2), x, w[:, :2].copy()),
          direct_conv(x, w[:, :2], 1, (1, 1, 1, 1), 2))
    check(run(lambda a, b: topi.nn.depthwise_conv2d_nchw(a, b, 1, 1, 1), x, w[:4, :1].copy()),
          direct_conv(x, w[:4, :1], 1, (1, 1, 1, 1), 4))
    check(run(lambda a, b: topi.nn.conv1d(a, b, 1, "VALID"), x[:, :, 0].copy(), w[:, :, 0].copy()),
          direct_conv(x[:, :, :1], w[:, :, :1], 1, (0, 0, 0, 0))[:, :, 0])


def test_transposed_convolution():
    x, w = floats(1, 2, 3, 3), floats(2, 4, 3, 3)
    expected = numpy.zeros((1, 4, 7, 7))
    for i in range(3):
        for j in range(3):
            expected[0, :, 2 * i:2 * i + 3, 2 * j:2 * j + 3] += numpy.einsum("c,cokl->okl", x[0, :, i, j], w)
    check(run(lambda a, b: topi.nn.conv2d_transpose_nchw(a, b, (2, 2), 0, "float32", (0, 0)), x, w), expected)
    check(run(lambda a, b: topi.nn.group_conv2d_transpose_nchw(a, b, (2, 2), 0, "float32", (0, 0), 1), x, w), expected)


def test_pools():
    x = floats(1, 2, 5, 5)
    windows = numpy.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3))[:, :, ::2, ::2]
    options = {"kernel": [2, 2], "stride": [2, 2], "dilation": [1, 1], "padding": [0, 0, 0, 0]}
    check(run(lambda a: topi.nn.pool2d(a, pool_type="max", **options), x), windows.max((4, 5)))
    check(run(lambda a: topi.nn.pool2d(a, pool_type="avg", **options), x), windows.mean((4, 5)))
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    ones = numpy.pad(numpy.ones_like(x), ((0, 0), (0, 0), (1, 1), (1, 1)))

    def sums(a):
        return numpy.lib.stride_tricks.sliding_window_view(a, (3, 3), (2, 3)).sum((4, 5))

    options = {"kernel": [3, 3], "stride": [1, 1], "dilation": [1, 1], "padding": [1, 1, 1, 1]}
    check(run(lambda a: topi.nn.pool2d(a, pool_type="avg", count_include_pad=False, **options), x), sums(padded) / sums(ones))
    check(run(lambda a: topi.nn.pool2d(a, pool_type="avg", **options), x), sums(padded) / 9)
    check(run(lambda a: topi.nn.global_pool(a, "avg"), x), x.mean((2, 3), keepdims=True))
    check(run(lambda a: topi.nn.adaptive_pool(a, (2, 1), "max"), x),
          numpy.stack([x[:, :, :3].max((2, 3)), x[:, :, 2:].max((2, 3))], 2)[..., None])


def test_around_and_between():
    x = floats(2, 3)
    check(run(lambda a: topi.nn.pad(a, (1, 0), (0, 2), 5.0), x), numpy.pad(x, ((1, 0), (0, 2)), constant_values=5))
    check(run(lambda a: topi.nn.pad(a, (1, 1)), ints(0, 9, 2, 3) * 0 + 7), numpy.pad(numpy.full((2, 3), 7), 1))
    check(run(lambda a: topi.nn.mirror_pad(a, (1, 1), (1, 1), "REFLECT"), x), numpy.pad(x, 1, "reflect"))
    dilated = numpy.zeros((3, 5))
    dilated[::2, ::2] = x
    check(run(lambda a: topi.nn.dilate(a, (2, 2)), x), dilated)
    image = floats(1, 4, 2, 3)
    deep = image.reshape(1, 2, 2, 1, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 1, 4, 6)
    check(run(lambda a: topi.nn.depth_to_space(a, 2), image), deep)
    check(run(lambda a: topi.nn.space_to_depth(a, 2), deep.copy()), image)
    check(run(topi.nn.flatten, image), image.reshape(1, -1))
    check(run(lambda a: topi.nn.batch_to_space_nd(topi.nn.space_to_batch_nd(a, [2, 2], [0, 0], [0, 0]), [2, 2], [0, 0], [0, 0]),
              image), image)


def test_resize():
    x = floats(1, 1, 2, 2)
    check(run(lambda a: topi.nn.upsampling(a, 2, 2), x), x.repeat(2, 2).repeat(2, 3))
    check(run(lambda a: topi.image.resize2d(a, None, (3, 3), coordinate_transformation_mode="align_corners"), x)[0, 0, 1, 1],
          x.mean())
    nearest = run(lambda a: topi.image.resize2d(a, None, (4, 4), method="nearest_neighbor",
                                                coordinate_transformation_mode="asymmetric"), x)
    check(nearest, x.repeat(2, 2).repeat(2, 3))
    with pytest.raises(ValueError, match="Unknown resize method"):
        topi.image.resize2d(te.placeholder((1, 1, 2, 2)), None, (4, 4), method="best")


def test_activations():
    x = floats(2, 3) - 0.5
    check(run(topi.nn.relu, x), numpy.maximum(x, 0))
    check(run(lambda a: topi.nn.leaky_relu(a, 0.1), x), numpy.where(x > 0, x, x * 0.1))
    check(run(topi.nn.prelu, x, floats(3) * 0 + 0.2), numpy.where(x > 0, x, x * 0.2))
    check(run(lambda a: topi.clip(a, -0.1, 0.2), x), numpy.clip(x, -0.1, 0.2))
    check(run(lambda a: topi.cast(a, "int32"), x * 10), numpy.trunc(x * 10))
    target, weight = numpy.array([0, 2], "int32"), floats(3)
    check(run(lambda a, t, w: topi.nn.nll_loss(a, t, w, "mean", -1), x, target, weight),
          -(x[[0, 1], target] * weight[target]).sum() / weight[target].sum())


def test_symbolic_shapes():
    n = tir.Var("n", "int64")
    x, y = te.placeholder((n, 4), name="x"), te.placeholder((1, 4), name="y")
    out = topi.nn.softmax(topi.reshape(topi.concatenate([topi.add(x, y), x], 0), (-1,)))
    a, b = floats(3, 4), floats(1, 4)
    module = ir.IRModule({"main": te.create_prim_func([x, y, out], "int64")})
    result = numpy.zeros(24, "float32")
    iropt.run(module, "main", a, b, result)
    flat = numpy.exp(numpy.concatenate([a + b, a]).ravel())
    check(result, flat / flat.sum())


def _computed(result, *inputs):
    """What a function of topi computes."""
    arrays = [numpy.asarray(array) for array in inputs]
    tensors = [te.placeholder(array.shape, str(array.dtype), f"in{index}") for index, array in enumerate(arrays)]
    func = te.create_prim_func([*tensors, result(*tensors)])
    return numpy.asarray(iropt.run(ir.IRModule({"main": func}), "main", *arrays))


@pytest.mark.parametrize("equation, shapes", [
    ("...j->...", [(5, 4)]), ("...j, j", [(3, 5), (5,)]), ("..., ...", [(), (2, 3)]), ("...ij, ...jk -> ...ik", [(1, 4), (4, 2)]),
    ("...ij, ...ik -> ...jk", [(1, 1, 1, 4), (1, 1, 1, 3)]), ("...ik, ...jk, ...hk -> i...jh", [(3, 4, 4), (1, 5, 3, 8, 4), (2, 5, 3, 6, 4)]),
    ("ii->i", [(5, 5)]), ("ij, ij -> i", [(1, 4), (2, 4)]), ("ba", [(2, 3)])])
def test_einsum_of_axes_without_letters(equation, shapes):
    random = numpy.random.default_rng(0)
    arrays = [random.random(shape, "float32") for shape in shapes]
    numpy.testing.assert_allclose(_computed(lambda *tensors: topi.einsum(equation, *tensors), *arrays),
                                  numpy.einsum(equation, *arrays), rtol=1e-5)


def test_einsum_repeats_what_turns_out_to_have_one_element():
    n, m = te.var("n"), te.var("m")
    a, b = te.placeholder((n,), name="a"), te.placeholder((m,), name="b")
    func = te.create_prim_func([a, b, topi.einsum("i,i->i", a, b)])
    for x, y in ((numpy.ones(3), numpy.arange(3)), (numpy.ones(1), numpy.arange(3)), (numpy.ones(3), numpy.array([5]))):
        x, y = x.astype("float32"), y.astype("float32")
        result = runtime.array(numpy.zeros(max(len(x), len(y)), "float32"))
        executable.build(func)(runtime.array(x), runtime.array(y), result)
        numpy.testing.assert_array_equal(result.numpy(), x * y)


def test_upsampling_takes_the_places_that_it_says():
    data = numpy.arange(5, dtype="float32").reshape(1, 1, 1, 5)

    def up(*args, **kwargs):
        return _computed(lambda x: topi.nn.upsampling(x, *args, **kwargs), data)[0, 0, 0].tolist()

    # Places are multiples of the reciprocal of the factor; those after the last element are the last one.
    assert up(1, 2, method="bilinear") == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4]
    assert up(1, 2) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    # Ends meet ends, and the nearest element is that of the rounded place.
    assert up(1.0, 1.4, align_corners=True) == [0, 1, 1, 2, 3, 3, 4]
    # The size is rounded: 5 * 1.5 is 7.5, and 5 * 1.3 is 6.5.
    assert len(up(1.0, 1.5)) == 8 and len(up(1.0, 1.3)) == 6
    assert len(up(1.0, 1.5, output_shape=(1, 1, 1, 9))) == 9
    volume = data.reshape(1, 1, 1, 1, 5)
    half, asymmetric = (_computed(lambda x, mode=mode: topi.nn.upsampling3d(x, 1, 1, 2, method="trilinear", coordinate_transformation_mode=mode),
                                  volume)[0, 0, 0, 0].tolist() for mode in ("half_pixel", "asymmetric"))
    assert half[:3] == [0, 0.25, 0.75] and asymmetric[:3] == [0, 0.5, 1]


def test_operators_and_schedules_of_targets():
    from iropt.topi import schedules

    a = te.placeholder((2, 3), name="a")
    b = topi.nn.relu(a)
    for outs in (b, [b], [b.op]):
        assert schedules.schedule_injective(outs).prim_func([a, b]).params
    assert schedules.conv2d_nchw is topi.nn.conv2d_nchw
    with pytest.raises(AttributeError, match="has no 'nothing' for targets"):
        schedules.nothing  # pylint: disable=pointless-statement
    assert topi.nn.utils.get_pad_tuple("SAME", (3, 4)) == (1, 2, 1, 1)
    assert topi.nn.utils.get_pad_tuple1d(2, (3,)) == (2, 2) and topi.nn.utils.get_pad_tuple3d((1, 2, 3), (3, 3, 3)) == (1, 2, 3, 1, 2, 3)


def test_places_in_warps_are_inverse_to_each_other():
    from iropt.tir import tensor_intrin

    places = {tensor_intrin.shared_16x16_to_ldmatrix_32x8_layout(i, j) for i in range(16) for j in range(16)}
    assert places == {(thread, place) for thread in range(32) for place in range(8)}
    assert all(tensor_intrin.ldmatrix_32x8_to_shared_16x16_layout(*tensor_intrin.shared_16x16_to_ldmatrix_32x8_layout(i, j)) == (i, j)
               for i in range(16) for j in range(16))
    for function, rows, columns in ((tensor_intrin.shared_16x32_to_ldmatrix_32x16_layout, 16, 32),
                                    (tensor_intrin.shared_32x16_to_ldmatrix_32x16_layout, 32, 16)):
        assert len({function(i, j) for i in range(rows) for j in range(columns)}) == rows * columns


def test_pads_of_elements_around():
    x = floats(2, 4, 5)
    before, after = (0, 2, 1), (1, 1, 3)
    pads = list(zip(before, after))
    for name, mode in (("reflect_pad", "reflect"), ("replicate_pad", "edge"), ("circular_pad", "wrap")):
        own = [(0, 0), *pads[1:]] if mode != "edge" else pads
        begin, end = zip(*own)
        check(run(lambda A, name=name, begin=begin, end=end: getattr(topi.nn, name)(A, begin, end), x), numpy.pad(x, own, mode))
    with pytest.raises(ValueError, match="pad_after length 2 != input dims 3"):
        topi.nn.reflect_pad(te.placeholder((1, 2, 3)), (1, 1, 1), (1, 1))


def test_newer_functions():
    x, y = floats(2, 8, 3, 4) - numpy.float32(0.5), floats(2, 8, 3, 1) - numpy.float32(0.5)
    check(run(topi.atan2, x, y), numpy.arctan2(x, y))
    check(run(lambda A: topi.nn.softplus(A, 2.0, 0.5), x), numpy.where(2 * x > 0.5, x, numpy.log1p(numpy.exp(2 * x)) / 2))
    shuffled = x.reshape(2, 2, 2, 2, 3, 4).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 8)
    check(run(lambda A: topi.nn.pixel_shuffle(A, 2), x), shuffled)
    expected, part = x.copy(), floats(2, 3, 3, 4)
    expected[:, 1:7:2] = part
    check(run(lambda A, B: topi.slice_scatter(A, B, 1, 7, 2, 1)[0], x, part), expected)
    rows, columns = ints(0, 2, 3, 1), ints(0, 8, 1, 4)
    check(run(lambda A, B, C: topi.index_tensor(A, [B, C]), x, rows, columns), x[rows, columns])
    check(run(lambda A: topi.add(A, topi.hamming_window(5, False, 0.54, 0.46, "float32")), numpy.zeros(5, "float32")), numpy.hamming(5))
    check(run(lambda A: topi.add(A, topi.hamming_window(4, True, 0.54, 0.46, "float32")), numpy.zeros(4, "float32")), numpy.hamming(5)[:4])
