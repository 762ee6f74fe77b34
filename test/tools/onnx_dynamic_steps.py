"""The parts of random ONNX models with named dimensions (onnx_dynamic.py): a graph that grows, with the shapes of its
values, and the steps that add nodes. Dimensions are numbers or names; equal names are equal lengths. A step may make a
model that some sizes do not fit: onnxruntime then refuses them, and nothing is compared."""

OPSETS = (11, 13, 15, 17)
FAR = 2**63 - 1
NODES = (4, 22)


class Graph:
    def __init__(self, modules, seed):
        self.np, self.onnx = modules
        self.helper = self.onnx.helper
        self.rng = self.np.random.default_rng(seed)
        self.opset = int(self.rng.choice(OPSETS))
        self.nodes, self.initializers, self.inputs = [], [], []
        self.values = {}  # name -> (dtype, dimensions)
        self.filled = []  # values that must have elements: what is made of empty ones is not defined
        self.counter = 0

    def chance(self, n):
        return self.rng.integers(n) == 0

    def choose(self, items):
        return items[int(self.rng.integers(len(items)))]

    def name(self, hint):
        self.counter += 1
        return f"{hint}_{self.counter}"

    def fill(self, name):
        self.filled.append(name)
        return name

    def input(self, name, dtype, dims):
        self.inputs.append(name)
        self.values[name] = (dtype, list(dims))

    def add(self, op, operands, dtype, dims, **attributes):
        """A node with one result of these dimensions; its name."""
        result = self.name(op.lower())
        self.nodes.append(self.helper.make_node(op, operands, [result], name=self.name("node"), **attributes))
        self.values[result] = (dtype, list(dims))
        return result

    def constant(self, array, dtype="int64"):
        name = self.name("c")
        self.initializers.append(self.onnx.numpy_helper.from_array(self.np.array(array, dtype), name))
        return name

    def ints(self, *numbers):
        return self.constant(list(numbers))

    def numbers(self, shape):
        return self.constant(self.rng.uniform(-1, 1, shape), "float32")

    def listed(self, op, operands, name, numbers):
        """Operands and attributes for integers that are an operand from version 13 on."""
        if self.opset < 13:
            return operands, {name: list(numbers)}
        return operands + [self.ints(*numbers)], {}

    def pick(self, dtype="float32", test=lambda dims: True):
        """A value, later ones more often; None if there is none."""
        names = [name for name, (kind, dims) in self.values.items() if kind == dtype and test(dims)]
        if not names:
            return None
        return names[max(int(self.rng.integers(len(names))) for _ in range(2))]

    def dims(self, name):
        return list(self.values[name][1])

    def axis(self, dims, dynamic=True):
        """An axis, more often one that has a name."""
        named = [i for i, dim in enumerate(dims) if isinstance(dim, str)]
        return self.choose(named) if named and dynamic and not self.chance(3) else int(self.rng.integers(len(dims)))

    def unknown(self):
        return self.name("dim")

    # ---- Shapes as values

    def shape(self, name):
        return self.add("Shape", [name], "int64", [len(self.dims(name))])

    def length(self, name, axis):
        """The length of a dimension: int64[1]."""
        return self.add("Gather", [self.shape(name), self.ints(axis)], "int64", [1], axis=0)

    def number(self):
        """int64[1]: a number, or one that is computed from a dimension; it may be negative."""
        x = self.pick(test=lambda dims: any(isinstance(dim, str) for dim in dims))
        if x is None or self.chance(3):
            return self.ints(int(self.rng.integers(-5, 6)))
        value = self.length(x, self.axis(self.dims(x)))
        for _ in range(int(self.rng.integers(3))):
            op, number = self.choose([("Add", 1), ("Sub", 1), ("Sub", 4), ("Mul", 2), ("Div", 2), ("Div", 3), ("Mod", 3), ("Max", 2), ("Min", 3)])
            value = self.add(op, [value, self.ints(number)], "int64", [1])
        return value

    def positive(self):
        return self.add("Max", [self.number(), self.ints(int(self.rng.integers(0, 2)))], "int64", [1])


# ---- Steps

def unary(g):
    x = g.pick()
    op = g.choose(["Relu", "Neg", "Abs", "Tanh", "Floor", "Sigmoid", "Identity", "Sqrt", "Exp", "Erf", "Softplus"])
    # The greatest of several NaNs and numbers is not defined.
    is_positive = g.chance(4) or op == "Sqrt"
    g.add(op, [g.add("Abs", [x], "float32", g.dims(x)) if is_positive else x], "float32", g.dims(x))


def binary(g):
    x = g.pick()
    dims = g.dims(x)
    other = g.pick(test=lambda d: d == dims)
    if g.chance(2):
        shape = [dim if isinstance(dim, int) and not g.chance(2) else 1 for dim in dims]
        other = g.numbers(shape[int(g.rng.integers(len(shape) + 1)):])
    op = g.choose(["Add", "Sub", "Mul", "Max", "Min"])
    g.add(op, [x, other] if g.chance(2) else [other, x], "float32", dims)


def broadcast(g):
    """Two values of which one has fewer dimensions, or some that are reduced to 1."""
    x = g.fill(g.pick(test=lambda dims: len(dims) > 0))
    dims = g.dims(x)
    axis = g.axis(dims)
    reduced = g.add("ReduceMax", [x], "float32", dims[:axis] + [1] + dims[axis + 1:], axes=[axis], keepdims=1)
    g.add(g.choose(["Add", "Sub", "Mul"]), [x, reduced], "float32", dims)


def select(g):
    x = g.pick()
    dims = g.dims(x)
    y = g.pick(test=lambda d: d == dims)
    condition = g.add(g.choose(["Less", "Greater"]), [x, y if g.chance(2) else g.numbers([])], "bool", dims)
    g.add("Where", [condition, x, y if g.chance(2) else g.numbers([])], "float32", dims)


def clip(g):
    x = g.pick()
    low, high = (g.constant(g.rng.uniform(-1, 1), "float32") for _ in range(2))
    g.add("Clip", [x, low if g.chance(2) else "", high] if g.chance(4) else [x, low, high], "float32", g.dims(x))


def slice_(g):
    x = g.pick(test=lambda dims: len(dims) > 0)
    dims = g.dims(x)
    axis = g.axis(dims)
    step = int(g.choose([1, 1, 1, 1, 2, -1, -2, 3]))
    bounds = [0, 1, 2, 5, -1, -2, -4, -7, FAR, -FAR - 1, FAR - 1, 2**31 - 1, -2**31]
    # Steps back to the greatest integer are nothing by ONNX, and everything in onnxruntime.
    ends = [bound for bound in bounds if step > 0 or bound not in (FAR, 2**31 - 1)]
    begin, end = g.ints(int(g.choose(bounds))), g.ints(int(g.choose(ends)))
    if g.chance(3):
        begin = g.number()
    if g.chance(3):
        end = g.number()
    dims[axis] = g.unknown()
    g.add("Slice", [x, begin, end, g.ints(axis if g.chance(2) else axis - len(dims)), g.ints(step)], "float32", dims)


def window(g):
    """The last elements of a cache and what is new, as decoders keep them."""
    x = g.pick(test=lambda dims: len(dims) > 0)
    dims = g.dims(x)
    axis = g.axis(dims)
    dims[axis] = g.unknown()
    joined = g.add("Concat", [x, x], "float32", dims, axis=axis)
    dims[axis] = g.unknown()
    g.add("Slice", [joined, g.ints(-int(g.rng.integers(1, 6))), g.ints(FAR), g.ints(axis)], "float32", dims)


def concat(g):
    x = g.pick(test=lambda dims: len(dims) > 0)
    dims = g.dims(x)
    axis = g.axis(dims)
    def fits(other):
        return len(other) == len(dims) and all(a == b for i, (a, b) in enumerate(zip(dims, other)) if i != axis)
    y = g.pick(test=fits)
    result = list(dims)
    numbers = [d for d in (dims[axis], g.dims(y)[axis]) if isinstance(d, int)]
    result[axis] = sum(numbers) if len(numbers) == 2 else g.unknown()
    g.add("Concat", [x, y], "float32", result, axis=axis)


def merge(g):
    """Two neighbouring dimensions become one: by computed shapes, by -1, or by Flatten. -1 needs elements."""
    x = g.fill(g.pick(test=lambda dims: len(dims) > 1))
    dims = g.dims(x)
    at = int(g.rng.integers(len(dims) - 1))
    pair = dims[at:at + 2]
    size = pair[0] * pair[1] if all(isinstance(d, int) for d in pair) else g.unknown()
    result = dims[:at] + [size] + dims[at + 2:]
    if len(dims) == 2 and g.chance(3):
        return g.add("Flatten", [x], "float32", [1, size], axis=0)
    way = int(g.rng.integers(3))
    if way == 0:
        shape = g.ints(*[0 if i < at else -1 if i == at else d if isinstance(d, int) else 0 for i, d in enumerate(result)])
        if any(isinstance(d, str) for d in result[at + 1:]):
            way = 1
    if way > 0:
        shape = g.shape(x)
        parts = [g.add("Slice", [shape, g.ints(0), g.ints(at)], "int64", [at])] if at else []
        product = g.add("Mul", [g.length(x, at), g.length(x, at + 1)], "int64", [1])
        parts.append(g.ints(-1) if way == 1 else product)
        if at + 2 < len(dims):
            parts.append(g.add("Slice", [shape, g.ints(at + 2), g.ints(FAR)], "int64", [len(dims) - at - 2]))
        shape = g.add("Concat", parts, "int64", [len(result)], axis=0)
    return g.add("Reshape", [x, shape], "float32", result)


def split_dim(g):
    """A dimension becomes two, as heads of attention."""
    x = g.pick(test=lambda dims: any(isinstance(d, int) and d % 2 == 0 and d > 0 for d in dims))
    if x is None:
        return
    dims = g.dims(x)
    at = g.choose([i for i, d in enumerate(dims) if isinstance(d, int) and d % 2 == 0 and d > 0])
    parts = [g.length(x, i) if isinstance(d, str) else g.ints(d) for i, d in enumerate(dims)]
    parts[at:at + 1] = [g.ints(2, dims[at] // 2)]
    shape = g.add("Concat", parts, "int64", [len(dims) + 1], axis=0)
    g.add("Reshape", [x, shape], "float32", dims[:at] + [2, dims[at] // 2] + dims[at + 1:])


def transpose(g):
    x = g.pick(test=lambda dims: len(dims) > 1)
    order = [int(i) for i in g.rng.permutation(len(g.dims(x)))]
    g.add("Transpose", [x], "float32", [g.dims(x)[i] for i in order], perm=order)


def unsqueeze(g):
    x = g.pick(test=lambda dims: len(dims) < 4)
    if x is None:
        return
    dims = g.dims(x)
    axis = int(g.rng.integers(len(dims) + 1))
    operands, attributes = g.listed("Unsqueeze", [x], "axes", [axis])
    g.add("Unsqueeze", operands, "float32", dims[:axis] + [1] + dims[axis:], **attributes)


def squeeze(g):
    x = g.pick(test=lambda dims: 1 in dims)
    if x is None:
        return
    dims = g.dims(x)
    axis = dims.index(1)
    operands, attributes = g.listed("Squeeze", [x], "axes", [axis])
    g.add("Squeeze", operands, "float32", dims[:axis] + dims[axis + 1:], **attributes)


def gather(g):
    x = g.pick(test=lambda dims: len(dims) > 0)
    dims = g.dims(x)
    axis = g.axis(dims)
    index = g.choose([[0], [-1], [0, 0], 0, -1, [1, 0]])
    shape = list(g.np.shape(index))
    operand = g.constant(index)
    if g.chance(3):
        # All, in reverse order.
        length = g.add("Reshape", [g.length(x, axis), g.constant([], "int64")], "int64", [])
        last = g.add("Sub", [length, g.constant(1)], "int64", [])
        operand = g.add("Range", [last, g.constant(-1), g.constant(-1)], "int64", [dims[axis]])
        shape = [dims[axis]]
    g.add("Gather", [x, operand], "float32", dims[:axis] + shape + dims[axis + 1:], axis=axis)


def mask(g):
    """x[mask] of PyTorch."""
    x = g.pick(test=lambda dims: 0 < len(dims) < 4)
    if x is None:
        return
    dims = g.dims(x)
    condition = g.add("Greater", [x, g.constant(0, "float32")], "bool", dims)
    found = g.unknown()
    places = g.add("NonZero", [condition], "int64", [len(dims), found])
    rows = g.add("Transpose", [places], "int64", [found, len(dims)], perm=[1, 0])
    g.add("GatherND", [x, rows], "float32", [found])


def expand(g):
    x = g.pick(test=lambda dims: len(dims) < 4)
    if x is None:
        return
    dims = g.dims(x)
    if g.chance(2) and dims:
        operands = [x, g.shape(x)]
    else:
        parts = [g.positive(), g.shape(x)] if dims else [g.positive()]
        dims = [g.unknown()] + dims
        operands = [x, g.add("Concat", parts, "int64", [len(dims)], axis=0)]
    g.add("Expand", operands, "float32", dims)


def tile(g):
    x = g.pick(test=lambda dims: len(dims) > 0)
    dims = g.dims(x)
    repeats = [g.positive() if g.chance(2) else g.ints(int(g.rng.integers(3))) for _ in dims]
    g.add("Tile", [x, g.add("Concat", repeats, "int64", [len(dims)], axis=0)], "float32", [g.unknown() for _ in dims])


def constant_of_shape(g):
    dims = [g.unknown() for _ in range(int(g.rng.integers(1, 3)))]
    shape = g.add("Concat", [g.positive() for _ in dims], "int64", [len(dims)], axis=0)
    value = g.helper.make_tensor("value", g.onnx.TensorProto.FLOAT, [1], [2.5])
    g.add("ConstantOfShape", [shape], "float32", dims, value=value)


def range_(g):
    scalars = [g.add("Reshape", [part, g.constant([], "int64")], "int64", []) for part in (g.number(), g.number())]
    delta = g.constant(int(g.choose([1, 2, -1])))
    count = g.unknown()
    values = g.add("Range", [*scalars, delta], "int64", [count])
    g.add("Cast", [values], "float32", [count], to=g.onnx.TensorProto.FLOAT)


def pad(g):
    x = g.fill(g.pick(test=lambda dims: len(dims) > 0))
    dims = g.dims(x)
    mode = g.choose(["constant", "constant", "edge", "reflect"])
    if g.chance(3):
        # Up to a multiple of a number.
        axis = g.axis(dims)
        length = g.length(x, axis)
        rest = g.add("Mod", [g.add("Sub", [g.ints(0), length], "int64", [1]), g.ints(4)], "int64", [1])
        parts = [g.ints(*[0] * (len(dims) + axis)), rest, g.ints(*[0] * (len(dims) - axis - 1))]
        pads = g.add("Concat", parts, "int64", [2 * len(dims)], axis=0)
        dims[axis] = g.unknown()
    else:
        # Negative ones remove elements.
        widths = [int(n) for n in g.rng.integers(-2 if mode == "constant" and g.chance(2) else 0, 3, 2 * len(dims))]
        pads = g.ints(*widths)
        total = [widths[i] + widths[len(dims) + i] for i in range(len(dims))]
        dims = [d + t if isinstance(d, int) and d + t >= 0 else d if t == 0 else g.unknown() for d, t in zip(dims, total)]
    operands = [x, pads, g.numbers([])] if mode == "constant" and g.chance(2) else [x, pads]
    g.add("Pad", operands, "float32", dims, mode=mode)


def reduce(g):
    x = g.fill(g.pick(test=lambda dims: len(dims) > 0))
    dims = g.dims(x)
    axis, keep = g.axis(dims), int(g.rng.integers(2))
    result = dims[:axis] + [1] * keep + dims[axis + 1:]
    op = g.choose(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd", "ReduceSumSquare"])
    operands, attributes = [x], {"axes": [axis]}
    if op == "ReduceSum":
        operands, attributes = g.listed(op, operands, "axes", [axis])
    g.add(op, operands, "float32", result, keepdims=keep, **attributes)


def arg_max(g):
    x = g.fill(g.pick(test=lambda dims: len(dims) > 0))
    dims = g.dims(x)
    # With NaNs, the order of the elements decides in onnxruntime which one is the greatest.
    x = g.add("Where", [g.add("IsNaN", [x], "bool", dims), g.constant(0, "float32"), x], "float32", dims)
    axis = g.axis(dims)
    attributes = {"select_last_index": 1} if g.opset > 11 and g.chance(3) else {}
    result = dims[:axis] + dims[axis + 1:]
    index = g.add(g.choose(["ArgMax", "ArgMin"]), [x], "int64", result, axis=axis, keepdims=0, **attributes)
    g.add("Cast", [index], "float32", result, to=g.onnx.TensorProto.FLOAT)


def softmax(g):
    x = g.fill(g.pick(test=lambda dims: len(dims) > 0))
    op = g.choose(["Softmax", "LogSoftmax"])
    g.add(op, [x], "float32", g.dims(x), axis=int(g.rng.integers(len(g.dims(x)))))


def layer_norm(g):
    x = g.pick(test=lambda dims: len(dims) > 0 and isinstance(dims[-1], int) and dims[-1] > 1)
    if x is None:
        return
    dims = g.dims(g.fill(x))
    if g.opset >= 17:
        g.add("LayerNormalization", [x, g.numbers(dims[-1:]), g.numbers(dims[-1:])], "float32", dims)
        return
    ones = dims[:-1] + [1]
    mean = g.add("ReduceMean", [x], "float32", ones, axes=[-1])
    centered = g.add("Sub", [x, mean], "float32", dims)
    square = g.add("Pow", [centered, g.constant(2, "float32")], "float32", dims)
    variance = g.add("ReduceMean", [square], "float32", ones, axes=[-1])
    root = g.add("Sqrt", [g.add("Add", [variance, g.constant(1e-3, "float32")], "float32", ones)], "float32", ones)
    ratio = g.add("Div", [centered, root], "float32", dims)
    g.add("Add", [g.add("Mul", [ratio, g.numbers(dims[-1:])], "float32", dims), g.numbers(dims[-1:])], "float32", dims)


def matmul(g):
    x = g.pick(test=lambda dims: len(dims) > 1)
    dims = g.dims(x)
    if isinstance(dims[-1], int) and not g.chance(3):
        columns = int(g.rng.integers(1, 5))
        g.add("MatMul", [x, g.numbers([dims[-1], columns])], "float32", dims[:-1] + [columns])
        return
    order = [*range(len(dims) - 2), len(dims) - 1, len(dims) - 2]
    turned = g.add("Transpose", [x], "float32", [dims[i] for i in order], perm=order)
    g.add("MatMul", [x, turned], "float32", dims[:-1] + [dims[-2]])


def gemm(g):
    x = g.pick(test=lambda dims: len(dims) == 2 and isinstance(dims[1], int))
    if x is None:
        return
    rows, inner = g.dims(x)
    g.add("Gemm", [x, g.numbers([3, inner]), g.numbers([3])], "float32", [rows, 3], transB=1, alpha=0.5)


def split(g):
    x = g.pick(test=lambda dims: len(dims) > 0)
    dims = g.dims(x)
    axis = g.axis(dims)
    names = [g.name("split") for _ in range(2)]
    operands, attributes = [x], {}
    if g.chance(2):
        operands, attributes = g.listed("Split", [x], "split", [1, 2])
    g.nodes.append(g.helper.make_node("Split", operands, names, name=g.name("node"), axis=axis, **attributes))
    for name in names:
        g.values[name] = ("float32", dims[:axis] + [g.unknown()] + dims[axis + 1:])


def cumulate(g):
    x = g.pick(test=lambda dims: len(dims) > 0)
    axis = g.axis(g.dims(x))
    g.add("CumSum", [x, g.constant(axis)], "float32", g.dims(x), reverse=int(g.rng.integers(2)), exclusive=int(g.rng.integers(2)))


def image(g):
    x = g.pick(test=lambda dims: len(dims) == 4 and isinstance(dims[1], int))
    return g.fill(x or g.inputs[0])


def windows(g, x):
    """Lengths and strides of windows in an image. Without an element at the end of the first one, there is no window."""
    kernel, strides = [int(n) for n in g.rng.integers(1, 4, 2)], [int(n) for n in g.rng.integers(1, 4, 2)]
    g.fill(g.add("Slice", [x, g.ints(*[k - 1 for k in kernel]), g.ints(FAR, FAR), g.ints(2, 3)], "float32", g.dims(x)))
    return kernel, strides


def convolution(g):
    x = image(g)
    n, c, _, _ = g.dims(x)
    kernel, strides = windows(g, x)
    padding = {"auto_pad": g.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])} if g.chance(3) else {"pads": [int(n) for n in g.rng.integers(0, 2, 4)]}
    g.add("Conv", [x, g.numbers([2, c, *kernel]), g.numbers([2])], "float32", [n, 2, g.unknown(), g.unknown()],
          kernel_shape=kernel, strides=strides, **padding)


def pool(g):
    x = image(g)
    n, c, _, _ = g.dims(x)
    if g.chance(4):
        g.add(g.choose(["GlobalAveragePool", "GlobalMaxPool"]), [x], "float32", [n, c, 1, 1])
        return
    kernel, strides = windows(g, x)
    pads = [int(g.rng.integers(0, (k + 1) // 2)) for k in kernel * 2]
    attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    if g.chance(2):
        attributes["ceil_mode"] = 1
    op = g.choose(["MaxPool", "AveragePool"])
    if op == "AveragePool":
        attributes["count_include_pad"] = int(g.rng.integers(2)) if "ceil_mode" not in attributes else 0
    g.add(op, [x], "float32", [n, c, g.unknown(), g.unknown()], **attributes)


def resize(g):
    x = image(g)
    n, c, _, _ = g.dims(x)
    transformations = ["asymmetric", "half_pixel"]
    if g.chance(2):
        scales = g.constant([1, 1, g.choose([2, 1.5, 0.5, 2.6]), g.choose([2, 1, 0.75])], "float32")
        operands = [x, "", scales] if g.opset > 11 else [x, g.constant([], "float32"), scales]
    else:
        # onnxruntime rounds the lengths of scales for this one, which the operator does not.
        transformations.append("align_corners")
        sizes = [g.add("Slice", [g.shape(x), g.ints(0), g.ints(2)], "int64", [2])]
        for axis in (2, 3):
            sizes.append(g.add("Mul", [g.length(x, axis), g.ints(2)], "int64", [1]))
        empty = g.constant([], "float32") if g.opset < 13 else ""
        operands = [x, empty, empty, g.add("Concat", sizes, "int64", [4], axis=0)]
    g.add("Resize", operands, "float32", [n, c, g.unknown(), g.unknown()], mode=g.choose(["nearest", "linear"]),
          coordinate_transformation_mode=g.choose(transformations),
          nearest_mode=g.choose(["floor", "round_prefer_floor"]))


def conditional(g):
    """Graphs that are chosen by a length."""
    x = g.pick(test=lambda dims: any(isinstance(d, str) for d in dims))
    if x is None:
        return
    dims = g.dims(x)
    length = g.add("Reshape", [g.length(x, g.axis(dims)), g.constant([], "int64")], "int64", [])
    condition = g.add(g.choose(["Equal", "Less"]), [length, g.constant(2)], "bool", [])
    branches = []
    for op in ("Neg", "Abs"):
        name = g.name("branch")
        value = g.helper.make_tensor_value_info(name, g.onnx.TensorProto.FLOAT, [None] * len(dims))
        branches.append(g.helper.make_graph([g.helper.make_node(op, [x], [name])], g.name("graph"), [], [value]))
    g.add("If", [condition], "float32", dims, then_branch=branches[0], else_branch=branches[1])


STEPS = (unary, unary, binary, binary, broadcast, select, clip, slice_, slice_, slice_, window, concat, concat, merge, merge,
         split_dim, transpose, unsqueeze, squeeze, gather, gather, mask, expand, tile, constant_of_shape, range_, pad, pad, reduce, reduce,
         arg_max, softmax, layer_norm, matmul, gemm, split, cumulate, convolution, pool, pool, resize, conditional)


def make_model(seed, modules):
    """A model, the same with the sizes of values that must have elements as further outputs, and the number of them."""
    g = Graph(modules, seed)
    shapes = ([g.choose(["N", 1, 2]), 2, g.choose(["H", 5]), g.choose(["W", "H", 4])],
              [g.choose(["N", 3]), g.choose(["S", 2]), 4], ["S", g.choose(["S", "T", 4])], ["T"])
    for i, dims in enumerate(shapes[: int(g.rng.integers(2, 5))]):
        g.input(f"x{i}", "float32", dims)
    target = int(g.rng.integers(*NODES))
    while len(g.nodes) < target:
        g.choose(STEPS)(g)
    used = {name for node in g.nodes for name in node.input}
    outputs = [n for node in g.nodes for n in node.output if g.values[n][0] == "float32" and n not in used][-5:]
    outputs = outputs or [g.add("Identity", ["x0"], "float32", g.dims("x0"))]
    if g.chance(2):
        outputs.append(g.shape(outputs[0]))
    sizes = [g.add("Size", [name], "int64", []) for name in dict.fromkeys(g.filled)]
    return to_proto(g, outputs), to_proto(g, outputs + sizes), len(sizes)


def to_proto(g, outputs):
    helper, kinds = g.helper, g.onnx.TensorProto
    types = {"float32": kinds.FLOAT, "int64": kinds.INT64, "bool": kinds.BOOL}
    graph = helper.make_graph(
        g.nodes, "dynamic", [helper.make_tensor_value_info(name, kinds.FLOAT, g.values[name][1]) for name in g.inputs],
        [helper.make_tensor_value_info(name, types[g.values[name][0]], [None] * len(g.dims(name))) for name in outputs],
        g.initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=8)
