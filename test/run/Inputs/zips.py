"""Archives with the inputs of affine.ir, in forms that zip has."""
import struct
import zipfile



def npy(shape, size):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(4 * size)


def write(name, method=zipfile.ZIP_STORED, comment=b"", large=False):
    with zipfile.ZipFile(name, "w", method) as archive:
        archive.comment = comment
        for tensor, contents in (("x.npy", npy((3, 2), 6)), ("b.npy", npy((2,), 2))):
            with archive.open(tensor, "w", force_zip64=large) as entry:
                entry.write(contents)


def patch(source, target, change):
    with open(source, "rb") as file:
        data = bytearray(file.read())
    change(data, data.index(b"PK\x01\x02"))
    with open(target, "wb") as file:
        file.write(data)


def flag(data, entry):
    data[entry + 8] |= 1


def overlap(data, entry):
    """Both entries have nearly all of the file."""
    for at in (entry, data.index(b"PK\x01\x02", entry + 1)):
        data[at + 20:at + 24] = struct.pack("<I", len(data) * 2 // 3)
        data[at + 42:at + 46] = bytes(4)


def size(data, entry):
    data[entry + 24] += 1


write("comment.npz", comment=b"PK\x05\x06 is in this comment")
write("deflated.npz", zipfile.ZIP_DEFLATED)
write("large.npz", large=True)
write("lzma.npz", zipfile.ZIP_LZMA)
patch("comment.npz", "encrypted.npz", flag)
patch("comment.npz", "size.npz", size)
patch("deflated.npz", "overlap.npz", overlap)
