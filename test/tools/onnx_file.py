"""Writes small ONNX files without the package onnx: nodes, graphs and models as bytes of protobuf."""
import struct

# The numbers of element types, by the names that NumPy has for them.
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "str": 8, "bool": 9, "float16": 10,
         "float64": 11, "uint32": 12, "uint64": 13}


class Graph(bytes):
    """The bytes of a graph, as the value of an attribute."""


def varint(number):
    number &= (1 << 64) - 1
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])


def field(number, value):
    """An integer, a text, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def single(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


def type_name(array):
    return "str" if array.dtype.kind in "UO" else array.dtype.name


def tensor(array, name=""):
    kind = TYPES[type_name(array)]
    data = fields(6, array.flatten().tolist()) if kind == 8 else field(9, array.tobytes())
    return fields(1, array.shape) + field(2, kind) + data + field(8, name)


def attribute(name, value):
    kind, data = 0, b""
    if isinstance(value, float):
        kind, data = 1, single(2, value)
    elif isinstance(value, int):
        kind, data = 2, field(3, value)
    elif isinstance(value, str):
        kind, data = 3, field(4, value)
    elif isinstance(value, Graph):
        kind, data = 5, field(6, bytes(value))
    elif not isinstance(value, list):
        kind, data = 4, field(5, tensor(value))
    elif value and isinstance(value[0], float):
        kind, data = 6, b"".join(single(7, number) for number in value)
    elif value and isinstance(value[0], str):
        kind, data = 8, fields(9, value)
    else:
        kind, data = 7, fields(8, value)
    return field(1, name) + data + field(20, kind)


def node(op, inputs, outputs, domain="", **attributes):
    listed = fields(5, [attribute(name, value) for name, value in attributes.items()])
    return fields(1, inputs) + fields(2, outputs) + field(4, op) + listed + field(7, domain)


def value(name, dtype, shape):
    """A value with its type; None as shape if it is not stated."""
    dims = b"" if shape is None else field(2, fields(1, [field(1, size) for size in shape]))
    return field(1, name) + field(2, field(1, field(1, TYPES[dtype]) + dims))


def graph(nodes, inputs, outputs, initializers=()):
    """`nodes`, `inputs` and `outputs` are encoded; `initializers` are pairs of a name and an array."""
    tensors = [tensor(array, name) for name, array in initializers]
    return Graph(fields(1, nodes) + field(2, "graph") + fields(5, tensors) + fields(11, inputs) + fields(12, outputs))


def model(encoded_graph, opset, domains=()):
    """`domains` are names of other operator sets, of version 1."""
    sets = [field(2, opset), *(field(1, name) + field(2, 1) for name in domains)]
    return field(1, 8) + field(7, bytes(encoded_graph)) + fields(8, sets)
