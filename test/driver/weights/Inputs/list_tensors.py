"""Prints the metadata and the tensors of a .safetensors file in the order of its header: list_tensors.py FILE."""
import json
import struct
import sys

with open(sys.argv[1], "rb") as f:
    (size,) = struct.unpack("<Q", f.read(8))
    header = json.loads(f.read(size))
for key, value in header.pop("__metadata__", {}).items():
    print(f"{key}: {value}")
for name, entry in header.items():
    print(name, entry["dtype"], entry["shape"])
print(len(header), "tensors")
