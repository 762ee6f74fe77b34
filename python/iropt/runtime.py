"""Tensors in memory."""
from ._core import native

NDArray = native.NDArray


def _numpy(self):
    """The tensor as an array of NumPy."""
    import numpy

    return numpy.asarray(self)


NDArray.numpy = NDArray.asnumpy = _numpy


class Device:
    """A device; only the host exists."""

    def __init__(self, kind, index=0):
        self.kind, self.index = kind, index
        self.exist = kind == "cpu"

    def __repr__(self):
        return f"{self.kind}({self.index})"

    def _script_(self):
        return f"R.{self.kind}({self.index})"


def cpu(index=0):
    return Device("cpu", index)


def cuda(index=0):
    return Device("cuda", index)


def device(kind, index=0):
    return Device("cpu" if kind.startswith("llvm") else kind.split()[0], index)


def array(value, device=None):
    """A tensor of an array, a list or a number."""
    del device
    import numpy

    if isinstance(value, NDArray):
        return value
    value = numpy.asarray(value)
    # A copy: the tensor does not change when the array does.
    return NDArray(numpy.array(value, order="C", copy=True))


def empty(shape, dtype="float32", device=None):
    del device
    import numpy

    return NDArray(numpy.zeros(shape, dtype))


def convert(value):
    from . import tir

    if isinstance(value, dict):
        return value
    return value if callable(value) else tir.convert(value)


class Object:  # pylint: disable=too-few-public-methods
    """The base of objects of the runtime."""
