"""Writes files of weights that are damaged to the folder that is the argument."""
import io
import os
import struct
import sys
import zipfile

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def npy(header, elements=b""):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + elements


def zipped(method):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }", bytes(256)))
    return stream.getvalue()


def changed(archive, field, value):
    """The archive with another value of a field of its directory."""
    at = archive.index(b"PK\x01\x02") + field
    return archive[:at] + struct.pack("<H", value) + archive[at + 2:]


def tvm_params(names, arrays):
    """The parameters of TVM: a list of names, then of arrays."""
    out = struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, len(names))
    for name in names:
        out += struct.pack("<Q", len(name)) + name
    return out + struct.pack("<Q", len(arrays)) + b"".join(arrays)


ARRAY = 0xDD5E40F096B4A13F
stored, deflated = zipped(zipfile.ZIP_STORED), zipped(zipfile.ZIP_DEFLATED)
files = {
    "header.npy": npy("{'descr': 1}"),
    "huge.npy": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }"),
    "not.npz": b"text",
    "missing.npz": stored.replace(b"PK\x01\x02", b"PK\x01\x03"),
    "lost.npz": changed(stored, 42, 5),
    "cut_off.npz": changed(stored, 28, 0xFFFF),
    "fields.npz": changed(stored, 30, 6),
    "packed.npz": deflated[:40] + b"\xff\xff\xff\xff" + deflated[44:],
    "count.params": tvm_params([b"a", b"b"], [b""]),
    "damaged.params": tvm_params([b"a"], [bytes(64)]),
    "dtype.params": tvm_params([b"a"], [struct.pack("<QQiiiBBH", ARRAY, 0, 1, 0, 0, 99, 32, 1) + bytes(16)]),
}
for name, contents in files.items():
    with open(os.path.join(folder, name), "wb") as file:
        file.write(contents)
