#!/usr/bin/env python3
"""Draws the icon of the extension of VS Code, editors/vscode/icon.png: blocks that a pass fuses into one."""
import os
import struct
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZE = 128
BACKGROUND, BEFORE, AFTER = (24, 32, 48), (120, 144, 180), (64, 200, 140)
# Left, top, right, bottom, color.
RECTANGLES = [(16, 16, 48, 48, BEFORE), (80, 16, 112, 48, BEFORE), (16, 80, 112, 112, AFTER), (28, 48, 36, 80, BEFORE),
              (92, 48, 100, 80, BEFORE)]


def color_at(x, y):
    for left, top, right, bottom, color in RECTANGLES:
        if left <= x < right and top <= y < bottom:
            return color
    return BACKGROUND


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def main():
    rows = b"".join(b"\0" + b"".join(bytes(color_at(x, y)) for x in range(SIZE)) for y in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    with open(os.path.join(ROOT, "editors/vscode/icon.png"), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    main()
