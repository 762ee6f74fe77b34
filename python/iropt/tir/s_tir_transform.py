"""The passes of tvm.s_tir.transform, by the names and with what they do in the versions that have them."""
from ..ir import transform as _transform
from .transform import HoistedConditionals, HoistedLetBindings  # noqa: F401


def __getattr__(name):
    return _transform.constructor(name, ("s_tir." + name, "tir." + name))
