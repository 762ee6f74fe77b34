"""Simplification of scalar expressions, what values they have, and maps of iterators."""
from .analyzer import Analyzer, CompareResult, ConstIntBound, ConstraintScope, Error, Extension, ModularSet, ProofStrength  # noqa: F401
from . import _ffi_api  # noqa: F401
from .bound import deduce_bound, detect_clip_bound, detect_common_subexpr, detect_linear_equation  # noqa: F401
from .int_set import (IntervalSet, IntSet, estimate_region_lower_bound, estimate_region_strict_bound,  # noqa: F401
                      estimate_region_upper_bound, neg_inf, pos_inf, union_lower_bound)
from .int_solver import (IntConstraints, IntConstraintsTransform, IntGroupBounds, solve_linear_equations,  # noqa: F401
                         solve_linear_inequalities)
from .iter_map import (IterMapExpr, IterMapLevel, IterMapResult, IterMark, IterSplitExpr, IterSumExpr,  # noqa: F401
                       detect_iter_map, inverse_affine_iter_map, iter_map_simplify, normalize_iter_map_to_expr,
                       normalize_to_iter_sum, subspace_divide)
