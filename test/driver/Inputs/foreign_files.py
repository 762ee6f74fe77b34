"""Writes files that are not modules to the folder that is the argument."""
import json
import os
import struct
import sys
import zipfile

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
header = json.dumps({"w": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}).encode()
files = {"model.tflite": b"\x1c\0\0\0TFL3" + bytes(20), "weights.safetensors": struct.pack("<Q", len(header)) + header + bytes(4),
         "tree.json": b'{\n  "nodes": []\n}\n', "other": bytes(range(256))}
files |= {"model.mlir": b"// A model.\n#map = affine_map<(d0) -> (d0)>\nmodule {\n}\n", "code.ll": b"; ModuleID = 'a'\n", "code.bc": b"BC\xc0\xde" + bytes(8),
          "saved_model.pb": b"\x08\x01\x12\x04abcd", "old.pt": b"\x80\x03}q\0.", "model.gguf": b"GGUF\3\0\0\0"}
files |= {"model.h5": b"\x89HDF\r\n\x1a\n", "model.ir.gz": b"\x1f\x8b\x08\0", "a.npy": b"\x93NUMPY\1\0", "program": b"\x7fELF\2\1"}
for name, contents in files.items():
    with open(os.path.join(folder, name), "wb") as file:
        file.write(contents)
with zipfile.ZipFile(os.path.join(folder, "model.pt"), "w") as archive:
    archive.writestr("model/data.pkl", b"\x80\x02}q\0.")
with zipfile.ZipFile(os.path.join(folder, "arrays.npz"), "w") as archive:
    archive.writestr("a.npy", b"\x93NUMPY")
with zipfile.ZipFile(os.path.join(folder, "texts.zip"), "w") as archive:
    archive.writestr("a.txt", b"a")
