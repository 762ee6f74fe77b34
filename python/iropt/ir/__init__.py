"""Modules, and what both levels of the IR have in common."""
from .base import *  # noqa: F401,F403
from ..tir import Expr, FloatImm, IntImm, PrimExpr, Range  # noqa: F401
from .both_levels import Call, Var, is_prim_expr, is_prim_var  # noqa: F401
from .env_func import EnvFunc  # noqa: F401
from .module import IRModule  # noqa: F401
from .op_attrs import make_node, register_op_attr  # noqa: F401
from .saving import load_json, save_json  # noqa: F401
from .structure import (assert_structural_equal, difference, get_first_structural_mismatch,  # noqa: F401
                        structural_equal, structural_hash)
from . import instrument, transform  # noqa: F401

Expr.register(BaseExpr)  # noqa: F405
