"""bomb.py ARCHIVE [--stated=SHAPE] [--header=BYTES] [--bytes=N]: an archive with the array 'x' of float32, whose header
states another size than it has."""
import argparse
import struct
import zipfile

parser = argparse.ArgumentParser()
parser.add_argument("archive")
parser.add_argument("--stated", default="4")
parser.add_argument("--header", type=int, default=0)
parser.add_argument("--bytes", type=int)
args = parser.parse_args()

PART = 1 << 20
text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % args.stated
text += " " * ((64 - (len(text) + 11) % 64) % 64 + args.header) + "\n"
version = b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) if args.header else b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text))
with zipfile.ZipFile(args.archive, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w", force_zip64=True) as entry:
    entry.write(version + text.encode())
    for begin in range(0, args.bytes, PART):
        entry.write(bytes(min(PART, args.bytes - begin)))
