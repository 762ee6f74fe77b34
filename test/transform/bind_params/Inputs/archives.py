"""Writes the archives of the tests into a folder: archives.py FOLDER."""
import json
import os
import struct
import sys
import zipfile

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def npy(descr, shape, data, fortran_order=False):
    head = repr({"descr": descr, "fortran_order": fortran_order, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def npz(name, entries, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(os.path.join(folder, name), "w", compression) as archive:
        for entry, contents in entries.items():
            archive.writestr(entry, contents)


def safetensors(name, header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    with open(os.path.join(folder, name), "wb") as f:
        f.write(struct.pack("<Q", len(text) if length is None else length) + text + data)


floats = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
weights = {
    "w.npy": npy(">f4", (2, 3), struct.pack(">6f", 1, 4, 2, 5, 3, 6), fortran_order=True),
    "b.npy": npy("<f4", (3,), struct.pack("<3f", 0, 1, 2)),
}
npz("stored.npz", weights)
npz("deflated.npz", weights, zipfile.ZIP_DEFLATED)
npz("nested.npz", {"w.npy": b"PK\x03\x04"})
npz("complex.npz", {"w.npy": npy("<c8", (1,), bytes(8))})
npz("objects.npz", {"w.npy": npy("|O", (1,), bytes(8))})
npz("short.npz", {"w.npy": npy("<f4", (2, 3), bytes(20))})
npz("huge.npz", {"w.npy": npy("<f4", (1 << 40, 1 << 40), bytes(20))})
npz("text.npz", {"readme.txt": b"hello, this is not an array"})
with open(os.path.join(folder, "stored.npz"), "rb") as f:
    whole = f.read()
with open(os.path.join(folder, "cut.npz"), "wb") as f:
    f.write(whole[:-30])
with open(os.path.join(folder, "flipped.npz"), "wb") as f:
    at = whole.index(struct.pack("<3f", 0, 1, 2))
    f.write(whole[:at] + b"\x01" + whole[at + 1 :])
with open(os.path.join(folder, "text.npz.txt"), "wb") as f:
    f.write(b"nothing")

header = {
    "__metadata__": {"format": "pt"},
    "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
    "b": {"dtype": "F32", "shape": [3], "data_offsets": [24, 36]},
}
data = struct.pack("<9f", *floats, 0, 1, 2)
safetensors("good.safetensors", header, data)
safetensors("cut.safetensors", header, data[:-1])
safetensors("header.safetensors", header, data, length=1 << 62)
safetensors("json.safetensors", b"[1, 2", b"")
safetensors("dtype.safetensors", {"w": {"dtype": "F31", "shape": [], "data_offsets": [0, 4]}}, bytes(4))
safetensors("size.safetensors", {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, bytes(4))
safetensors("offsets.safetensors", {"w": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}, bytes(4))
safetensors("twice.safetensors", b'{"w": {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]}, "w": {}}', bytes(4))
safetensors(
    "narrow.safetensors",
    {
        "h": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]},
        "q": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [4, 6]},
        "t": {"dtype": "BOOL", "shape": [], "data_offsets": [6, 7]},
        "i": {"dtype": "I64", "shape": [1], "data_offsets": [7, 15]},
    },
    struct.pack("<HHBB?q", 0x3F80, 0xC000, 0x38, 0xC0, True, -5),
)
