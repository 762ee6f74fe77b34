"""The graph level: expressions, bindings and functions of Relax."""
import importlib

from .. import _newer, ir
from .expr import *  # noqa: F401,F403
from .expr import TensorStructInfo, _update_struct_info  # noqa: F401
from .old_types import *  # noqa: F401,F403
from . import op
from .block_builder import BlockBuilder  # noqa: F401
from . import expr_functor  # noqa: F401
from .expr_functor import PyExprMutator, PyExprVisitor  # noqa: F401
from . import analysis, transform, utils  # noqa: F401

_script_prefix_ = "R"
_RUNNING = ("Executable", "VMExecutable", "VirtualMachine", "build", "vm", "get_pipeline", "get_default_pipeline",
            "register_pipeline")
_PACKAGES = ("binding_rewrite", "exec_builder", "dpl", "backend", "frontend", "testing", "training")


@_newer.keywords
def call_tir(gvar, args, out_sinfo, tir_vars=None, dtype=None):
    """A call of a PrimFunc; the result is a type, or in the form of older versions a shape and a dtype."""
    if dtype is not None:
        out_sinfo = TensorStructInfo(out_sinfo, dtype)
    return op.call_tir(gvar, args, out_sinfo, tir_vars)


def __getattr__(name):
    """Operators of the table by their names: `relax.add(x, y)`; packages that few programs need."""
    if name.startswith("_"):
        raise AttributeError(name)
    if name in ("BasePyModule", "base_py_module"):
        from . import py_module

        return py_module.BasePyModule if name == "BasePyModule" else py_module
    if name == "DataflowBlockRewrite":
        from .binding_rewrite import DataflowBlockRewrite

        return DataflowBlockRewrite
    if name == "ExecBuilder":
        from .exec_builder import ExecBuilder

        return ExecBuilder
    if name in _RUNNING:
        from . import vm_build

        return getattr(vm_build, name)
    if name in _PACKAGES:
        return importlib.import_module("." + name, __name__)
    return getattr(op, name)


def __dir__():
    return sorted({*globals(), *_RUNNING, *_PACKAGES, "BasePyModule", "DataflowBlockRewrite", "ExecBuilder",
                   *(name for name in dir(op) if not name.startswith("_"))})
