"""Writes models whose attributes are too great to the folder that is the argument."""
import os
import sys

import onnx
from onnx import helper

FLOAT = onnx.TensorProto.FLOAT


def save(name, op, dims, constants=(), **attributes):
    initializers = [helper.make_tensor(f"c{i}", kind, shape, values) for i, (kind, shape, values) in enumerate(constants)]
    node = helper.make_node(op, ["x", *(tensor.name for tensor in initializers)], ["y"], **attributes)
    info = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [info("x", FLOAT, dims)], [info("y", FLOAT, [None] * len(dims))], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, os.path.join(sys.argv[1], f"{name}.onnx"))


os.makedirs(sys.argv[1], exist_ok=True)
save("depth_to_space", "DepthToSpace", [1, 4, 2, 2], blocksize=2**32)
save("space_to_depth", "SpaceToDepth", [1, 4, 0, 0], blocksize=2**32)
save("window", "MaxPool", [1, 4, 8, 8], kernel_shape=[2, 2], dilations=[2**62, 1])
save("output_padding", "ConvTranspose", [1, 1, 2, 2], [(FLOAT, [1, 1, 2, 2], [1] * 4)], output_padding=[2**63 - 1, 0])
save("unpool", "MaxUnpool", [1, 1, 2, 2], [(onnx.TensorProto.INT64, [1, 1, 2, 2], [0] * 4)], kernel_shape=[2, 2],
     strides=[2**62, 2**62])
