"""Packed functions: functions of Python that modules call by name."""
import functools
import importlib

from ._core import native

_FUNCTIONS = {}


class PackedFunction:
    """A function of the runtime that is known by its name, or one of Python."""

    def __init__(self, name, function=None):
        self.name, self._function = name, function

    def __call__(self, *args):
        return native.call_packed(self.name, *args) if self._function is None else self._function(*args)

    def __repr__(self):
        return f"<packed function {self.name}>"


def register_func(func_name, f=None, override=False):
    """Registers a function under a name; modules call it with R.call_packed, R.call_dps_packed and T.call_packed.

    func_name: the name, or the function, whose own name it is then. Without a function it is a decorator.
    override: whether a function of that name may exist already; else it is an error.
    Returns the function. Tensors are given to it as NDArrays, and those that it writes to are changed.
    """
    if callable(func_name):
        f, func_name = func_name, func_name.__name__
    if not isinstance(func_name, str):
        raise ValueError("expected the name of a function as a text")

    def register(function):
        if not override and func_name in _FUNCTIONS:
            raise ValueError(f"the global function {func_name} is registered already: override=True replaces it")
        _FUNCTIONS[func_name] = function
        return function

    return register if f is None else register(f)


register_global_func = register_func


def get_global_func(name, allow_missing=False):
    """The registered function, or one of the runtime, of a name; None, or an error, if there is none."""
    known = registered()
    if name in known:
        function = known[name]
        return function if isinstance(function, PackedFunction) else PackedFunction(name, function)
    if native.has_packed(name):
        return PackedFunction(name)
    found = _of_library(name)
    if found is not None:
        return found
    if allow_missing:
        return None
    raise ValueError(f"Cannot find global function {name}")


# Modules whose functions TVM registers under their names, too.
_REGISTERED = {"relax.transform": "relax.transform", "tir.schedule": "tir.schedule", "s_tir.schedule": "tir.schedule",
               "tir.transform": "tir.transform"}


def _of_library(name):
    """The function of this package that TVM registers under a name, or None."""
    module, _, function = name.rpartition(".")
    if module not in _REGISTERED or function.startswith("_"):
        return None
    found = getattr(importlib.import_module(f".{_REGISTERED[module]}", __package__), function, None)
    return found if callable(found) else None


def list_global_func_names():
    """The names of the functions that were registered."""
    return sorted(_FUNCTIONS)


def remove_global_func(name):
    """Forgets a registered function."""
    _FUNCTIONS.pop(name, None)


def registered():
    """The registered functions by their names, and those of the virtual machine that are written in Python, for a run."""
    return {**_machine(), **_FUNCTIONS}


@functools.lru_cache(maxsize=None)
def _machine():
    from .relax import kv_state

    return kv_state.FUNCTIONS
