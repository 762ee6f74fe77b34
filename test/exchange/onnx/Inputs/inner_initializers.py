"""Prints the initializers of a model and of the graphs in its nodes, whether it is not larger than another one, and the inputs of their first nodes:
inner_initializers.py BEFORE.onnx AFTER.onnx."""
import os
import sys

import onnx


def listed(graph):
    return [(tensor.name, list(tensor.dims)) for tensor in graph.initializer]


before, after = sys.argv[1:]
main = onnx.load(after).graph
print("outer", listed(main))
for node in main.node:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            print(attribute.name, listed(attribute.g), list(attribute.g.node[0].input))
print(os.path.getsize(after) <= 1.01 * os.path.getsize(before) + 1024)
