"""ir-opt in Python: modules of TVMScript, their nodes, and passes over them."""
from ._core import Error, native

__version__ = native.__version__

from . import ir
from .ir import IRModule
from .ir.transform import PassContext, Pipeline, Sequential
from . import tir, relax, transform, instrument, runtime, target

from .running import check_semantics, run

NDArray = native.NDArray


def from_source(text, name="<text>", verify=True, format="tvmscript"):
    """Reads the text of a module, in TVMScript or another format with text, such as relay."""
    return IRModule.from_source(text, name, verify, format=format)


def from_file(path, format="", verify=True):
    """Reads a file of any format that the library knows."""
    return IRModule.from_file(path, format, verify)


def __getattr__(name):
    # The imports of scripts take a tenth of the time of all, and most programs of passes need neither.
    if name in ("onnx", "precision", "script"):
        import importlib

        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def load_plugin(path):
    """Loads a plugin with passes and instruments: a shared object, or a file of Python."""
    from . import _plugins

    _plugins.load(path)


__all__ = ["Error", "IRModule", "NDArray", "PassContext", "Pipeline", "Sequential", "check_semantics", "from_file",
           "from_source", "instrument", "ir", "load_plugin", "precision", "relax", "run", "script", "target", "tir", "transform"]
