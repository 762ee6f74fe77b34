"""Convolutions, products, attention and normalizations for CUTLASS."""
import itertools

from .... import tir
from ....ir.transform import Sequential
from ... import Call, ExternFunc, Function, Var
from ...dpl import rewrite_call
from ...dpl.constructors import is_op, wildcard
from ...dpl.pattern import GlobalVarPattern, TuplePattern
from ...transform import AllocateWorkspace, FuseOpsByPattern
from ..attention_rewriting import make_attention_rewrite_pattern
from ..pattern_registry import get_patterns_with_prefix, register_patterns
from ..patterns import (make_attention_pattern, make_fused_bias_activation_pattern, make_layer_norm_pattern, make_matmul_pattern,
                        make_residual_block_pattern, make_rms_norm_pattern, make_stacked_attention_pattern)
from ..utils import has_leaking_intermediate_variables
from ._checks import dtype_of, equal, is_int, matmul_patterns, product, shape_of
from ._workspace import annotate_workspace


def _dtypes_fit(lhs, rhs):
    lhs, rhs = dtype_of(lhs), dtype_of(rhs)
    return lhs == rhs in ("float16", "float32") or {lhs, rhs} <= {"int8", "uint8"}


def _depends(var, other, usages):
    """Returns whether a variable is computed with another one."""
    seen, open_vars = set(), [other]
    while open_vars:
        current = open_vars.pop()
        if current == var:
            return True
        if current not in seen:
            seen.add(current)
            open_vars += usages.get(current, [])
    return False


def _same_shape(lhs, rhs):
    return len(lhs) == len(rhs) and all(equal(a, b) for a, b in zip(lhs, rhs))


def _is_bias(shape, channels):
    return equal(shape[-1], channels) and equal(product(shape), channels)


def _residual_fits(root, context):
    """Returns whether what is added comes from elsewhere, and has the shape of the result or of a bias."""
    residual = context.annotated_expr.get("residual")
    if residual is None:
        return True
    if not isinstance(residual, Var):
        residual = context.value_to_bound_var.get(residual)
    if residual is None or _depends(residual, context.value_to_bound_var[root], context.var_usages):
        return False
    shape, other = shape_of(root), shape_of(residual)
    return _same_shape(shape, other) or _is_bias(other, shape[-1])


def _check_conv2d(context):
    if has_leaking_intermediate_variables(context):
        return False
    root = context.annotated_expr["root"]
    data, weight = root.args[:2]
    if (root.attrs.data_layout, root.attrs.kernel_layout) != ("NHWC", "OHWI") or not _dtypes_fit(data, weight):
        return False
    channels, outputs = shape_of(data)[3], shape_of(weight)[0]
    is_depthwise = equal(channels, outputs) and equal(outputs, root.attrs.groups)
    return _residual_fits(root, context) and not any(isinstance(dim, tir.Var) for dim in shape_of(data)) and not is_depthwise


def is_shape_valid_for_cutlass_matmul(lhs_shape, rhs_shape):
    """Returns whether the strides of batches are constant: equal batches on both sides, or on one side only."""
    lhs, rhs = list(lhs_shape), list(rhs_shape)
    if not is_int(lhs[-1]):
        return False
    if equal(product(lhs[:-2]), 1) or equal(product(rhs[:-2]), 1):
        return True
    return all(equal(a, b) for a, b in itertools.zip_longest(lhs[-3::-1], rhs[-3::-1], fillvalue=1))


def _check_matmul(context):
    parts = context.annotated_expr
    return (not has_leaking_intermediate_variables(context) and _dtypes_fit(parts["lhs"], parts["rhs"]) and
            _residual_fits(parts["root"], context) and
            is_shape_valid_for_cutlass_matmul(shape_of(parts["lhs"]), shape_of(parts["rhs"])))


def _weights_are_packed(parts):
    """Returns whether weights are decoded from int8, in the order of the kernel."""
    packed = parts["w_encoded"]
    is_other = (isinstance(packed, Call) and isinstance(packed.args[0], ExternFunc) and
                packed.args[0].global_symbol != "cutlass.ft_preprocess_weight")
    return "decode" in parts["w_decoded"].args[0].name_hint and dtype_of(packed) == "int8" and not is_other


def _check_decode_matmul(context):
    parts = context.annotated_expr
    root = parts["root"]
    if has_leaking_intermediate_variables(context) or not _residual_fits(root, context):
        return False
    if dtype_of(root) == "float32" or dtype_of(parts["lhs"]) != "float16" or not _weights_are_packed(parts):
        return False
    shape, scales = shape_of(root), shape_of(parts["scales"])
    if dtype_of(parts["scales"]) != "float16" or len(scales) > 2 or not equal(scales[-1], shape[-1]):
        return False
    bias = shape_of(parts["bias"]) if "bias" in parts else None
    return bias is None or _is_bias(bias, shape[-1]) or _same_shape(shape, bias)


def _decode_matmul(name, with_cast, with_bias, with_gelu):
    parts = {"lhs": wildcard(), "w_encoded": wildcard(), "scales": wildcard()}
    parts["w_decoded"] = is_op("relax.call_tir")(GlobalVarPattern(), TuplePattern([parts["w_encoded"], parts["scales"]]))
    out = is_op("relax.matmul")(parts["lhs"], parts["w_decoded"])
    out = parts["root"] = is_op("relax.astype")(out) if with_cast else out
    if with_bias:
        parts["bias"] = wildcard()
        out = is_op("relax.add")(out, parts["bias"])
    return f"cutlass.decode_matmul{name}", is_op("relax.nn.gelu")(out) if with_gelu else out, parts, _check_decode_matmul


def decode_matmul_patterns():
    """Products with weights that are decoded."""
    names = ["", "_bias", "_cast", "_cast_bias", "_bias_gelu", "_cast_bias_gelu"]
    return [_decode_matmul(name, "cast" in name, "bias" in name, "gelu" in name) for name in names]


def conv2d_patterns():
    """Convolutions."""
    rows = [("", False, None), ("_bias", True, None), ("_bias_relu", True, "relax.nn.relu"), ("_bias_silu", True, "relax.nn.silu")]
    return [(f"cutlass.conv2d{name}", *make_fused_bias_activation_pattern("relax.nn.conv2d", bias, activation), _check_conv2d)
            for name, bias, activation in rows]


def residual_block_patterns():
    """What adds or multiplies another tensor after a bias. Without a bias, that tensor is taken as one."""
    base = [*conv2d_patterns(), *matmul_patterns("cutlass", make_matmul_pattern, _check_matmul), *decode_matmul_patterns()]
    return [(f"{name}_residual_{binary}{suffix}", *make_residual_block_pattern((pattern, parts), f"relax.{binary}", activation), check)
            for suffix, activation in (("", None), ("_relu", "relax.nn.relu"))
            for name, pattern, parts, check in base if "bias" in name for binary in ("add", "multiply")]


def _ints(values):
    return [int(getattr(value, "value", value)) for value in values]


def _check_stacked_attention(context):
    parts = context.annotated_expr
    if has_leaking_intermediate_variables(context) or parts["stacked_qkv"].struct_info.ndim != 3:
        return False
    if "split" in parts:
        return parts["split"].attrs.axis == 2
    end = 0
    for name in ("query", "key", "value"):
        axes, begins, ends, strides = (_ints(arg) for arg in parts[f"strided_slice_{name}"].args[1:5])
        if (axes, begins, strides) != ([2], [end], [1]) or len(ends) != 1:
            return False
        end = ends[0]
    return True


def attention_patterns():
    """Attention, also of queries, keys and values that are parts of one tensor."""
    stacked = [("cutlass.stacked_attention", *make_stacked_attention_pattern(start, with_bias=bias), _check_stacked_attention)
               for start in ("split", "strided_slice") for bias in (False, True)]
    return [("cutlass.attention", *make_attention_pattern()), ("cutlass.attention_bias", *make_attention_pattern(with_bias=True)),
            *stacked, ("cutlass.attention_var_len", *make_attention_pattern(var_len=True))]


def _check_layer_norm(context):
    attrs, rank = context.matched_expr.attrs, context.matched_expr.struct_info.ndim
    return bool(attrs.center and attrs.scale) and _ints(attrs.axes) in ([-1], [rank - 1])


def _check_rms_norm(context):
    return "rms_norm" in context.annotated_expr["rms_norm"].args[0].name_hint


register_patterns([
    *conv2d_patterns(),
    *matmul_patterns("cutlass", make_matmul_pattern, _check_matmul),
    *decode_matmul_patterns(),
    *residual_block_patterns(),
    *attention_patterns(),
    ("cutlass.layer_norm", *make_layer_norm_pattern(), _check_layer_norm),
    ("cutlass.rms_norm", *make_rms_norm_pattern(), _check_rms_norm),
])

_REWRITES = [make_attention_rewrite_pattern(inputs, output, bias, cast)
             for inputs, output in itertools.product(("BSNH", "BSH"), repeat=2) for bias in (True, False) for cast in (True, False)]
_REPEATED = make_attention_rewrite_pattern("BSNH", "BSNH", with_bias=False, with_cast=True, with_kv_repeat=True)


def partition_for_cutlass(mod, annotate_codegen=True, use_flash_mqa=True):
    """The module with functions of what CUTLASS takes.

    annotate_codegen: whether each is wrapped in another one that names the library.
    use_flash_mqa: whether attention with repeated keys and values becomes the operator of attention.
    """
    for name, func in mod.functions_items():
        if isinstance(func, Function):
            for pattern, rewriter in [_REPEATED] * use_flash_mqa + _REWRITES:
                func = rewrite_call(pattern, rewriter, func)
            mod[name] = func
    patterns = get_patterns_with_prefix("cutlass")
    return Sequential([FuseOpsByPattern(patterns, bind_constants=False, annotate_codegen=annotate_codegen), annotate_workspace("cutlass"),
                       AllocateWorkspace()])(mod)
