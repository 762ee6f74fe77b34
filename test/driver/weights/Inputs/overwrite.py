"""Overwrites the data of a .safetensors file with zeros: overwrite.py FILE."""
import struct
import sys

with open(sys.argv[1], "r+b") as f:
    (size,) = struct.unpack("<Q", f.read(8))
    f.seek(0, 2)
    end = f.tell()
    f.seek(8 + size)
    f.write(bytes(end - 8 - size))
