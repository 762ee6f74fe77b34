#!/usr/bin/env python3
"""Compares ONNX files: nodes by operator, bytes of weights and size of the file.

    onnx_nodes.py BEFORE.onnx [AFTER.onnx...]

Needs nothing but Python. Nodes in branches and in bodies of loops count, too.
"""
import mmap
import os
import sys
from collections import Counter

# Fields of the messages of ONNX.
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER = 1, 5
NODE_OPERATOR, NODE_ATTRIBUTE, NODE_DOMAIN = 4, 5, 7
ATTRIBUTE_GRAPHS = (6, 11)
TENSOR_RAW_DATA = 9
TYPED_DATA = {4, 5, 6, 7, 10, 11}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data, begin, end):
    """Numbers and places of the fields of a message; the place of one that is not bytes is empty."""
    while begin < end:
        key, begin = varint(data, begin)
        kind = key & 7
        if kind == 0:
            _, after = varint(data, begin)
            yield key >> 3, begin, begin
        elif kind == 2:
            size, begin = varint(data, begin)
            after = begin + size
            yield key >> 3, begin, after
        elif kind in (1, 5):
            after = begin + (8 if kind == 1 else 4)
            yield key >> 3, begin, begin
        else:
            raise ValueError(f"a field of kind {kind}")
        if after > end:
            raise ValueError("a field that does not end")
        begin = after


class Contents:
    """What the graphs of a model consist of."""

    def __init__(self, path):
        self.operators = Counter()
        self.weight_bytes = 0
        self.file_bytes = os.path.getsize(path)
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as self.data:
            self.read_all(0, self.file_bytes, {MODEL_GRAPH: self.read_graph})

    def read_all(self, begin, end, readers):
        for number, start, stop in fields(self.data, begin, end):
            if number in readers:
                readers[number](start, stop)

    def read_graph(self, begin, end):
        self.read_all(begin, end, {GRAPH_NODE: self.read_node, GRAPH_INITIALIZER: self.read_tensor})

    def read_node(self, begin, end):
        names = {NODE_OPERATOR: "", NODE_DOMAIN: ""}
        for number, start, stop in fields(self.data, begin, end):
            if number in names:
                names[number] = self.data[start:stop].decode()
            elif number == NODE_ATTRIBUTE:
                self.read_all(start, stop, dict.fromkeys(ATTRIBUTE_GRAPHS, self.read_graph))
        domain = names[NODE_DOMAIN]
        self.operators[(f"{domain}." if domain not in ("", "ai.onnx") else "") + names[NODE_OPERATOR]] += 1

    def read_tensor(self, begin, end):
        self.weight_bytes += sum(stop - start for number, start, stop in fields(self.data, begin, end)
                                 if number == TENSOR_RAW_DATA or number in TYPED_DATA)


def table(models):
    """Rows of texts: the operators, most of them first, then the sums."""
    names = sorted(set().union(*(model.operators for model in models)),
                   key=lambda name: (-max(model.operators[name] for model in models), name))
    rows = [[name, *(str(model.operators[name]) for model in models)] for name in names]
    rows.append(["nodes", *(str(sum(model.operators.values())) for model in models)])
    rows.append(["MB of weights", *(f"{model.weight_bytes / 1e6:.3f}" for model in models)])
    rows.append(["MB of the file", *(f"{model.file_bytes / 1e6:.3f}" for model in models)])
    return rows


def main():
    paths = sys.argv[1:]
    if paths[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    if not paths or paths[0].startswith("-"):
        sys.exit(__doc__)
    try:
        models = [Contents(path) for path in paths]
    except (OSError, ValueError, IndexError) as error:
        sys.exit(f"onnx_nodes: not an ONNX file: {error}")
    heads = [os.path.basename(path) for path in paths]
    width = max(14, *map(len, heads)) + 2
    for row in [["", *heads], *table(models)]:
        print(f"{row[0]:<22}" + "".join(f"{cell:>{width}}" for cell in row[1:]))


if __name__ == "__main__":
    main()
