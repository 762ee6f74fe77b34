"""Types of the graph level that older versions have next to struct info."""
from .expr import FuncStructInfo, ObjectStructInfo, TensorStructInfo

__all__ = ["DynTensorType", "PackedFuncType"]


class DynTensorType(TensorStructInfo):
    """The type of a tensor in older versions, which has a rank and a dtype: a new type of unknown shape."""

    __slots__ = ()

    def __new__(cls, ndim=-1, dtype="float32", span=None):
        del span
        made = TensorStructInfo(dtype=dtype, ndim=ndim)
        made.__class__ = cls
        return made


class PackedFuncType(FuncStructInfo):
    """The type of a packed function in older versions: a new type of an opaque function."""

    __slots__ = ()

    def __new__(cls, span=None):
        del span
        return FuncStructInfo.opaque_func(ret=ObjectStructInfo())
