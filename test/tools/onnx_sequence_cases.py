"""Cases of onnx_rows.py for operators that move elements, for graphs in nodes, recurrent networks and optimizers."""
import numpy as np
import onnx_file
from onnx_case import add, constant, f32, i64


def shape_cases():
    x = f32(np.arange(12).reshape(3, 4))
    cube = f32(np.arange(24).reshape(2, 3, 4))
    add("Reshape", 17, [x, constant(i64([2, -1]))], [x.reshape(2, 6)])
    add("Flatten", 17, [cube], [cube.reshape(6, 4)], axis=2)
    add("Transpose", 17, [cube], [cube.transpose(2, 0, 1)], perm=[2, 0, 1])
    add("Squeeze", 17, [x[None], constant(i64([0]))], [x])
    add("Unsqueeze", 17, [x, constant(i64([1]))], [x[:, None]])
    add("Expand", 17, [x[:, :1], constant(i64([2, 3, 4]))], [np.broadcast_to(x[:, :1], (2, 3, 4))])
    add("Shape", 17, [cube], [i64([2, 3, 4])])
    add("Size", 17, [cube], [i64(24)])
    add("Concat", 17, [x, x[:1]], [np.concatenate([x, x[:1]])], axis=0)
    add("Split", 17, [x, constant(i64([1, 3]))], [x[:, :1], x[:, 1:]], axis=1)
    add("Tile", 17, [x, constant(i64([2, 1]))], [np.tile(x, (2, 1))])
    add("Pad", 17, [x, constant(i64([1, 0, 0, 2])), f32(9)], [np.pad(x, ((1, 0), (0, 2)), constant_values=9)])
    add("Slice", 17, [x, constant(i64([3])), constant(i64([-5])), constant(i64([1])), constant(i64([-2]))], [x[:, ::-2]])
    add("Trilu", 17, [x], [np.triu(x)])
    add("Trilu", 17, [x, constant(i64(1))], [np.tril(x, 1)], upper=0)
    add("Constant", 17, [], [f32([1, 2])], value=f32([1, 2]))
    add("ConstantOfShape", 17, [constant(i64([2, 3]))], [np.full((2, 3), 7, "int32")], value=np.array([7], "int32"))
    add("EyeLike", 17, [x], [np.eye(3, 4, 1, dtype="int32")], k=1, dtype=6)
    add("Range", 17, [constant(i64(10)), constant(i64(4)), constant(i64(-2))], [i64([10, 8, 6])])
    add("OneHot", 17, [i64([0, 2]), constant(i64(3)), f32([-1, 5])], [f32([[5, -1, -1], [-1, -1, 5]])])
    add("ReverseSequence", 17, [x, i64([1, 2, 3, 2])], [f32([[0, 5, 10, 7], [4, 1, 6, 3], [8, 9, 2, 11]])])
    add("Det", 17, [f32([[2, 1], [5, 4]])], [f32(3)])


def gather_cases():
    x = f32(np.arange(12).reshape(3, 4))
    add("Gather", 17, [x, i64([2, -3])], [x[[2, 0]]])
    places = i64([[0, 1, 2, 0], [2, 2, 0, 1]])
    add("GatherElements", 17, [x, places], [np.take_along_axis(x, places, 0)])
    add("GatherND", 17, [x, i64([[0, 1], [2, 3]])], [x[[0, 2], [1, 3]]])
    for op, opset in (("Scatter", 10), ("ScatterElements", 17)):
        updates = f32(np.arange(1, 9).reshape(2, 4))
        distinct = i64([[0, 1, 2, 0], [2, 0, 1, 1]])
        expected = np.zeros((3, 4), "float32")
        np.put_along_axis(expected, distinct, updates, 0)
        add(op, opset, [np.zeros((3, 4), "float32"), distinct, updates], [expected])
    changed = x.copy()
    changed[[0, 2], [1, 3]] = [100, 200]
    add("ScatterND", 17, [x, i64([[0, 1], [2, 3]]), f32([100, 200])], [changed])
    add("OptionalGetElement", 18, [f32([1, 2])], [f32([1, 2])])
    add("OptionalHasElement", 18, [f32([1, 2])], [np.array(True)])
    add("NonZero", 17, [f32([[1, 0], [2, 3]])], [i64([[0, 1, 1], [0, 0, 1]])])
    boxes = f32([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]])
    add("NonMaxSuppression", 17, [boxes, f32([[[0.9, 0.75, 0.6]]]), i64([3]), f32([0.5]), f32([0])], [i64([[0, 0, 0], [0, 0, 2]])])
    add("Compress", 17, [x, np.array([True, False, True])], [x[[0, 2]]], axis=0)
    values, order = f32([[3, 2], [9, 5]]), i64([[2, 1], [0, 2]])
    add("TopK", 17, [f32([[1, 2, 3], [9, 0, 5]]), constant(i64([2]))], [values, order])
    add("Unique", 17, [f32([3, 1, 3, 2])], [f32([1, 2, 3]), i64([1, 3, 0]), i64([2, 0, 2, 1]), i64([1, 1, 2])])
    # The n-grams 5, 6 and (5, 6), at the places 1, 0 and 2.
    add("TfIdfVectorizer", 17, [i64([5, 6, 5, 6])], [f32([2, 2, 2])], mode="TF", min_gram_length=1, max_gram_length=2, max_skip_count=0,
        pool_int64s=[5, 6, 5, 6], ngram_counts=[0, 2], ngram_indexes=[1, 0, 2])


def body(nodes, inputs, outputs):
    """A graph in a node: inputs and outputs are triples of a name, a dtype and a shape."""
    return onnx_file.graph(nodes, [onnx_file.value(*item) for item in inputs], [onnx_file.value(*item) for item in outputs])


def control_cases():
    x = f32([1, 2])
    for condition in (True, False):
        branches = {f"{name}_branch": body([onnx_file.node(op, ["x1", "x1"], ["r"])], [], [("r", "float32", (2,))])
                    for name, op in (("then", "Add"), ("else", "Mul"))}
        add("If", 17, [np.array(condition)], [x + x if condition else x * x], captured={"x1": x}, **branches)
    step = body([onnx_file.node("Add", ["s", "s"], ["t"]), onnx_file.node("Identity", ["c"], ["d"]), onnx_file.node("Identity", ["t"], ["u"])],
                [("i", "int64", ()), ("c", "bool", ()), ("s", "float32", (2,))],
                [("d", "bool", ()), ("t", "float32", (2,)), ("u", "float32", (2,))])
    add("Loop", 17, [i64(3), np.array(True), x], [x * 8, np.stack([x * 2, x * 4, x * 8])], body=step)
    sums = body([onnx_file.node("Add", ["s", "e"], ["t"]), onnx_file.node("Identity", ["t"], ["u"])],
                [("s", "float32", (2,)), ("e", "float32", (2,))], [("t", "float32", (2,)), ("u", "float32", (2,))])
    rows = f32([[1, 2], [3, 4], [5, 6]])
    add("Scan", 17, [np.zeros(2, "float32"), rows], [rows.sum(0), rows.cumsum(0)], body=sums, num_scan_inputs=1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rounded(x):
    """The numbers that numbers of uint8 with the range of all of them stand for."""
    x = f32(x)
    least, greatest = min(x.min(), f32(0)), max(x.max(), f32(0))
    step = (greatest - least) / f32(255) if greatest > least else f32(1)
    zero = np.round(-least / step)
    return (np.clip(np.round(x / step) + zero, 0, 255) - zero) * step


def recurrent_cases():
    random = np.random.default_rng(3)
    x = f32(random.normal(size=(3, 2, 4)))

    def weights(gates):
        return [f32(random.normal(size=size) / 2) for size in ((1, gates * 3, 4), (1, gates * 3, 3), (1, gates * 6))]

    def run(step, states, rows=x):
        outputs = []
        for row in rows:
            states = step(row, *states)
            outputs.append(states[0])
        return [f32(np.stack(outputs)[:, None]), *(f32(state[None]) for state in states)]

    zero = np.zeros((2, 3))
    w, r, b = weights(1)
    add("RNN", 17, [x, w, r, b], run(lambda v, h: [np.tanh(v @ w[0].T + h @ r[0].T + b[0, :3] + b[0, 3:])], [zero]), hidden_size=3)
    gru, state, bias = weights(3)

    def gru_step(v, h):
        inputs = np.split(v @ gru[0].T + bias[0, :9], 3, 1)
        z, reset = (sigmoid(inputs[i] + h @ state[0, 3 * i:3 * i + 3].T + bias[0, 9 + 3 * i:12 + 3 * i]) for i in range(2))
        candidate = np.tanh(inputs[2] + (reset * h) @ state[0, 6:].T + bias[0, 15:])
        return [(1 - z) * candidate + z * h]

    add("GRU", 17, [x, gru, state, bias], run(gru_step, [zero]), hidden_size=3)
    lstm, hidden, biases = weights(4)

    def lstm_gates(v, h, c, w, r):
        i, o, f, candidate = np.split(v @ w.T + h @ r.T + biases[0, :12] + biases[0, 12:], 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(candidate)
        return [sigmoid(o) * np.tanh(c), c]

    add("LSTM", 17, [x, lstm, hidden, biases], run(lambda v, h, c: lstm_gates(v, h, c, lstm[0], hidden[0]), [zero, zero]), hidden_size=3)
    w, r = (random.integers(-40, 41, (1, rows, 12)).astype("int8") for rows in (4, 3))
    real_w, real_r = (f32(w[0].T) - 2) * f32(0.01), (f32(r[0].T) + 3) * f32(0.02)
    states = run(lambda v, h, c: lstm_gates(v, rounded(h), c, real_w, real_r), [zero, zero], rounded(x))
    add("DynamicQuantizeLSTM", 1, [x, w, r, biases, None, None, None, None, f32([0.01]), np.array([2], "int8"), f32([0.02]),
                                   np.array([-3], "int8")], states, "com.microsoft", hidden_size=3)


def training_cases():
    domain = "ai.onnx.preview.training"
    w, g, s, u = f32([1, -2]), f32([0.5, 2]), f32([0.1, 0.2]), f32([0.3, 0.4])
    rate, count = f32(0.1), i64(2)
    decayed = 0.1 / (1 + 2 * 0.01)
    gradient = g + 0.001 * w
    h = s + gradient**2
    add("Adagrad", 17, [rate, count, w, g, s], [f32(w - decayed * gradient / (np.sqrt(h) + 1e-5)), f32(h)], domain=domain, epsilon=1e-5,
        decay_factor=0.01, norm_coefficient=0.001)
    v, m = 0.9 * s + 0.1 * gradient, 0.99 * u + 0.01 * gradient**2
    adjusted = 0.1 * np.sqrt(1 - 0.99**2) / (1 - 0.9**2)
    add("Adam", 17, [rate, count, w, g, s, u], [f32(w - adjusted * v / (np.sqrt(m) + 1e-5)), f32(v), f32(m)], domain=domain, alpha=0.9, beta=0.99,
        epsilon=1e-5, norm_coefficient=0.001)
    momentum = 0.9 * s + 0.8 * gradient
    add("Momentum", 17, [rate, count, w, g, s], [f32(w - 0.1 * momentum), f32(momentum)], domain=domain, alpha=0.9, beta=0.8, mode="standard",
        norm_coefficient=0.001)


def make():
    shape_cases()
    gather_cases()
    control_cases()
    recurrent_cases()
    training_cases()
