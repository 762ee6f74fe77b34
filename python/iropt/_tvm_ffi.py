"""The names of the package tvm_ffi, for programs that were written for it."""
from ._core import Array, Node
from ._tvm import get_global_func, register_func
from .ir.base import DictAttrs
from .runtime import Device as device  # noqa: F401

Object = Node
List = Array
Dict = Map = DictAttrs
Function = type(get_global_func)
String = str


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
