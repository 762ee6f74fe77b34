"""Writes tensors: tensors.py FILE.npz NAME=DTYPE:SHAPE:VALUES ..., as in x=float32:2,2:1,2,3,4; a shape may be empty.
A name that ends in .npy instead of .npz gets the one tensor that is given; its name does not count."""
import struct
import sys
import zipfile

CODES = {"float32": "<f4", "float64": "<f8", "int32": "<i4", "int64": "<i8", "bool": "|b1"}
PACK = {"float32": "f", "float64": "d", "int32": "i", "int64": "q", "bool": "?"}


def npy(dtype, shape, values):
    head = repr({"descr": CODES[dtype], "fortran_order": False, "shape": tuple(shape)}).encode() + b"\n"
    numbers = [float(v) if dtype.startswith("float") else int(v) for v in values]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(numbers)}{PACK[dtype]}", *numbers)


def split(text):
    return text.split(",") if text else []


arrays = {}
for argument in sys.argv[2:]:
    name, _, rest = argument.partition("=")
    dtype, shape, values = rest.split(":")
    arrays[name] = npy(dtype, [int(d) for d in split(shape)], split(values))
if sys.argv[1].endswith(".npy"):
    with open(sys.argv[1], "wb") as f:
        f.write(*arrays.values())
else:
    with zipfile.ZipFile(sys.argv[1], "w") as archive:
        for name, contents in arrays.items():
            archive.writestr(name + ".npy", contents)
