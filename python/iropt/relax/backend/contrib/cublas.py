"""Matrix products for cuBLAS."""
from ...._dtype import DataType
from ... import Call
from ...transform import FuseOpsByPattern
from ..pattern_registry import get_patterns_with_prefix, register_patterns
from ..patterns import make_matmul_dequantize_pattern, make_matmul_multiply_pattern, make_matmul_pattern
from ..utils import has_leaking_intermediate_variables
from ._checks import batches_fit, dtype_of, is_int, is_vector, matmul_patterns, shape_of

_DTYPES = {"float16", "float32", "bfloat16", "int8"}
_FLOAT8 = {"e4m3_float8", "float8_e4m3fn"}
_OTHER_FLOAT8 = {"e5m2_float8", "float8_e5m2"}


def _is_multiple(dim, factor):
    return is_int(dim) and int(dim) % factor == 0


def _scales_fit(parts):
    """Returns whether a dequantization has one scale, and the zero point 0."""
    if "scale" not in parts or "zp" not in parts:
        return True
    zero = parts["zp"]
    return parts["scale"].struct_info.ndim == zero.struct_info.ndim == 0 and zero.data.numpy()[()].item() == 0.0


def _float8_fits(context, out_dtype, rhs_shape):
    """Returns whether a product of 8-bit floats has a transposed operand, whose rows have multiples of 16 bytes."""
    root = context.annotated_expr["root"]
    transposition = context.matched_bindings.get(root.args[1])
    return (out_dtype not in _OTHER_FLOAT8 and isinstance(transposition, Call) and _is_multiple(rhs_shape[-1], 16) and
            _is_multiple(rhs_shape[-2], 16 // DataType(out_dtype).itemsize))


def _check_matmul(context):
    parts = context.annotated_expr
    if has_leaking_intermediate_variables(context) or not _scales_fit(parts):
        return False
    dtype, out_dtype = dtype_of(parts["lhs"]), dtype_of(parts["root"])
    lhs, rhs = shape_of(parts["lhs"]), shape_of(parts["rhs"])
    if dtype_of(parts["rhs"]) != dtype or dtype not in _DTYPES | _FLOAT8 or not is_int(lhs[-1]):
        return False
    if dtype == "int8" and not (_is_multiple(lhs[-1], 4) and _is_multiple(rhs[-1], 4) and "bias" not in parts):
        return False
    if dtype in _FLOAT8 and not _float8_fits(context, out_dtype, rhs):
        return False
    return ("bias" not in parts or is_vector(shape_of(parts["bias"]))) and batches_fit(lhs, rhs)


register_patterns([
    *matmul_patterns("cublas", make_matmul_pattern, _check_matmul),
    ("cublas.matmul_transposed_dequantize", *make_matmul_dequantize_pattern(transposed_rhs=True), _check_matmul),
    ("cublas.matmul_transposed_multiply", *make_matmul_multiply_pattern(transposed_rhs=True), _check_matmul),
])


def partition_for_cublas(mod, bind_constants=False):
    """The module with functions of what cuBLAS takes.

    bind_constants: whether constants stay in these functions.
    """
    patterns = get_patterns_with_prefix("cublas")
    return FuseOpsByPattern(patterns, bind_constants=bind_constants, annotate_codegen=True)(mod)
