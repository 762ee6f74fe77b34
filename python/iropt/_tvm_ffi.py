"""The names of the package tvm_ffi, for programs that were written for it."""
import enum
import sys

from ._core import Array, Node
from ._tvm import get_global_func, register_func
from .ir.base import DictAttrs
from .ir.structure import structural_equal, structural_hash  # noqa: F401
from .packed import PackedFunction, list_global_func_names, remove_global_func  # noqa: F401
from .runtime import Device as device  # noqa: F401
from .runtime import Device, Shape, Tensor, from_dlpack  # noqa: F401

Object = Node
List = Array
Dict = Map = DictAttrs
Function = PackedFunction
String = str


class DLDeviceType(enum.IntEnum):
    """The kinds of devices by their numbers in DLPack."""

    kDLCPU, kDLCUDA, kDLCUDAHost, kDLOpenCL, kDLVulkan, kDLMetal, kDLVPI, kDLROCM, kDLROCMHost = 1, 2, 3, 4, 7, 8, 9, 10, 11
    kDLExtDev, kDLCUDAManaged, kDLOneAPI, kDLWebGPU, kDLHexagon, kDLMAIA, kDLTrn = 12, 13, 14, 15, 16, 17, 18


def init_ffi_api(namespace, target_module_name=None):
    """Gives a module the functions that are registered under names of a namespace."""
    prefix = namespace.removeprefix("tvm.") + "."
    module = sys.modules[target_module_name or namespace]
    for name in list_global_func_names():
        if name.startswith(prefix) and "." not in name.removeprefix(prefix):
            setattr(module, name.removeprefix(prefix), get_global_func(name))


def register_global_func(func_name, f=None, override=False):
    """Registers a function under a name; also a decorator."""
    return register_func(func_name, f, override)


def register_object(type_key=None, init=None):
    """Classes of Python need no registration: the result is the class."""
    del init
    return type_key if isinstance(type_key, type) else lambda cls: cls


def convert(value):
    """The value as nodes and lists of nodes have it."""
    from .runtime import convert as convert_value

    return convert_value(value)
