"""The prefix R in the scope of an IRBuilder."""
from . import relax as _relax
from .ir_builder import STATEMENTS as _statements
from .ir_builder import FunctionFrame as function  # noqa: F401

py_print = print


def __getattr__(name):
    return _statements[name] if name in _statements else getattr(_relax, name)
