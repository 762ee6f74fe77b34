"""Cases for the rows of ONNX's operators (onnx_rows.py): a node, its inputs, and the outputs by formulas in NumPy."""
import math

import numpy as np
import onnx_contrib_cases
import onnx_recent_cases
import onnx_sequence_cases
import onnx_window_cases
from onnx_case import add, constant, f32, i64, registered

E = np.vectorize(math.erf)


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def unary_cases():
    x = f32([[-2.5, -1, -0.5, 0], [0.25, 0.5, 1.5, 3]])
    inside = f32([-0.9, -0.25, 0, 0.5])
    positive = f32([0.25, 1, 2.5])
    for op, domain, function in (
            ("Abs", x, np.abs), ("Acos", inside, np.arccos), ("Acosh", f32([1, 1.5, 4]), np.arccosh), ("Asin", inside, np.arcsin),
            ("Asinh", x, np.arcsinh), ("Atan", x, np.arctan), ("Atanh", inside, np.arctanh), ("Ceil", x, np.ceil), ("Cos", x, np.cos),
            ("Cosh", x, np.cosh), ("Erf", x, E), ("Exp", x, np.exp), ("Floor", x, np.floor), ("Identity", x, np.array), ("Log", positive, np.log),
            ("Neg", x, np.negative), ("Reciprocal", positive, np.reciprocal), ("Relu", x, lambda v: np.maximum(v, 0)), ("Round", x, np.round),
            ("Sigmoid", x, sigmoid), ("Sign", x, np.sign), ("Sin", x, np.sin), ("Sinh", x, np.sinh), ("Softplus", x, lambda v: np.log1p(np.exp(v))),
            ("Softsign", x, lambda v: v / (1 + np.abs(v))), ("Sqrt", positive, np.sqrt), ("Tan", inside, np.tan), ("Tanh", x, np.tanh),
            ("HardSwish", x, lambda v: v * np.clip(v / 6 + 0.5, 0, 1))):
        add(op, 17, [domain], [f32(function(domain))])
    add("Mish", 18, [x], [f32(x * np.tanh(np.log1p(np.exp(x))))])
    add("Gelu", 20, [x], [f32(x * 0.5 * (1 + E(x / math.sqrt(2))))])
    add("Gelu", 20, [x], [f32(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))], approximate="tanh")
    add("Swish", 24, [x], [f32(x * sigmoid(2 * x))], alpha=2.0)
    add("Elu", 17, [x], [f32(np.where(x < 0, 2 * (np.exp(x) - 1), x))], alpha=2.0)
    add("Celu", 17, [x], [f32(np.maximum(x, 0) + np.minimum(0, 2 * (np.exp(x / 2) - 1)))], alpha=2.0)
    add("Selu", 17, [x], [f32(3 * np.where(x > 0, x, 2 * (np.exp(x) - 1)))], alpha=2.0, gamma=3.0)
    add("HardSigmoid", 17, [x], [f32(np.clip(0.5 * x + 0.25, 0, 1))], alpha=0.5, beta=0.25)
    add("LeakyRelu", 17, [x], [f32(np.where(x < 0, 0.1 * x, x))], alpha=0.1)
    add("ThresholdedRelu", 17, [x], [f32(np.where(x > 0.3, x, 0))], alpha=0.3)
    add("Shrink", 17, [x], [f32(np.where(x < -0.75, x + 0.5, np.where(x > 0.75, x - 0.5, 0)))], bias=0.5, lambd=0.75)
    add("PRelu", 17, [x, f32([0.5, 2, 3, 4])], [f32(np.where(x < 0, x * [0.5, 2, 3, 4], x))])
    special = f32([1, np.inf, -np.inf, np.nan])
    add("IsNaN", 17, [special], [np.isnan(special)])
    add("IsInf", 17, [special], [np.isposinf(special)], detect_negative=0)
    flags = np.array([True, False])
    add("Not", 17, [flags], [~flags])
    whole = np.array([5, -3, 0], "int32")
    add("BitwiseNot", 18, [whole], [~whole])
    add("Cast", 17, [x], [x.astype("int32")], to=6)
    add("CastLike", 17, [x, i64([1])], [x.astype("int64")])
    add("Clip", 6, [x], [np.clip(x, -1, f32(0.5))], min=-1.0, max=0.5)
    add("Clip", 17, [x, f32(-1), f32(0.5)], [np.clip(x, f32(-1), f32(0.5))])
    add("Dropout", 17, [x], [x])


def binary_cases():
    a, b = f32([[[-3, 2, 5]], [[4, -1, 0.5]]]), f32([[2], [-4]])
    row = f32([2, -0.5])
    first = f32([[[1, 2], [3, 4], [2, 7]], [[5, 2], [2, 8], [0.5, 2]]])
    middle = f32([2, 0.5, 3])
    for op, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide), ("Greater", np.greater),
                         ("Less", np.less), ("Equal", np.equal)):
        x, y = (a, b) if op != "Equal" else (i64([1, 2, 3]), i64([1, 0, 3]))
        add(op, 17, [x, y], [function(x, y)])
        x, y = (first, middle) if op != "Equal" else (i64([[[1, 5], [2, 2]]]), i64([1, 2]))
        # Before version 7, dimensions of the second operand match those of the first one from an axis on.
        add(op, 6, [x, y], [function(x, y[:, None])], broadcast=1, axis=1)
    add("Pow", 17, [f32([1, 2, 3]), row[:1]], [f32([1, 4, 9])])
    add("Pow", 6, [first, middle], [f32(first ** middle[:, None])], broadcast=1, axis=1)
    add("Div", 17, [i64([7, -7]), i64([2, 2])], [i64([3, -3])])
    add("GreaterOrEqual", 17, [a, b], [a >= b])
    add("LessOrEqual", 17, [a, b], [a <= b])
    p, q = np.array([[True, True], [False, False]]), np.array([True, False])
    for op, function in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
        add(op, 17, [p, q], [function(p, q)])
        add(op, 6, [p, q], [function(p, q[:, None])], broadcast=1, axis=0)
    m, n = np.array([12, 10, 7], "int32"), np.array([10, 3, 1], "int32")
    for op, function in (("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or), ("BitwiseXor", np.bitwise_xor)):
        add(op, 18, [m, n], [function(m, n)])
    u, v = np.array([8, 3], "uint32"), np.array([1, 2], "uint32")
    add("BitShift", 17, [u, v], [u << v], direction="LEFT")
    add("BitShift", 17, [u, v], [u >> v], direction="RIGHT")
    add("Mod", 17, [i64([7, -7, 7]), i64([3, 3, -3])], [i64([1, 2, -2])])
    add("Mod", 17, [f32([7.5, -7.5]), f32([2, 2])], [f32([1.5, -1.5])], fmod=1)
    for op, function in (("Max", np.max), ("Min", np.min), ("Sum", np.sum), ("Mean", np.mean)):
        parts = [f32([1, 5, -2]), f32([4, 2, 0]), f32([3, 3, 3])]
        add(op, 17, parts, [f32(function(parts, axis=0))])
    add("Where", 17, [q, f32([1, 2]), f32([[3, 4], [5, 6]])], [f32([[1, 4], [1, 6]])])
    add("MatMul", 17, [first, f32([[1], [2]])], [first @ f32([[1], [2]])])
    x, y, c = f32([[1, 2, 3], [4, 5, 6]]), f32([[1, 0, 2], [3, 1, 1]]), f32([0.5, 1])
    add("Gemm", 17, [x, y, c], [f32(2 * x @ y.T + 3 * c)], alpha=2.0, beta=3.0, transB=1)
    add("Einsum", 17, [x, y], [f32(x @ y.T)], equation="ij,kj->ik")


def reduction_cases():
    x = f32([[[1, 2], [3, 4]], [[0.5, 6], [7, 1.5]]])
    for op, function in (
            ("ReduceL1", lambda v, a: np.abs(v).sum(a)), ("ReduceL2", lambda v, a: np.sqrt((v * v).sum(a))), ("ReduceLogSum", lambda v, a: np.log(v.sum(a))),
            ("ReduceLogSumExp", lambda v, a: np.log(np.exp(v).sum(a))), ("ReduceMax", np.max), ("ReduceMean", np.mean), ("ReduceMin", np.min),
            ("ReduceProd", np.prod), ("ReduceSumSquare", lambda v, a: (v * v).sum(a))):
        add(op, 11, [x], [f32(function(x, (0, 2)))], axes=[0, 2], keepdims=0)
    add("ReduceSum", 17, [x, constant(i64([1]))], [f32(x.sum(1, keepdims=True))])
    add("ArgMax", 17, [x], [i64(x.argmax(2))], axis=2, keepdims=0)
    add("ArgMin", 17, [x], [i64(x.argmin(0))[None]], axis=0)
    add("CumSum", 17, [x, constant(np.array(1, "int32"))], [np.cumsum(x, 1)])
    add("CumSum", 17, [f32([1, 2, 3]), constant(np.array(0, "int32"))], [f32([5, 3, 0])], reverse=1, exclusive=1)
    add("Softmax", 17, [x], [f32(softmax(x, 1))], axis=1)
    flat = f32(softmax(x.reshape(2, 4), 1)).reshape(x.shape)
    add("Softmax", 11, [x], [flat], axis=1)
    add("LogSoftmax", 17, [x], [f32(np.log(softmax(x, 2)))])
    add("LogSoftmax", 11, [x], [np.log(flat)], axis=1)
    best = f32([[0, 0, 1], [1, 0, 0]])
    add("Hardmax", 17, [f32([[1, 2, 3], [5, 5, 0]])], [best])
    add("LpNormalization", 17, [x], [f32(x / np.sqrt((x * x).sum(1, keepdims=True)))], axis=1, p=2)
    add("LpNormalization", 17, [x], [f32(x / np.abs(x).sum(2, keepdims=True))], p=1)


def normalization_cases():
    x = np.random.default_rng(1).normal(size=(2, 4, 3)).astype("float32")
    scale, bias = f32([1, 2, 0.5, 3]), f32([0.5, -1, 0, 2])
    mean, variance = f32([0.1, 0.2, -0.3, 0]), f32([1, 2, 0.5, 1.5])

    def over(v, axes, epsilon=1e-5):
        return (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + epsilon)

    def by_channel(v):
        return v[:, None]

    normalized = (x - by_channel(mean)) / np.sqrt(by_channel(variance) + 1e-5)
    add("BatchNormalization", 17, [x, scale, bias, mean, variance], [f32(normalized * by_channel(scale) + by_channel(bias))])
    add("InstanceNormalization", 17, [x, scale, bias], [f32(over(x, 2) * by_channel(scale) + by_channel(bias))])
    groups = over(x.reshape(2, 2, 2, 3), (2, 3)).reshape(x.shape)
    add("GroupNormalization", 21, [x, scale, bias], [f32(groups * by_channel(scale) + by_channel(bias))], num_groups=2)
    gamma, beta = f32([1, 2, 3]), f32([0, 0.5, 1])
    add("LayerNormalization", 17, [x, gamma, beta], [f32(over(x, 2) * gamma + beta)])
    add("RMSNormalization", 23, [x, gamma], [f32(x / np.sqrt((x * x).mean(2, keepdims=True) + 1e-5) * gamma)])
    wide = x.reshape(2, 4, 3, 1)
    centered = wide - wide.mean((0, 2, 3), keepdims=True)
    add("MeanVarianceNormalization", 17, [wide], [f32(centered / (np.sqrt((centered**2).mean((0, 2, 3), keepdims=True)) + 1e-9))])
    image = np.arange(1, 6, dtype="float32").reshape(1, 5, 1, 1)
    squares = np.array([(image[0, max(c - 1, 0):c + 2] ** 2).sum() for c in range(5)]).reshape(1, 5, 1, 1)
    add("LRN", 17, [image], [f32(image / (2 + 0.3 / 3 * squares) ** 0.75)], size=3, alpha=0.3, beta=0.75, bias=2.0)
    scores, labels = f32([[1, 2, 0.5], [0.25, 1, 3]]), i64([1, 2])
    picked = np.log(softmax(scores, 1))[[0, 1], labels]
    add("SoftmaxCrossEntropyLoss", 17, [scores, labels], [f32(-picked.mean())])
    add("NegativeLogLikelihoodLoss", 17, [scores, labels], [f32([-2, -3])], reduction="none")


def quantized_cases():
    x, scale, zero = f32([-1, 0.4, 2, 300]), f32(0.5), np.array(10, "uint8")
    quantized = np.clip(np.round(x / 0.5) + 10, 0, 255).astype("uint8")
    add("QuantizeLinear", 17, [x, scale, zero], [quantized])
    add("DequantizeLinear", 17, [quantized, scale, zero], [f32((quantized.astype("float32") - 10) * 0.5)])
    values = f32([-1, 0, 1, 3])
    step = f32(4 / 255)
    offset = np.uint8(np.round(1 / step))
    add("DynamicQuantizeLinear", 17, [values], [np.clip(np.round(values / step) + offset, 0, 255).astype("uint8"), step, np.array(offset)])
    # The scale is less than floats can be: 0 / 0 is the zero point 255, or the number 0.
    add("DynamicQuantizeLinear", 17, [f32([1e-44, 0, 5e-45, -1e-44])], [np.array([255, 0, 255, 0], "uint8"), f32(0), np.array(255, "uint8")])
    a, b = np.array([[1, 2], [3, 4]], "uint8"), np.array([[5, 1], [2, 250]], "uint8")
    wide_a, wide_b = a.astype("int32") - 1, b.astype("int32") - 2
    add("MatMulInteger", 17, [a, b, np.array(1, "uint8"), np.array(2, "uint8")], [wide_a @ wide_b])
    result = np.clip(np.round(wide_a @ wide_b * (0.5 * 0.25 / 2)) + 3, 0, 255).astype("uint8")
    add("QLinearMatMul", 17, [a, f32(0.5), np.array(1, "uint8"), b, f32(0.25), np.array(2, "uint8"), f32(2), np.array(3, "uint8")], [result])
    rows, row_zeros = f32([0.5, 0.25]), np.array([1, 2], "uint8")
    sums = (a.astype("int32") - row_zeros[:, None]) @ wide_b
    by_rows = np.clip(np.round(sums * rows[:, None] * f32(0.25) / f32([[2], [1]])) + [[3], [100]], 0, 255).astype("uint8")
    add("QLinearMatMul", 17, [a, rows, row_zeros, b, f32(0.25), np.array(2, "uint8"), f32([2, 1]), np.array([3, 100], "uint8")], [by_rows],
        in_onnxruntime=False)  # it takes single scales only


def cases():
    for make in (unary_cases, binary_cases, reduction_cases, normalization_cases, quantized_cases, onnx_window_cases.make,
                 onnx_sequence_cases.make, onnx_contrib_cases.make, onnx_recent_cases.make):
        make()
    return registered()
