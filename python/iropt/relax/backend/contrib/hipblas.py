"""Matrix products for hipBLAS."""
from ...transform import FuseOpsByPattern
from ..pattern_registry import get_patterns_with_prefix, register_patterns
from ..patterns import make_matmul_pattern
from ..utils import has_leaking_intermediate_variables
from ._checks import batches_fit, dtype_of, is_int, is_vector, matmul_patterns, shape_of


def _check_matmul(context):
    parts = context.annotated_expr
    if has_leaking_intermediate_variables(context):
        return False
    lhs, rhs = shape_of(parts["lhs"]), shape_of(parts["rhs"])
    return (dtype_of(parts["lhs"]) == dtype_of(parts["rhs"]) == "float16" and is_int(lhs[-1]) and
            ("bias" not in parts or is_vector(shape_of(parts["bias"]))) and batches_fit(lhs, rhs))


register_patterns(matmul_patterns("hipblas", make_matmul_pattern, _check_matmul))


def partition_for_hipblas(mod):
    """The module with functions of what hipBLAS takes."""
    return FuseOpsByPattern(get_patterns_with_prefix("hipblas"), bind_constants=False, annotate_codegen=True)(mod)
