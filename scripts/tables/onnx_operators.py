"""The table of ONNX's operators, from the rows in lib/exchange/onnx."""
import glob
import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib", "exchange", "onnx")

ROW = re.compile(r'^\s*\{"(\w+)", (\d+), \w+, \w+, [\w:<>]+,\s*"([^"]+)"', re.MULTILINE)
KERNEL = re.compile(r'\{"([\w.]+)", Run\w+\}')
DEFINITION = re.compile(r'\{"([\w.]+)",\s*Define\w+,\s*"([^"]+)"\}')
OPERATOR = re.compile(r"(?<![`.])((?:R|onnx)[.][A-Za-z0-9_.]*[A-Za-z0-9_])(?!`)")


def read(pattern):
    text = ""
    for path in sorted(glob.glob(os.path.join(FOLDER, pattern))):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return text


def table():
    rows = {}
    for name, since, becomes in ROW.findall(read("ops/*.cpp")):
        rows.setdefault(name, []).append((int(since), becomes))
    kernels = set(KERNEL.findall(read("run/*.cpp")))
    defined = dict(DEFINITION.findall(read("run/*.cpp")))
    lines = ["| operator | since | translation |", "| --- | --- | --- |"]
    for name in sorted(set(rows) | kernels | set(defined)):
        versions = sorted(rows.get(name, []))
        texts = list(dict.fromkeys(becomes for _, becomes in versions)) or [f"{defined[name]}; written as ONNX, `onnx.{name}`" if name in defined else f"`onnx.{name}`"]
        since = str(versions[0][0]) if versions else ""
        text = "; ".join(texts)
        if name in kernels and "onnx." not in text:
            text += f"; in other forms `onnx.{name}`"
        quoted = OPERATOR.sub(r"`\1`", text)
        lines.append(f"| {name} | {since} | {quoted} |")
    return "\n".join(lines)
