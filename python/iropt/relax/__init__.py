"""The graph level: expressions, bindings and functions of Relax."""
from .. import ir
from .expr import *  # noqa: F401,F403
from .expr import TensorStructInfo
from . import op
from .block_builder import BlockBuilder  # noqa: F401
from . import expr_functor  # noqa: F401
from .expr_functor import PyExprMutator, PyExprVisitor  # noqa: F401
from . import analysis, transform, utils  # noqa: F401

_script_prefix_ = "R"


def call_tir(gvar, args, out_sinfo, tir_vars=None, dtype=None):
    """A call of a PrimFunc; the result is a type, or in the form of older versions a shape and a dtype."""
    if dtype is not None:
        out_sinfo = TensorStructInfo(out_sinfo, dtype)
    return op.call_tir(gvar, args, out_sinfo, tir_vars)


def get_pipeline(name="zero", **_):
    """A named pipeline as a pass, at the level of the context in which it runs."""

    @ir.transform.module_pass(opt_level=0)
    def _pipeline(mod, ctx):
        return ir.transform.Pipeline(f"{name}<O{min(ctx.opt_level, 4)}>")(mod)

    return _pipeline


def __getattr__(name):
    """Operators of the table by their names: `relax.add(x, y)`."""
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(op, name)
