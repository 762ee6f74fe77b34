"""The prefix I in the scope of an IRBuilder."""
from ..ir import GlobalVar, IRModule
from . import ir as _ir
from .ir_builder import IRBuilder


class IRModuleFrame:
    """A module that is built."""

    def __init__(self):
        self.functions, self.attrs = {}, {}

    def __enter__(self):
        IRBuilder.current().frames.append(self)
        return self

    def __exit__(self, kind, value, trace):
        builder = IRBuilder.current()
        builder.frames.pop()
        if kind is None:
            builder.result = IRModule(self.functions, attrs=self.attrs or None)


def ir_module():
    """The scope of a module."""
    return IRModuleFrame()


def _frame():
    found = next((frame for frame in reversed(IRBuilder.current().frames) if isinstance(frame, IRModuleFrame)), None)
    if found is None:
        raise ValueError("expected to be in the scope of I.ir_module()")
    return found


def decl_function(func_name, func_signature):
    """Declares a function, and returns its name."""
    _frame().functions.setdefault(func_name, func_signature)
    return GlobalVar(func_name)


def def_function(func_name, func):
    """Gives a declared function its body."""
    _frame().functions[func_name] = func


def module_attrs(attrs, allow_overwrite=False):
    """Adds attributes to the module."""
    known = set(attrs) & set(_frame().attrs)
    if known and not allow_overwrite:
        raise ValueError(f"the module has the attribute '{min(known)}' already")
    _frame().attrs.update(attrs)


def __getattr__(name):
    return getattr(_ir, name)
