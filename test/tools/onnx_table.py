#!/usr/bin/env python3
"""Checks that the table of operators in docs/onnx.md is that of the sources; with --write, replaces it.

    onnx_table.py SOURCE_FOLDER docs/onnx.md [--write]
"""
import glob
import os
import re
import sys

ROW = re.compile(r'^\s*\{"(\w+)", (\d+), \w+, \w+, [\w:<>]+,\s*"([^"]+)"', re.MULTILINE)
KERNEL = re.compile(r'^\s*\{"([\w.]+)", Run\w+\},?', re.MULTILINE)
OPERATOR = re.compile(r"(?<![`.])((?:R|onnx)[.][A-Za-z0-9_.]*[A-Za-z0-9_])(?!`)")
BEGIN = "<!-- The table is written by test/tools/onnx_table.py. -->\n"
END = "<!-- End of the table. -->\n"


def read(folder, pattern):
    text = ""
    for path in sorted(glob.glob(os.path.join(folder, pattern))):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return text


def table(folder):
    rows = {}
    for name, since, becomes in ROW.findall(read(folder, "ops/*.cpp")):
        rows.setdefault(name, []).append((int(since), becomes))
    kernels = set(KERNEL.findall(read(folder, "run/*.cpp")))
    lines = ["| operator | since | translation |", "| --- | --- | --- |"]
    for name in sorted(set(rows) | kernels):
        versions = sorted(rows.get(name, []))
        texts = list(dict.fromkeys(becomes for _, becomes in versions)) or [f"`onnx.{name}`"]
        since = str(versions[0][0]) if versions else ""
        text = "; ".join(texts)
        if name in kernels and "onnx." not in text:
            text += f"; in other forms `onnx.{name}`"
        quoted = OPERATOR.sub(r"`\1`", text)
        lines.append(f"| {name} | {since} | {quoted} |")
    return "\n".join(lines) + "\n"


def main():
    folder, document = sys.argv[1:3]
    with open(document, encoding="utf-8") as file:
        text = file.read()
    begin = text.index(BEGIN) + len(BEGIN)
    end = text.index(END)
    expected = "\n" + table(folder) + "\n"
    if text[begin:end] == expected:
        return 0
    if sys.argv[3:] == ["--write"]:
        with open(document, "w", encoding="utf-8") as file:
            file.write(text[:begin] + expected + text[end:])
        return 0
    print(f"{document}: the table of operators is not that of the sources; run {sys.argv[0]} ... --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
