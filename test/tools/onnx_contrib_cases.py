"""Cases for onnx_rows.py: operators of onnxruntime's domain, attention and caches."""
import math

import numpy as np
from onnx_case import add, constant, f32, i64

MICROSOFT = "com.microsoft"
E = np.vectorize(math.erf)
_random = np.random.default_rng(7)


def noise(*shape):
    return f32(_random.standard_normal(shape))


def levels(*shape, dtype="uint8"):
    return _random.integers(0, 255, shape).astype(dtype) if dtype == "uint8" else _random.integers(-127, 127, shape).astype(dtype)


def gelu(x):
    return x * 0.5 * (1 + E(x / math.sqrt(2)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def activation_cases():
    x, bias = noise(2, 3, 8), noise(8)
    add("Gelu", 1, [x], [f32(gelu(x))], MICROSOFT)
    add("BiasGelu", 1, [x, bias], [f32(gelu(x + bias))], MICROSOFT)
    add("QuickGelu", 1, [x], [f32(x * sigmoid(1.5 * x))], MICROSOFT, alpha=1.5)
    shifted = x + bias
    add("FastGelu", 1, [x, bias], [f32(0.5 * shifted * (1 + np.tanh(math.sqrt(2 / math.pi) * (shifted + 0.044715 * shifted**3))))],
        MICROSOFT)


def matrix_cases():
    matrices = np.concatenate([noise(1, 2, 4, 4), np.eye(4, dtype="float32")[[2, 0, 3, 1]][None, None].repeat(2, 1)])
    add("Inverse", 1, [matrices], [f32(np.linalg.inv(matrices.astype("float64")))], MICROSOFT)


def normalization_cases():
    x, skip, gamma, beta, bias = noise(2, 3, 8), noise(2, 3, 8), noise(8), noise(8), noise(8)

    def layer(v, epsilon):
        centered = v - v.mean(-1, keepdims=True)
        return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + epsilon)

    def root(v, epsilon):
        return v / np.sqrt((v * v).mean(-1, keepdims=True) + epsilon)

    total = x + skip + bias
    add("SkipLayerNormalization", 1, [x, skip, gamma, beta, bias], [f32(layer(total, 1e-5) * gamma + beta), None, None, f32(total)],
        MICROSOFT, epsilon=1e-5)
    add("SkipLayerNormalization", 1, [x, skip[0], gamma], [f32(layer(x + skip[0], 1e-5) * gamma)], MICROSOFT, epsilon=1e-5)
    add("SkipSimplifiedLayerNormalization", 1, [x, skip, gamma, bias], [f32(root(total, 1e-5) * gamma), None, None, f32(total)],
        MICROSOFT, epsilon=1e-5)
    add("SimplifiedLayerNormalization", 17, [x, gamma], [f32(root(x, 1e-3) * gamma)], epsilon=1e-3, axis=-1, stash_type=1)
    words, positions, segments = noise(9, 8), noise(5, 8), noise(2, 8)
    ids, kinds = np.array([[1, 8, 3], [0, 2, 2]], "int32"), np.array([[0, 0, 1], [1, 0, 1]], "int32")
    mask = np.array([[1, 1, 0], [1, 1, 1]], "int32")
    embedded = words[ids] + positions[:3] + segments[kinds]
    add("EmbedLayerNormalization", 1, [ids, kinds, words, positions, segments, gamma, beta, mask],
        [f32(layer(embedded, 1e-5) * gamma + beta), np.array([2, 3], "int32")], MICROSOFT, epsilon=1e-5)


def product_cases():
    a, b = noise(2, 4, 3), noise(2, 5, 4)
    add("FusedMatMul", 1, [a, b], [f32(0.5 * np.swapaxes(a, 1, 2) @ np.swapaxes(b, 1, 2))], MICROSOFT, alpha=0.5, transA=1, transB=1)
    left, right, c = noise(3, 4), noise(5, 4), noise(5)
    add("FusedGemm", 1, [left, right, c], [f32(np.maximum(0.5 * left @ right.T + 2 * c, 0))], MICROSOFT, activation="Relu", alpha=0.5,
        beta=2.0, transB=1)
    k, n, block = 32, 3, 16
    packed = levels(n, k // block, block // 2)
    scales, zeros = f32(0.01) * noise(n * (k // block)), levels(n * (k // block) // 2)
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(n, k)
    points = np.stack([zeros & 15, zeros >> 4], -1).reshape(n, k // block)
    x = noise(2, k)

    def product(zero_points):
        return f32(x @ ((f32(numbers) - np.repeat(zero_points, block, 1)) * np.repeat(scales.reshape(n, -1), block, 1)).T)

    add("MatMulNBits", 1, [x, packed, scales, zeros], [product(f32(points))], MICROSOFT, K=k, N=n, bits=4, block_size=block)
    add("MatMulNBits", 1, [x, packed, scales], [product(f32(8 + 0 * points))], MICROSOFT, K=k, N=n, bits=4, block_size=block)
    groups = _random.integers(0, k // block, k).astype("int32")

    def spread(zero_points):
        return f32(x @ ((f32(numbers) - zero_points) * scales.reshape(n, -1)[:, groups]).T)

    add("MatMulNBits", 1, [x, packed, scales, None, groups], [spread(8)], MICROSOFT, K=k, N=n, bits=4, block_size=block)
    # onnxruntime leaves out the zero points here.
    add("MatMulNBits", 1, [x, packed, scales, zeros, groups], [spread(f32(points)[:, groups])], MICROSOFT, in_onnxruntime=False, K=k, N=n,
        bits=4, block_size=block)
    wide = levels(n, k // block, block)
    exact = (f32(wide.reshape(n, k)) - 128) * np.repeat(scales.reshape(n, -1), block, 1)
    add("MatMulNBits", 1, [x, wide, scales], [f32(x @ exact.T)], MICROSOFT, K=k, N=n, bits=8, block_size=block)


def saturated(x, dtype):
    limits = np.iinfo(dtype)
    return np.clip(np.round(x), limits.min, limits.max).astype(dtype)


def quantized_cases():
    a, b = levels(2, 3, 4), levels(3, 1)
    pairs = [a, f32(0.5), np.array(10, "uint8"), b, f32(0.25), np.array(2, "uint8"), f32(0.75), np.array(5, "uint8")]
    real_a, real_b = (f32(a) - 10) * f32(0.5), (f32(b) - 2) * f32(0.25)

    def result(x, scale=0.75, zero=5, dtype="uint8"):
        return saturated(np.round(f32(x) / f32(scale)) + zero, dtype)

    def shifted(x, scale):
        return saturated(f32(x) / f32(scale) + f32(5), "uint8")

    add("QLinearAdd", 1, pairs, [shifted(real_a + real_b, 0.75)], MICROSOFT)
    add("QLinearMul", 1, [*pairs[:6], f32(20), np.array(5, "uint8")], [shifted(real_a * real_b, 20)], MICROSOFT)
    unary = [a, f32(0.05), np.array(100, "uint8")]
    real = (f32(a) - 100) * f32(0.05)
    add("QLinearSigmoid", 1, [*unary, f32(1 / 256), np.array(0, "uint8")], [result(sigmoid(real), 1 / 256, 0)], MICROSOFT)
    add("QLinearLeakyRelu", 1, [*unary, f32(0.05), np.array(20, "uint8")], [result(np.where(real < 0, real * f32(0.1), real), 0.05, 20)],
        MICROSOFT, alpha=0.1)
    exponents = np.exp(real - real.max(-1, keepdims=True))
    add("QLinearSoftmax", 1, [*unary, f32(1 / 256), np.array(0, "uint8")], [result(exponents / exponents.sum(-1, keepdims=True), 1 / 256, 0)],
        MICROSOFT, axis=-1, opset=13)
    image = levels(1, 2, 3, 3)
    mean = ((f32(image) - 10) * f32(0.5)).mean((2, 3), keepdims=True)
    add("QLinearGlobalAveragePool", 1, [image, f32(0.5), np.array(10, "uint8"), f32(0.5), np.array(3, "uint8")], [result(mean, 0.5, 3)],
        MICROSOFT, channels_last=0)
    for axes, keepdims in (([2, 3], 1), ([-1], 0)):
        reduced = ((f32(image) - 10) * f32(0.5)).mean(tuple(axes), keepdims=bool(keepdims))
        add("QLinearReduceMean", 1, [image, f32(0.5), np.array(10, "uint8"), f32(0.5), np.array(3, "uint8")], [result(reduced, 0.5, 3)],
            MICROSOFT, in_onnxruntime=False, axes=axes, keepdims=keepdims)
    wide = levels(1, 2, 5, 4)
    padded = np.pad((f32(wide) - 10) * f32(0.5), ((0, 0), (0, 0), (1, 0), (1, 0)), constant_values=np.nan)
    pooled = np.stack([np.nanmean(padded[:, :, 2 * i:2 * i + 2, j:j + 3], (2, 3)) for i in range(3) for j in range(3)], -1)
    add("QLinearAveragePool", 1, [wide, f32(0.5), np.array(10, "uint8"), f32(0.5), np.array(3, "uint8")],
        [saturated(pooled.reshape(1, 2, 3, 3) / 0.5 + 3, "uint8")], MICROSOFT, kernel_shape=[2, 3], strides=[2, 1], pads=[1, 1, 0, 0])
    other = levels(2, 1, 4)
    joined = np.concatenate([real_a, (f32(other) - 2) * f32(0.25)], 1)
    add("QLinearConcat", 1, [f32(0.75), np.array(5, "uint8"), a, f32(0.5), np.array(10, "uint8"), other, f32(0.25), np.array(2, "uint8")],
        [result(joined)], MICROSOFT, axis=1)
    keep = np.array([[True], [False], [True]])
    chosen = np.where(keep, real_a, real_b)
    add("QLinearWhere", 1, [keep, *pairs], [result(chosen)], MICROSOFT)
    signed, scales = levels(4, 3, dtype="int8"), f32([0.1, 0.2, 0.3])
    add("QuantizeLinear", 1, [noise(2, 3) * 0 + f32([1, -2, 3]), f32(0.1), np.array(7, "uint8")],
        [np.array([[17, 0, 37]] * 2, "uint8")], MICROSOFT)
    add("DequantizeLinear", 1, [signed, f32(0.1), np.array(7, "int8")], [f32((f32(signed) - 7) * f32(0.1))], MICROSOFT)
    rows = levels(2, 4)
    product = (rows.astype("int32") - 3) @ (signed.astype("int32") - np.array([1, 2, 3]))
    add("MatMulIntegerToFloat", 1, [rows, signed, f32(0.5), scales, np.array(3, "uint8"), np.array([1, 2, 3], "int8"), f32([1, 2, 3])],
        [f32(product * 0.5 * scales + [1, 2, 3])], MICROSOFT)
    turned, c = levels(3, 4, dtype="int8"), np.array([100, -200, 300], "int32")
    sums = (rows.astype("int32") - 3) @ (turned.T.astype("int32") - np.array([1, 2, 3])) + c
    gemm = [rows, f32(0.5), np.array(3, "uint8"), turned, scales, np.array([1, 2, 3], "int8"), c]
    add("QGemm", 1, gemm, [f32(sums * 0.5 * scales)], MICROSOFT, transB=1)
    add("QGemm", 1, [*gemm, f32(20), np.array(128, "uint8")], [result(f32(sums * 0.5 * scales), 20, 128)], MICROSOFT, transB=1)
    x = noise(2, 4)
    low, high = min(0, x.min()), max(0, x.max())
    step = f32((high - low) / 255)
    zero = np.round(-low / step)
    dynamic = np.clip(np.round(x / step) + zero, 0, 255) - zero
    add("DynamicQuantizeMatMul", 1, [x, signed, scales, None, f32([1, 2, 3])], [f32(dynamic @ f32(signed) * step * scales + [1, 2, 3])],
        MICROSOFT)


def attend(query, key, value, scale=None, bias=0.0, softcap=0.0, sinks=None):
    """Of [batch, heads, steps, size]; fewer heads of keys are shared. Sinks are scores of one more key of each head."""
    shared = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, shared, 1), np.repeat(value, shared, 1)
    scores = query @ np.swapaxes(key, 2, 3) * (scale or 1 / math.sqrt(query.shape[3]))
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    scores = scores + bias
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    more = 0 if sinks is None else np.exp(np.reshape(sinks, (1, -1, 1, 1)) - scores.max(-1, keepdims=True))
    weights = weights / (weights.sum(-1, keepdims=True) + more)
    return weights @ value


def split(x, heads):
    return np.swapaxes(x.reshape(*x.shape[:2], heads, -1), 1, 2)


def join(x):
    return np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)


def causal(queries, keys, window=-1):
    past = keys - queries
    at = past + np.arange(queries)[:, None]
    seen = (np.arange(keys) <= at) & ((window < 0) | (np.arange(keys) > at - window))
    return np.where(seen, 0, -np.inf)


def attention_cases():
    query, key, value = noise(2, 4, 3, 8), noise(2, 2, 5, 8), noise(2, 2, 5, 6)
    mask = _random.integers(0, 2, (3, 5)).astype(bool)
    mask[:, 0] = True
    add("Attention", 23, [query, key, value, mask], [f32(attend(query, key, value, bias=np.where(mask, 0, -np.inf)))])
    past_key, past_value = noise(2, 2, 2, 8), noise(2, 2, 2, 8)
    flat = [noise(2, 3, 32), noise(2, 3, 16), noise(2, 3, 16)]
    keys, values = np.concatenate([past_key, split(flat[1], 2)], 2), np.concatenate([past_value, split(flat[2], 2)], 2)
    y = attend(split(flat[0], 4), keys, values, scale=0.3, bias=causal(3, 5))
    add("Attention", 23, [*flat, None, past_key, past_value], [f32(join(y)), f32(keys), f32(values)], is_causal=1, q_num_heads=4,
        kv_num_heads=2, scale=0.3)
    scores = query @ np.swapaxes(np.repeat(key, 2, 1), 2, 3) / math.sqrt(8)
    capped = attend(query, key, value, bias=np.where(mask, 0, -np.inf), softcap=0.5)
    add("Attention", 23, [query, key, value, mask], [f32(capped), None, None, f32(scores)], softcap=0.5)
    added = noise(4, 3, 5)
    add("Attention", 23, [query, key, value, added], [f32(attend(query, key, value, bias=added)), None, None, f32(scores + added)],
        qk_matmul_output_mode=2)
    add("Attention", 24, [query, key, value, added], [f32(attend(query, key, value, bias=added, softcap=0.5)), None, None,
                                                      f32(0.5 * np.tanh(scores / 0.5))], softcap=0.5, qk_matmul_output_mode=1)
    seen = np.where(np.arange(5)[None, None, None, :] < np.array([3, 5])[:, None, None, None], 0, -np.inf)
    add("Attention", 24, [query, key, value, None, None, None, i64([3, 5])], [f32(attend(query, key, value, bias=seen))])
    data, weights, bias = noise(2, 3, 8), noise(8, 24), noise(24)
    parts = [split(part, 2) for part in np.split(data @ weights + bias, 3, -1)]
    lengths = np.array([2, 3], "int32")
    left_out = np.where(np.arange(3)[None, None, None, :] < lengths[:, None, None, None], 0, -10000)
    add("Attention", 1, [data, weights, bias, lengths], [f32(join(attend(*parts, bias=left_out)))], MICROSOFT, num_heads=2)
    add("Attention", 1, [data, weights, bias], [f32(join(attend(*parts, bias=causal(3, 3))))], MICROSOFT, num_heads=2, unidirectional=1)
    cached = noise(2, 2, 2, 4, 4)
    longer = [np.concatenate([cached[i], parts[i + 1]], 2) for i in range(2)]
    add("Attention", 1, [data, weights, bias, None, cached],
        [f32(join(attend(parts[0], *longer, bias=causal(3, 7)))), f32(np.stack(longer))], MICROSOFT, num_heads=2, unidirectional=1)
    rotary_attention_cases()
    quantized_attention_cases()


def turned(x, first, size):
    """Halves of the first numbers of [batch, heads, steps, size] are turned by their positions, from `first` on."""
    angles = (first + np.arange(x.shape[2]))[:, None] / 10000.0 ** (2 * np.arange(size // 2) / size)
    a, b = x[..., :size // 2], x[..., size // 2:size]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles), x[..., size:]], -1)


def rotary_attention_cases():
    """Forms that onnxruntime has for GPUs only."""
    data, weights, bias = noise(2, 3, 8), noise(8, 24), noise(24)
    query, key, value = [split(part, 2) for part in np.split(data @ weights + bias, 3, -1)]
    for size in (4, 2):
        y = attend(turned(query, 0, size), turned(key, 0, size), value, bias=causal(3, 3))
        present = np.stack([turned(key, 0, size), value])
        add("Attention", 1, [data, weights, bias], [f32(join(y)), f32(present)], MICROSOFT, in_onnxruntime=False, num_heads=2,
            do_rotary=1, unidirectional=1, rotary_embedding_dim=0 if size == 4 else size)
    cached = noise(2, 2, 2, 4, 4)
    keys, values = np.concatenate([cached[0], turned(key, 4, 4)], 2), np.concatenate([cached[1], value], 2)
    add("Attention", 1, [data, weights, bias, None, cached], [f32(join(attend(turned(query, 4, 4), keys, values))), f32(np.stack([keys, values]))],
        MICROSOFT, in_onnxruntime=False, num_heads=2, do_rotary=1)
    room = noise(2, 2, 2, 6, 4)
    present = np.array(room)
    present[:, :, :, 2:5] = np.stack([key, value])
    add("Attention", 1, [data, weights, bias, None, room, None, np.array(2, "int32")],
        [f32(join(attend(query, *present[:, :, :, :5], bias=causal(3, 5)))), f32(present)], MICROSOFT, in_onnxruntime=False, num_heads=2,
        unidirectional=1, past_present_share_buffer=1)
    square = _random.integers(0, 2, (2, 1, 8, 8)).astype("int32")
    square[:, :, :, 0] = 1
    seen = np.where(square[:, :, 4:7, :7] == 1, 0, -10000)
    keys, values = np.concatenate([cached[0], key], 2), np.concatenate([cached[1], value], 2)
    add("Attention", 1, [data, weights, bias, square, cached], [f32(join(attend(query, keys, values, bias=seen + causal(3, 7)))),
                                                                f32(np.stack([keys, values]))],
        MICROSOFT, in_onnxruntime=False, num_heads=2, unidirectional=1)


def quantized_attention_cases():
    data, weights, bias = levels(2, 3, 8), levels(8, 24, dtype="int8"), noise(24)
    zero, scales = np.array(120, "uint8"), f32(0.001) * (1 + np.arange(24, dtype="float32") / 24)
    for scale in (f32(0.001), scales):
        product = ((f32(data) - 120) @ f32(weights)) * f32(0.02) * scale + bias
        parts = [split(part, 2) for part in np.split(product, 3, -1)]
        inputs = [data, weights, bias, f32(0.02), scale, None, zero, np.zeros(scale.shape, "int8")]
        add("QAttention", 1, inputs, [f32(join(attend(*parts)))], MICROSOFT, num_heads=2)
        add("QAttention", 1, inputs, [f32(join(attend(*parts, bias=causal(3, 3))))], MICROSOFT, num_heads=2, unidirectional=1)
    cached = noise(2, 2, 2, 4, 4)
    longer = [np.concatenate([cached[i], parts[i + 1]], 2) for i in range(2)]
    add("QAttention", 1, [*inputs, cached], [f32(join(attend(parts[0], *longer, bias=causal(3, 7)))), f32(np.stack(longer))], MICROSOFT,
        num_heads=2, unidirectional=1)


def grouped_cases():
    flat = [noise(2, 3, 8), noise(2, 5, 8), noise(2, 5, 8)]
    bias = noise(24)
    biased = [split(part + bias[8 * i:8 * i + 8], 2) for i, part in enumerate(flat)]
    keep = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "int32")
    added = noise(1, 2, 3, 5)
    scores = np.where(keep[:, None, None, :] == 1, 0, -10000) + added
    add("MultiHeadAttention", 1, [*flat, bias, keep, added], [f32(join(attend(*biased, bias=scores)))], MICROSOFT, num_heads=2)
    past_key, past_value = noise(2, 2, 4, 4), noise(2, 2, 4, 4)
    now = [noise(2, 3, 8) for _ in range(3)]
    keys, values = np.concatenate([past_key, split(now[1], 2)], 2), np.concatenate([past_value, split(now[2], 2)], 2)
    add("MultiHeadAttention", 1, [*now, None, None, None, past_key, past_value],
        [f32(join(attend(split(now[0], 2), keys, values))), f32(keys), f32(values)], MICROSOFT, num_heads=2)
    heads_now = [split(part, 2) for part in now]
    products = heads_now[0] @ np.swapaxes(keys, 2, 3) / 2
    add("MultiHeadAttention", 1, [*now, None, None, None, past_key, past_value],
        [f32(join(attend(heads_now[0], keys, values))), f32(keys), f32(values), f32(products)], MICROSOFT, num_heads=2)
    add("MultiHeadAttention", 1, [*now], [f32(join(attend(*(split(part, 2) for part in now), bias=causal(3, 3))))], MICROSOFT, num_heads=2,
        unidirectional=1)
    whole = np.stack([part.reshape(2, 3, 2, 4) for part in now], 3)
    mixed = join(attend(*(split(part, 2) for part in now)))
    add("MultiHeadAttention", 1, [whole], [f32(mixed)], MICROSOFT, in_onnxruntime=False, num_heads=2)
    add("MultiHeadAttention", 1, [now[0], whole[:, :, :, 1:]], [f32(mixed)], MICROSOFT, in_onnxruntime=False, num_heads=2)
    query, key, value = noise(1, 1, 64), noise(1, 1, 32), noise(1, 1, 32)
    past = [noise(1, 2, 6, 16), noise(1, 2, 6, 16)]
    cache = [np.concatenate([past[0], split(key, 2)], 2), np.concatenate([past[1], split(value, 2)], 2)]
    add("GroupQueryAttention", 1, [query, key, value, *past, np.array([6], "int32"), np.array(7, "int32")],
        [f32(join(attend(split(query, 4), *cache, bias=causal(1, 7, 4)))), f32(cache[0]), f32(cache[1])], MICROSOFT, num_heads=4,
        kv_num_heads=2, local_window_size=4)
    add("GroupQueryAttention", 1, [query, key, value, *past, np.array([6], "int32"), np.array(7, "int32")],
        [f32(join(attend(split(query, 4), *cache, scale=0.5, softcap=2.0))), f32(cache[0]), f32(cache[1])], MICROSOFT, num_heads=4,
        kv_num_heads=2, scale=0.5, softcap=2.0)
    packed_cases()
    angles = noise(8, 8)
    cosines, sines = np.cos(angles), np.sin(angles)
    prompt = [noise(1, 3, 64), noise(1, 3, 32), noise(1, 3, 32)]
    turned = [rotated(split(prompt[0], 4), cosines[:3], sines[:3]), rotated(split(prompt[1], 2), cosines[:3], sines[:3])]
    empty = np.zeros((1, 2, 0, 16), "float32")
    add("GroupQueryAttention", 1, [*prompt, empty, empty, np.array([2], "int32"), np.array(3, "int32"), f32(cosines), f32(sines)],
        [f32(join(attend(*turned, split(prompt[2], 2), bias=causal(3, 3)))), f32(turned[1]), f32(split(prompt[2], 2))], MICROSOFT,
        num_heads=4, kv_num_heads=2, do_rotary=1)
    places = i64([[2, 3, 4]])
    moved = [rotated(split(prompt[0], 4), cosines[places[0]], sines[places[0]]), rotated(split(prompt[1], 2), cosines[places[0]], sines[places[0]])]
    add("GroupQueryAttention", 1, [*prompt, empty, empty, np.array([2], "int32"), np.array(3, "int32"), f32(cosines), f32(sines), places],
        [f32(join(attend(*moved, split(prompt[2], 2), bias=causal(3, 3)))), f32(moved[1]), f32(split(prompt[2], 2))], MICROSOFT,
        num_heads=4, kv_num_heads=2, do_rotary=1)
    plain = [split(prompt[0], 4), split(prompt[1], 2), split(prompt[2], 2)]
    sinks = f32([0.5, -1, 2, 0])
    add("GroupQueryAttention", 1, [*prompt, empty, empty, np.array([2], "int32"), np.array(3, "int32"), None, None, None, None, sinks],
        [f32(join(attend(*plain, bias=causal(3, 3), sinks=sinks))), *plain[1:]], MICROSOFT, num_heads=4, kv_num_heads=2)
    add("GroupQueryAttention", 1, [*prompt, empty, empty, np.array([2], "int32"), np.array(3, "int32")],
        [f32(join(attend(*plain, bias=causal(3, 3), sinks=np.zeros(4)))), *plain[1:]], MICROSOFT, num_heads=4, kv_num_heads=2,
        smooth_softmax=1)
    scores = plain[0] @ np.swapaxes(np.repeat(plain[1], 2, 1), 2, 3) / 4 + causal(3, 3)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    for form, kept in ((1, np.where(np.isinf(scores), 0, scores)), (2, weights / weights.sum(-1, keepdims=True))):
        add("GroupQueryAttention", 1, [*prompt, empty, empty, np.array([2], "int32"), np.array(3, "int32")],
            [f32(join(attend(*plain, bias=causal(3, 3)))), *plain[1:], f32(kept)], MICROSOFT, num_heads=4, kv_num_heads=2, qk_output=form)
    one = np.concatenate(prompt, -1)
    add("GroupQueryAttention", 1, [one, None, None, empty, empty, np.array([2], "int32"), np.array(3, "int32"), f32(cosines), f32(sines)],
        [f32(join(attend(*turned, split(prompt[2], 2), bias=causal(3, 3)))), f32(turned[1]), f32(split(prompt[2], 2))], MICROSOFT,
        num_heads=4, kv_num_heads=2, do_rotary=1)


def packed_cases():
    """Sequences of different lengths in a cache that has room for them; query, key and value in one tensor."""
    packed = noise(2, 1, 128)
    query, key, value = split(packed[..., :64], 4), split(packed[..., 64:96], 2), split(packed[..., 96:], 2)
    past = [noise(2, 2, 8, 16), noise(2, 2, 8, 16)]
    lasts = [3, 6]
    caches = [table.copy() for table in past]
    outputs = []
    for batch, last in enumerate(lasts):
        for table, now in zip(caches, (key, value)):
            table[batch, :, last:] = 0
            table[batch, :, last] = now[batch, :, 0]
        one = slice(batch, batch + 1)
        outputs.append(join(attend(query[one], caches[0][one, :, :last + 1], caches[1][one, :, :last + 1])))
    add("GroupQueryAttention", 1, [packed, None, None, *past, np.array(lasts, "int32"), np.array(7, "int32")],
        [f32(np.concatenate(outputs)), f32(caches[0]), f32(caches[1])], MICROSOFT, num_heads=4, kv_num_heads=2)


def rotated(x, cosines, sines, interleaved=False):
    """Of [batch, heads, steps, size], with rows of the caches for the steps."""
    half = cosines.shape[-1]
    y = x.copy()
    first, second = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if interleaved else (slice(0, half), slice(half, 2 * half))
    a, b = x[..., first], x[..., second]
    y[..., first], y[..., second] = a * cosines - b * sines, b * cosines + a * sines
    return y


def rotary_cases():
    x, angles = noise(2, 4, 3, 8), noise(10, 4)
    cosines, sines = f32(np.cos(angles)), f32(np.sin(angles))
    positions = i64([[0, 1, 2], [4, 5, 9]])
    rows = [table[positions][:, None] for table in (cosines, sines)]
    add("RotaryEmbedding", 23, [x, cosines, sines, positions], [f32(rotated(x, *rows))])
    given = [f32(np.repeat(row[:, 0], 1, 0)) for row in rows]
    flat = join(x)
    add("RotaryEmbedding", 23, [flat, *given], [f32(join(rotated(x, *rows, interleaved=True)))], interleaved=1, num_heads=4)
    half = [table[:, :2] for table in (cosines, sines)]
    part = [table[positions][:, None] for table in half]
    add("RotaryEmbedding", 23, [x, *half, positions], [f32(rotated(x, *part))], rotary_embedding_dim=4)
    add("RotaryEmbedding", 1, [flat, positions, cosines, sines], [f32(join(rotated(x, *rows)))], MICROSOFT)
    offset = [table[2:5] for table in (cosines, sines)]
    add("RotaryEmbedding", 1, [flat, i64([2]), cosines, sines], [f32(join(rotated(x, *offset, interleaved=True)))], MICROSOFT, interleaved=1)


def cache_cases():
    cache, update = noise(2, 2, 6, 4), noise(2, 2, 2, 4)
    written = cache.copy()
    for batch, begin in enumerate((1, 5)):
        for step in range(2):
            written[batch, :, (begin + step) % 6] = update[batch, :, step]
    add("TensorScatter", 24, [cache, update, i64([1, 5])], [written], mode="circular")
    x = f32([[1, 2, 3], [4, 5, 6]])
    add("CumProd", 26, [x, np.array(1, "int32")], [np.cumprod(x, 1)])
    add("CumProd", 26, [x, np.array(0, "int32")], [f32([[4, 5, 6], [1, 1, 1]])], exclusive=1, reverse=1)
    add("BitCast", 26, [x], [x.view("int32")], to=6)


def image_cases():
    """Of diffusion models, whose kernels are not on CPUs."""
    x, skip, gamma, beta, bias = noise(2, 3, 4, 8), noise(2, 8), noise(8), noise(8), noise(8)

    def normalized(image, groups):
        parts = image.reshape(*image.shape[:3], groups, -1)
        centered = parts - parts.mean((1, 2, 4), keepdims=True)
        return (centered / np.sqrt((centered**2).mean((1, 2, 4), keepdims=True) + 1e-5)).reshape(image.shape) * gamma + beta

    y = normalized(x, 4)
    add("GroupNorm", 1, [x, gamma, beta], [f32(y * sigmoid(y))], MICROSOFT, in_onnxruntime=False, activation=1, groups=4)
    first = np.moveaxis(x, 3, 1)
    add("GroupNorm", 1, [first, gamma, beta], [f32(np.moveaxis(normalized(x, 2), 3, 1))], MICROSOFT, in_onnxruntime=False, activation=0,
        groups=2, channels_last=0)
    total = x + skip[:, None, None] + bias
    add("SkipGroupNorm", 1, [x, gamma, beta, skip, bias], [f32(normalized(total, 4)), f32(total)], MICROSOFT, in_onnxruntime=False,
        activation=0, groups=4)
    rows, added = noise(2, 3, 8), noise(2, 3, 8)
    add("BiasAdd", 1, [rows, bias, added], [f32(rows + bias + added)], MICROSOFT, in_onnxruntime=False)
    left, right = np.split(rows + bias, 2, -1)
    add("BiasSplitGelu", 1, [rows, bias], [f32(left * gelu(right))], MICROSOFT, in_onnxruntime=False)
    scores, mask = noise(2, 3, 4, 5), noise(2, 1, 1, 5)
    powers = np.exp(scores + mask)
    add("BiasSoftmax", 1, [scores, mask], [f32(powers / powers.sum(-1, keepdims=True))], MICROSOFT, in_onnxruntime=False, axis=3,
        is_inner_broadcast=1)
    weights = noise(8, 4)
    shifted = rows @ weights + bias[:4]
    fast = 0.5 * shifted * (1 + np.tanh(math.sqrt(2 / math.pi) * (shifted + 0.044715 * shifted**3)))
    add("GemmFastGelu", 1, [rows, weights, bias[:4]], [f32(fast)], MICROSOFT, in_onnxruntime=False)
    angles, states = noise(2, 3, 4), [noise(2, 2, 3, 4) for _ in range(4)]
    cosines, sines = np.cos(angles)[:, None], np.sin(angles)[:, None]
    add("GemmaRotaryEmbedding", 1, [angles, *states], [f32(states[0] * cosines + states[1] * sines), f32(states[2] * cosines + states[3] * sines)],
        MICROSOFT, in_onnxruntime=False)


def table_cases():
    a, b = noise(3, 4), noise(5, 4)
    squares = ((a[:, None] - b) ** 2).sum(-1)
    add("CDist", 1, [a, b], [f32(squares)], MICROSOFT, metric="sqeuclidean")
    add("CDist", 1, [a, b], [f32(np.sqrt(squares))], MICROSOFT, metric="euclidean")
    add("ExpandDims", 1, [a, constant(np.array(-2, "int32"))], [a[:, None]], MICROSOFT)
    add("TransposeMatMul", 1, [a, b], [f32(2 * a @ b.T)], MICROSOFT, alpha=2.0, transA=0, transB=1)
    rows, size, block = 6, 32, 16
    packed, indices = levels(rows, size // 2), i64([[0, 5], [-1, 2]])
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(rows, size)
    scales, zeros = f32(0.1) * noise(rows, size // block), levels(rows, 1)
    points = np.stack([zeros & 15, zeros >> 4], -1).reshape(rows, size // block)

    def gathered(values, zero_points):
        return f32((f32(values) - np.repeat(zero_points, block, 1)) * np.repeat(scales, block, 1))[indices]

    shape = {"block_size": block, "gather_axis": 0, "quantize_axis": 1}
    add("GatherBlockQuantized", 1, [packed, indices, scales, zeros], [gathered(numbers, f32(points))], MICROSOFT, bits=4, **shape)
    add("GatherBlockQuantized", 1, [packed, indices, scales], [gathered(numbers, f32(points) * 0 + 8)], MICROSOFT, bits=4, **shape)
    wide = levels(rows, size)
    add("GatherBlockQuantized", 1, [wide, indices, scales], [gathered(wide, f32(points) * 0 + 128)], MICROSOFT, bits=8, **shape)
    normal = f32([-1, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0, 0.0795803, 0.1609302, 0.2461123,
                  0.33791524, 0.44070983, 0.562617, 0.72295684, 1])
    floats = f32([0, 0.005208333, 0.6666667, 1, 0.33333334, 0.5, 0.16666667, 0.25])
    n, k = 3, 32
    halves, greatest, x = levels(n * k // 2), np.abs(noise(n * k // block)), noise(2, k)
    places = np.stack([halves >> 4, halves & 15], -1).flatten()
    for kind, values in ((1, normal), (0, np.concatenate([floats, -floats]))):
        matrix = (values[places] * np.repeat(greatest, block)).reshape(n, k)
        add("MatMulBnb4", 1, [x, halves, greatest], [f32(x @ matrix.T)], MICROSOFT, K=k, N=n, block_size=block, quant_type=kind)


def fused_cases():
    image, kernel, shift, residual = noise(1, 2, 4, 4), noise(3, 2, 1, 1), noise(3), noise(1, 3, 4, 4)
    conv = np.einsum("ncyx,oc->noyx", image, kernel[:, :, 0, 0]) + shift[:, None, None]
    for name, expected, options in (("Relu", np.maximum(conv, 0), {}), ("LeakyRelu", np.where(conv < 0, 0.3 * conv, conv), {"activation_params": [0.3]}),
                                    ("Clip", np.clip(conv, -0.5, 0.75), {"activation_params": [-0.5, 0.75]}), ("Tanh", np.tanh(conv), {}),
                                    ("HardSigmoid", np.clip(0.3 * conv + 0.4, 0, 1), {"activation_params": [0.3, 0.4]}),
                                    ("Sigmoid", sigmoid(conv), {})):
        add("FusedConv", 1, [image, kernel, shift], [f32(expected)], MICROSOFT, activation=name, kernel_shape=[1, 1], **options)
    add("FusedConv", 1, [image, kernel, shift, residual], [f32(np.maximum(conv + residual, 0))], MICROSOFT, activation="Relu", kernel_shape=[1, 1])
    add("Trilu", 1, [image], [np.tril(image)], MICROSOFT, in_onnxruntime=False, upper=0)


def make():
    for case in (activation_cases, matrix_cases, normalization_cases, product_cases, quantized_cases, attention_cases, grouped_cases, rotary_cases,
                 cache_cases, fused_cases, image_cases, table_cases):
        case()
