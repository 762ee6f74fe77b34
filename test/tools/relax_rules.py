"""Rules of random Relax modules (relax_reference.py): each adds a binding and its value to a module, and returns whether it has done so."""
try:
    import numpy as np
except ImportError:
    np = None

FLOATS = ["float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "int32", "int64"]


def is_exact(array):
    """Whether float16 holds the numbers as well, and sums of a few of them."""
    return bool(np.all(array * 16 == np.floor(array * 16)) and (not array.size or np.max(np.abs(array)) < 64))


def is_float(value):
    return value.dtype in FLOATS


def is_integer(value):
    return value.dtype in INTEGERS


def wrap(array, dtype):
    return array.astype(dtype)


def unary(module):
    name, rule, needs_exact, keeps_exact = module.rng.choice([
        ("negative", np.negative, False, True), ("abs", np.abs, False, True), ("exp", np.exp, False, False),
        ("tanh", np.tanh, False, False), ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), False, False),
        ("nn.relu", lambda x: np.maximum(x, 0), False, True), ("square", np.square, False, True), ("floor", np.floor, True, True),
        ("ceil", np.ceil, True, True), ("round", np.rint, True, True), ("trunc", np.trunc, True, True), ("sign", np.sign, True, True)])
    x = module.pick(lambda v: is_float(v) and (v.exact or not needs_exact))
    if x is None:
        return False
    return module.bind(f"R.{name}({x.name})", x.dims, rule(x.array).astype(x.dtype), x.exact and keeps_exact)


def integer_unary(module):
    name, rule = module.rng.choice([("negative", np.negative), ("abs", np.abs), ("square", lambda x: x * x)])
    x = module.pick(lambda v: is_integer(v) and v.dtype.startswith("int") and v.exact)
    return x is not None and module.bind(f"R.{name}({x.name})", x.dims, wrap(rule(x.array), x.dtype), False)


def binary(module):
    x = module.pick(lambda v: is_float(v) or is_integer(v))
    y = x and module.pick(lambda v: v.dtype == x.dtype and (v.dims == x.dims or v.dims == x.dims[-v.rank:]))
    if y is None:
        return False
    name, rule = module.rng.choice([("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("maximum", np.maximum),
                                    ("minimum", np.minimum)])
    return module.bind(f"R.{name}({x.name}, {y.name})", x.dims, wrap(rule(x.array, y.array), x.dtype), x.exact and y.exact)


def by_constant(module):
    x = module.pick(lambda v: v.dtype in ("int32", "int64", "float32"))
    if x is None:
        return False
    if is_float(x):
        c = module.rng.choice([0.5, 2.0, -4.0])
        return module.bind(f'R.divide({x.name}, R.const({c}, "{x.dtype}"))', x.dims, (x.array / np.float32(c)).astype(x.dtype), x.exact)
    c = module.rng.choice([2, 3, 5, -3, 7])
    name, rule = module.rng.choice([("floor_divide", np.floor_divide), ("floor_mod", np.mod), ("mod", np.fmod)])
    return module.bind(f'R.{name}({x.name}, R.const({c}, "{x.dtype}"))', x.dims, rule(x.array, np.array(c, x.dtype)), x.exact)


def comparison(module):
    x = module.pick(lambda v: v.dtype != "bool" and (v.exact or is_integer(v)))
    y = x and module.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims and (v.exact or is_integer(v)))
    if y is None:
        return False
    name, rule = module.rng.choice([("less", np.less), ("less_equal", np.less_equal), ("equal", np.equal), ("greater", np.greater),
                                    ("not_equal", np.not_equal)])
    return module.bind(f"R.{name}({x.name}, {y.name})", x.dims, rule(x.array, y.array), True)


def where(module):
    c = module.pick(lambda v: v.dtype == "bool")
    x = c and module.pick(lambda v: v.dtype != "bool" and v.dims == c.dims)
    y = x and module.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims)
    return y is not None and module.bind(f"R.where({c.name}, {x.name}, {y.name})", x.dims, np.where(c.array, x.array, y.array),
                                         x.exact and y.exact)


def cast(module):
    x = module.pick(lambda v: v.exact or not is_float(v))
    if x is None:
        return False
    dtype = module.rng.choice(FLOATS + INTEGERS)
    if is_float(x) and dtype.startswith("uint"):
        return False
    array = np.trunc(x.array).astype("int64").astype(dtype) if is_float(x) and dtype in INTEGERS else x.array.astype(dtype)
    exact = x.exact and dtype not in ("uint8",)
    if not x.exact and dtype in FLOATS:
        return False
    return module.bind(f'R.astype({x.name}, "{dtype}")', x.dims, array, exact)


def reduction(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype != "bool" and v.array.size)
    if x is None:
        return False
    axis, keep = module.rng.randrange(x.rank), module.rng.random() < 0.4
    name, rule = module.rng.choice([("sum", np.sum), ("max", np.max), ("min", np.min)] +
                                   ([("mean", np.mean), ("variance", np.var), ("std", np.std)] if is_float(x) else []))
    wide = x.array.astype("float64") if is_float(x) else x.array
    array = wrap(rule(wide, axis=axis, keepdims=keep, **({"dtype": x.dtype} if name == "sum" and is_integer(x) else {})), x.dtype)
    dims = [("1" if i == axis else d) for i, d in enumerate(x.dims)] if keep else [d for i, d in enumerate(x.dims) if i != axis]
    return module.bind(f"R.{name}({x.name}, axis=[{axis}], keepdims={keep})", dims, array, x.exact and name in ("sum", "max", "min"))


def arg_reduction(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype != "bool" and (v.exact or is_integer(v)) and v.array.size)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    name, rule = module.rng.choice([("argmax", np.argmax), ("argmin", np.argmin)])
    dims = [d for i, d in enumerate(x.dims) if i != axis]
    return module.bind(f"R.{name}({x.name}, axis={axis})", dims, rule(x.array, axis=axis).astype("int64"), True)


def permute(module):
    x = module.pick(lambda v: v.rank > 1)
    if x is None:
        return False
    axes = module.rng.sample(range(x.rank), x.rank)
    return module.bind(f"R.permute_dims({x.name}, axes={axes})", [x.dims[a] for a in axes], np.transpose(x.array, axes), x.exact)


def flatten(module):
    x = module.pick(lambda v: v.rank > 1)
    if x is None:
        return False
    dim = " * ".join(f"({d})" if "+" in d else d for d in x.dims)
    module.sizes[dim] = int(np.prod(x.array.shape))
    return module.bind(f"R.reshape({x.name}, R.shape([{dim}]))", [dim], x.array.reshape(-1), x.exact)


def slices(module):
    x = module.pick(lambda v: v.rank > 0)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    if x.dims[axis] not in ("2", "3", "4"):
        return False
    size = int(x.dims[axis])
    begin, end = sorted(module.rng.sample(range(size + 1), 2))
    step = module.rng.choice([1, 1, 2])
    index = tuple(slice(begin, end, step) if i == axis else slice(None) for i in range(x.rank))
    array = x.array[index]
    dims = [str(array.shape[i]) if i == axis else d for i, d in enumerate(x.dims)]
    return module.bind(f"R.strided_slice({x.name}, axes=[{axis}], begin=[{begin}], end=[{end}], strides=[{step}])", dims, array, x.exact)


def take(module):
    x = module.pick(lambda v: v.rank > 0 and v.array.size and all(d not in ("n", "m") and "*" not in d for d in v.dims))
    if x is None:
        return False
    axis, mode = module.rng.randrange(x.rank), module.rng.choice(["clip", "wrap"])
    indices = [module.rng.randint(-9, 9) if mode == "wrap" else module.rng.randint(0, 9) for _ in range(3)]
    array = np.take(x.array, indices, axis=axis, mode=mode)
    dims = ["3" if i == axis else d for i, d in enumerate(x.dims)]
    return module.bind(f'R.take({x.name}, R.const({indices}, "int64"), axis={axis}, mode="{mode}")', dims, array, x.exact)


def concat(module):
    x = module.pick(lambda v: v.rank > 0)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    y = module.pick(lambda v: v.dtype == x.dtype and v.rank == x.rank and v.dims[:axis] == x.dims[:axis]
                    and v.dims[axis + 1:] == x.dims[axis + 1:])
    array = np.concatenate([x.array, y.array], axis)
    known = all(d not in ("n", "m") and "*" not in d and "+" not in d for d in (x.dims[axis], y.dims[axis]))
    dim = str(array.shape[axis]) if known else f"{x.dims[axis]} + {y.dims[axis]}"
    if dim.count("+") > 1:
        return False
    module.sizes[dim] = array.shape[axis]
    dims = [dim if i == axis else d for i, d in enumerate(x.dims)]
    return module.bind(f"R.concat(({x.name}, {y.name}), axis={axis})", dims, array, x.exact and y.exact)


def cumulative(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype in ("int32", "int64", "float32", "float64"))
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    return module.bind(f"R.cumsum({x.name}, axis={axis})", x.dims, np.cumsum(x.array, axis=axis, dtype=x.dtype), x.exact)


def matmul(module):
    x = module.pick(lambda v: v.rank == 2 and is_float(v) and v.array.size)
    y = x and module.pick(lambda v: v.rank == 2 and v.dtype == x.dtype and v.dims[0] == x.dims[1])
    if y is None:
        return False
    return module.bind(f"R.matmul({x.name}, {y.name})", [x.dims[0], y.dims[1]],
                       (x.array.astype("float64") @ y.array.astype("float64")).astype(x.dtype), x.exact and y.exact)


def softmax(module):
    x = module.pick(lambda v: is_float(v) and v.rank > 0 and v.array.size)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    wide = x.array.astype("float64")
    powers = np.exp(wide - wide.max(axis, keepdims=True))
    return module.bind(f"R.nn.softmax({x.name}, axis={axis})", x.dims, (powers / powers.sum(axis, keepdims=True)).astype(x.dtype), False)


def has_deviations(array):
    """Whether the rows deviate from their mean by more than their rounding errors, which a division by the deviation magnifies."""
    wide = array.astype("float64")
    return bool(np.all(np.abs(wide.mean(-1)) < 16 * np.sqrt(wide.var(-1) + 1e-2)))


def layer_norm(module):
    x = module.pick(lambda v: is_float(v) and v.rank > 1 and v.dims[-1] in ("2", "3", "4") and (v.exact or has_deviations(v.array)))
    if x is None:
        return False
    wide = x.array.astype("float64")
    scale = np.arange(1, wide.shape[-1] + 1) / 2
    result = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-2) * scale + 1
    constants = f'R.const({list(scale)}, "{x.dtype}"), R.const({[1.0] * len(scale)}, "{x.dtype}")'
    return module.bind(f"R.nn.layer_norm({x.name}, {constants}, axes=[-1], epsilon=0.01)", x.dims, result.astype(x.dtype), False)


def sort(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype in ("float32", "int32", "int64") and (v.exact or is_integer(v)))
    if x is None:
        return False
    axis, descending = module.rng.randrange(x.rank), module.rng.random() < 0.5
    array = np.sort(x.array, axis=axis)
    return module.bind(f"R.sort({x.name}, axis={axis}, descending={descending})", x.dims,
                       np.flip(array, axis) if descending else array, x.exact)


def shape_changes(module):
    x = module.pick(lambda v: v.rank > 0)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    kind = module.rng.choice(["flip", "expand", "tile", "repeat"])
    if kind == "flip":
        return module.bind(f"R.flip({x.name}, axis={axis})", x.dims, np.flip(x.array, axis), x.exact)
    if kind == "expand":
        dims = x.dims[:axis] + ["1"] + x.dims[axis:]
        return x.rank < 4 and module.bind(f"R.expand_dims({x.name}, axis=[{axis}])", dims, np.expand_dims(x.array, axis), x.exact)
    if x.dims[axis] not in ("1", "2", "3"):
        return False
    dims = [str(2 * int(d)) if i == axis else d for i, d in enumerate(x.dims)]
    if kind == "repeat":
        return module.bind(f"R.repeat({x.name}, repeats=2, axis={axis})", dims, np.repeat(x.array, 2, axis), x.exact)
    times = [2 if i == axis else 1 for i in range(x.rank)]
    return module.bind(f"R.tile({x.name}, repeats={times})", dims, np.tile(x.array, times), x.exact)


RULES = [unary, unary, integer_unary, binary, binary, binary, by_constant, comparison, where, cast, reduction, reduction, arg_reduction,
         permute, flatten, slices, take, concat, cumulative, matmul, softmax, layer_norm, sort, shape_changes]
