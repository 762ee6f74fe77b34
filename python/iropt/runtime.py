"""Tensors in memory, devices, and what has been built to run."""
import functools
import math
import types

from ._core import Array, Error, native
from ._dtype import DataType, DataTypeCode  # noqa: F401
from ._object_path import ObjectPath  # noqa: F401
from .packed import (PackedFunction, get_global_func, list_global_func_names, register_func,  # noqa: F401
                     register_global_func, remove_global_func)

NDArray = Tensor = native.NDArray
PackedFunc = PackedFunction


class Device:
    """A device. Only the host has memory: tensors of other devices are kept there, too."""

    kDLCPU, kDLCUDA, kDLOpenCL, kDLVulkan, kDLMetal, kDLROCM, kDLWebGPU, kDLHexagon = 1, 2, 4, 7, 8, 10, 15, 16
    _TYPES = {"cpu": 1, "llvm": 1, "cuda": 2, "opencl": 4, "aocl": 5, "sdaccel": 6, "vulkan": 7, "metal": 8, "vpi": 9,
              "rocm": 10, "ext_dev": 12, "webgpu": 15, "hexagon": 16}
    _OTHER_NAMES = {"llvm": "cpu", "c": "cpu", "stackvm": "cpu", "test": "cpu", "cl": "opencl", "nvptx": "cuda", "aocl_sw_emu": "aocl"}

    def __init__(self, kind, index=0):
        if not isinstance(kind, str):
            kind = next(name for name, number in self._TYPES.items() if number == int(kind))
        if ":" in kind:
            kind, index = kind.split(":")
        self.kind = self._OTHER_NAMES.get(kind, kind)
        if self.kind not in self._TYPES:
            raise ValueError(f"unknown kind of device '{kind}': expected one of {', '.join(self._TYPES)}")
        self.index = int(index)

    MASK2STR = _DEVICE_TYPE_TO_NAME = {number: name for name, number in _TYPES.items() if name != "llvm"}

    type = property(lambda self: self.kind)
    device_type = property(lambda self: self._TYPES[self.kind], doc="The number of the kind of device in DLPack.")
    device_id = property(lambda self: self.index, doc="The number of the device among those of its kind.")
    exist = property(lambda self: self.kind == "cpu", doc="Whether the machine has the device; it has only the host.")
    device_name = property(lambda self: self.kind)

    def dlpack_device_type(self):
        return self.device_type

    def sync(self, stream=None):
        """Waits for the device, which is never busy."""

    def create_raw_stream(self):
        return 0

    def __eq__(self, other):
        return isinstance(other, Device) and (self.kind, self.index) == (other.kind, other.index)

    def __hash__(self):
        return hash((self.kind, self.index))

    def __repr__(self):
        return f"{self.kind}({self.index})"

    def _script_(self):
        return f"R.{self.kind}({self.index})"


def _device_function(kind):
    def make(index=0):
        return Device(kind, index)

    make.__name__ = kind
    make.__doc__ = f"The {kind} device of a number."
    return make


cpu, cuda, opencl, vulkan, metal, rocm, webgpu, hexagon, ext_dev = (
    _device_function(kind)
    for kind in ("cpu", "cuda", "opencl", "vulkan", "metal", "rocm", "webgpu", "hexagon", "ext_dev"))


def device(dev_type=None, dev_id=0, *, device_type=None, index=None):
    """A device by its kind, "cuda", "cuda:1", the number of one or a target, and its number. Newer versions have other keywords."""
    kind = device_type if dev_type is None else dev_type
    index = dev_id if index is None else index
    if isinstance(kind, Device):
        return kind
    if isinstance(kind, int):
        return Device(int(kind), index or 0)
    text = str(getattr(kind, "kind", kind))
    return Device(getattr(getattr(kind, "kind", None), "name", text).split()[0], index or 0)


def device_from_target(target, index=None):
    """The device that code for a target runs on."""
    from .target import Target

    return device(Target(target).get_target_device_type(), index or 0)


class ShapeTuple(tuple):
    """A shape: a tuple of integers."""

    _is_shape_ = True

    __slots__ = ()

    def __new__(cls, shape=()):
        return tuple.__new__(cls, (int(dim) for dim in shape))


Shape = ShapeTuple


class ADT(tuple):
    """A tuple of values of the runtime, with a tag."""

    def __new__(cls, tag, fields):
        made = tuple.__new__(cls, fields)
        made.tag = tag
        return made


def tuple_object(fields=None):
    """A tuple of values of the runtime."""
    return ADT(0, fields or ())


class String(str):
    """A text."""

    __slots__ = ()


class Object:  # pylint: disable=too-few-public-methods
    """The base of objects of the runtime."""


def convert(value):
    """A value of the runtime: numbers become expressions, functions of Python packed ones; dictionaries stay."""
    from . import tir

    if isinstance(value, (dict, NDArray)):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(item, NDArray) for item in value):
        return Array(convert(item) for item in value)
    if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        return PackedFunction(getattr(value, "__name__", "function"), value)
    return value if callable(value) else tir.convert(value)


# ---- Tensors


def array(arr, device=None, mem_scope=None):
    """A tensor with a copy of the elements of an array, a list or a number.

    device: where it is said to be; the memory is that of the host.
    """
    del mem_scope
    import numpy

    if isinstance(arr, NDArray):
        made = _copy(arr)
    else:
        if hasattr(arr, "__dlpack__") and not hasattr(arr, "__array_interface__"):
            arr = NDArray._from_dlpack(arr)
        made = NDArray(numpy.array(numpy.asarray(arr), order="C", copy=True), writable=True)
    return _place(made, device)


tensor = array


def empty(shape, dtype="float32", device=None, mem_scope=None):
    """A tensor of zeros."""
    del mem_scope
    shape = [int(dim) for dim in (shape if isinstance(shape, (list, tuple)) else [shape])]
    return _place(NDArray._from_bytes(native.dtype_name(dtype), shape, None), device)


def from_dlpack(source):
    """The tensor of an object of another library, or of a capsule, in the same memory."""
    return NDArray._from_dlpack(source)


def numpyasarray(value):
    """A tensor in the memory of an array of NumPy."""
    return NDArray(value)


def _copy(value):
    return NDArray._from_bytes(value.dtype, list(value.shape), value._bytes())


def _place(value, where):
    if where is not None and where != Device("cpu"):
        value._device = where
    return value


def _methods():
    """The methods of tensors that are written in Python."""

    def numpy(self):
        """A copy of the elements as an array of NumPy; numpy.asarray(tensor) shares the memory."""
        import numpy as np

        return np.array(self)

    def copyfrom(self, source_array):
        """Writes the elements of an array, a tensor or a number into this tensor. Returns it."""
        import numpy as np

        value = np.asarray(source_array)
        dtype = np.asarray(self).dtype
        if value.shape != self.shape:
            if value.shape != ():
                raise ValueError(f"array shape do not match the shape of NDArray {value.shape} vs {self.shape}")
        self._write(NDArray(np.array(np.broadcast_to(value, self.shape), dtype=dtype, order="C")))
        return self

    def copyto(self, target, mem_scope=None):
        """Copies to another tensor, or into a new one on a device. Returns that tensor."""
        del mem_scope
        if isinstance(target, NDArray):
            return target.copyfrom(self)
        if isinstance(target, Device):
            return _place(_copy(self), target)
        raise ValueError(f"expected a tensor or a device, not {type(target).__name__}")

    def getitem(self, index):
        """The elements at an index, as a new tensor."""
        import numpy as np

        return array(np.asarray(self)[index])

    def setitem(self, index, value):
        """Writes elements: tensor[:] = array."""
        import numpy as np

        changed = np.array(self)
        changed[index] = np.asarray(value)
        self._write(NDArray(changed))

    def create_view(self, shape, dtype=None, relative_byte_offset=0):
        """The same elements in another shape, or those from an offset on as many as it has."""
        dtype, data = dtype or self.dtype, self._bytes()
        kind = DataType(dtype)
        size = (math.prod(shape) * kind.bits * kind.lanes + 7) // 8
        if relative_byte_offset < 0 or relative_byte_offset + size > len(data):
            raise ValueError(f"{size} bytes from {relative_byte_offset} on are more than the {len(data)} of the tensor")
        return NDArray._from_bytes(dtype, list(shape), data[relative_byte_offset:relative_byte_offset + size])

    def reduce(self):
        return _restore, (self.dtype, tuple(self.shape), self._bytes())

    def to_dlpack(self):
        """A capsule of DLPack in the same memory."""
        return self.__dlpack__()

    def size(self):
        count = 1
        for dim in self.shape:
            count *= dim
        return count

    NDArray.numpy = NDArray.asnumpy = numpy
    NDArray.copyfrom, NDArray.copyto = copyfrom, copyto
    NDArray.__getitem__, NDArray.__setitem__ = getitem, setitem
    NDArray.__len__ = lambda self: self.shape[0]
    NDArray._create_view = create_view
    NDArray.__reduce__ = reduce
    NDArray.to_dlpack = to_dlpack
    NDArray.same_as = lambda self, other: self is other
    NDArray.device = NDArray.ctx = property(lambda self: self.__dict__.get("_device") or Device("cpu"), doc="The device that the tensor is said to be on.")
    NDArray.ndim = property(lambda self: len(self.shape))
    NDArray.size = property(size)


_methods()


def _restore(dtype, shape, elements):
    """The tensor that was pickled."""
    return NDArray._from_bytes(dtype, list(shape), elements)


def __getattr__(name):
    # These need the tensors of this module.
    if name in ("save_param_dict", "save_param_dict_to_file", "load_param_dict", "load_param_dict_from_file"):
        from . import params

        return getattr(params, name)
    if name in ("Module", "load_module", "BenchmarkResult", "Executable", "enabled"):
        from . import executable

        return getattr(executable, name)
    if name == "TVMError":
        return Error
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
