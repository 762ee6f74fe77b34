"""Operators for Core ML, Apple's library of models."""
from ...dpl.constructors import is_op, wildcard
from ...transform import CanonicalizeBindings, FuseOpsByPattern, MergeCompositeFunctions
from ..pattern_registry import get_patterns_with_prefix, register_patterns
from ..patterns import make_matmul_pattern

# The operators and the number of their operands. Patterns that come later are tried first.
_OPERATORS = {"add": 2, "multiply": 2, "nn.softmax": 1, "nn.relu": 1, "expand_dims": 1, "nn.avg_pool2d": 1, "nn.batch_flatten": 1,
              "nn.conv2d": 2, "clip": 3}

register_patterns([(f"coreml.{name}", is_op(f"relax.{name}")(*(wildcard() for _ in range(count))), {})
                   for name, count in _OPERATORS.items()] + [("coreml.matmul", *make_matmul_pattern())])


def partition_for_coreml(mod):
    """The module with functions of what Core ML takes; weights are constants in them."""
    patterns = get_patterns_with_prefix("coreml")
    mod = FuseOpsByPattern(patterns, bind_constants=True, annotate_codegen=False)(CanonicalizeBindings()(mod))
    return MergeCompositeFunctions()(mod)
