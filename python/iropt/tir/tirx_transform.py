"""The passes of tvm.tirx.transform, by the names and with what they do in the versions that have them."""
from ..ir import transform as _transform
from .transform import Apply, BindTarget, Filter, PrimFuncPass, prim_func_pass  # noqa: F401


def __getattr__(name):
    return _transform.constructor(name, ("tirx." + name, "tir." + name))
