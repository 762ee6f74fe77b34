"""Transformers as ONNX files, with random weights, as exporters write them.

MODELS has, by name, what writes a model, its full and its small sizes, and the symbolic sizes of its inputs.
"""
import numpy as np
from onnx import TensorProto

from onnx_graph import Graph


def integers(*values):
    return np.array(values, np.int64)


def linear(g, x, inputs, outputs, bias=True):
    product = g.add("MatMul", [x, g.weight([inputs, outputs])])
    return g.add("Add", [product, g.weight([outputs])]) if bias else product


def layer_norm(g, x, size):
    return g.add("LayerNormalization", [x, g.constant(np.ones(size, np.float32)), g.weight([size])], axis=-1, epsilon=1e-5)


def rms_norm(g, x, size):
    square = g.add("Pow", [x, g.constant(np.float32(2))])
    mean = g.add("ReduceMean", [square], axes=[-1], keepdims=1)
    root = g.add("Sqrt", [g.add("Add", [mean, g.constant(np.float32(1e-5))])])
    return g.add("Mul", [g.add("Div", [x, root]), g.weight([size])])


def gelu(g, x):
    part = g.add("Erf", [g.add("Div", [x, g.constant(np.float32(2 ** 0.5))])])
    product = g.add("Mul", [x, g.add("Add", [part, g.constant(np.float32(1))])])
    return g.add("Mul", [product, g.constant(np.float32(0.5))])


def swish_product(g, x, size, inner):
    gate = linear(g, x, size, inner, bias=False)
    swish = g.add("Mul", [gate, g.add("Sigmoid", [gate])])
    return linear(g, g.add("Mul", [swish, linear(g, x, size, inner, bias=False)]), inner, size, bias=False)


def heads_of(g, x, heads, size):
    """The shape is computed from that of the operand, as exporters do."""
    shape = g.add("Shape", [x])
    parts = []
    for i in range(2):
        dim = g.add("Gather", [shape, g.constant(np.int64(i))], axis=0)
        parts.append(g.add("Unsqueeze", [dim, g.constant(integers(0))]))
    parts += [g.constant(integers(heads)), g.constant(integers(size))]
    split = g.add("Reshape", [x, g.add("Concat", parts, axis=0)])
    return g.add("Transpose", [split], perm=[0, 2, 1, 3])


def attention(g, q, k, v, size, mask=None):
    """Of heads of this size; the result has them joined."""
    scores = g.add("MatMul", [q, g.add("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = g.add("Mul", [scores, g.constant(np.float32(size ** -0.5))])
    if mask:
        scores = g.add("Add", [scores, mask])
    mixed = g.add("MatMul", [g.add("Softmax", [scores], axis=-1), v])
    return g.add("Transpose", [mixed], perm=[0, 2, 1, 3])


def encoder_attention(g, x, size, heads, mask=None):
    q, k, v = (heads_of(g, linear(g, x, size, size), heads, size // heads) for _ in range(3))
    joined = g.add("Reshape", [attention(g, q, k, v, size // heads, mask), g.constant(integers(0, 0, size))])
    return linear(g, joined, size, size)


def feed_forward(g, x, size):
    return linear(g, gelu(g, linear(g, x, size, 4 * size)), 4 * size, size)


def bert(path, layers, size, heads, length, vocabulary):
    g = Graph()
    words = g.add("Gather", [g.weight([vocabulary, size]), "tokens"], axis=0)
    places = g.add("Gather", [g.weight([512, size]), "positions"], axis=0)
    x = layer_norm(g, g.add("Add", [words, places]), size)
    for _ in range(layers):
        x = layer_norm(g, g.add("Add", [x, encoder_attention(g, x, size, heads, "mask")]), size)
        x = layer_norm(g, g.add("Add", [x, feed_forward(g, x, size)]), size)
    g.save(path, [("tokens", TensorProto.INT64, [1, length]), ("positions", TensorProto.INT64, [1, length]),
                  ("mask", TensorProto.FLOAT, [1, 1, 1, length])], [x])


def vit(path, layers, size, heads, pixels):
    g = Graph()
    patches = g.add("Conv", ["image", g.weight([size, 3, 16, 16]), g.weight([size])], strides=[16, 16])
    patches = g.add("Reshape", [patches, g.constant(integers(1, size, (pixels // 16) ** 2))])
    x = g.add("Concat", [g.weight([1, 1, size]), g.add("Transpose", [patches], perm=[0, 2, 1])], axis=1)
    x = g.add("Add", [x, g.weight([1, (pixels // 16) ** 2 + 1, size])])
    for _ in range(layers):
        x = g.add("Add", [x, encoder_attention(g, layer_norm(g, x, size), size, heads)])
        x = g.add("Add", [x, feed_forward(g, layer_norm(g, x, size), size)])
    first = g.add("Gather", [layer_norm(g, x, size), g.constant(np.int64(0))], axis=1)
    g.save(path, [("image", TensorProto.FLOAT, [1, 3, pixels, pixels])], [linear(g, first, size, 1000)])


def rotate(g, x, size, cosines, sines):
    halves = [g.constant(integers(i)) for i in (0, size // 2, size)]
    low, high = (g.add("Slice", [x, halves[i], halves[i + 1], g.constant(integers(3))]) for i in (0, 1))
    turned = g.add("Concat", [g.add("Neg", [high]), low], axis=-1)
    return g.add("Add", [g.add("Mul", [x, cosines]), g.add("Mul", [turned, sines])])


def repeat_heads(g, x, heads, groups, size):
    """Each head of keys or values as often as queries use it."""
    single = g.add("Unsqueeze", [x, g.constant(integers(2))])
    expanded = g.add("Expand", [single, g.constant(integers(1, 1, heads // groups, 1, 1))])
    return g.add("Reshape", [expanded, g.constant(integers(1, heads, -1, size))])


def llama(path, layers, size, inner, heads, groups, length, past, vocabulary):
    """A call for `length` tokens after those of a cache, of which there are `past`, or none."""
    g = Graph()
    head = size // heads
    x = g.add("Gather", [g.weight([vocabulary, size]), "tokens"], axis=0)
    inputs = [("tokens", TensorProto.INT64, [1, length]), ("positions", TensorProto.INT64, [1, length])]
    angles = np.outer(np.arange(2048), 1e4 ** (-2 * np.arange(head // 2) / head)).astype(np.float32)
    tables = [np.concatenate([f(angles)] * 2, axis=1) for f in (np.cos, np.sin)]
    tables = [g.add("Unsqueeze", [g.add("Gather", [g.constant(table), "positions"]), g.constant(integers(1))])
              for table in tables]
    presents = []
    for layer in range(layers):
        n = rms_norm(g, x, size)
        q = rotate(g, heads_of(g, linear(g, n, size, size, bias=False), heads, head), head, *tables)
        k = rotate(g, heads_of(g, linear(g, n, size, groups * head, bias=False), groups, head), head, *tables)
        v = heads_of(g, linear(g, n, size, groups * head, bias=False), groups, head)
        if past:
            names = [f"past_{kind}_{layer}" for kind in ("keys", "values")]
            inputs += [(name, TensorProto.FLOAT, [1, groups, past, head]) for name in names]
            k, v = (g.add("Concat", pair, axis=2) for pair in zip(names, (k, v)))
        presents += [k, v]
        k, v = (repeat_heads(g, y, heads, groups, head) for y in (k, v))
        mixed = attention(g, q, k, v, head, "mask")
        joined = g.add("Reshape", [mixed, g.constant(integers(0, 0, size))])
        x = g.add("Add", [x, linear(g, joined, size, size, bias=False)])
        x = g.add("Add", [x, swish_product(g, rms_norm(g, x, size), size, inner)])
    keys = (past + length if past else length) if isinstance(length, int) and isinstance(past, int) else "keys"
    inputs.append(("mask", TensorProto.FLOAT, [1, 1, length, keys]))
    g.save(path, inputs, [linear(g, rms_norm(g, x, size), size, vocabulary, bias=False), *presents])


BERT = {"layers": 12, "size": 768, "heads": 12, "vocabulary": 30522}
VIT = {"layers": 12, "size": 768, "heads": 12, "pixels": 224}
LLAMA = {"layers": 8, "size": 1024, "inner": 2816, "heads": 16, "groups": 4, "vocabulary": 32000}
SMALL = {"layers": 2, "size": 192, "heads": 3}
SMALL_LLAMA = {"layers": 2, "size": 256, "inner": 704, "heads": 4, "groups": 2, "vocabulary": 1000}
MODELS = {
    "bert": (bert, {**BERT, "length": 128}, {**SMALL, "length": 32, "vocabulary": 1000}, {}),
    "bert_dynamic": (bert, {**BERT, "length": "n"}, {**SMALL, "length": "n", "vocabulary": 1000}, {"n": 128}),
    "vit": (vit, VIT, {**SMALL, "pixels": 64}, {}),
    "llama_prefill": (llama, {**LLAMA, "length": 128, "past": 0}, {**SMALL_LLAMA, "length": 16, "past": 0}, {}),
    "llama_step": (llama, {**LLAMA, "length": 1, "past": 255}, {**SMALL_LLAMA, "length": 1, "past": 31}, {}),
    "llama_step_dynamic": (llama, {**LLAMA, "length": 1, "past": "past"}, {**SMALL_LLAMA, "length": 1, "past": "past"},
                           {"past": 255, "keys": 256}),
}
