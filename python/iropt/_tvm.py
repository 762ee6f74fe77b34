"""The names of the package tvm, for programs that were written for it."""
from . import arith, instrument, ir, relax, runtime, script, target, te, testing, tir, topi  # noqa: F401
from ._core import Error
from ._dtype import DataType, DataTypeCode  # noqa: F401
from .ir import IRModule, assert_structural_equal, structural_equal, structural_hash  # noqa: F401
from .ir import register_op_attr  # noqa: F401
from .ir import transform  # noqa: F401
from .ir.transform import Pipeline
from .packed import get_global_func, register_func, register_global_func  # noqa: F401
from .runtime import cpu, cuda, device, device_from_target, ext_dev, hexagon, metal, opencl, rocm, vulkan, webgpu  # noqa: F401
from .tir import const, convert  # noqa: F401

__path__: list = []

TVMError = DiagnosticError = InternalError = Error
nd = runtime
error = None


def lower(inp, args=None, name="main", binds=None, simple_mode=False):
    """Runs the passes that TVM lowers loops with, on a module, a PrimFunc, or a schedule of te with its parameters."""
    del binds, simple_mode
    module = te.schedule.module_of(inp, args, name) if isinstance(inp, te.Schedule) else inp
    if not isinstance(module, IRModule):
        # A function alone is one that is called from outside, with arguments that do not overlap.
        module = IRModule({name: module.with_attr("global_symbol", name).with_attr("tir.noalias", True)})
    return Pipeline(f"tir.lower<O{min(transform.PassContext.current().opt_level, 4)}>")(module)


def c_str(string):
    """A text for a function of C."""
    import ctypes

    return ctypes.c_char_p(string.encode("utf-8"))


def py_str(data):
    """The text of bytes."""
    return data.decode("utf-8")


def __getattr__(name):
    if name in ("build", "compile"):
        from . import executable

        return getattr(executable, name)
    raise AttributeError(name)


import sys as _sys  # noqa: E402

error = _sys.modules[__name__]
