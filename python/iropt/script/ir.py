"""The prefix I of scripts."""
import inspect

from .. import _script
from ..ir import DeviceMesh, GlobalVar, IRModule, Range, VDevice  # noqa: F401
from ._names import named

_script_prefix_ = "I"


def ir_module(mod=None, check_well_formed=True, s_tir=False):
    """Makes a module of a class, from its source. `s_tir` says in newer versions that functions have blocks."""
    del s_tir
    frame = _script.caller()

    def decorate(cls):
        if not inspect.isclass(cls):
            raise TypeError(f"expected a class, not {cls!r}")
        source, path, line = _script.source_of_class(cls, frame)
        env = _script.environment(frame)
        for name in list(vars(cls)):
            env.pop(name, None)
        module = _script.read(source, env, path, line, verify=check_well_formed)
        functions = {name: value for name, value in vars(cls).items() if getattr(value, "_is_pyfunc_", False)}
        if functions:
            from ..relax.py_module import PyModuleFactory

            module = PyModuleFactory(module, functions)
        module.__dict__["__name__"] = cls.__name__
        return module

    return decorate if mod is None else decorate(mod)


def pyfunc(func):
    """Lets a function of the class of a module stay one of Python: see relax.BasePyModule."""
    func._is_pyfunc_ = True
    return func


def vdevice(target=None, vdevice_id=0, memory_scope="global"):
    return VDevice(target, vdevice_id, memory_scope)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return named("I", name)
