"""The names of the package tvm, for programs that were written for it."""
from . import arith, instrument, ir, relax, runtime, script, target, te, testing, tir, topi  # noqa: F401
from ._core import Error
from ._dtype import DataType, DataTypeCode  # noqa: F401
from .ir import IRModule, assert_structural_equal, structural_equal, structural_hash  # noqa: F401
from .ir import transform  # noqa: F401
from .ir.transform import Pipeline
from .runtime import cpu, cuda, device  # noqa: F401
from .tir import const, convert  # noqa: F401

__version__ = "0.18.0"
__path__ = []

TVMError = DiagnosticError = InternalError = Error
nd = runtime
error = None


def lower(inp, args=None, name="main", binds=None, simple_mode=False):
    """Runs the passes that TVM lowers loops with."""
    del args, binds, simple_mode
    module = inp if isinstance(inp, IRModule) else IRModule({name: inp})
    return Pipeline(f"tir.lower<O{min(transform.PassContext.current().opt_level, 4)}>")(module)


def get_global_func(name, allow_missing=False):
    """The functions of TVM's registry do not exist here."""
    if allow_missing:
        return None
    raise ValueError(f"Cannot find global function {name}: it is not a part of iropt")


def register_func(func_name, f=None, override=False):
    """Functions can be registered, but nothing here calls them."""
    del override
    if callable(func_name):
        return func_name
    return f if f is not None else lambda function: function


class register_op_attr:  # pylint: disable=invalid-name
    def __init__(self, *_args):
        raise NotImplementedError("tvm.ir.register_op_attr is not a part of iropt")


import sys as _sys  # noqa: E402

error = _sys.modules[__name__]
