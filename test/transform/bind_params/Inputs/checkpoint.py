"""Writes a checkpoint with more tensors than a model has parameters, and maps of names: checkpoint.py FOLDER."""
import json
import os
import struct
import sys

folder = sys.argv[1]


def write(name, text):
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)


names = ["layers.0.weight", "layers.0.step", "head"]
header = json.dumps(
    {name: {"dtype": "F32", "shape": [2], "data_offsets": [8 * i, 8 * i + 8]} for i, name in enumerate(names)}
).encode()
header += b" " * (-len(header) % 8)
with open(os.path.join(folder, "checkpoint.safetensors"), "wb") as f:
    f.write(struct.pack("<Q", len(header)) + header + struct.pack("<6f", 1, 2, 3, 4, 5, 6))
write("names.json", '{"head": "w2"}')
write("list.json", '["head"]')
write("number.json", '{"head": 3}')
write("twice.json", '{"head": "w2", "head": "w1"}')
options = {"params": "checkpoint.safetensors", "names": "names.json", "ignore_unknown": True}
write("pipeline.json", json.dumps({"passes": [{"name": "BindParams", "options": options}]}))
