"""ir-opt in Python: modules of TVMScript, their nodes, and passes over them."""
from ._core import Error, native

__version__ = native.__version__

from . import ir
from .ir import IRModule
from .ir.transform import PassContext, Pipeline, Sequential
from . import tir, relax, transform, instrument, runtime, target, script

NDArray = native.NDArray


def from_source(text, name="<text>", verify=True):
    """Reads the text of a module."""
    return IRModule.from_source(text, name, verify)


def from_file(path, format="", verify=True):
    """Reads a file of any format that the library knows."""
    return IRModule.from_file(path, format, verify)


__all__ = ["Error", "IRModule", "NDArray", "PassContext", "Pipeline", "Sequential", "from_file",
           "from_source", "instrument", "ir", "relax", "script", "target", "tir", "transform"]
