"""Parameters by their names as bytes, in the format of TVM: a magic number, the names, and the tensors."""
import math
import struct

from ._core import native
from ._dtype import DataType, DataTypeCode
from .runtime import array

_LIST_MAGIC, _TENSOR_MAGIC = 0xF7E58D4F05049CB7, 0xDD5E40F096B4A13F
_KINDS = {DataTypeCode.INT: "int", DataTypeCode.UINT: "uint", DataTypeCode.FLOAT: "float", DataTypeCode.BFLOAT: "bfloat"}

# Older versions write the first one, newer ones that of DLPack.
_BOOLS = ((DataTypeCode.UINT, 1), (6, 8))
_MOST_AXES = 64


def _written(tensor):
    dtype, shape = DataType(str(tensor.dtype)), [int(dim) for dim in tensor.shape]
    code, bits = (DataTypeCode.UINT, 1) if dtype == "bool" else (DataTypeCode(dtype.type_code), dtype.bits)
    if code not in _KINDS:
        raise ValueError(f"tensors of dtype {dtype} cannot be saved with parameters")
    data = bytes(tensor._bytes())
    # The device is the CPU with the number 0.
    head = struct.pack("<QQiiiBBH", _TENSOR_MAGIC, 0, 1, 0, len(shape), code, bits, dtype.lanes)
    return head + struct.pack(f"<{len(shape)}qq", *shape, len(data)) + data


class _Bytes:
    def __init__(self, data):
        self._data, self._at = memoryview(data), 0

    def read(self, size):
        part = self._data[self._at:self._at + size]
        if len(part) != size:
            raise ValueError("the parameters end too early")
        self._at += size
        return bytes(part)

    def numbers(self, form):
        return struct.unpack("<" + form, self.read(struct.calcsize("<" + form)))


def _read(data):
    magic, _, _, _, rank, code, bits, lanes = data.numbers("QQiiiBBH")
    if magic != _TENSOR_MAGIC:
        raise ValueError("a tensor of the parameters does not begin with the magic number of tensors")
    if (code not in _KINDS and (code, bits) not in _BOOLS) or lanes != 1:
        raise ValueError(f"a tensor of the parameters has an unknown dtype: code {code}, {bits} bits, {lanes} lanes")
    dtype = "bool" if (code, bits) in _BOOLS else f"{_KINDS[code]}{bits}"
    if not 0 <= rank <= _MOST_AXES:
        raise ValueError(f"a tensor of the parameters has {rank} axes")
    *shape, size = data.numbers(f"{rank}qq")
    if min(shape, default=0) < 0 or math.prod(shape) * DataType(dtype).itemsize != size:
        raise ValueError(f"a tensor of the parameters of shape {shape} and dtype {dtype} has {size} bytes")
    return native.NDArray._from_bytes(dtype, shape, data.read(size))


def save_param_dict(params):
    """The bytes of parameters: a dictionary of names and tensors, or arrays of NumPy."""
    parts = [struct.pack("<QQQ", _LIST_MAGIC, 0, len(params))]
    for name in params:
        text = name.encode()
        parts += [struct.pack("<Q", len(text)), text]
    parts.append(struct.pack("<Q", len(params)))
    parts += [_written(value if isinstance(value, native.NDArray) else array(value)) for value in params.values()]
    return bytearray(b"".join(parts))


def save_param_dict_to_file(params, path):
    """Writes the bytes of parameters to a file."""
    with open(path, "wb") as file:
        file.write(save_param_dict(params))


def load_param_dict(param_bytes):
    """The parameters of bytes: a dictionary of names and tensors. ValueError if they are not parameters."""
    data = _Bytes(param_bytes)
    magic, _, count = data.numbers("QQQ")
    if magic != _LIST_MAGIC:
        raise ValueError("the bytes do not begin with the magic number of parameters")
    names = [data.read(data.numbers("Q")[0]).decode() for _ in range(count)]
    if data.numbers("Q")[0] != count:
        raise ValueError(f"the parameters have {count} names, but another number of tensors")
    return {name: _read(data) for name in names}


def load_param_dict_from_file(path):
    """The parameters of a file."""
    with open(path, "rb") as file:
        return load_param_dict(file.read())
