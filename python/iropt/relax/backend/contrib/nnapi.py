"""Operators for NNAPI, Android's interface to accelerators."""
from ...dpl.constructors import is_op, wildcard
from ...transform import FuseOpsByPattern, MergeCompositeFunctions
from ..pattern_registry import get_patterns_with_prefix, register_patterns

# Operators of one operand, and of two: the name in NNAPI, the operator, and the level of features that has it.
_UNARY = {"floor": ("floor", 1), "relu": ("nn.relu", 1), "logistic": ("sigmoid", 1), "softmax": ("nn.softmax", 1), "tanh": ("tanh", 1),
          "abs": ("abs", 3), "exp": ("exp", 3), "log": ("log", 3), "neg": ("negative", 3), "cast": ("astype", 3),
          "sqrt": ("sqrt", 3), "rsqrt": ("rsqrt", 3), "transpose": ("permute_dims", 2), "mean": ("mean", 2),
          "max_pool_2d": ("nn.max_pool2d", 1)}
_BINARY = {"add": ("add", 1), "mul": ("multiply", 1), "div": ("divide", 2), "sub": ("subtract", 2), "pow": ("power", 3),
           "equal": ("equal", 3), "greater": ("greater", 3), "greater_equal": ("greater_equal", 3), "less": ("less", 3),
           "less_equal": ("less_equal", 3), "not_equal": ("not_equal", 3), "maximum": ("maximum", 3), "minimum": ("minimum", 3),
           "batch_matmul": ("matmul", 6)}
_CONV2D_LEVEL = 1


def _patterns():
    first = ["floor", "relu", "logistic", "softmax", "tanh", "abs", "exp", "log", "neg", "cast", "sqrt", "rsqrt"]
    binary = {name: is_op(f"relax.{op}")(wildcard(), wildcard()) for name, (op, _) in _BINARY.items()}
    unary = {name: is_op(f"relax.{op}")(wildcard()) for name, (op, _) in _UNARY.items()}
    product = binary.pop("batch_matmul")
    rest = [(name, pattern) for name, pattern in unary.items() if name not in first]
    floats = [is_op("relax.astype")(wildcard().has_dtype("float16") | wildcard().has_dtype("float32")).has_dtype(dtype)
              for dtype in ("float16", "float32")]
    convolution = is_op("relax.add")(is_op("relax.nn.conv2d")(wildcard(), wildcard()), wildcard())
    # Patterns that come later are tried first.
    return [*binary.items(), *((name, unary[name]) for name in first), ("batch_matmul", product), rest[0],
            ("cast", floats[0] | floats[1]), rest[1], ("conv2d", convolution), rest[2]]


register_patterns([(f"nnapi.{name}", pattern, {}) for name, pattern in _patterns()])


def min_feature_level(pattern_name):
    """The least level of features of NNAPI that has an operator, by the name of its pattern."""
    name = pattern_name.removeprefix("nnapi.")
    return _CONV2D_LEVEL if name == "conv2d" else {**_UNARY, **_BINARY}[name][1]


def partition_for_nnapi(mod, feature_level=None):
    """The module with functions of what NNAPI takes, at most at a level of features."""
    patterns = [pattern for pattern in get_patterns_with_prefix("nnapi")
                if feature_level is None or feature_level >= min_feature_level(pattern.name)]
    return MergeCompositeFunctions()(FuseOpsByPattern(patterns, bind_constants=False, annotate_codegen=False)(mod))
