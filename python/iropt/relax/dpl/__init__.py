"""Patterns of expressions, and rewriting where they match."""
from .constructors import *  # noqa: F401,F403
from .context import PatternContext, PatternSeq  # noqa: F401
from .pattern import *  # noqa: F401,F403
from .rewrite import (ExprPatternRewriter, OrRewriter, PatternMatchingRewriter, TupleRewriter,  # noqa: F401
                      rewrite_bindings, rewrite_call)
