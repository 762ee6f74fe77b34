"""Operators for TensorRT."""
from .... import tir
from ... import ShapeExpr
from ...dpl.constructors import is_op, wildcard
from ...transform import FuseOpsByPattern, MergeCompositeFunctions
from ..pattern_registry import get_patterns_with_prefix, register_patterns

# Operators by the number of their operands, where TensorRT's names are those of Relax.
_SAME_NAMES = {
    1: ("nn.relu sigmoid nn.silu tanh exp log sqrt abs negative sin cos atan ceil floor erf nn.softmax nn.batch_flatten expand_dims "
        "squeeze layout_transform nn.max_pool2d nn.avg_pool2d nn.max_pool3d nn.avg_pool3d nn.adaptive_avg_pool2d sum prod "
        "max min mean split").split(),
    2: ("add subtract multiply divide power maximum minimum nn.conv1d nn.conv2d nn.conv3d nn.conv2d_transpose nn.conv3d_transpose "
        "reshape").split(),
    3: ["nn.layer_norm", "clip"],
    4: ["strided_slice"],
    5: ["strided_slice"],
}
_OTHER_NAMES = [("transpose", "permute_dims", 1), ("concatenate", "concat", 1), ("nn.batch_matmul", "matmul", 2)]
_COORDINATES = ("asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel")
# Halves are not rounded to even numbers there.
_ROUNDING = ("floor", "ceil", "round_prefer_ceil", "round_prefer_floor")


def _check_resize(context):
    parts = context.annotated_expr
    size, attrs, data = parts["size"], parts["root"].attrs, parts["data"].struct_info
    while size in context.matched_bindings:
        size = context.matched_bindings[size]
    has_size = isinstance(size, ShapeExpr) and len(size.values) == 2 and all(
        isinstance(dim, tir.IntImm) and dim.value > 0 for dim in size.values)
    dtype = str(data.dtype)
    return (has_size and attrs.layout == "NCHW" and data.ndim == 4 and data.shape is not None and dtype in ("float16", "float32") and
            str(parts["root"].struct_info.dtype) == dtype and attrs.method in ("nearest_neighbor", "linear", "cubic") and
            attrs.coordinate_transformation_mode in _COORDINATES and
            (attrs.method != "nearest_neighbor" or attrs.rounding_method in _ROUNDING))


def _patterns():
    rows = [(name, name, count) for count, names in _SAME_NAMES.items() for name in names] + _OTHER_NAMES
    patterns = [(f"tensorrt.{name}", is_op(f"relax.{op}")(*(wildcard() for _ in range(count))), {}) for name, op, count in rows]
    data, size = wildcard(), wildcard()
    resize = is_op("relax.image.resize2d")(data, size)
    return patterns + [("tensorrt.image.resize2d", resize, {"data": data, "size": size, "root": resize}, _check_resize)]


register_patterns(_patterns())


def partition_for_tensorrt(mod):
    """The module with functions of what TensorRT takes; weights are constants in them."""
    patterns = get_patterns_with_prefix("tensorrt")
    return MergeCompositeFunctions()(FuseOpsByPattern(patterns, bind_constants=True, annotate_codegen=False)(mod))
