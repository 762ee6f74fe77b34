"""What the conditions of libraries have in common."""
from .... import tir
from ....arith import Analyzer


def is_int(dim):
    """Returns whether a dimension is a number."""
    return isinstance(dim, (int, tir.IntImm))


def product(dims):
    """The product of dimensions."""
    result = 1
    for dim in dims:
        result = dim if is_int(result) and int(result) == 1 else result * dim
    return Analyzer().simplify(result) if not isinstance(result, int) else result


def equal(a, b):
    """Returns whether two dimensions are known to be equal."""
    return Analyzer().can_prove_equal(a, b)


def shape_of(expr):
    """The dimensions of a tensor, which must be known."""
    return list(expr.struct_info.shape.values)


def dtype_of(expr):
    """The dtype of a tensor."""
    return str(expr.struct_info.dtype)


def is_vector(shape):
    """Returns whether all dimensions but the last are known to be 1."""
    return all(is_int(dim) and int(dim) == 1 for dim in shape[:-1])


def batches_fit(lhs_shape, rhs_shape):
    """Returns whether a product has as many matrices on both sides, or one on the right."""
    lhs, rhs = product(lhs_shape[:-2]), product(rhs_shape[:-2])
    return isinstance(lhs, tir.Var) or isinstance(rhs, tir.Var) or equal(lhs, rhs) or (
        equal(rhs, 1) and Analyzer().can_prove(tir.convert(lhs) >= 1))


def matmul_patterns(library, make, check):
    """The products with an optional transposition, bias and activation."""
    patterns = []
    for transposed in ("", "_transposed"):
        for rest in ("", "_bias", "_bias_relu", "_bias_gelu"):
            activation = rest.removeprefix("_bias_") if rest.startswith("_bias_") else None
            pattern, parts = make(with_bias=bool(rest), activation=activation and f"relax.nn.{activation}",
                                  transposed_rhs=bool(transposed))
            patterns.append((f"{library}.matmul{transposed}{rest}", pattern, parts, check))
    return patterns
