"""Rules of random Relax modules for operators of networks, of indices, and calls of functions; see relax_rules.py."""
import itertools
import math

try:
    import numpy as np
except ImportError:
    np = None

from relax_rules import INTEGERS, is_float, is_integer

STATIC = ["1", "2", "3", "4"]


def is_static(value):
    return all(dim.isdigit() for dim in value.dims)


def dims_of(array):
    return [str(size) for size in array.shape]


def wide(value):
    return value.array.astype("float64")


def windows(array, size, strides, dilation=(1, 1)):
    """The windows of the last two axes: [..., rows, columns, window rows, window columns]."""
    rows = (array.shape[-2] - (size[0] - 1) * dilation[0] - 1) // strides[0] + 1
    columns = (array.shape[-1] - (size[1] - 1) * dilation[1] - 1) // strides[1] + 1
    result = np.empty(array.shape[:-2] + (rows, columns) + tuple(size))
    for i, j in itertools.product(range(size[0]), range(size[1])):
        top, left = i * dilation[0], j * dilation[1]
        result[..., i, j] = array[..., top:top + (rows - 1) * strides[0] + 1:strides[0], left:left + (columns - 1) * strides[1] + 1:strides[1]]
    return result


def image(module):
    """An input of an operator of images, the first dimension of which may be symbolic."""
    batch = module.rng.choice(["n", "1", "2"])
    return module.add_input([batch, module.rng.choice(["1", "2", "4"]), str(module.rng.randint(3, 7)), str(module.rng.randint(3, 7))])


# ---- Networks

def conv2d(module):
    rng = module.rng
    x = image(module)
    channels = int(x.dims[1])
    groups = rng.choice([g for g in (1, 2, 4) if channels % g == 0])
    out = groups * rng.randint(1, 2)
    size = [rng.randint(1, 3), rng.randint(1, 3)]
    w = module.add_input([str(out), str(channels // groups), str(size[0]), str(size[1])])
    strides, dilation = [rng.randint(1, 2), rng.randint(1, 2)], [1, rng.choice([1, 1, 2])]
    padding = [rng.randint(0, 2) for _ in range(4)]
    padded = np.pad(wide(x), ((0, 0), (0, 0), (padding[0], padding[2]), (padding[1], padding[3])))
    if any(padded.shape[2 + i] < (size[i] - 1) * dilation[i] + 1 for i in range(2)):
        return False
    taken = windows(padded, size, strides, dilation)
    part, result = out // groups, []
    for o in range(out):
        inputs = taken[:, o // part * (channels // groups):(o // part + 1) * (channels // groups)]
        result.append(np.einsum("ncyxij,cij->nyx", inputs, wide(w)[o]))
    array = np.stack(result, 1).astype("float32")
    return module.bind(f"R.nn.conv2d({x.name}, {w.name}, strides={strides}, padding={padding}, dilation={dilation}, groups={groups})",
                       [x.dims[0]] + dims_of(array)[1:], array, x.exact and w.exact)


def conv2d_transpose(module):
    rng = module.rng
    x = image(module)
    size, strides = [rng.randint(1, 3), rng.randint(1, 3)], [rng.randint(1, 3), rng.randint(1, 3)]
    w = module.add_input([x.dims[1], str(rng.randint(1, 3)), str(size[0]), str(size[1])])
    extra = [rng.randrange(strides[0]), rng.randrange(strides[1])]
    padding = [rng.randint(0, 1) for _ in range(4)]
    height, width = x.array.shape[2:]
    full = np.zeros((x.array.shape[0], int(w.dims[1]), (height - 1) * strides[0] + size[0] + extra[0],
                     (width - 1) * strides[1] + size[1] + extra[1]))
    for i, j in itertools.product(range(height), range(width)):
        top, left = i * strides[0], j * strides[1]
        full[:, :, top:top + size[0], left:left + size[1]] += np.einsum("nc,cohw->nohw", wide(x)[:, :, i, j], wide(w))
    array = full[:, :, padding[0]:full.shape[2] - padding[2], padding[1]:full.shape[3] - padding[3]].astype("float32")
    if 0 in array.shape[2:]:
        return False
    return module.bind(f"R.nn.conv2d_transpose({x.name}, {w.name}, strides={strides}, padding={padding}, output_padding={extra})",
                       [x.dims[0]] + dims_of(array)[1:], array, x.exact and w.exact)


def pool2d(module):
    rng = module.rng
    x = image(module)
    size, strides = [rng.randint(1, 3), rng.randint(1, 3)], [rng.randint(1, 2), rng.randint(1, 2)]
    padding = [rng.randint(0, size[0] // 2), rng.randint(0, size[1] // 2)]
    padding = [padding[0], padding[1], padding[0], padding[1]]
    kind, counts = rng.choice(["max", "avg"]), rng.random() < 0.5
    around = ((0, 0), (0, 0), (padding[0], padding[2]), (padding[1], padding[3]))
    taken = windows(np.pad(wide(x), around, constant_values=-np.inf if kind == "max" else 0), size, strides)
    ones = windows(np.pad(np.ones_like(wide(x)), around), size, strides)
    if kind == "max":
        array, more = taken.max((-1, -2)), ""
    else:
        array = taken.sum((-1, -2)) / (size[0] * size[1] if counts else ones.sum((-1, -2)))
        more = f", count_include_pad={counts}"
    return module.bind(f"R.nn.{kind}_pool2d({x.name}, pool_size={size}, strides={strides}, padding={padding}{more})",
                       [x.dims[0]] + dims_of(array)[1:], array.astype("float32"), x.exact and kind == "max")


def adaptive_pool(module):
    x = image(module)
    sizes = [module.rng.randint(1, 3), module.rng.randint(1, 3)]
    array = np.empty(x.array.shape[:2] + tuple(sizes))
    for i, j in itertools.product(range(sizes[0]), range(sizes[1])):
        spans = [(k * total // size, -(-(k + 1) * total // size)) for k, total, size in zip((i, j), x.array.shape[2:], sizes)]
        array[:, :, i, j] = wide(x)[:, :, slice(*spans[0]), slice(*spans[1])].mean((2, 3))
    return module.bind(f"R.nn.adaptive_avg_pool2d({x.name}, output_size={sizes})", x.dims[:2] + [str(s) for s in sizes],
                       array.astype("float32"), False)


def normalization(module):
    x = image(module)
    channels = int(x.dims[1])
    # A mean is rounded, also where it is far from 0.
    scale, shift = module.add_input([x.dims[1]], is_factor=True), module.add_input([x.dims[1]])
    groups = module.rng.choice([g for g in (1, 2, 4) if channels % g == 0])
    kind = module.rng.choice(["group_norm", "instance_norm"])
    parts = groups if kind == "group_norm" else channels
    grouped = wide(x).reshape(x.array.shape[0], parts, channels // parts * x.array.shape[2] * x.array.shape[3])
    grouped = (grouped - grouped.mean(-1, keepdims=True)) / np.sqrt(grouped.var(-1, keepdims=True) + 0.25)
    array = grouped.reshape(x.array.shape) * wide(scale)[:, None, None] + wide(shift)[:, None, None]
    more = f"num_groups={groups}, channel_axis=1, axes=[2, 3]" if kind == "group_norm" else "channel_axis=1, axes=[2, 3]"
    return module.bind(f"R.nn.{kind}({x.name}, {scale.name}, {shift.name}, {more}, epsilon=0.25)", x.dims, array.astype("float32"), False)


def rms_norm(module):
    x = module.pick(lambda v: v.dtype == "float32" and v.rank > 1 and v.dims[-1] in STATIC)
    if x is None:
        return False
    weight = module.add_input([x.dims[-1]])
    array = wide(x) / np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + 0.25) * wide(weight)
    return module.bind(f"R.nn.rms_norm({x.name}, {weight.name}, axes=[-1], epsilon=0.25)", x.dims, array.astype("float32"), False)


def attention(module):
    rng = module.rng
    batch, heads, size = rng.choice(["n", "1", "2"]), str(rng.randint(1, 3)), str(rng.choice([1, 3, 4, 8]))
    rows, keys = rng.choice(["m", "1", "3"]), rng.choice(["m", "2", "5"])
    q, k = module.add_input([batch, rows, heads, size]), module.add_input([batch, keys, heads, size])
    v = module.add_input([batch, keys, heads, size])
    mask = rng.choice([None, None, "TopLeft", "BottomRight"])
    scores = np.einsum("nqhd,nkhd->nhqk", wide(q), wide(k)) / math.sqrt(int(size))
    shape = scores.shape[2:]
    if mask:
        shift = shape[1] - shape[0] if mask == "BottomRight" else 0
        seen = np.arange(shape[1])[None, :] <= np.arange(shape[0])[:, None] + shift
        if not seen.any(-1).all():
            return False
        scores = np.where(seen, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
    array = np.einsum("nhqk,nkhd->nqhd", powers / powers.sum(-1, keepdims=True), wide(v)).astype("float32")
    more = f', causal_mask="{mask}"' if mask else ""
    return module.bind(f"R.nn.attention({q.name}, {k.name}, {v.name}{more})", q.dims, array, False)


def activation(module):
    erf = np.vectorize(math.erf, otypes=["float64"])
    name, rule = module.rng.choice([
        ("nn.gelu({})", lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2)))),
        ("nn.gelu_tanh({})", lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))),
        ("nn.silu({})", lambda x: x / (1 + np.exp(-x))), ("nn.leakyrelu({}, 0.25)", lambda x: np.where(x > 0, x, x / 4)),
        ("nn.softplus({})", lambda x: np.logaddexp(0, x)), ("clip({}, -1.5, 2.0)", lambda x: np.clip(x, -1.5, 2)),
        ("nn.log_softmax({}, axis=-1)", lambda x: x - x.max(-1, keepdims=True)
         - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))),
        ("sqrt(R.abs({}))", lambda x: np.sqrt(np.abs(x))), ("erf({})", erf), ("sin({})", np.sin), ("cos({})", np.cos),
        ("log(R.add(R.square({}), R.const(1.0, \"float32\")))", lambda x: np.log1p(x * x)),
        ("rsqrt(R.add(R.abs({}), R.const(0.5, \"float32\")))", lambda x: 1 / np.sqrt(np.abs(x) + 0.5)),
        ("atan({})", np.arctan), ("power({}, R.const(2.0, \"float32\"))", np.square), ("power({}, R.const(3.0, \"float32\"))", lambda x: x ** 3)])
    x = module.pick(lambda v: v.dtype == "float32" and v.array.size and v.rank > 0 and np.max(np.abs(v.array)) < 1000)
    return x is not None and module.bind("R." + name.format(x.name), x.dims, rule(wide(x)).astype("float32"), False)


def pad(module):
    x = module.pick(lambda v: is_float(v) and is_static(v) and v.rank > 0 and min(v.array.shape) > 1)
    if x is None:
        return False
    mode = module.rng.choice(["constant", "reflect", "edge"])
    width = [(module.rng.randint(0, 1), module.rng.randint(0, 1)) for _ in x.dims]
    array = np.pad(x.array, width, mode=mode, **({"constant_values": 2} if mode == "constant" else {}))
    text = ", ".join(str(w) for pair in width for w in pair)
    name = {"constant": "constant", "reflect": "reflect", "edge": "replicate"}[mode]
    return module.bind(f'R.nn.pad({x.name}, [{text}], "{name}", 2.0)', dims_of(array), array, x.exact)


# ---- Indices

def scan(module):
    x = module.pick(lambda v: v.dtype in ("int32", "int64", "float32") and v.rank > 0)
    if x is None:
        return False
    axis, exclusive = module.rng.randrange(x.rank), module.rng.random() < 0.4
    name, rule, first = module.rng.choice([("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1)])
    array = rule(wide(x) if is_float(x) else x.array, axis=axis, dtype="float64" if is_float(x) else x.dtype)
    if exclusive:
        array = np.concatenate([np.full_like(array[(slice(None),) * axis + (slice(0, 1),)], first),
                                array[(slice(None),) * axis + (slice(0, -1),)]], axis)[(slice(None),) * axis + (slice(0, x.array.shape[axis]),)]
    return module.bind(f"R.{name}({x.name}, axis={axis}, exclusive={exclusive})", x.dims, array.astype(x.dtype), x.exact)


def product(module):
    x = module.pick(lambda v: v.dtype in ("int32", "int64", "float32") and v.rank > 0)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    array = np.prod(wide(x) if is_float(x) else x.array, axis=axis, dtype="float64" if is_float(x) else x.dtype).astype(x.dtype)
    return module.bind(f"R.prod({x.name}, axis=[{axis}])", [d for i, d in enumerate(x.dims) if i != axis], array, x.exact)


def triangle(module):
    x = module.pick(lambda v: v.rank > 1)
    if x is None:
        return False
    name, k = module.rng.choice(["tril", "triu"]), module.rng.randint(-2, 2)
    return module.bind(f"R.{name}({x.name}, {k})", x.dims, getattr(np, name)(x.array, k).astype(x.dtype), x.exact)


def one_hot(module):
    x = module.pick(lambda v: v.dtype in ("int32", "int64") and v.exact and v.rank < 3)
    if x is None:
        return False
    depth = module.rng.randint(1, 6)
    array = np.where(x.array[..., None] == np.arange(depth), 2.0, -1.0).astype("float32")
    return module.bind(f"R.one_hot({x.name}, R.prim_value(T.float32(2)), R.prim_value(T.float32(-1)), {depth}, -1)", x.dims + [str(depth)],
                       array, True)


def order(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype in ("float32", "int32", "int64") and (v.exact or is_integer(v)) and v.array.size)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    descending = module.rng.random() < 0.5
    if x.dims[axis].isdigit() and module.rng.random() < 0.5:
        k = module.rng.randint(1, int(x.dims[axis]))
        array = np.sort(x.array, axis=axis)
        array = np.take(np.flip(array, axis) if descending else array, np.arange(k), axis)
        dims = [str(k) if i == axis else d for i, d in enumerate(x.dims)]
        return module.bind(f'R.topk({x.name}, k={k}, axis={axis}, ret_type="values", largest={descending})', dims, array, x.exact)
    array = np.argsort(x.array, axis=axis, kind="stable").astype("int32")
    return module.bind(f'R.argsort({x.name}, axis={axis}, dtype="int32")', x.dims, array, True)


def gather(module):
    x = module.pick(lambda v: v.rank > 0 and is_static(v) and v.array.size and v.dtype != "bool")
    if x is None:
        return False
    rng = module.rng
    kind = rng.choice(["elements", "nd", "tensor", "scatter", "scatter_nd"])
    axis = rng.randrange(x.rank)
    count = rng.randint(1, x.array.shape[axis])
    shape = list(x.array.shape)
    shape[axis] = count
    if kind in ("elements", "scatter"):
        index = np.random.default_rng(rng.randrange(1 << 30)).integers(0, x.array.shape[axis], shape)
        if kind == "elements":
            return module.bind(f'R.gather_elements({x.name}, R.const({index.tolist()}, "int64"), axis={axis})', dims_of(index),
                               np.take_along_axis(x.array, index, axis), x.exact)
        reduction = rng.choice(["add", "max", "min"]) if is_integer(x) or x.exact else "max"
        array, update = x.array.copy(), module.add_input([str(s) for s in shape], x.dtype)
        rule = {"add": np.add, "max": np.maximum, "min": np.minimum}[reduction]
        for place in np.ndindex(*shape):
            target = list(place)
            target[axis] = index[place]
            array[tuple(target)] = rule(array[tuple(target)], update.array[place]).astype(x.dtype)
        return module.bind(f'R.scatter_elements({x.name}, R.const({index.tolist()}, "int64"), {update.name}, axis={axis}, '
                           f'reduction="{reduction}")', x.dims, array, False)
    rows = [rng.randrange(x.array.shape[0]) for _ in range(count)]
    if kind == "tensor":
        return module.bind(f'R.index_tensor({x.name}, (R.const({rows}, "int64"),))', [str(count)] + x.dims[1:], x.array[rows], x.exact)
    if kind == "nd":
        return module.bind(f'R.gather_nd({x.name}, R.const({[[r] for r in rows]}, "int64"))', [str(count)] + x.dims[1:], x.array[rows], x.exact)
    update, array = module.add_input([str(count)] + x.dims[1:], x.dtype), x.array.copy()
    for row, values in zip(rows, update.array):
        array[row] = (array[row] + values).astype(x.dtype)
    return module.bind(f'R.scatter_nd({x.name}, R.const({[[r] for r in rows]}, "int64"), {update.name}, "add")', x.dims, array, False)


def split(module):
    x = module.pick(lambda v: v.rank > 0 and any(d in ("2", "3", "4") for d in v.dims))
    if x is None:
        return False
    axis = module.rng.choice([i for i, d in enumerate(x.dims) if d in ("2", "3", "4")])
    cut = module.rng.randint(1, int(x.dims[axis]) - 1)
    part = module.rng.randrange(2)
    array = np.split(x.array, [cut], axis)[part]
    dims = [str(array.shape[axis]) if i == axis else d for i, d in enumerate(x.dims)]
    return module.bind(f"R.split({x.name}, [{cut}], axis={axis})[{part}]", dims, array, x.exact)


def arrangement(module):
    x = module.pick(lambda v: v.rank > 0)
    if x is None:
        return False
    kind = module.rng.choice(["stack", "squeeze", "broadcast", "arange", "full"])
    if kind == "stack":
        y = module.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims)
        axis = module.rng.randint(0, x.rank)
        return x.rank < 4 and module.bind(f"R.stack(({x.name}, {y.name}), axis={axis})", x.dims[:axis] + ["2"] + x.dims[axis:],
                                          np.stack([x.array, y.array], axis), x.exact and y.exact)
    if kind == "squeeze":
        ones = [i for i, d in enumerate(x.dims) if d == "1"]
        return bool(ones) and module.bind(f"R.squeeze({x.name}, axis={ones})", [d for d in x.dims if d != "1"],
                                          np.squeeze(x.array, tuple(ones)), x.exact)
    if kind == "broadcast":
        target = [module.rng.choice(["n", "m", "3"]) if d == "1" else d for d in ["1"] + x.dims]
        shape = [module.size_of(d) for d in target]
        return x.rank < 4 and module.bind(f"R.broadcast_to({x.name}, R.shape([{', '.join(target)}]))", target,
                                          np.broadcast_to(x.array, shape).copy(), x.exact)
    dim = x.dims[0]
    if kind == "arange":
        if not (dim.isdigit() or dim in ("n", "m")):
            return False
        return module.bind(f'R.arange(R.prim_value(0), R.prim_value({dim}), R.prim_value(1), "int64")', [dim],
                           np.arange(module.size_of(dim), dtype="int64"), True)
    return module.bind(f'R.full(R.shape([{", ".join(x.dims)}]), R.const(3, "{x.dtype}"))', x.dims, np.full_like(x.array, 3), x.exact) \
        if x.dtype != "bool" else False


def bits(module):
    x = module.pick(is_integer)
    y = x and module.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims)
    if y is None:
        return False
    name, rule = module.rng.choice([("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor)])
    if module.rng.random() < 0.3:
        shift = module.rng.randint(0, np.iinfo(x.dtype).bits - 1)
        name, rule = module.rng.choice([("right_shift", np.right_shift), ("left_shift", np.left_shift)])
        return module.bind(f'R.{name}({x.name}, R.const({shift}, "{x.dtype}"))', x.dims, rule(x.array, np.array(shift, x.dtype)), False)
    return module.bind(f"R.{name}({x.name}, {y.name})", x.dims, rule(x.array, y.array), False)


def logic(module):
    x = module.pick(lambda v: v.dtype == "bool")
    y = x and module.pick(lambda v: v.dtype == "bool" and v.dims == x.dims)
    if y is None:
        return False
    if module.rng.random() < 0.3:
        return module.bind(f"R.logical_not({x.name})", x.dims, np.logical_not(x.array), True)
    name, rule = module.rng.choice([("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor)])
    return module.bind(f"R.{name}({x.name}, {y.name})", x.dims, rule(x.array, y.array), True)


def einsum(module):
    x = module.pick(lambda v: v.dtype == "float32" and v.rank == 2 and v.array.size)
    y = x and module.pick(lambda v: v.dtype == "float32" and v.rank == 2 and v.dims[0] == x.dims[1])
    if y is None:
        return False
    form = module.rng.choice(["ij,jk->ik", "ij,jk->ki", "ij,jk->i"])
    array = np.einsum(form, wide(x), wide(y)).astype("float32")
    names = {"i": x.dims[0], "j": x.dims[1], "k": y.dims[1]}
    return module.bind(f'R.einsum(({x.name}, {y.name}), "{form}")', [names[c] for c in form.split("->")[1]], array, x.exact and y.exact)


# ---- Functions

def private_function(module):
    """Calls a function of its own, of any shape of that rank."""
    x = module.pick(lambda v: v.dtype in ("float32", "int32") and v.rank > 0)
    if x is None:
        return False
    sizes = [f"s{i}" for i in range(x.rank)]
    tensor = f'R.Tensor(({", ".join(chr(34) + s + chr(34) for s in sizes)},), "{x.dtype}")'
    body, rule = module.rng.choice([("R.add(x, x)", lambda v: v + v), ("R.maximum(x, R.negative(x))", lambda v: np.maximum(v, -v)),
                                    ("R.multiply(x, R.const(2, x_dtype))", lambda v: v * 2)])
    name = f"helper{len(module.functions)}"
    module.functions.append(f"    @R.function(private=True)\n    def {name}(x: {tensor}) -> {tensor}:\n"
                            f"        gv = {body.replace('x_dtype', chr(34) + x.dtype + chr(34))}\n        return gv\n")
    with np.errstate(all="ignore"):
        return module.bind(f"Module.{name}({x.name})", x.dims, rule(x.array).astype(x.dtype), x.exact)


RULES = [conv2d, conv2d_transpose, pool2d, adaptive_pool, normalization, rms_norm, attention, activation, activation, activation, pad, scan,
         product, triangle, one_hot, order, gather, gather, split, arrangement, arrangement, bits, logic, einsum, private_function]
