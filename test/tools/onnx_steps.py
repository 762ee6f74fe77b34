"""The parts of random ONNX models (onnx_random.py): a graph that grows, with the arrays that its values are, and the steps
that add nodes to it. NumPy computes what the nodes do."""

import math

MOST_ELEMENTS = 4096
# Attributes of older operator sets that are operands from this version on.
OPERAND_SINCE = {"Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13, "Split": 13, "Pad": 11, "Slice": 10, "Clip": 11}


class Graph:
    """A graph while it grows. Values are names with the arrays that they are for the recorded inputs."""

    def __init__(self, np, onnx, rng, opset):
        self.np, self.onnx, self.helper, self.rng, self.opset = np, onnx, onnx.helper, rng, opset
        self.nodes, self.inputs, self.initializers = [], {}, {}
        self.values = {}
        self.counter = 0

    def name(self, hint):
        self.counter += 1
        return f"{hint}_{self.counter}"

    def add(self, op, operands, result, **attributes):
        """A node, whose results are one array or several; the names."""
        results = result if isinstance(result, list) else [result]
        names = [self.name(op.lower()) for _ in results]
        self.nodes.append(self.helper.make_node(op, operands, names, name=self.name("node"), **attributes))
        for name, array in zip(names, results):
            self.values[name] = self.np.asarray(array)
        return names if isinstance(result, list) else names[0]

    def constant(self, array):
        name = self.name("c")
        array = self.np.asarray(array)
        if self.rng.integers(4) == 0:
            tensor = self.helper.make_tensor(name, self.element_type(array), array.shape, array.flatten().tolist())
            self.nodes.append(self.helper.make_node("Constant", [], [name], value=tensor))
        else:
            self.initializers[name] = array
        self.values[name] = array
        return name

    def element_type(self, array):
        return self.onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]

    def numbers(self, shape, dtype="float32"):
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype.startswith("int"):
            return self.rng.integers(-5, 6, shape).astype(dtype)
        return self.rng.uniform(-2, 2, shape).astype(dtype)

    def pick(self, dtype="float32", rank=None, test=lambda array: True):
        """The name of a value; a new constant if there is none."""
        names = [name for name, array in self.values.items()
                 if array.dtype == dtype and (rank is None or array.ndim == rank) and test(array)]
        # Later values more often, so that graphs are deep.
        if names:
            return names[max(self.rng.integers(len(names)), self.rng.integers(len(names)))]
        for _ in range(20):
            shape = [int(d) for d in self.rng.integers(1, 5, 2 if rank is None else rank)]
            if test(self.np.zeros(shape, dtype)):
                return self.constant(self.numbers(shape, dtype))
        return None

    def partner(self, array):
        """A value that broadcasts with the array."""
        def fits(other):
            try:
                shape = self.np.broadcast_shapes(array.shape, other.shape)
            except ValueError:
                return False
            return self.np.prod(shape) <= MOST_ELEMENTS
        if self.rng.integers(3):
            name = self.pick(str(array.dtype), test=fits)
            if name is not None:
                return name
        shape = [d if self.rng.integers(2) else 1 for d in array.shape]
        return self.constant(self.numbers(shape[self.rng.integers(len(shape) + 1):], str(array.dtype)))

    def listed(self, op, operands, name, numbers):
        """Operands and attributes for integers that are an attribute or, from some version on, an operand."""
        if self.opset < OPERAND_SINCE[op]:
            return operands, {name: [int(n) for n in numbers]}
        return operands + [self.constant(self.np.array(numbers, "int64"))], {}

    def axes_of(self, array):
        axes = [axis for axis in range(array.ndim) if self.rng.integers(2)] or [int(self.rng.integers(array.ndim))]
        return [axis - array.ndim if self.rng.integers(2) else axis for axis in axes]


# ---- Steps: each adds a few nodes to a graph, or none

def unary(g):
    np = g.np
    table = {"Relu": lambda x: np.maximum(x, 0), "Neg": np.negative, "Abs": np.abs, "Tanh": np.tanh, "Floor": np.floor,
             "Ceil": np.ceil, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Identity": lambda x: x, "Sin": np.sin,
             "Softplus": lambda x: np.log1p(np.exp(x)), "Softsign": lambda x: x / (1 + np.abs(x)), "Sign": np.sign,
             "LeakyRelu": lambda x: np.where(x < 0, np.float32(0.01) * x, x), "Dropout": lambda x: x,
             "HardSigmoid": lambda x: np.clip(np.float32(0.2) * x + np.float32(0.5), 0, 1)}
    x = g.pick(test=lambda a: np.abs(a).max(initial=0) < 30)
    op = g.rng.choice(sorted(table))
    g.add(op, [x], table[op](g.values[x]).astype("float32"))


def binary(g):
    np = g.np
    dtype = "float32" if g.rng.integers(4) else "int64"
    table = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum}
    x = g.pick(dtype, test=lambda a: np.abs(a).max(initial=0) < 1000)
    if x is None or g.opset < 12 and dtype == "int64":
        return
    y = g.partner(g.values[x])
    if np.abs(g.values[y]).max(initial=0) > 1000:
        return
    op = g.rng.choice(sorted(table))
    operands = [x, y] if g.rng.integers(2) else [y, x]
    g.add(op, operands, table[op](*(g.values[n] for n in operands)))


def divide(g):
    x = g.pick(rank=None)
    y = g.constant(g.rng.uniform(0.5, 2, g.values[x].shape[-1:]).astype("float32"))
    g.add("Div", [x, y], g.values[x] / g.values[y])


def compare_and_select(g):
    np = g.np
    x = g.pick()
    y = g.partner(g.values[x])
    op, function = [("Less", np.less), ("Greater", np.greater)][g.rng.integers(2)]
    condition = g.add(op, [x, y], function(g.values[x], g.values[y]))
    if g.rng.integers(2):
        condition = g.add("Not", [condition], ~g.values[condition])
    g.add("Where", [condition, x, y], np.where(g.values[condition], g.values[x], g.values[y]))


def cast(g):
    to = g.rng.choice(["float32", "int32", "int64", "bool"])
    x = g.pick(g.rng.choice(["float32", "int64", "bool"]))
    array = g.values[x].astype(to)
    g.add("Cast", [x], array, to=g.element_type(array))


def clip(g):
    x = g.pick()
    low, high = sorted(g.rng.uniform(-1, 1, 2).astype("float32"))
    if g.opset < OPERAND_SINCE["Clip"]:
        g.add("Clip", [x], g.np.clip(g.values[x], low, high), min=float(low), max=float(high))
    else:
        g.add("Clip", [x] + [g.constant(n) for n in (low, high)], g.np.clip(g.values[x], low, high))


def reduce(g):
    np = g.np
    x = g.pick(test=lambda a: a.ndim > 0)
    array = g.values[x]
    table = {"ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min,
             "ReduceL1": lambda a, axis, keepdims: np.abs(a).sum(axis=axis, keepdims=keepdims),
             "ReduceL2": lambda a, axis, keepdims: np.sqrt((a * a).sum(axis=axis, keepdims=keepdims))}
    op = g.rng.choice(sorted(table))
    axes = sorted({axis % array.ndim for axis in g.axes_of(array)})
    keep = int(g.rng.integers(2))
    if g.opset < 11 or g.rng.integers(2):
        listed = axes
    else:
        listed = [axis - array.ndim for axis in axes]
    result = table[op](array, axis=tuple(axes), keepdims=bool(keep))
    if op == "ReduceSum":
        operands, attributes = g.listed(op, [x], "axes", listed)
    else:
        operands, attributes = [x], {"axes": listed}
    g.add(op, operands, result.astype("float32"), keepdims=keep, **attributes)


def arg_max(g):
    x = g.pick(test=lambda a: a.ndim > 0)
    axis = int(g.rng.integers(g.values[x].ndim))
    keep = int(g.rng.integers(2))
    result = g.np.argmax(g.values[x], axis)
    g.add("ArgMax", [x], g.np.expand_dims(result, axis) if keep else result, axis=axis, keepdims=keep)


def softmax(g):
    np = g.np
    if g.opset < 13:
        return
    x = g.pick(test=lambda a: a.ndim > 0)
    axis = int(g.rng.integers(-1, g.values[x].ndim))
    array = g.values[x] - g.values[x].max(axis=axis, keepdims=True)
    total = np.exp(array).sum(axis=axis, keepdims=True)
    if g.rng.integers(2):
        g.add("Softmax", [x], np.exp(array) / total, axis=axis)
    else:
        g.add("LogSoftmax", [x], array - np.log(total), axis=axis)


def transpose(g):
    x = g.pick(g.rng.choice(["float32", "int64"]), test=lambda a: a.ndim > 0)
    order = [int(n) for n in g.rng.permutation(g.values[x].ndim)]
    g.add("Transpose", [x], g.values[x].transpose(order), perm=order)


def reshape(g):
    np = g.np
    x = g.pick(test=lambda a: a.size > 0)
    array = g.values[x]
    kind = g.rng.integers(4)
    if kind == 0 and array.ndim > 0:
        axis = int(g.rng.integers(array.ndim + 1))
        g.add("Flatten", [x], array.reshape(int(np.prod(array.shape[:axis])), -1), axis=axis)
    elif kind == 1 and array.ndim > 1:
        # The first dimension as it is, computed by operators.
        shape = g.add("Shape", [x], np.array(array.shape, "int64"))
        first = g.add("Gather", [shape, g.constant(np.array([0], "int64"))], np.array(array.shape[:1], "int64"), axis=0)
        rest = g.constant(np.array([-1], "int64"))
        target = g.add("Concat", [first, rest], np.array([array.shape[0], -1], "int64"), axis=0)
        g.add("Reshape", [x, target], array.reshape(array.shape[0], -1))
    elif kind == 2 and array.ndim > 1:
        target = g.constant(np.array([0, -1], "int64"))
        g.add("Reshape", [x, target], array.reshape(array.shape[0], -1))
    else:
        factors = [d for d in range(1, array.size + 1) if array.size % d == 0]
        d = int(g.rng.choice(factors))
        target = g.constant(np.array([d, array.size // d], "int64"))
        g.add("Reshape", [x, target], array.reshape(d, -1))


def squeeze(g):
    x = g.pick(test=lambda a: a.ndim < 5)
    array = g.values[x]
    axis = int(g.rng.integers(array.ndim + 1))
    operands, attributes = g.listed("Unsqueeze", [x], "axes", [axis])
    y = g.add("Unsqueeze", operands, g.np.expand_dims(array, axis), **attributes)
    ones = [i for i, d in enumerate(g.values[y].shape) if d == 1]
    if g.rng.integers(2) == 0:
        operands, attributes = g.listed("Squeeze", [y], "axes", ones)
        g.add("Squeeze", operands, g.np.squeeze(g.values[y]), **attributes)


def concat(g):
    x = g.pick(test=lambda a: a.ndim > 0)
    axis = int(g.rng.integers(g.values[x].ndim))
    def fits(other):
        return other.ndim == g.values[x].ndim and all(
            a == b or i == axis for i, (a, b) in enumerate(zip(other.shape, g.values[x].shape)))
    y = g.pick(test=fits) or x
    g.add("Concat", [x, y, x], g.np.concatenate([g.values[n] for n in (x, y, x)], axis), axis=axis)


def split(g):
    x = g.pick(test=lambda a: a.ndim > 0 and max(a.shape) > 1)
    if x is None:
        return
    array = g.values[x]
    axis = int(g.np.argmax(array.shape))
    first = int(g.rng.integers(1, array.shape[axis]))
    operands, attributes = g.listed("Split", [x], "split", [first, array.shape[axis] - first])
    g.add("Split", operands, list(g.np.split(array, [first], axis)), axis=axis, **attributes)


def slice_(g):
    x = g.pick(test=lambda a: a.ndim > 0 and a.size > 0)
    array = g.values[x]
    axis = int(g.rng.integers(array.ndim))
    size = array.shape[axis]
    step = int(g.rng.choice([1, 1, 2, -1])) if g.opset >= OPERAND_SINCE["Slice"] else 1
    begin, end = (0, max(1, int(g.rng.integers(size + 1)))) if step > 0 else (-1, -size - 1)
    index = [slice(None)] * array.ndim
    index[axis] = slice(begin, end if step > 0 else None, step)
    result = array[tuple(index)]
    if g.opset < OPERAND_SINCE["Slice"]:
        g.add("Slice", [x], result, starts=[begin], ends=[end], axes=[axis])
        return
    operands = [g.constant(g.np.array([n], "int64")) for n in (begin, end, axis, step)]
    g.add("Slice", [x] + operands, result)


def gather(g):
    np = g.np
    x = g.pick(test=lambda a: a.ndim > 0 and a.size > 0)
    array = g.values[x]
    axis = int(g.rng.integers(array.ndim))
    low = -array.shape[axis] if g.opset >= 11 else 0
    shape = [int(d) for d in g.rng.integers(1, 4, g.rng.integers(0, 3))]
    indices = g.rng.integers(low, array.shape[axis], shape).astype("int64")
    g.add("Gather", [x, g.constant(indices)], np.take(array, indices, axis), axis=axis)


def expand(g):
    np = g.np
    x = g.pick(test=lambda a: a.size < 200)
    array = g.values[x]
    if g.rng.integers(2):
        shape = [2] + [3 if d == 1 else d for d in array.shape]
        g.add("Expand", [x, g.constant(np.array(shape, "int64"))], np.broadcast_to(array, shape))
    elif array.ndim:
        repeats = [int(n) for n in g.rng.integers(1, 3, array.ndim)]
        g.add("Tile", [x, g.constant(np.array(repeats, "int64"))], np.tile(array, repeats))


def pad(g):
    x = g.pick(test=lambda a: a.ndim > 0 and a.size > 0 and min(a.shape) > 1)
    if x is None:
        return
    array = g.values[x]
    mode = str(g.rng.choice(["constant", "edge", "reflect"]))
    # Negative widths remove elements, here at most one of the two that an axis has at least.
    before, after = (g.rng.integers(-end if mode == "constant" else 0, 2, array.ndim) for end in range(2))
    kept = array[tuple(slice(None, int(min(b, 0)) or None) for b in after)]
    result = g.np.pad(kept, [(b, max(a, 0)) for b, a in zip(before, after)], mode)
    operands, attributes = g.listed("Pad", [x], "pads", [int(n) for n in [*before, *after]])
    g.add("Pad", operands, result, mode=mode, **attributes)


def matmul(g):
    x = g.pick(rank=2)
    array = g.values[x]
    columns = int(g.rng.integers(1, 5))
    if g.rng.integers(2):
        w = g.constant(g.numbers([array.shape[1], columns]))
        g.add("MatMul", [x, w], array @ g.values[w])
        return
    trans = int(g.rng.integers(2))
    w = g.constant(g.numbers([columns, array.shape[1]] if trans else [array.shape[1], columns]))
    b = g.constant(g.numbers([columns]))
    product = array @ (g.values[w].T if trans else g.values[w])
    g.add("Gemm", [x, w, b], product * g.np.float32(0.5) + g.values[b], alpha=0.5, transB=trans)


def windows(np, x, kernel, strides, pads, dilations, fill):
    """[batch, channels, out_h, out_w, kernel_h, kernel_w]."""
    padded = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])], constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    view = np.lib.stride_tricks.sliding_window_view(padded, reach, (2, 3))
    return view[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]


def image(g):
    """A value of rank 4; sometimes padded by a node of its own."""
    np = g.np
    x = g.pick(rank=4, test=lambda a: min(a.shape[2:]) > 2)
    if x is None:
        x = g.constant(g.numbers([1, 2, 5, 4]))
    if g.rng.integers(3) == 0:
        pads = [0, 0, 1, 1, 0, 0, 1, 0]
        operands, attributes = g.listed("Pad", [x], "pads", pads)
        x = g.add("Pad", operands, np.pad(g.values[x], [(0, 0), (0, 0), (1, 1), (1, 0)]), **attributes)
    return x


def convolution(g):
    np = g.np
    x = image(g)
    array = g.values[x]
    groups = array.shape[1] if g.rng.integers(3) == 0 else 1
    filters = int(g.rng.integers(1, 3)) * groups
    kernel, strides = [int(n) for n in g.rng.integers(1, 4, 2)], [int(n) for n in g.rng.integers(1, 3, 2)]
    pads = [int(n) for n in g.rng.integers(0, 2, 4)]
    if any(d < k for d, k in zip(array.shape[2:], kernel)):
        return
    w = g.constant(g.numbers([filters, array.shape[1] // groups, *kernel]) / np.float32(np.prod(kernel)))
    parts = windows(np, array, kernel, strides, pads, (1, 1), 0)
    split_x, split_w = np.split(parts, groups, 1), np.split(g.values[w], groups, 0)
    result = np.concatenate([np.einsum("nchwij,fcij->nfhw", a, b) for a, b in zip(split_x, split_w)], 1)
    operands = [x, w]
    if g.rng.integers(2):
        operands.append(g.constant(g.numbers([filters])))
        result = result + g.values[operands[2]].reshape(1, -1, 1, 1)
    y = g.add("Conv", operands, result, kernel_shape=kernel, strides=strides, pads=pads, group=groups)
    if g.rng.integers(2):
        normalize(g, y)


def normalize(g, x):
    np = g.np
    array = g.values[x]
    channels = [array.shape[1]]
    scale, shift, mean = (g.constant(g.numbers(channels)) for _ in range(3))
    variance = g.constant(g.rng.uniform(0.5, 2, channels).astype("float32"))
    parts = [g.values[n].reshape(1, -1, *[1] * (array.ndim - 2)) for n in (scale, shift, mean, variance)]
    result = parts[0] * (array - parts[2]) / np.sqrt(parts[3] + np.float32(1e-5)) + parts[1]
    g.add("BatchNormalization", [x, scale, shift, mean, variance], result)


def pool(g):
    np = g.np
    x = image(g)
    array = g.values[x]
    kernel, strides = [2, 2], [int(n) for n in g.rng.integers(1, 3, 2)]
    pads = [int(n) for n in g.rng.integers(0, 2, 4)]
    if g.rng.integers(2):
        result = windows(np, array, kernel, strides, pads, (1, 1), -np.inf).max((4, 5))
        g.add("MaxPool", [x], result, kernel_shape=kernel, strides=strides, pads=pads)
        return
    count_pad = int(g.rng.integers(2))
    total = windows(np, array, kernel, strides, pads, (1, 1), 0).sum((4, 5))
    counted = np.ones_like(array) if not count_pad else None
    count = 4 if count_pad else windows(np, counted, kernel, strides, pads, (1, 1), 0).sum((4, 5))
    g.add("AveragePool", [x], (total / count).astype("float32"), kernel_shape=kernel, strides=strides, pads=pads,
          count_include_pad=count_pad)


def global_pool(g):
    x = image(g)
    g.add("GlobalAveragePool", [x], g.values[x].mean((2, 3), keepdims=True))


def conditional(g):
    """Two graphs, which use a value from around them."""
    np, helper = g.np, g.helper
    x = g.pick(test=lambda a: a.size > 0)
    total = g.add("ReduceMax", [x], g.values[x].max(keepdims=False), keepdims=0)
    zero = g.constant(np.float32(0))
    condition = g.add("Less", [zero, total], np.less(0, g.values[total]))
    branches = []
    for op, function in (("Neg", np.negative), ("Abs", np.abs)):
        name = g.name("branch")
        node = helper.make_node(op, [x], [name], name=g.name("node"))
        value = helper.make_tensor_value_info(name, g.element_type(g.values[x]), [None] * g.values[x].ndim)
        branches.append((helper.make_graph([node], g.name("graph"), [], [value]), function(g.values[x])))
    g.add("If", [condition], branches[0 if g.values[condition] else 1][1], then_branch=branches[0][0],
          else_branch=branches[1][0])


def resize(g):
    x = image(g)
    scales = g.constant(g.np.array([1, 1, 2, 2], "float32"))
    if g.opset < 11:
        return
    empty = g.constant(g.np.zeros([0], "float32"))
    result = g.values[x].repeat(2, 2).repeat(2, 3)
    g.add("Resize", [x, empty, scales], result, mode="nearest", coordinate_transformation_mode="asymmetric",
          nearest_mode="floor")


def parametric_relu(g):
    x = image(g)
    array = g.values[x]
    slope = g.constant(g.numbers([array.shape[1], 1, 1]))
    g.add("PRelu", [x, slope], g.np.where(array < 0, array * g.values[slope], array))


def gelu(g):
    """As exporters write it before the operator."""
    np = g.np
    x = g.pick(test=lambda a: a.size > 0)
    array = g.values[x]
    root = g.constant(np.float32(np.sqrt(2)))
    ratio = g.add("Div", [x, root], array / g.values[root])
    erf = g.add("Erf", [ratio], np.vectorize(math.erf, otypes=["float32"])(g.values[ratio]))
    one, half = g.constant(np.float32(1)), g.constant(np.float32(0.5))
    shifted = g.add("Add", [erf, one], g.values[erf] + 1)
    product = g.add("Mul", [x, shifted], array * g.values[shifted])
    g.add("Mul", [product, half], g.values[product] * np.float32(0.5))


def layer_norm(g):
    """As exporters write it before the operator."""
    np = g.np
    x = g.pick(test=lambda a: a.ndim > 1 and a.shape[-1] > 1)
    if x is None:
        return
    array = g.values[x]
    gamma, beta = (g.constant(g.numbers(array.shape[-1:])) for _ in range(2))
    two, epsilon = g.constant(np.float32(2)), g.constant(np.float32(1e-3))
    mean = g.add("ReduceMean", [x], array.mean(-1, keepdims=True), axes=[-1 if g.opset > 10 else array.ndim - 1])
    d = g.add("Sub", [x, mean], array - g.values[mean])
    square = g.add("Pow", [d, two], g.values[d] ** 2)
    variance = g.add("ReduceMean", [square], g.values[square].mean(-1, keepdims=True), axes=[array.ndim - 1])
    shifted = g.add("Add", [variance, epsilon], g.values[variance] + g.values[epsilon])
    root = g.add("Sqrt", [shifted], np.sqrt(g.values[shifted]))
    n = g.add("Div", [d, root], g.values[d] / g.values[root])
    scaled = g.add("Mul", [n, gamma], g.values[n] * g.values[gamma])
    g.add("Add", [scaled, beta], g.values[scaled] + g.values[beta])


def depth_to_space(g):
    np = g.np
    x = g.pick(rank=4, test=lambda a: a.shape[1] % 4 == 0)
    if x is None:
        x = g.constant(g.numbers([1, 4, 2, 3]))
    n, c, h, w = g.values[x].shape
    parts = g.values[x].reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2)
    g.add("DepthToSpace", [x], parts.reshape(n, c // 4, h * 2, w * 2), blocksize=2)


def cumulate(g):
    if g.opset < 11:
        return
    x = g.pick(test=lambda a: a.ndim > 0)
    axis = int(g.rng.integers(g.values[x].ndim))
    array = g.values[x].astype("float64")
    reverse = int(g.rng.integers(2))
    result = g.np.flip(g.np.cumsum(g.np.flip(array, axis), axis), axis) if reverse else g.np.cumsum(array, axis)
    g.add("CumSum", [x, g.constant(g.np.array(axis, "int64"))], result.astype("float32"), reverse=reverse)


def gather_elements(g):
    if g.opset < 11:
        return
    x = g.pick(test=lambda a: a.ndim > 0 and a.size > 0)
    array = g.values[x]
    axis = int(g.rng.integers(array.ndim))
    indices = g.rng.integers(-array.shape[axis], array.shape[axis], array.shape).astype("int64")
    g.add("GatherElements", [x, g.constant(indices)], g.np.take_along_axis(array, indices % array.shape[axis], axis),
          axis=axis)


def scatter(g):
    np = g.np
    if g.opset < 11:
        return
    x = g.pick(test=lambda a: a.ndim > 1 and a.size > 0)
    array = g.values[x].copy()
    rows = g.rng.permutation(array.shape[0])[: int(g.rng.integers(1, array.shape[0] + 1))].astype("int64")
    updates = g.numbers([len(rows), *array.shape[1:]])
    array[rows] = updates
    g.add("ScatterND", [x, g.constant(rows.reshape(-1, 1)), g.constant(updates)], array)


def instance_norm(g):
    np = g.np
    x = image(g)
    array = g.values[x]
    scale, shift = (g.constant(g.numbers([array.shape[1]])) for _ in range(2))
    mean, variance = array.mean((2, 3), keepdims=True), array.var((2, 3), keepdims=True)
    result = (array - mean) / np.sqrt(variance + np.float32(1e-3))
    result = result * g.values[scale].reshape(1, -1, 1, 1) + g.values[shift].reshape(1, -1, 1, 1)
    g.add("InstanceNormalization", [x, scale, shift], result.astype("float32"), epsilon=1e-3)


def transposed_convolution(g):
    np = g.np
    x = image(g)
    array = g.values[x]
    w = g.constant(g.numbers([array.shape[1], 2, 2, 2]))
    # Windows that do not overlap.
    result = np.einsum("nchw,cfij->nfhiwj", array, g.values[w])
    n, f, h, _, width, _ = result.shape
    g.add("ConvTranspose", [x, w], result.reshape(n, f, h * 2, width * 2), strides=[2, 2], kernel_shape=[2, 2])


def one_hot(g):
    x = g.pick("int64", test=lambda a: a.size < 50)
    indices = g.values[x] % 4
    values = g.constant(g.np.array([0, 1], "float32"))
    depth = g.constant(g.np.array([4], "int64"))
    # Indices from the end count, others are out of range.
    inside = (g.values[x] >= -4) & (g.values[x] < 4)
    result = (g.np.eye(4, dtype="float32")[indices] * inside[..., None]).astype("float32")
    g.add("OneHot", [x, depth, values], result, axis=-1)


def loop(g):
    """Doubles a value some times, and stacks what it was."""
    np, helper = g.np, g.helper
    if g.opset < 11:
        return
    x = g.pick(test=lambda a: 0 < a.size < 100 and np.abs(a).max() < 100)
    count = int(g.rng.integers(1, 4))
    trips, go_on = g.constant(np.array(count, "int64")), g.constant(np.array(True))
    i, c, v, cc, vv, s = (g.name(hint) for hint in ("i", "c", "v", "cc", "vv", "s"))
    tensor = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
    kinds, shape = g.onnx.TensorProto, list(g.values[x].shape)
    body = helper.make_graph(
        [helper.make_node("Identity", [c], [cc]), helper.make_node("Add", [v, v], [vv]), helper.make_node("Neg", [v], [s])],
        g.name("body"), [tensor(i, kinds.INT64, []), tensor(c, kinds.BOOL, []), tensor(v, kinds.FLOAT, shape)],
        [tensor(cc, kinds.BOOL, []), tensor(vv, kinds.FLOAT, shape), tensor(s, kinds.FLOAT, shape)])
    values = [g.values[x] * np.float32(2**n) for n in range(count + 1)]
    g.add("Loop", [trips, go_on, x], [values[-1], -np.stack(values[:-1])], body=body)


STEPS = (unary, unary, binary, binary, binary, divide, compare_and_select, cast, clip, reduce, arg_max, softmax, transpose,
         transpose, reshape, reshape, squeeze, concat, split, slice_, gather, expand, pad, matmul, convolution, convolution,
         pool, global_pool, conditional, resize, parametric_relu, gelu, layer_norm, depth_to_space, cumulate,
         gather_elements, scatter, instance_norm, transposed_convolution, one_hot, loop)
