"""The prefix I of scripts."""
import inspect

from .. import _script
from ..ir import DeviceMesh, GlobalVar, IRModule, VDevice  # noqa: F401
from ._names import Name

_script_prefix_ = "I"


def ir_module(mod=None, check_well_formed=True):
    """Makes a module of a class, from its source."""
    frame = _script.caller()

    def decorate(cls):
        if not inspect.isclass(cls):
            raise TypeError(f"expected a class, not {cls!r}")
        source, path, line = _script.source_of_class(cls, frame)
        env = _script.environment(frame)
        for name in list(vars(cls)):
            env.pop(name, None)
        module = _script.read(source, env, path, line, verify=check_well_formed)
        module.__dict__["__name__"] = cls.__name__
        return module

    return decorate if mod is None else decorate(mod)


def pyfunc(func):
    return func


def vdevice(target=None, vdevice_id=0, memory_scope="global"):
    return VDevice(target, vdevice_id, memory_scope)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Name(f"I.{name}")
