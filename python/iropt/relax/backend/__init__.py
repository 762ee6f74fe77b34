"""Patterns for external compilers, and their registry."""
from .pattern_registry import get_pattern, get_patterns_with_prefix, register_patterns  # noqa: F401
from .patterns import *  # noqa: F401,F403
from .utils import has_leaking_intermediate_variables  # noqa: F401
