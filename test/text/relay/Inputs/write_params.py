"""Writes a .params file as TVM does: write_params.py FILE NAME=v,v,... makes float32 vectors."""
import struct
import sys


def main():
    arrays = [a.split("=") for a in sys.argv[2:]]
    out = struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, len(arrays))
    for name, _ in arrays:
        out += struct.pack("<Q", len(name)) + name.encode()
    out += struct.pack("<Q", len(arrays))
    for _, text in arrays:
        values = [float(v) for v in text.split(",")]
        out += struct.pack("<QQiiiBBHqq", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 2, 32, 1, len(values), 4 * len(values))
        out += struct.pack(f"<{len(values)}f", *values)
    with open(sys.argv[1], "wb") as f:
        f.write(out)


main()
