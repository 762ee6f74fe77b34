"""Cases of onnx_rows.py for operator sets 23 to 28: states, windows of attention, element types of 2 to 8 bits, and what
the sets changed of older operators."""
import math

import numpy as np
import onnx_file
from onnx_case import add, constant, f32, i64

PREVIEW = "ai.onnx.preview"
_random = np.random.default_rng(23)


def noise(*shape):
    return f32(_random.standard_normal(shape))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def activation_cases():
    gate, value = noise(2, 3, 4), noise(2, 3, 4)
    add("SwiGLU", 28, [gate, value], [f32(gate * sigmoid(1.5 * gate) * value)], alpha=1.5)
    add("SwiGLU", 28, [gate, value], [f32(gate * sigmoid(gate) * value)])
    for dtype, tolerant in (("float32", gate), ("float64", gate.astype("float64")), ("float16", gate.astype("float16"))):
        wide = tolerant.astype("float64")
        expected = np.maximum(wide, 0) + np.minimum(0, 2 * (np.exp(wide / 2) - 1))
        add("Celu", 28, [tolerant], [expected.astype(dtype)], alpha=2.0)
    add("Range", 27, [constant(np.array(1, "float16")), constant(np.array(4, "float16")), constant(np.array(0.5, "float16"))],
        [np.arange(1, 4, 0.5).astype("float16")])
    add("Range", 27, [f32(10), f32(4), f32(-2)], [f32([10, 8, 6])])


# ---- States

def causal_conv_cases():
    x, weight, bias = noise(2, 3, 5), noise(3, 1, 4), noise(3)
    past = noise(2, 3, 3)
    for state, activation in ((past, "silu"), (None, "none")):
        whole = np.concatenate([np.zeros_like(past) if state is None else state, x], 2)
        y = sum(whole[:, :, k:k + 5] * weight[:, 0, k][:, None] for k in range(4)) + bias[:, None]
        if activation == "silu":
            y = y * sigmoid(y)
        add("CausalConvWithState", 27, [x, weight, bias, state], [f32(y), whole[:, :, -3:]], activation=activation)
    short = noise(1, 3, 1)
    whole = np.concatenate([past[:1], short], 2)
    add("CausalConvWithState", 27, [short, weight, None, past[:1]], [f32((whole * weight[:, 0]).sum(2, keepdims=True)), whole[:, :, 1:]])


def linear_attention(query, key, value, state, decay, beta, scale):
    """Of [batch, steps, heads, size]; decay and beta broadcast to [batch, steps, heads, size] or are None."""
    shared = query.shape[2] // key.shape[2]
    outputs = []
    for step in range(query.shape[1]):
        k, v = key[:, step], value[:, step]
        if decay is not None:
            state = state * np.exp(decay[:, step])[..., None]
        if beta is not None:
            v = beta[:, step] * (v - np.einsum("bhij,bhi->bhj", state, k))
        state = state + np.einsum("bhi,bhj->bhij", k, v)
        outputs.append(scale * np.einsum("bhi,bhij->bhj", query[:, step], np.repeat(state, shared, 1)))
    y = np.stack(outputs, 1)
    return y.reshape(*y.shape[:2], -1), state


def linear_attention_cases():
    query, key, value = noise(2, 3, 4, 6), noise(2, 3, 2, 6), noise(2, 3, 2, 5)
    state = noise(2, 2, 6, 5)
    flat = [part.reshape(2, 3, -1) for part in (query, key, value)]
    by_head, by_number, rate = -np.abs(noise(2, 3, 2, 1)), -np.abs(noise(2, 3, 2, 6)), sigmoid(noise(2, 3, 2, 1))
    common = sigmoid(noise(2, 3, 1, 1))
    for rule, past, decay, beta, scale in (("linear", state, None, None, 0.0), ("gated", state, by_head, None, 0.5),
                                           ("gated", None, by_number, None, 0.0), ("delta", state, None, rate, 0.0),
                                           ("gated_delta", state, by_head, rate, 0.0), ("gated_delta", None, by_number, common, 0.3)):
        begin = np.zeros_like(state) if past is None else past
        y, last = linear_attention(query, key, value, begin, decay, beta, scale or 1 / math.sqrt(6))
        inputs = [*flat, past, *(None if factor is None else f32(factor.reshape(2, 3, -1)) for factor in (decay, beta))]
        while inputs[-1] is None:
            inputs.pop()
        add("LinearAttention", 27, inputs, [f32(y), f32(last)], q_num_heads=4, kv_num_heads=2, update_rule=rule, scale=scale)


# ---- Attention

def softmax(scores):
    greatest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(greatest), 0, greatest))
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def seen(queries, keys, offset, causal=False, left=-1, right=-1):
    """Which keys each query sees; by batch if offset is an array."""
    at = np.asarray(offset).reshape(-1, 1, 1, 1) + np.arange(queries)[:, None]
    key = np.arange(keys)
    mask = np.ones(np.broadcast_shapes(at.shape, key.shape), bool)
    if causal:
        mask &= key <= at
    if left >= 0:
        mask &= key >= at - left
    if right >= 0:
        mask &= key <= at + right
    return mask


def attention_cases():
    query, key, value = noise(2, 4, 4, 8), noise(2, 2, 6, 8), noise(2, 2, 6, 5)
    keys, values = np.repeat(key, 2, 1), np.repeat(value, 2, 1)
    scores = query @ np.swapaxes(keys, 2, 3) / math.sqrt(8)

    def attended(mask):
        return f32(softmax(np.where(mask, scores, -np.inf)) @ values)

    for options in ({"left_window_size": 2, "right_window_size": 1}, {"left_window_size": 1}, {"right_window_size": 0},
                    {"left_window_size": 1, "is_causal": 1}):
        mask = seen(4, 6, 0, bool(options.get("is_causal")), options.get("left_window_size", -1), options.get("right_window_size", -1))
        add("Attention", 25, [query, key, value], [attended(mask)], in_onnxruntime=False, **options)
    # The queries are the last ones of a cache that is filled elsewhere; those before its beginning see nothing.
    lengths = np.array([6, 3])
    filled = np.arange(6) < lengths[:, None, None, None]
    for opset, options in ((24, {}), (25, {"left_window_size": 1})):
        mask = seen(4, 6, lengths - 4, True, options.get("left_window_size", -1)) & filled
        add("Attention", opset, [query, key, value, None, None, None, i64(lengths)], [attended(mask)], in_onnxruntime=False, is_causal=1,
            **options)
    past = [noise(2, 2, 3, 8), noise(2, 2, 3, 5)]
    all_keys, all_values = np.concatenate([past[0], key], 2), np.concatenate([past[1], value], 2)
    longer = query @ np.swapaxes(np.repeat(all_keys, 2, 1), 2, 3) / math.sqrt(8)
    weights = softmax(np.where(seen(4, 9, 3, True, 2), longer, -np.inf))
    add("Attention", 25, [query, key, value, None, *past], [f32(weights @ np.repeat(all_values, 2, 1)), all_keys, all_values], in_onnxruntime=False,
        is_causal=1, left_window_size=2)


def flex_attention_cases():
    query, key, value = noise(2, 4, 3, 8), noise(2, 2, 5, 8), noise(2, 2, 5, 6)
    keys, values = np.repeat(key, 2, 1), np.repeat(value, 2, 1)
    scores = query @ np.swapaxes(keys, 2, 3)
    shape = [2, 4, 3, 5]

    def modifier(op, by):
        typed = [onnx_file.value(name, "float32", shape) for name in ("before", "after")]
        return onnx_file.graph([onnx_file.node(op, ["before", by], ["after"])], typed[:1], typed[1:])

    add("FlexAttention", 1, [query, key, value], [f32(softmax(scores / math.sqrt(8)) @ values)], PREVIEW, in_onnxruntime=False)
    bias, share = noise(3, 5), f32(np.abs(noise(4, 1, 1)))
    add("FlexAttention", 1, [query, key, value], [f32(softmax(scores * 0.25 + bias) * share @ values)], PREVIEW, in_onnxruntime=False,
        captured={"bias": bias, "share": share}, scale=0.25, score_mod=modifier("Add", "bias"), prob_mod=modifier("Mul", "share"))


# ---- Element types

# The number in ONNX, bits of the exponent and the mantissa, bias, and what follows the greatest number.
FLOATS = {"float8e4m3fn": (17, 4, 3, 7, "nan"), "float8e4m3fnuz": (18, 4, 3, 8, "fnuz"), "float8e5m2": (19, 5, 2, 15, "inf"),
          "float8e5m2fnuz": (20, 5, 2, 16, "fnuz"), "float4e2m1": (23, 2, 1, 1, "")}


def positive_numbers(exponent_bits, mantissa_bits, bias, special):
    numbers = []
    for exponent in range(1 << exponent_bits):
        for mantissa in range(1 << mantissa_bits):
            whole = mantissa / (1 << mantissa_bits) + (exponent > 0)
            numbers.append(whole * 2.0 ** (max(exponent, 1) - bias))
    return numbers[:{"nan": -1, "inf": -(1 << mantissa_bits)}.get(special, len(numbers))]


def rounded(x, name, saturates=True):
    """The nearest number of a type; ties go to even codes."""
    _, exponent_bits, mantissa_bits, bias, special = FLOATS[name]
    numbers = positive_numbers(exponent_bits, mantissa_bits, bias, special)
    step = numbers[-1] - numbers[-2]
    results = []
    for value in x.astype("float64"):
        distances = [abs(abs(value) - number) for number in [*numbers, numbers[-1] + step]]
        best = min(range(len(distances)), key=lambda i: (distances[i], i % 2)) if not np.isnan(value) else 0  # pylint: disable=cell-var-from-loop
        if np.isnan(value):
            number = np.nan
        elif np.isinf(value) or best == len(numbers):
            number = numbers[-1] if saturates or not special else np.inf if special == "inf" else np.nan
        else:
            number = numbers[best]
        results.append(np.copysign(number, value) if number or special != "fnuz" else 0.0)
    return f32(results)


def chain(*steps):
    """Nodes from x0 to y0: pairs of an operator and its attributes, or of its other inputs and its attributes."""
    nodes = []
    for i, (op, others, attributes) in enumerate(steps):
        before, after = ("x0" if i == 0 else f"h{i}"), ("y0" if i == len(steps) - 1 else f"h{i + 1}")
        nodes.append(onnx_file.node(op, [before, *others], [after], **attributes))
    return nodes


def cast(to, **options):
    return ("Cast", [], {"to": to, **options})


def narrow_float_cases():
    x = f32([0, 0.3, -1, 3.3, 5, -7, 0.0019, 464, 480, 57344, 61440, -1e6, np.inf, -np.inf, np.nan])
    for name, (number, *_) in FLOATS.items():
        opset = 23 if name == "float4e2m1" else 19
        finite = x[:-1] if name == "float4e2m1" else x  # what NaN becomes is not said
        for saturates in (1, 0):
            expected = rounded(finite, name, bool(saturates))
            add("Cast", opset, [finite], [expected], in_onnxruntime=False, nodes=chain(cast(number, saturate=saturates), cast(1)))
        half = np.where(np.abs(finite) > 65504, np.copysign(np.inf, finite), finite).astype("float16")
        expected = rounded(half.astype("float32"), name).astype("float16")
        add("Cast", 25, [half], [expected], in_onnxruntime=False, nodes=chain(cast(number), cast(10)))
        like = [onnx_file.node("Cast", ["x1"], ["like"], to=number), onnx_file.node("CastLike", ["x0", "like"], ["narrow"]),
                onnx_file.node("Cast", ["narrow"], ["y0"], to=1)]
        add("CastLike", 25, [finite, f32([1])], [rounded(finite, name)], in_onnxruntime=False, nodes=like)
    powers = f32([1, 1.25, 1.5, 1.75, 3, 0.3, 2.0**-126, 1e-40])
    for mode, step in (("up", np.ceil), ("down", np.floor), ("nearest", None)):
        exponents = np.log2(powers.astype("float64"))
        low = np.floor(exponents)
        chosen = step(exponents) if step else low + (powers.astype("float64") / 2.0**low >= 1.5)
        add("Cast", 24, [powers], [f32(2.0**np.maximum(chosen, -127))], in_onnxruntime=False, nodes=chain(cast(24, round_mode=mode), cast(1)))


def narrow_integer_cases():
    x = f32([-9, -2.7, -1, 0, 1, 2.5, 3, 8, 15.6])
    for number, low, high, opset in ((21, 0, 15, 21), (22, -8, 7, 21), (25, 0, 3, 25), (26, -2, 1, 25)):
        inside = x[(x > low - 1) & (x < high + 1)]
        add("Cast", opset, [inside], [f32(np.trunc(inside))], in_onnxruntime=False, nodes=chain(cast(number), cast(1)))
        whole = np.arange(-40, 40).astype("int8")
        size = high - low + 1
        wrapped = (whole.astype("int64") - low) % size + low
        add("Cast", opset, [whole], [wrapped.astype("int32")], in_onnxruntime=False, nodes=chain(cast(number), cast(6)))
        quantized = np.clip(np.round(x / 0.75), low, high)
        scale = onnx_file.node("Constant", [], ["scale"], value=f32(0.75))
        both = [("QuantizeLinear", ["scale"], {"output_dtype": number}), ("DequantizeLinear", ["scale"], {})]
        add("QuantizeLinear", max(opset, 21), [x], [f32(quantized * 0.75)], in_onnxruntime=False, nodes=[scale, *chain(*both)])
        # Blocks of three along the last axis, with zero points of the same type.
        table, scales = noise(2, 6) * 3, f32(np.abs(noise(2, 2)) + 0.5)
        zeros = _random.integers(max(low, -8), high + 1, (2, 2)).astype("int8")
        spread = [np.repeat(part, 3, 1) for part in (scales, f32(zeros))]
        blocks = np.clip(np.round(table / spread[0]) + spread[1], low, high)
        turn = [onnx_file.node("Cast", ["x2"], ["zeros"], to=number),
                onnx_file.node("QuantizeLinear", ["x0", "x1", "zeros"], ["narrow"], axis=1, block_size=3),
                onnx_file.node("DequantizeLinear", ["narrow", "x1", "zeros"], ["y0"], axis=1, block_size=3)]
        add("DequantizeLinear", max(opset, 21), [table, scales, zeros], [f32((blocks - spread[1]) * spread[0])], in_onnxruntime=False, nodes=turn)
    for name in ("float8e4m3fn", "float8e5m2fnuz", "float4e2m1"):
        scale = onnx_file.node("Constant", [], ["scale"], value=f32(0.75))
        turn = chain(("QuantizeLinear", ["scale"], {"output_dtype": FLOATS[name][0]}), ("DequantizeLinear", ["scale"], {}))
        add("QuantizeLinear", 23, [x], [rounded(x / f32(0.75), name) * f32(0.75)], in_onnxruntime=False, nodes=[scale, *turn])
    bits = np.array([0, 1, 7, 8, 15], "uint8")
    add("BitCast", 26, [bits], [np.array([0, 1, 7, -8, -1], "int32")], in_onnxruntime=False, nodes=chain(cast(21), ("BitCast", [], {"to": 22}), cast(6)))
    add("BitCast", 26, [f32([1, -2])], [np.array([0x3f800000, 0xc0000000], "uint32")], to=12)


def moving_cases():
    """Operators that only move elements, of the types that the sets added."""
    x = f32(np.arange(-6, 6).reshape(3, 4) % 4)

    def through(op, version, number, expected, others=(), constants=(), **attributes):
        made = [onnx_file.node("Constant", [], [name], value=array) for name, array in constants]
        nodes = [*made, *chain(cast(number), (op, list(others), attributes), cast(1))]
        add(op, version, [x], [f32(expected)], in_onnxruntime=False, nodes=nodes)

    for version, number in ((23, 23), (24, 24), (25, 25), (25, 22), (21, 21), (21, 18)):
        held = np.abs(x) if number in (21, 24, 25) else x
        base = held if number not in (24, 22) else np.where(held == 0, 2.0**-127, held) if number == 24 else x
        if number == 24:
            base = 2.0 ** np.ceil(np.log2(base))
        positive = ("Abs", [], {})
        for op, expected, others, constants, attributes in (
                ("Reshape", base.reshape(2, 6), ["shape"], [("shape", i64([2, -1]))], {}),
                ("Transpose", base.T, [], [], {"perm": [1, 0]}),
                ("Squeeze", base, [], [], {}),
                ("Unsqueeze", base[None], ["axes"], [("axes", i64([0]))], {}),
                ("Flatten", base.reshape(1, 12), [], [], {"axis": 0}),
                ("Identity", base, [], [], {})):
            made = [onnx_file.node("Constant", [], [name], value=array) for name, array in constants]
            steps = [positive] if number in (21, 24, 25) else []
            nodes = [*made, *chain(*steps, cast(number), (op, list(others), attributes), cast(1))]
            add(op, version, [x], [f32(expected)], in_onnxruntime=False, nodes=nodes)
        sized = [onnx_file.node("Abs", ["x0"], ["p"]), onnx_file.node("Cast", ["p"], ["n"], to=number)]
        add("Shape", version, [x], [i64([3, 4])], in_onnxruntime=False, nodes=[*sized, onnx_file.node("Shape", ["n"], ["y0"])])
        add("Size", version, [x], [i64(12)], in_onnxruntime=False, nodes=[*sized, onnx_file.node("Size", ["n"], ["y0"])])
    through("Pad", 23, 17, np.pad(x, ((1, 0), (0, 2))), ["pads"], [("pads", i64([1, 0, 0, 2]))])


def same_forms():
    """Operators that sets changed in the types that they take alone, at the later sets."""
    x = f32(np.arange(12).reshape(3, 4))
    flag = np.array(True)
    for opset in (23, 24, 25):
        add("Constant", opset, [], [f32([1, 2])], value=f32([1, 2]))
        add("ConstantOfShape", opset, [constant(i64([2, 3]))], [np.full((2, 3), 7, "int32")], value=np.array([7], "int32"))
        add("Pad", opset, [x, constant(i64([1, 0, 0, 2])), f32(9)], [np.pad(x, ((1, 0), (0, 2)), constant_values=9)])
        add("Pad", opset, [x, constant(i64([0, 3, 0, 2]))], [np.pad(x, ((0, 0), (3, 2)), mode="wrap")], mode="wrap")
        for op, expected, others, options in (("Reshape", x.reshape(2, 6), [constant(i64([2, -1]))], {}), ("Transpose", x.T, [], {}),
                                              ("Squeeze", x, [], {}), ("Unsqueeze", x[None], [constant(i64([0]))], {}),
                                              ("Flatten", x.reshape(12, 1), [], {"axis": 2}), ("Identity", x, [], {}),
                                              ("Shape", i64([4]), [], {"start": 1}), ("Size", i64(12), [], {}),
                                              ("Cast", x.astype("int32"), [], {"to": 6}), ("CastLike", x.astype("int64"), [i64([1])], {})):
            add(op, opset, [x, *others], [expected], **options)
        zero = np.array(3, "int8")
        quantized = np.clip(np.round(x / 0.5) + 3, -128, 127).astype("int8")
        add("QuantizeLinear", opset, [x, f32(0.5), zero], [quantized])
        add("DequantizeLinear", opset, [quantized, f32(0.5), zero], [f32((f32(quantized) - 3) * 0.5)])
        half = (f32(quantized) - 3) * f32(0.5)
        add("DequantizeLinear", opset, [quantized, f32(0.5), zero], [half.astype("float16")], in_onnxruntime=False, output_dtype=10)
        typed = [onnx_file.value(name, "float32", [3, 4]) for name in ("then", "other")]
        branches = {"then_branch": onnx_file.graph([onnx_file.node("Neg", ["x1"], ["then"])], [], typed[:1]),
                    "else_branch": onnx_file.graph([onnx_file.node("Abs", ["x1"], ["other"])], [], typed[1:])}
        add("If", opset, [flag, x], [-x], nodes=[onnx_file.node("If", ["x0"], ["y0"], **branches)])
        loop_cases(opset, x)


def loop_cases(opset, x):
    scalar = {"i": ("int64", []), "go": ("bool", []), "go_on": ("bool", [])}
    typed = {name: onnx_file.value(name, *form) for name, form in scalar.items()}
    state, row, total = (onnx_file.value(name, "float32", [4]) for name in ("state", "row", "total"))
    body = onnx_file.graph([onnx_file.node("Identity", ["go"], ["go_on"]), onnx_file.node("Add", ["state", "state"], ["total"])],
                           [typed["i"], typed["go"], state], [typed["go_on"], total])
    add("Loop", opset, [i64(3), np.array(True), x[0]], [8 * x[0]], body=body)
    scanned = onnx_file.graph([onnx_file.node("Add", ["state", "row"], ["total"]), onnx_file.node("Identity", ["total"], ["copy"])],
                              [state, row], [total, onnx_file.value("copy", "float32", [4])])
    add("Scan", opset, [x[0], x], [x[0] + x.sum(0), x[0] + np.cumsum(x, 0)], body=scanned, num_scan_inputs=1)


def chosen_cases():
    values, order = f32([[3, 2], [9, 5]]), i64([[2, 1], [0, 2]])
    add("TopK", 24, [f32([[1, 2, 3], [9, 0, 5]]), constant(i64([2]))], [values, order])
    x = f32(np.arange(12).reshape(3, 4))
    split = [onnx_file.node("SplitToSequence", ["x0"], ["s"], axis=1), onnx_file.node("ConcatFromSequence", ["s"], ["y0"], axis=0)]
    add("SplitToSequence", 24, [x], [x.T.reshape(12, 1)], nodes=split)
    cache, update = noise(2, 2, 6, 4), noise(2, 2, 2, 4)
    written = cache.copy()
    for batch, begin in enumerate((1, 4)):
        written[batch, :, begin:begin + 2] = update[batch]
    add("TensorScatter", 24, [cache, update, i64([1, 4])], [written])


def make():
    for case in (activation_cases, causal_conv_cases, linear_attention_cases, attention_cases, flex_attention_cases, narrow_float_cases,
                 narrow_integer_cases, moving_cases, same_forms, chosen_cases):
        case()
