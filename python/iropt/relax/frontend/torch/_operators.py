"""Operators of ATen by their names: functions of the arguments of a node that make calls of Relax."""
import math
import operator

from ... import Expr, ShapeExpr, Tuple, TupleGetItem, const
from ... import op as _op
from ....tir import PrimExpr


def dtype_of(dtype):
    """The name of a dtype of PyTorch."""
    name = str(dtype).replace("torch.", "")
    return {"half": "float16", "float": "float32", "double": "float64", "long": "int64", "int": "int32"}.get(name, name)


def find(name):
    """The function of an operator such as linear.default or add_.Tensor; None if it is not known."""
    base = name.partition(".")[0]
    return _TABLE.get(name) or _TABLE.get(base) or _TABLE.get(base.rstrip("_"))


# ---- Helpers


def _shape(x):
    return list(x.struct_info.shape)


def _dtype(x):
    return x.struct_info.dtype


def _rank(x):
    return x.struct_info.ndim


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _like(value, other):
    """An operand: a number becomes a constant of the dtype that PyTorch computes with."""
    if isinstance(value, Expr):
        return value
    dtype = _dtype(other)
    if isinstance(value, float) and "float" not in dtype:
        dtype = "float32"
    return const(value, dtype)


def _binary(function):
    def convert(a, b, **_):
        if not isinstance(a, Expr) and not isinstance(b, Expr):
            return getattr(operator, {"subtract": "sub", "multiply": "mul", "floor_divide": "floordiv"}.get(
                function.__name__, function.__name__))(a, b)
        first, second = _like(a, b), _like(b, a)
        if _dtype(first) != _dtype(second):
            dtype = _promoted(_dtype(first), _dtype(second))
            first, second = (x if _dtype(x) == dtype else _op.astype(x, dtype) for x in (first, second))
        return function(first, second)

    return convert


_ORDER = ["bool", "uint8", "int8", "int16", "int32", "int64", "bfloat16", "float16", "float32", "float64"]


def _promoted(a, b):
    """The dtype of a result of two operands."""
    if {a, b} == {"bfloat16", "float16"}:
        return "float32"
    return max(a, b, key=_ORDER.index)


def _with_alpha(function):
    binary = _binary(function)

    def convert(a, b, alpha=1, **_):
        scaled = b if alpha == 1 else (_op.multiply(b, _like(alpha, b)) if isinstance(b, Expr) else b * alpha)
        return binary(a, scaled)

    return convert


def _divide(a, b, rounding_mode=None, **_):
    if rounding_mode == "floor":
        return _binary(_op.floor_divide)(a, b)
    if isinstance(a, Expr) and "int" in _dtype(a):
        a = _op.astype(a, "float32")
    result = _binary(_op.divide)(a, b)
    return _op.trunc(result) if rounding_mode == "trunc" else result


def _unary(function):
    return lambda x, *_, **__: function(x)


def _axes(dims):
    return [dims] if _is_whole(dims) else (None if dims is None or not list(dims) else list(dims))


def _reduce(function):
    def convert(x, dim=None, keepdim=False, dtype=None, **_):
        x = x if dtype is None else _op.astype(x, dtype_of(dtype))
        return function(x, axis=_axes(dim), keepdims=keepdim)

    return convert


def _arg_reduce(function):
    return lambda x, dim=None, keepdim=False, **_: function(x, axis=dim, keepdims=keepdim)


def _pair(value, count=2):
    return [value] * count if _is_whole(value) else list(value)


def _symmetric(padding, count):
    padding = _pair(padding, count)
    return padding + padding


# ---- Neural networks


def _addmm(bias, a, b, beta=1, alpha=1, **_):
    product = _op.matmul(a, b)
    product = product if alpha == 1 else _op.multiply(product, _like(alpha, product))
    return _op.add(bias if beta == 1 else _op.multiply(bias, _like(beta, bias)), product)


def _convolution(count):
    def convert(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, **_):
        layouts = {1: ("NCW", "OIW"), 2: ("NCHW", "OIHW"), 3: ("NCDHW", "OIDHW")}[count]
        function = {1: _op.nn.conv1d, 2: _op.nn.conv2d, 3: _op.nn.conv3d}[count]
        if isinstance(padding, str):
            sizes = [int(dim) for dim in _shape(weight)[2:]]
            total = [0 if padding == "valid" else rate * (size - 1) for rate, size in zip(_pair(dilation, count), sizes)]
            padding = [item // 2 for item in total] + [item - item // 2 for item in total]
        else:
            padding = _symmetric(padding, count)
        result = function(x, weight, strides=_pair(stride, count), padding=padding, dilation=_pair(dilation, count),
                          groups=groups, data_layout=layouts[0], kernel_layout=layouts[1])
        return result if bias is None else _op.add(result, _op.reshape(bias, [1, -1] + [1] * count))

    return convert


def _any_convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        count = len(stride)
        function = {1: _op.nn.conv1d_transpose, 2: _op.nn.conv2d_transpose}[count]
        result = function(x, weight, strides=list(stride), padding=_symmetric(padding, count),
                          output_padding=list(output_padding), dilation=list(dilation), groups=groups)
        return result if bias is None else _op.add(result, _op.reshape(bias, [1, -1] + [1] * count))
    return _convolution(len(stride))(x, weight, bias, stride, padding, dilation, groups)


def _batch_norm(x, weight, bias, mean, var, *rest):
    # (training, momentum, eps, cudnn_enabled), (momentum, eps) or (training, momentum, eps) follow.
    if rest and isinstance(rest[0], bool):
        if rest[0]:
            raise NotImplementedError("batch_norm that trains is not a part of iropt: export the model in the mode of eval()")
        rest = rest[1:]
    channels = _shape(mean)
    weight = const([1.0] * int(channels[0]), _dtype(x)) if weight is None else weight
    bias = const([0.0] * int(channels[0]), _dtype(x)) if bias is None else bias
    epsilon = rest[1] if len(rest) > 1 else 1e-5
    return _op.nn.batch_norm(x, weight, bias, mean, var, axis=1, epsilon=epsilon, training=False)


def _first(function):
    return lambda *args, **kwargs: TupleGetItem(function(*args, **kwargs), 0)


def _layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5, *_):
    dims = [int(dim) for dim in normalized_shape]
    count = math.prod(dims)
    weight = _op.reshape(const([1.0] * count, _dtype(x)), dims) if weight is None else weight
    bias = _op.reshape(const([0.0] * count, _dtype(x)), dims) if bias is None else bias
    return _op.nn.layer_norm(x, weight, bias, axes=list(range(-len(dims), 0)), epsilon=eps)


def _group_norm(x, groups, weight=None, bias=None, eps=1e-5, *_):
    return _op.nn.group_norm(x, weight, bias, num_groups=groups, channel_axis=1, axes=list(range(2, _rank(x))), epsilon=eps)


def _max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    return _op.nn.max_pool2d(x, pool_size=_pair(kernel_size), strides=_pair(stride if stride else kernel_size),
                             padding=_symmetric(padding, 2), dilation=_pair(dilation), ceil_mode=ceil_mode, layout="NCHW")


def _avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    if divisor_override is not None:
        raise NotImplementedError("avg_pool2d with divisor_override is not a part of iropt")
    return _op.nn.avg_pool2d(x, pool_size=_pair(kernel_size), strides=_pair(stride if stride else kernel_size),
                             padding=_symmetric(padding, 2), ceil_mode=ceil_mode, count_include_pad=count_include_pad, layout="NCHW")


def _gelu(x, approximate="none"):
    return _op.nn.gelu_tanh(x) if approximate == "tanh" else _op.nn.gelu(x)


def _clamp(x, low=None, high=None, **_):
    return _op.clip(x, -math.inf if low is None else low, math.inf if high is None else high)


def _embedding(weight, x, *_):
    indices = _op.astype(x, "int32") if _dtype(x) == "int64" else x
    if _rank(x) == 1:
        return _op.take(weight, indices, axis=0)
    flat = _op.take(weight, _op.reshape(indices, [-1]), axis=0)
    return _op.reshape(flat, [*_shape(x), _shape(weight)[-1]])


def _attention(query, key, value, mask=None, dropout=0.0, is_causal=False, scale=None):
    if dropout:
        raise NotImplementedError("attention with dropout is not a part of iropt")
    swapped = [_op.permute_dims(x, [0, 2, 1, 3]) for x in (query, key, value)]
    result = _op.nn.attention(*swapped, bias=mask, scale=scale, causal_mask="TopLeft" if is_causal else None)
    return _op.permute_dims(result, [0, 2, 1, 3])


# ---- Shapes


def _sizes(shape):
    return shape if isinstance(shape, Expr) else ShapeExpr([dim if isinstance(dim, (int, PrimExpr)) else int(dim) for dim in shape])


def _reshape(x, shape):
    return _op.reshape(x, list(shape))


def _flatten(x, start_dim=0, end_dim=-1):
    shape, rank = _shape(x), _rank(x)
    start, end = start_dim % max(rank, 1), end_dim % max(rank, 1)
    return x if start >= end and rank else _op.reshape(x, [*shape[:start], -1, *shape[end + 1:]])


def _transpose(x, a, b):
    axes = list(range(_rank(x)))
    axes[a], axes[b] = axes[b], axes[a]
    return _op.permute_dims(x, axes)


def _expand(x, sizes, **_):
    own = _shape(x)
    before = len(sizes) - len(own)
    return _op.broadcast_to(x, [own[i - before] if _is_whole(size) and size == -1 else size for i, size in enumerate(sizes)])


def _squeeze(x, dim=None):
    shape = _shape(x)
    dims = [dim] if _is_whole(dim) else (range(len(shape)) if dim is None else dim)
    ones = [axis % len(shape) for axis in dims if int(shape[axis] == 1)]
    return _op.squeeze(x, ones) if ones else x


def _split(x, size, dim=0):
    total = int(_shape(x)[dim])
    if _is_whole(size):
        return _op.split(x, list(range(size, total, size)), axis=dim) if size < total else Tuple([x])
    places, place = [], 0
    for item in size[:-1]:
        place += item
        places.append(place)
    return _op.split(x, places, axis=dim)


def _slice(x, dim=0, start=None, end=None, step=1):
    start, end = 0 if start is None else start, 2**63 - 1 if end is None else end
    if start == 0 and step == 1 and _is_whole(end) and end >= 2**31 - 1:
        return x
    return _op.strided_slice(x, [dim], [start], [end], [step])


def _select(x, dim, index):
    return _op.take(x, const(index, "int64"), axis=dim)


def _to(x, *args, dtype=None, **_):
    found = [arg for arg in args if str(arg).startswith("torch.") and not isinstance(arg, Expr)]
    dtype = dtype or (found[0] if found else None)
    return x if dtype is None or dtype_of(dtype) == _dtype(x) else _op.astype(x, dtype_of(dtype))


def _full(size, value, dtype=None, **_):
    dtype = dtype_of(dtype) if dtype is not None else ("float32" if isinstance(value, float) else "int64")
    return _op.full(_sizes(size), const(value, dtype), dtype)


def _arange(*args, dtype=None, **_):
    start, end, step = {1: (0, *args, 1), 2: (*args, 1)}.get(len(args), args)
    is_float = any(isinstance(arg, float) for arg in args)
    return _op.arange(start, end, step, dtype_of(dtype) if dtype is not None else ("float32" if is_float else "int64"))


def _where(condition, a, b):
    return _op.where(condition, _like(a, b if isinstance(b, Expr) else condition), _like(b, a if isinstance(a, Expr) else condition))


def _getitem(values, index):
    if isinstance(values, Expr) and not isinstance(values, Tuple):
        return TupleGetItem(values, index)
    return values.fields[index] if isinstance(values, Tuple) else values[index]


def _same(x, *_, **__):
    return x


def _operators_of(names):
    return {name: _unary(getattr(_op, name)) for name in names.split()}


_TABLE = {
    **_operators_of("abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log negative round rsqrt sigmoid sign sin "
                    "sinh sqrt square tan tanh trunc isnan isinf isfinite bitwise_not logical_not"),
    "neg": _unary(_op.negative),
    "relu": _unary(_op.nn.relu),
    "silu": _unary(_op.nn.silu),
    "relu6": lambda x: _op.clip(x, 0, 6),
    "hardtanh": lambda x, low=-1.0, high=1.0: _op.clip(x, low, high),
    "leaky_relu": lambda x, slope=0.01: _op.nn.leakyrelu(x, slope),
    "reciprocal": lambda x: _op.divide(const(1.0, _dtype(x)), x),
    "hardsigmoid": lambda x: _op.divide(_op.clip(_op.add(x, const(3.0, _dtype(x))), 0, 6), const(6.0, _dtype(x))),
    "hardswish": lambda x: _op.multiply(x, _op.divide(_op.clip(_op.add(x, const(3.0, _dtype(x))), 0, 6), const(6.0, _dtype(x)))),
    "gelu": _gelu,
    "clamp": _clamp,
    "clamp_min": lambda x, low: _clamp(x, low),
    "clamp_max": lambda x, high: _clamp(x, None, high),
    "add": _with_alpha(_op.add), "sub": _with_alpha(_op.subtract),
    "mul": _binary(_op.multiply), "div": _divide, "true_divide": _divide, "floor_divide": _binary(_op.floor_divide),
    "rsub": lambda a, b, alpha=1: _with_alpha(_op.subtract)(b, a, alpha),
    "pow": _binary(_op.power), "remainder": _binary(_op.floor_mod), "fmod": _binary(_op.mod),
    "maximum": _binary(_op.maximum), "minimum": _binary(_op.minimum),
    "eq": _binary(_op.equal), "ne": _binary(_op.not_equal), "lt": _binary(_op.less), "le": _binary(_op.less_equal),
    "gt": _binary(_op.greater), "ge": _binary(_op.greater_equal),
    "logical_and": _binary(_op.logical_and), "logical_or": _binary(_op.logical_or), "logical_xor": _binary(_op.logical_xor),
    "bitwise_and": _binary(_op.bitwise_and), "bitwise_or": _binary(_op.bitwise_or), "bitwise_xor": _binary(_op.bitwise_xor),
    "matmul": _op.matmul, "mm": _op.matmul, "bmm": _op.matmul, "einsum": lambda equation, args: _op.einsum(tuple(args), equation),
    "baddbmm": _addmm, "addmm": _addmm, "linear": _op.linear,
    "conv1d": _convolution(1), "conv2d": _convolution(2), "conv3d": _convolution(3), "convolution": _any_convolution,
    "batch_norm": _first(_batch_norm), "_native_batch_norm_legit_no_training": _batch_norm,
    "_native_batch_norm_legit": _batch_norm,
    "layer_norm": _layer_norm, "native_layer_norm": lambda *args: Tuple([_layer_norm(*args)]),
    "group_norm": _group_norm,
    "max_pool2d": _max_pool2d, "max_pool2d_with_indices": lambda *args: Tuple([_max_pool2d(*args)]), "avg_pool2d": _avg_pool2d,
    "adaptive_avg_pool2d": lambda x, size: _op.nn.adaptive_avg_pool2d(x, _pair(size), layout="NCHW"),
    "_adaptive_avg_pool2d": lambda x, size: _op.nn.adaptive_avg_pool2d(x, _pair(size), layout="NCHW"),
    "softmax": lambda x, dim=-1, *_: _op.nn.softmax(x, dim), "_softmax": lambda x, dim=-1, *_: _op.nn.softmax(x, dim),
    "log_softmax": lambda x, dim=-1, *_: _op.nn.log_softmax(x, dim),
    "_log_softmax": lambda x, dim=-1, *_: _op.nn.log_softmax(x, dim),
    "scaled_dot_product_attention": _attention, "embedding": _embedding,
    "sum": _reduce(_op.sum), "mean": _reduce(_op.mean), "amax": _reduce(_op.max), "amin": _reduce(_op.min),
    "prod": _reduce(_op.prod), "argmax": _arg_reduce(_op.argmax), "argmin": _arg_reduce(_op.argmin),
    "cumsum": lambda x, dim, dtype=None, **_: _op.cumsum(x, dim, None if dtype is None else dtype_of(dtype)),
    "tril": lambda x, k=0: _op.tril(x, k), "triu": lambda x, k=0: _op.triu(x, k),
    "topk": lambda x, k, dim=-1, largest=True, *_: _op.topk(x, k, dim, "both", largest),
    "reshape": _reshape, "view": _reshape, "_unsafe_view": _reshape, "flatten": _flatten,
    "permute": lambda x, dims: _op.permute_dims(x, list(dims)), "transpose": _transpose,
    "t": lambda x: _op.permute_dims(x, [1, 0]) if _rank(x) == 2 else x,
    "numpy_T": lambda x: _op.permute_dims(x), "unsqueeze": lambda x, dim: _op.expand_dims(x, [dim]), "squeeze": _squeeze,
    "cat": lambda values, dim=0: _op.concat(list(values), axis=dim),
    "stack": lambda values, dim=0: _op.stack(list(values), axis=dim),
    "split": _split, "split_with_sizes": _split, "chunk": lambda x, count, dim=0: _op.split(x, count, axis=dim),
    "slice": _slice, "select": _select, "index_select": lambda x, dim, index: _op.take(x, index, axis=dim),
    "gather": lambda x, dim, index, **_: _op.gather_elements(x, index, dim), "flip": lambda x, dims: _op.flip(x, dims[0]),
    "expand": _expand, "repeat": lambda x, sizes: _op.tile(x, list(sizes)), "where": _where,
    "masked_fill": lambda x, mask, value: _op.where(mask, _like(value, x), x),
    "clone": _same, "contiguous": _same, "dropout": _same, "alias": _same, "detach": _same, "lift_fresh_copy": _same, "to": _to,
    "_to_copy": _to, "type_as": lambda x, other: _to(x, dtype=_dtype(other)),
    "full": _full, "zeros": lambda size, **kwargs: _full(size, 0.0, **kwargs), "ones": lambda size, **kwargs: _full(size, 1.0, **kwargs),
    "full_like": lambda x, value, **_: _op.full_like(x, const(value, _dtype(x))), "zeros_like": _unary(_op.zeros_like),
    "ones_like": _unary(_op.ones_like), "arange": _arange,
    "sym_size": lambda x, dim: _shape(x)[dim], "getitem": _getitem,
}
