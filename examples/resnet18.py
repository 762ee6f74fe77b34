#!/usr/bin/env python3
"""Writes a ResNet-18 as an ONNX file, with random weights and with batch norms
after the convolutions.

    resnet18.py [--size 224] [--classes 1000] OUT.onnx

Names and shapes are those of the model in torchvision. The weights repeat a
short block of random numbers, so that the file, of 47 MB, is written in a
moment. Needs nothing but Python: the messages of protobuf are put together
here.
"""
import argparse
import math
import random
import struct

FLOAT = 1
# Types of attributes.
KINDS = {float: 1, int: 2, list: 7}
STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))
BLOCK = 4093


def varint(value):
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(data + bytes([value]))


def field(number, value):
    """A field of a message: an integer, a float, a text, or a message or a list of numbers as bytes."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*fields):
    return b"".join(field(number, value) for number, value in fields)


def attribute(name, value):
    if isinstance(value, list):
        values = [(8, item) for item in value]
    else:
        values = [(2 if isinstance(value, float) else 3, value)]
    return message((1, name), *values, (20, KINDS[type(value)]))


def value_info(name, shape):
    dims = message(*((1, message((1, size))) for size in shape))
    return message((1, name), (2, message((1, message((1, FLOAT), (2, dims))))))


class Graph:
    def __init__(self):
        self.nodes = []
        self.initializers = []

    def weights(self, name, shape, low, high):
        generator = random.Random(name)
        block = struct.pack(f"<{BLOCK}f", *(generator.uniform(low, high) for _ in range(BLOCK)))
        size = 4 * math.prod(shape)
        data = (block * (size // len(block) + 1))[:size]
        self.initializers.append(message(*((1, dim) for dim in shape), (2, FLOAT), (8, name), (9, data)))
        return name

    def node(self, kind, name, operands, **attributes):
        attributes = [(5, attribute(*item)) for item in attributes.items()]
        self.nodes.append(message(*((1, operand) for operand in operands), (2, name), (3, name), (4, kind), *attributes))
        return name

    def conv(self, name, data, sizes, kernel, stride):
        bound = math.sqrt(6 / (sizes[1] * kernel * kernel))
        weight = self.weights(f"{name}.weight", [*sizes, kernel, kernel], -bound, bound)
        return self.node("Conv", name, [data, weight], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4)

    def batch_norm(self, name, data, channels):
        parameters = (("weight", 0.5, 1.5), ("bias", -0.2, 0.2), ("running_mean", -0.2, 0.2), ("running_var", 0.5, 1.5))
        names = [self.weights(f"{name}.{part}", [channels], low, high) for part, low, high in parameters]
        return self.node("BatchNormalization", name, [data, *names], epsilon=1e-5)

    def conv_norm(self, prefix, suffix, data, sizes, kernel, stride):
        return self.batch_norm(f"{prefix}bn{suffix}", self.conv(f"{prefix}conv{suffix}", data, sizes, kernel, stride), sizes[0])

    def block(self, name, data, inputs, outputs, stride):
        first = self.conv_norm(f"{name}.", "1", data, (outputs, inputs), 3, stride)
        relu = self.node("Relu", f"{name}.relu1", [first])
        second = self.conv_norm(f"{name}.", "2", relu, (outputs, outputs), 3, 1)
        if stride != 1 or inputs != outputs:
            short = self.conv(f"{name}.downsample.0", data, (outputs, inputs), 1, stride)
            data = self.batch_norm(f"{name}.downsample.1", short, outputs)
        return self.node("Relu", f"{name}.relu2", [self.node("Add", f"{name}.add", [second, data])])


def resnet18(size, classes):
    graph = Graph()
    first = graph.conv_norm("", "1", "input", (64, 3), 7, 2)
    value = graph.node("MaxPool", "maxpool", [graph.node("Relu", "relu", [first])], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for i, (outputs, stride) in enumerate(STAGES, 1):
        for j in range(2):
            value = graph.block(f"layer{i}.{j}", value, inputs, outputs, stride if j == 0 else 1)
            inputs = outputs
    flat = graph.node("Flatten", "flatten", [graph.node("GlobalAveragePool", "avgpool", [value])])
    weight = graph.weights("fc.weight", [classes, inputs], -0.05, 0.05)
    graph.node("Gemm", "output", [flat, weight, graph.weights("fc.bias", [classes], -0.05, 0.05)], transB=1)
    return message(*((1, node) for node in graph.nodes), (2, "resnet18"), *((5, data) for data in graph.initializers),
                   (11, value_info("input", [1, 3, size, size])), (12, value_info("output", [1, classes])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=224, help="height and width of the image")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("output")
    options = parser.parse_args()
    # IR version 8 and operator set 17.
    model = message((1, 8), (2, "resnet18.py"), (7, resnet18(options.size, options.classes)), (8, message((1, ""), (2, 17))))
    with open(options.output, "wb") as file:
        file.write(model)


if __name__ == "__main__":
    main()
