"""A model with weights of 4 bits in another file, whose last byte has bits that belong to no element."""
import os
import sys

import onnx
from onnx import TensorProto, helper

FOLDER = sys.argv[1]
SHAPE = [5, 3277]
BYTES = (SHAPE[0] * SHAPE[1] + 1) // 2
with open(os.path.join(FOLDER, "a.bin"), "wb") as file:
    file.write(b"\0" * 64 + bytes(i % 251 for i in range(BYTES - 1)) + b"\xf5")
weights = TensorProto(name="w", data_type=22, dims=SHAPE, data_location=TensorProto.EXTERNAL)
for key, value in (("location", "a.bin"), ("offset", "64"), ("length", str(BYTES))):
    weights.external_data.add(key=key, value=value)
scale = helper.make_tensor("s", TensorProto.FLOAT, [SHAPE[1]], [0.5] * SHAPE[1])
nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=1), helper.make_node("MatMul", ["x", "d"], ["y"])]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", SHAPE[0]])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", SHAPE[1]])], [weights, scale])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
with open(os.path.join(FOLDER, "a.onnx"), "wb") as file:
    file.write(model.SerializeToString())
