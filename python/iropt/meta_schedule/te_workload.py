"""Tensor expressions that tuners are measured with: layers of networks, by short names."""
from .. import te, tir, topi


def _taken(value, dtype):
    return value.astype(dtype)


def _convolution(name, spatial, batch, in_channels, out_channels, options):
    """A convolution over any number of spatial axes, channels last."""
    kernel, stride, padding, dilation, groups, in_dtype, out_dtype = options
    per_group, out_per_group = in_channels // groups, out_channels // groups
    inputs = te.placeholder((batch, *spatial, in_channels), name="inputs", dtype=in_dtype)
    weight = te.placeholder((*[kernel] * len(spatial), per_group, out_channels), name="weight", dtype=in_dtype)
    padded = topi.nn.pad(inputs, [0, *[padding] * len(spatial), 0])
    window = [te.reduce_axis((0, kernel), name=f"r{letter}") for letter in "dhw"[-len(spatial):]]
    channel = te.reduce_axis((0, per_group), name="rc")
    outer = [(extent + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 for extent in spatial]

    def element(*index):
        places = [place * stride + axis * dilation for place, axis in zip(index[1:-1], window)]
        source = padded[(index[0], *places, index[-1] // out_per_group * per_group + channel)]
        product = _taken(source, out_dtype) * _taken(weight[(*window, channel, index[-1])], out_dtype)
        return te.sum(product, axis=[*window, channel])

    return inputs, weight, te.compute((batch, *outer, out_channels), element, name=name)


def conv1d_nlc(N, L, CI, CO, kernel_size, stride=1, padding=0, dilation=1, groups=1, in_dtype="float32", out_dtype="float32"):
    """A convolution of one dimension."""
    return _convolution("conv1d_nlc", [L], N, CI, CO, (kernel_size, stride, padding, dilation, groups, in_dtype, out_dtype))


def conv2d_nhwc(N, H, W, CI, CO, kernel_size, stride=1, padding=0, dilation=1, groups=1, in_dtype="float32",
                out_dtype="float32"):
    """A convolution of two dimensions."""
    return _convolution("conv2d_nhwc", [H, W], N, CI, CO, (kernel_size, stride, padding, dilation, groups, in_dtype, out_dtype))


def conv3d_ndhwc(N, D, H, W, CI, CO, kernel_size, stride=1, padding=0, dilation=1, groups=1, in_dtype="float32",
                 out_dtype="float32"):
    """A convolution of three dimensions."""
    return _convolution("conv3d_ndhwc", [D, H, W], N, CI, CO,
                        (kernel_size, stride, padding, dilation, groups, in_dtype, out_dtype))


def depthwise_conv2d_nhwc(N, H, W, C, kernel_size, stride=1, padding=0, dilation=1, factor=1, in_dtype="float32",
                          out_dtype="float32"):
    """A convolution of each channel by itself."""
    inputs = te.placeholder((N, H, W, C), name="inputs", dtype=in_dtype)
    weight = te.placeholder((factor, kernel_size, kernel_size, C), name="weight", dtype=in_dtype)
    padded = topi.nn.pad(inputs, [0, padding, padding, 0])
    rh, rw = (te.reduce_axis((0, kernel_size), name=name) for name in ("rh", "rw"))
    outer = [(extent + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1 for extent in (H, W)]
    output = te.compute(
        (N, *outer, C * factor),
        lambda n, h, w, c: te.sum(
            _taken(padded[n, h * stride + rh * dilation, w * stride + rw * dilation, c // factor], out_dtype)
            * _taken(weight[c % factor, rh, rw, c // factor], out_dtype), axis=[rh, rw]),
        name="depth_conv2d_nhwc")
    return inputs, weight, output


def conv2d_transpose_nhwc(N, H, W, CI, CO, kernel_size, stride=1, padding=0, in_dtype="float32", out_dtype="float32"):
    """A transposed convolution: elements between those of the input are zeros."""
    inputs = te.placeholder((N, H, W, CI), name="inputs", dtype=in_dtype)
    weight = te.placeholder((kernel_size, kernel_size, CI, CO), name="weight", dtype=in_dtype)
    border = kernel_size - 1 - padding
    added = (border + stride - 1) // stride
    shift = added * stride - border
    padded = topi.nn.pad(inputs, [0, added, added, 0])
    rh, rw = (te.reduce_axis((0, kernel_size), name=name) for name in ("rh", "rw"))
    rc = te.reduce_axis((0, CI), name="rc")

    def source(n, h, w, c):
        if stride == 1:
            return padded[n, h, w, c]
        is_there = tir.all(tir.EQ(h % stride, 0), tir.EQ(w % stride, 0))
        return tir.if_then_else(is_there, padded[n, h // stride, w // stride, c], tir.const(0.0, in_dtype))

    output = te.compute(
        (N, *[(extent - 1) * stride - 2 * padding + kernel_size for extent in (H, W)], CO),
        lambda n, h, w, co: te.sum(
            _taken(source(n, h + rh + shift, w + rw + shift, rc), out_dtype)
            * _taken(weight[kernel_size - 1 - rh, kernel_size - 1 - rw, rc, co], out_dtype), axis=[rh, rw, rc]),
        name="conv2d_transpose_nhwc")
    return inputs, weight, output


def conv2d_capsule_nhwijc(N, H, W, CI, CO, kernel_size, stride=1, padding=0, capsule_size=4, in_dtype="float32",
                          out_dtype="float32"):
    """A convolution of capsules, which are matrices."""
    inputs = te.placeholder((N, H, W, capsule_size, capsule_size, CI), name="inputs", dtype=in_dtype)
    weight = te.placeholder((kernel_size, kernel_size, capsule_size, capsule_size, CI, CO), name="weight", dtype=in_dtype)
    padded = topi.nn.pad(inputs, [0, padding, padding, 0, 0, 0])
    rh, rw = (te.reduce_axis((0, kernel_size), name=name) for name in ("rh", "rw"))
    cap_k, rc = te.reduce_axis((0, capsule_size), name="cap_k"), te.reduce_axis((0, CI), name="rc")
    outer = [(extent + 2 * padding - kernel_size) // stride + 1 for extent in (H, W)]
    output = te.compute(
        (N, *outer, capsule_size, capsule_size, CO),
        lambda n, h, w, i, j, co: te.sum(
            _taken(padded[n, h * stride + rh, w * stride + rw, i, cap_k, rc], out_dtype)
            * _taken(weight[rh, rw, cap_k, j, rc, co], out_dtype), axis=[rh, rw, cap_k, rc]),
        name="conv2d_capsule_nhwijc")
    return inputs, weight, output


def conv2d_nhwc_bn_relu(N, H, W, CI, CO, kernel_size, strides, padding, dilation=1, in_dtype="float32", out_dtype="float32"):
    """A convolution, a normalization with known statistics, and a rectifier."""
    inputs, weight, conv = conv2d_nhwc(N, H, W, CI, CO, kernel_size, strides, padding, dilation, 1, in_dtype, out_dtype)
    bias, scale, offset = (te.placeholder((CO,), name=name) for name in ("bias", "bn_scale", "bn_offset"))
    shape = list(conv.shape)
    biased = te.compute(shape, lambda n, h, w, c: conv[n, h, w, c] + bias[c], name="bias_add")
    scaled = te.compute(shape, lambda n, h, w, c: biased[n, h, w, c] * scale[c], name="bn_mul")
    moved = te.compute(shape, lambda n, h, w, c: scaled[n, h, w, c] + offset[c], name="bn_add")
    return inputs, weight, bias, offset, scale, topi.nn.relu(moved)


def batch_matmul_nkkm(B, N, M, K, in_dtype="float32", out_dtype="float32"):
    """Batched matmul."""
    x = te.placeholder((B, N, K), name="X", dtype=in_dtype)
    y = te.placeholder((B, K, M), name="Y", dtype=in_dtype)
    k = te.reduce_axis((0, K), name="k")
    z = te.compute((B, N, M), lambda b, i, j: te.sum(_taken(x[b, i, k], out_dtype) * _taken(y[b, k, j], out_dtype), axis=[k]),
                   name="Z")
    return x, y, z


def transpose_batch_matmul(batch, seq_len, n_head, n_dim, in_dtype="float32", out_dtype="float32"):
    """The scores of attention."""
    query, value = (te.placeholder((batch, seq_len, n_head, n_dim), name=name, dtype=in_dtype) for name in ("query", "value"))
    query_t = te.compute((batch, n_head, seq_len, n_dim), lambda b, h, l, d: query[b, l, h, d], name="query_T")
    value_t = te.compute((batch, n_head, n_dim, seq_len), lambda b, h, d, l: value[b, l, h, d], name="value_T")
    k = te.reduce_axis((0, n_dim), name="k")
    out = te.compute(
        (batch, n_head, seq_len, seq_len),
        lambda b, h, i, j: te.sum(_taken(query_t[b, h, i, k], out_dtype) * _taken(value_t[b, h, k, j], out_dtype), axis=[k]),
        name="C")
    return query, value, out


def matmul(n, m, k, in_dtype="float32", out_dtype="float32"):
    """Matmul."""
    a, b = te.placeholder((n, k), name="A", dtype=in_dtype), te.placeholder((k, m), name="B", dtype=in_dtype)
    axis = te.reduce_axis((0, k), name="k")
    c = te.compute((n, m), lambda i, j: te.sum(_taken(a[i, axis], out_dtype) * _taken(b[axis, j], out_dtype), axis=[axis]),
                   name="C")
    return a, b, c


def matmul_relu(n, m, k, in_dtype="float32", out_dtype="float32"):
    """Matmul and a rectifier."""
    a, b, c = matmul(n, m, k, in_dtype, out_dtype)
    return a, b, topi.nn.relu(c)


def norm_bmn(B, M, N):
    """The norms of matrices."""
    a = te.placeholder((B, M, N), name="A")
    i, j = te.reduce_axis((0, M), name="i"), te.reduce_axis((0, N), name="j")
    c = te.compute((B,), lambda b: te.sum(a[b, i, j] * a[b, i, j], axis=[i, j]), name="C")
    return a, te.compute((B,), lambda b: te.sqrt(c[b]), name="D")


def softmax_mn(m, n):
    """The softmax of rows."""
    a = te.placeholder((m, n), name="A")
    return a, topi.nn.softmax(a, axis=1)


_CONV2D = [(1, 224, 224, 3, 64, 7, 2, 3), (1, 56, 56, 64, 64, 1, 1, 0), (1, 14, 14, 256, 256, 3, 1, 1), (1, 7, 7, 512, 512, 3, 1, 1)]
_GROUPED = [(1, 56, 56, 64, 128, 3, 2, 1), *_CONV2D[1:]]

# The function of each name, and its arguments from the first to the last workload.
CONFIGS = {
    "C1D": (conv1d_nlc, [(1, 256, 64, 128, 3, 2, 1), (1, 128, 128, 256, 1, 2, 0), (1, 64, 256, 256, 5, 1, 2),
                         (1, 32, 512, 512, 3, 1, 1)]),
    "C2D": (conv2d_nhwc, _CONV2D),
    "C3D": (conv3d_ndhwc, [(size[0], 16, *size[1:]) for size in _CONV2D]),
    "GMM": (batch_matmul_nkkm, [(1, 128, 128, 128), (1, 512, 32, 512), (1, 512, 512, 512), (1, 1024, 1024, 1024)]),
    "GRP": (conv2d_nhwc, [(*size, 1, 4) for size in _GROUPED]),
    "DIL": (conv2d_nhwc, [(*size, 2) for size in _CONV2D]),
    "DEP": (depthwise_conv2d_nhwc, [(1, 112, 112, 32, 3, 1, 1), (1, 112, 112, 64, 3, 2, 1), (1, 14, 14, 512, 3, 2, 1),
                                    (1, 7, 7, 1024, 3, 1, 1)]),
    "T2D": (conv2d_transpose_nhwc, [(1, 4, 4, 512, 256, 4, 2, 1), (1, 8, 8, 256, 128, 4, 2, 1), (1, 16, 16, 128, 64, 4, 2, 1),
                                    (1, 32, 32, 64, 3, 4, 2, 1)]),
    "CAP": (conv2d_capsule_nhwijc, [(1, 16, 16, 32, 32, 3, 2, 1), (1, 8, 8, 32, 32, 3, 1, 1), (1, 16, 16, 8, 16, 3, 2, 1),
                                    (1, 8, 8, 16, 16, 3, 1, 1)]),
    "NRM": (norm_bmn, [(1, 256, 256), (1, 512, 512), (1, 1024, 1024), (1, 4096, 1024)]),
    "SFM": (softmax_mn, [(256, 256), (512, 512), (1024, 1024), (2048, 2048)]),
    "CBR": (conv2d_nhwc_bn_relu, [(1, 224, 224, 3, 64, 7, 2, 3), (1, 56, 56, 64, 128, 3, 2, 1), (1, 28, 28, 128, 256, 1, 2, 0),
                                  (1, 7, 7, 512, 512, 3, 1, 1)]),
    "TBG": (transpose_batch_matmul, [(1, 128, 12, 64), (1, 128, 16, 64), (1, 64, 12, 128), (1, 128, 12, 128)]),
}


def create_te_workload(name, idx):
    """The PrimFunc of a workload of a name."""
    make, sizes = CONFIGS[name]
    return te.create_prim_func(make(*sizes[idx]))
