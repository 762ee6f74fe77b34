"""Patterns for external compilers, and their registry; passes for targets."""
from .dispatch import DispatchSampling, DispatchSortScan  # noqa: F401
from .pattern_registry import get_pattern, get_patterns_with_prefix, register_patterns  # noqa: F401
from .patterns import *  # noqa: F401,F403
from .utils import BackendDispatcher, has_leaking_intermediate_variables  # noqa: F401
