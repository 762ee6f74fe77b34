#!/usr/bin/env python3
"""bytes.py KIND prints a module in bytes that are unusual or no text."""
import sys

TEXT = b"""@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")):
        y = R.exp(x)
        return y
"""

KINDS = {
    "binary": bytes(range(256)) * 20,
    "latin1": TEXT.replace(b"R.exp", b"R.\xe9xp"),
    "latin1_comment": b"# caf\xe9\n" + TEXT,
    "nul": TEXT.replace(b"R.exp", b"R.\0exp"),
    "utf16": b"\xff\xfe" + TEXT.decode().encode("utf-16-le"),
    "cut_character": TEXT + b"# \xe2\x82",
    "overlong": TEXT + b"# \xc0\xaf",
    "byte_order_mark": b"\xef\xbb\xbf" + TEXT,
    "crlf": TEXT.replace(b"\n", b"\r\n"),
    "tabs": TEXT.replace(b"    ", b"\t"),
    "form_feed": b"\f\n" + TEXT,
    "no_newline": TEXT.rstrip(b"\n"),
    "unicode_comment": "# caf\u00e9 \u20ac \U0001f600\n".encode() + TEXT,
}

sys.stdout.buffer.write(KINDS[sys.argv[1]])
