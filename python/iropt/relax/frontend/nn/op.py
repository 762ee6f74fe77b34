"""Operators on tensors of models. `name` is the name of the variable that the result is bound to."""
import inspect
import math

from ... import Expr, ObjectStructInfo, PrimValue, ShapeExpr, StringImm, Tuple, const
from ... import op as _op
from ...block_builder import BlockBuilder
from .... import tir as _tir
from .core import Tensor, bind_op, get_default_dtype, wrap_nested

__all__ = [
    "add", "arange", "argsort", "astype", "broadcast_to", "ccl_allgather", "ccl_allreduce", "ccl_broadcast_from_worker0",
    "chunk", "concat", "conv1d", "conv1d_transpose", "conv2d", "conv3d", "cumsum", "debug_func", "divide", "empty", "equal",
    "exp", "extern", "floor", "full", "gelu", "get_timestep_embedding", "greater", "greater_equal", "group_norm",
    "interpolate", "layer_norm", "less", "less_equal", "log", "matmul", "max", "maximum", "min", "minimum",
    "multinomial_from_uniform", "multiply", "negative", "not_equal", "ones", "pad", "permute", "permute_dims", "prelu",
    "print_", "relu", "relu6", "renormalize_top_p_top_k_prob", "repeat", "reshape", "rms_norm",
    "sample_top_p_top_k_from_sorted_prob", "scaled_dot_product_attention", "sigmoid", "silu", "softmax", "softplus", "sort",
    "split", "sqrt", "square", "squeeze", "subtract", "sum", "take", "tanh", "tensor_expr_op", "tensor_ir_inplace_op",
    "tensor_ir_op", "topk", "triu", "unsqueeze", "where", "wrap_nested", "zeros"]


# ---- Elements


def _unary(script, doc, name=None):
    last, operator = script.rsplit(".", 1)[-1], f"relax.{script}"

    def function(x, name=name or last):
        return bind_op(operator, name, x._expr)

    function.__name__ = function.__qualname__ = last
    function.__doc__ = doc
    return function


def _binary(script, doc, name=None):
    operator = f"relax.{script}"

    def function(a, b, name=name or script):
        return bind_op(operator, name, a._expr, b._expr)

    function.__name__ = function.__qualname__ = script
    function.__doc__ = doc
    return function


add = _binary("add", "a + b, with broadcasting.")
subtract = _binary("subtract", "a - b, with broadcasting.")
multiply = _binary("multiply", "a * b, with broadcasting.", "mul")
divide = _binary("divide", "a / b, with broadcasting.")
less = _binary("less", "Where a < b.")
less_equal = _binary("less_equal", "Where a <= b.")
greater = _binary("greater", "Where a > b.")
greater_equal = _binary("greater_equal", "Where a >= b.")
equal = _binary("equal", "Where a == b.")
not_equal = _binary("not_equal", "Where a != b.")

relu = _unary("nn.relu", "max(x, 0).")
silu = _unary("nn.silu", "x * sigmoid(x).")
sigmoid = _unary("sigmoid", "1 / (1 + exp(-x)).")
tanh = _unary("tanh", "The hyperbolic tangent.")
exp = _unary("exp", "e to the power of x.")
log = _unary("log", "The natural logarithm.")
floor = _unary("floor", "The largest integer that is not above x.")
negative = _unary("negative", "-x.", "neg")
square = _unary("square", "x * x.")
sqrt = _unary("sqrt", "The square root.")


def relu6(x, name="relu6"):
    """min(max(x, 0), 6)."""
    return bind_op("relax.clip", name, x._expr, 0, 6)


def maximum(x1, x2, name="maximum"):
    """The larger one of each pair of elements."""
    return bind_op("relax.maximum", name, x1._expr, x2._expr)


def minimum(x1, x2, name="minimum"):
    """The smaller one of each pair of elements."""
    return bind_op("relax.minimum", name, x1._expr, x2._expr)


def gelu(x, approximate=None, name="gelu"):
    """x * P(X <= x) of the normal distribution; approximate="tanh" takes the formula with tanh."""
    return wrap_nested((_op.nn.gelu_tanh if approximate == "tanh" else _op.nn.gelu)(x._expr), name)


def softplus(x, beta=1.0, threshold=20.0, name="softplus"):
    """log(1 + exp(beta * x)) / beta, and x above the threshold."""
    return bind_op("relax.nn.softplus", name, x._expr, beta=beta, threshold=threshold)


def prelu(x, alpha, name="prelu"):
    """x where it is positive, else alpha * x; `alpha` is along the second axis."""
    return bind_op("relax.nn.prelu", name, x._expr, alpha._expr)


def astype(x, dtype, name="astype"):
    """The elements converted to a dtype; the tensor itself if it has it."""
    return x if x.dtype == dtype else bind_op("relax.astype", name, x._expr, dtype)


def where(condition, x1, x2, name="where"):
    """x1 where the condition holds, else x2."""
    return bind_op("relax.where", name, astype(condition, "bool")._expr, x1._expr, x2._expr)


# ---- Reductions and order


def sum(x, axis=None, keepdims=False, name="sum"):
    """The sum over axes, by default over all."""
    return bind_op("relax.sum", name, x._expr, axis, keepdims)


def max(x, axis=None, keepdims=False, name="max"):
    """The maximum over axes, by default over all."""
    return bind_op("relax.max", name, x._expr, axis, keepdims)


def min(x, axis=None, keepdims=False, name="min"):
    """The minimum over axes, by default over all."""
    return bind_op("relax.min", name, x._expr, axis, keepdims)


def softmax(x, axis=-1, name="softmax"):
    """exp(x), divided by its sum over an axis."""
    return bind_op("relax.nn.softmax", name, x._expr, axis)


def cumsum(data, axis=None, dtype=None, exclusive=None, name="cumsum"):
    """The sums of all elements up to each one, without it if `exclusive`."""
    return bind_op("relax.cumsum", name, data._expr, axis, dtype, **({} if exclusive is None else {"exclusive": exclusive}))


def sort(x, axis=-1, descending=False, name="sort"):
    """The elements in order along an axis."""
    return bind_op("relax.sort", name, x._expr, axis, descending)


def argsort(data, axis=-1, descending=False, dtype="int32", name="argsort"):
    """The indices that sort along an axis."""
    return bind_op("relax.argsort", name, data._expr, axis, descending, dtype)


def topk(data, k=1, axis=-1, ret_type="both", largest=True, dtype="int32", name="topk"):
    """The k largest (or smallest) elements along an axis: "values", "indices", or "both"."""
    return bind_op("relax.topk", name, data._expr, k, axis, ret_type, largest, dtype)


# ---- Shapes


def unsqueeze(x, dim, name="unsqueeze"):
    """A new axis of size 1."""
    return bind_op("relax.expand_dims", name, x._expr, dim)


def squeeze(x, axis=-1, name="squeeze"):
    """Without an axis of size 1."""
    return bind_op("relax.squeeze", name, x._expr, axis)


def concat(x, dim, name="concat"):
    """Tensors one after another along an axis."""
    return bind_op("relax.concat", name, [tensor._expr for tensor in x], dim)


def chunk(x, chunks, dim=0, name="chunk"):
    """A tuple of equal parts along an axis."""
    return bind_op("relax.split", name, x._expr, chunks, dim)


def split(ary, indices_or_sections, axis=0, name="split"):
    """A tuple of parts along an axis: their number, or the indices where they begin."""
    return bind_op("relax.split", name, ary._expr, indices_or_sections, axis)


def broadcast_to(x, shape, name="broadcast_to"):
    """Repeated along axes of size 1 to a shape."""
    return bind_op("relax.broadcast_to", name, x._expr, shape)


def permute_dims(x, axes=None, name=None):
    """With axes in another order, by default from the last to the first."""
    if name is None:
        hint = getattr(x._expr, "name_hint", None) or ""
        name = hint.replace("linear", "matmul") if "linear" in hint else "permute_dims"
    return bind_op("relax.permute_dims", name, x._expr, axes=axes)


def permute(x, axes, name="permute"):
    """With axes in another order."""
    return bind_op("relax.permute_dims", name, x._expr, axes=axes)


def reshape(x, shape, name="reshape"):
    """Another shape of as many elements; one size may be -1."""
    return bind_op("relax.reshape", name, x._expr, list(shape))


def repeat(x, repeats, axis=None, name="repeat"):
    """Each element of an axis `repeats` times."""
    return bind_op("relax.repeat", name, x._expr, repeats, axis)


def take(x, indices, axis=None, name="take"):
    """The elements at indices along an axis."""
    return bind_op("relax.take", name, x._expr, indices._expr, axis)


def pad(x, pad, mode="constant", value=0, name="pad"):
    """With elements before and after each axis: [before, after, before, after, ...]."""
    return bind_op("relax.nn.pad", name, x._expr, pad_width=pad, pad_value=value, pad_mode=mode)


def triu(x, diagonal=0, name="triu"):
    """The upper triangle, from a diagonal on."""
    return bind_op("relax.triu", name, x._expr, diagonal)


# ---- New tensors


def full(shape, fill_value, dtype="float32", name="full"):
    """A tensor whose elements are a number, or the value of a tensor of rank 0."""
    if isinstance(fill_value, (_tir.FloatImm, _tir.IntImm)):
        fill_value = fill_value.value
    value = const(fill_value, dtype=dtype) if isinstance(fill_value, (int, float)) else fill_value._expr
    return bind_op("relax.full", name, shape, value, dtype)


def zeros(shape, dtype="float32", name="zeros"):
    """A tensor of zeros."""
    return bind_op("relax.zeros", name, shape, dtype)


def ones(shape, dtype="float32", name="ones"):
    """A tensor of ones."""
    return bind_op("relax.ones", name, shape, dtype)


def empty(shape, dtype="float32", name="empty"):
    """A tensor whose elements are not set."""
    return bind_op("relax.builtin.alloc_tensor", name, ShapeExpr(shape), dtype, runtime_device_index=0)


def arange(start, end=None, step=1, dtype="float32", name="arange"):
    """The numbers from `start` (or 0) to before `end`."""
    if end is None:
        start, end = 0, start
    return bind_op("relax.arange", name, start, end, step, dtype)


# ---- Networks


def matmul(a, b, out_dtype=None, name="matmul"):
    """The matrix product, with broadcasting of the axes before."""
    return bind_op("relax.matmul", name, a._expr, b._expr, out_dtype=out_dtype)


def _with_bias(result, bias, layout, name):
    """A convolution and its bias, which is added along the channels."""
    if bias is not None:
        if layout[1] != "C" and layout[-1] != "C":
            raise NotImplementedError(f"the layout {layout} is not supported")
        shape = [-1 if axis == "C" else 1 for axis in layout]
        result = _op.add(result, _op.reshape(bias._expr, shape))
    return wrap_nested(result, name)


def conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, name="conv1d"):
    """A convolution of (batch, channels, width)."""
    result = _op.nn.conv1d(x._expr, weight._expr, strides=stride, padding=padding, dilation=dilation, groups=groups)
    return _with_bias(result, bias, "NCW", name)


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_layout="NCHW", name="conv2d"):
    """A convolution of images."""
    result = _op.nn.conv2d(x._expr, weight._expr, strides=stride, padding=padding, dilation=dilation, groups=groups,
                           data_layout=data_layout)
    return _with_bias(result, bias, data_layout, name)


def conv3d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_layout="NCDHW", name="conv3d"):
    """A convolution of volumes."""
    result = _op.nn.conv3d(x._expr, weight._expr, strides=stride, padding=padding, dilation=dilation, groups=groups,
                           data_layout=data_layout)
    return _with_bias(result, bias, data_layout, name)


def conv1d_transpose(x, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1,
                     name="conv1d_transpose"):
    """A transposed convolution of (batch, channels, width)."""
    result = _op.nn.conv1d_transpose(x._expr, weight._expr, strides=stride, padding=padding, output_padding=output_padding,
                                     dilation=dilation, groups=groups)
    return _with_bias(result, bias, "NCW", name)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5, name="layer_norm"):
    """Normalizes the last axes, whose shape is given, to mean 0 and variance 1, then scales and shifts."""
    import numpy

    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    gamma = const(numpy.ones(shape), x.dtype) if weight is None else weight._expr
    beta = const(numpy.zeros(shape), x.dtype) if bias is None else bias._expr
    return bind_op("relax.nn.layer_norm", name, x._expr, gamma, beta, axes=list(range(-len(shape), 0)), epsilon=eps)


def rms_norm(x, weight, axes, epsilon=1e-5, name="rms_norm"):
    """Divides by the root of the mean of squares over axes, then scales."""
    return bind_op("relax.nn.rms_norm", name, x._expr, weight._expr, axes, epsilon)


def group_norm(x, num_groups, weight, bias, eps=1e-5, channel_axis=1, axes=None, name="group_norm"):
    """Normalizes groups of channels, over `axes` (by default all after the second), then scales and shifts."""
    import numpy

    channels = x.shape[channel_axis]
    gamma = const(numpy.ones(channels), x.dtype) if weight is None else weight._expr
    beta = const(numpy.zeros(channels), x.dtype) if bias is None else bias._expr
    axes = list(range(2, x.ndim)) if axes is None else axes
    return bind_op("relax.nn.group_norm", name, x._expr, gamma, beta, num_groups, channel_axis=channel_axis, axes=axes, epsilon=eps)


def scaled_dot_product_attention(query, key, value, attn_mask=None, is_causal=False, scale=None,
                                 name="scaled_dot_product_attention"):
    """Attention of tensors of shape (batch, sequence, heads, size of a head)."""
    if attn_mask is not None:
        raise NotImplementedError("a mask of attention is not supported")
    return bind_op("relax.nn.attention", name, query._expr, key._expr, value._expr,
                   causal_mask="TopLeft" if is_causal else None, scale=scale)


def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=None,
                data_layout="NCHW", name="interpolate"):
    """Images of another size: the size itself, or factors. The modes are those of PyTorch."""
    if recompute_scale_factor is not None or antialias is not None:
        raise NotImplementedError("recompute_scale_factor and antialias are not supported")
    if size is None:
        spatial = [axis for axis, letter in enumerate(data_layout) if letter not in "NC"]
        factors = scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * len(spatial)
        size = [int(x.shape[axis] * factor) for axis, factor in zip(spatial, factors)]
    method = "nearest_neighbor" if mode.startswith("nearest") else mode.removeprefix("bi")
    mapping = "asymmetric" if method == "nearest_neighbor" else "align_corners" if align_corners else "half_pixel"
    return bind_op("relax.image.resize2d", name, x._expr, size, layout=data_layout, method=method,
                   coordinate_transformation_mode=mapping)


def get_timestep_embedding(x, embedding_dim, flip_sin_to_cos=False, downscale_freq_shift=1, scale=1, max_period=10000,
                           name="get_timestep_embedding"):
    """Sines and cosines of times, at `embedding_dim` / 2 frequencies."""
    half = embedding_dim // 2
    exponent = const(-math.log(max_period), "float32") * _op.arange(0, half, dtype="float32")
    exponent = exponent / const(half - downscale_freq_shift, "float32")
    angles = _op.expand_dims(_op.astype(x._expr, "float32"), 1) * _op.expand_dims(_op.exp(exponent), 0)
    if scale != 1:
        angles = const(scale, "float32") * angles
    parts = [_op.sin(angles), _op.cos(angles)]
    result = _op.concat(parts[::-1] if flip_sin_to_cos else parts, axis=-1)
    if embedding_dim % 2 == 1:
        result = _op.nn.pad(result, (0, 0, 0, 1))
    return bind_op("relax.astype", name, result, get_default_dtype())


# ---- Several devices


def ccl_allreduce(x, op_type="sum", in_group=True, name="ccl_allreduce"):
    """Combines the tensors of all workers: "sum", "prod", "min", "max" or "avg"."""
    return bind_op("relax.ccl.allreduce", name, x._expr, op_type, in_group)


def ccl_allgather(x, num_workers, name="ccl_allgather"):
    """The tensors of all workers one after another."""
    return bind_op("relax.ccl.allgather", name, x._expr, num_workers)


def ccl_broadcast_from_worker0(x, name="broadcast_from_worker"):
    """The tensor of the first worker."""
    return bind_op("relax.ccl.broadcast_from_worker0", name, x._expr)


# ---- Functions of other levels


def tensor_expr_op(tensor_expr_func, name_hint, args, *, attrs=None):
    """Calls the PrimFunc that a function of te or topi computes.

    args: tensors, and symbolic sizes or integers.
    attrs: attributes of the PrimFunc.
    """
    converted = [arg._expr if isinstance(arg, Tensor) else arg for arg in args]
    call = BlockBuilder.current().emit_te(tensor_expr_func, *converted, primfunc_name_hint=name_hint, primfunc_attrs=attrs)
    return wrap_nested(call, name_hint)


def _call_arguments(args):
    """Tensors, and the symbolic sizes that are passed after them."""
    tensors, sizes = [], []
    for arg in args if isinstance(args, (tuple, list)) else [args]:
        if isinstance(arg, Tensor):
            tensors.append(arg._expr)
        elif isinstance(arg, (ShapeExpr, _tir.PrimExpr)):
            sizes.append(arg)
        else:
            raise TypeError(f"an argument is a Tensor, a ShapeExpr or a PrimExpr, not {type(arg).__name__}")
    return tensors, sizes or None


def _types(out):
    return [tensor._expr.struct_info for tensor in ([out] if isinstance(out, Tensor) else out)]


def tensor_ir_op(func, name_hint, args, out):
    """Calls a PrimFunc, whose parameters are the tensors of `args`, then of `out`, then the sizes of `args`.

    out: a placeholder of the result, or a list of them.
    """
    tensors, sizes = _call_arguments(args)
    builder = BlockBuilder.current()
    call = _op.call_tir(builder.add_func(func, name_hint), tensors, _types(out), sizes)
    return wrap_nested(builder.emit(call), name_hint)


def tensor_ir_inplace_op(func, name_hint, args, inplace_indices, out):
    """Calls a PrimFunc that writes into some of its arguments, at `inplace_indices`; -1 is a new tensor."""
    tensors, sizes = _call_arguments(args)
    builder = BlockBuilder.current()
    call = _op.call_tir_inplace(builder.add_func(func, name_hint), Tuple(tensors), out_sinfo=_types(out),
                                inplace_indices=[inplace_indices] if isinstance(inplace_indices, int) else inplace_indices,
                                **({} if sizes is None else {"tir_vars": ShapeExpr(sizes)}))
    return wrap_nested(builder.emit(call), name_hint)


def packed_argument(arg, float_dtype="float64"):
    """An argument of a packed function as an expression."""
    if isinstance(arg, Tensor):
        return arg._expr
    if isinstance(arg, int):
        return PrimValue(_tir.IntImm("int64", arg))
    if isinstance(arg, float):
        return PrimValue(_tir.FloatImm(float_dtype, arg))
    if isinstance(arg, str):
        return StringImm(arg)
    if isinstance(arg, Expr):
        return arg
    if isinstance(arg, _tir.PrimExpr):
        return PrimValue(arg)
    if isinstance(arg, (tuple, list)):
        return Tuple([packed_argument(item, float_dtype) for item in arg])
    raise TypeError(f"Unsupported input type: {type(arg)}")


def extern(name, args, out):
    """Calls a packed function that writes its results.

    out: a placeholder of the result, or a tuple of them.
    """
    return wrap_nested(_op.call_dps_packed(name, packed_argument(list(args)), out_sinfo=packed_argument(out).struct_info), name)


def debug_func(name, *args, _line_info=None):
    """Calls a packed function with the place in the source and arguments, where a model is exported with debug=True."""
    from .exporter import Exporter

    effect = Exporter.current().io_effect
    if effect is None:
        raise RuntimeError("Debugging is only supported when debug mode is on.")
    if _line_info is None:
        caller = inspect.currentframe().f_back
        _line_info = f"{caller.f_code.co_filename}:{caller.f_lineno}"
    call = _op.call_pure_packed("vm.builtin.invoke_debug_func", effect.effect, StringImm(name), StringImm(_line_info),
                                *[packed_argument(arg, "float32") for arg in args], sinfo_args=[ObjectStructInfo()])
    effect.effect = BlockBuilder.current().emit(call, effect.effect.name_hint)


def print_(tensor):
    """Prints a tensor when the model runs, where it is exported with debug=True."""
    caller = inspect.currentframe().f_back
    debug_func("vm.builtin.debug_print", tensor, _line_info=f"{caller.f_code.co_filename}:{caller.f_lineno}")


from .sampling import (multinomial_from_uniform, renormalize_top_p_top_k_prob,  # noqa: E402,F401
                       sample_top_p_top_k_from_sorted_prob)
