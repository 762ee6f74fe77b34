"""Writes damaged versions of a text and of its weights: damage.py FOLDER, which has good.ir and good.safetensors."""
import json
import os
import struct
import sys

folder = sys.argv[1]


def path(name):
    return os.path.join(folder, name)


with open(path("good.ir")) as f:
    text = f.read()
with open(path("good.safetensors"), "rb") as f:
    (size,) = struct.unpack("<Q", f.read(8))
    header = json.loads(f.read(size))
    data = f.read()
del header["__metadata__"]
(name, entry), = header.items()


def write(base, header, data):
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(path(base + ".safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + data)


def write_text(base, changed):
    with open(path(base + ".ir"), "w") as f:
        f.write(changed)


write("renamed", {name[:-1] + "x": entry}, data)
write("dtype", {name: {**entry, "dtype": "I32"}}, data)
write("shape", {name: {**entry, "shape": [4, 1]}}, data)
write("cut", header, data[:-1])
write("changed", header, b"\x01" + data[1:])
# One byte before the data, so that the tensor is not aligned.
write("unaligned", {"pad": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                    name: {**entry, "data_offsets": [1, 1 + len(data)]}}, b"\0" + data)
at = text.index("xxh128:")
write_text("hash", text[:at] + "md5:00" + text[at + 6 :])
write_text("other_hash", text[: at + 8] + ("1" if text[at + 8] == "0" else "0") + text[at + 9 :])
write_text("device", text.replace("good.safetensors", "/dev/zero"))
os.mkfifo(path("pipe"))
write_text("pipe", text.replace("good.safetensors", "pipe"))
write_text("folder", text.replace("good.safetensors", "."))
write_text("no_file", text.replace("weights_file", "weights_elif"))
write_text("no_name", text.replace("weights_name", "weights_eman"))
