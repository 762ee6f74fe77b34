"""Convolutions and attention for cuDNN."""
from ....ir.transform import Sequential
from ...transform import AllocateWorkspace, FuseOpsByPattern
from ..pattern_registry import get_patterns_with_prefix, register_patterns
from ..patterns import make_conv2d_pattern, make_stacked_attention_pattern
from ..utils import has_leaking_intermediate_variables
from ._checks import dtype_of
from ._workspace import annotate_workspace

_LAYOUTS = {("NHWC", "OHWI"), ("NCHW", "OIHW")}


def _check_conv2d(context):
    parts = context.annotated_expr
    attrs = parts["root"].attrs
    return (not has_leaking_intermediate_variables(context) and
            dtype_of(parts["input"]) == dtype_of(parts["weight"]) in ("float16", "float32") and
            (attrs.data_layout, attrs.kernel_layout) in _LAYOUTS)


def _check_attention(rank, axis):
    """The condition of tensors that hold queries, keys and values along an axis."""

    def check(context):
        parts = context.annotated_expr
        return (not has_leaking_intermediate_variables(context) and parts["stacked_qkv"].struct_info.ndim == rank and
                ("split" not in parts or parts["split"].attrs.axis == axis))

    return check


register_patterns([
    ("cudnn.conv2d.nhwc_ohwi", *make_conv2d_pattern(), _check_conv2d),
    ("cudnn.conv2d.nhwc_ohwi_bias", *make_conv2d_pattern(with_bias=True), _check_conv2d),
    ("cudnn.conv2d.nhwc_ohwi_bias_relu", *make_conv2d_pattern(with_bias=True, activation="relax.nn.relu"), _check_conv2d),
    ("cudnn.attention.BS3NH", *make_stacked_attention_pattern("split", layout="BS3NH"), _check_attention(3, 2)),
    ("cudnn.attention.SBN3H", *make_stacked_attention_pattern("split", layout="SBN3H"), _check_attention(4, 3)),
])


def partition_for_cudnn(mod):
    """The module with functions of what cuDNN takes."""
    patterns = get_patterns_with_prefix("cudnn")
    return Sequential([FuseOpsByPattern(patterns, bind_constants=False, annotate_codegen=True), annotate_workspace("cudnn"),
                       AllocateWorkspace()])(mod)
