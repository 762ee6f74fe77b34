"""Writes a model with its weights in another file of the folder: external.py FOLDER."""
import os
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

info = helper.make_tensor_value_info
weights = numpy.arange(1200, dtype="float32").reshape(4, 300)
tensors = [numpy_helper.from_array(weights, "kept"), numpy_helper.from_array(weights, "folded")]
nodes = [helper.make_node("Neg", ["folded"], ["negated"]), helper.make_node("MatMul", ["x", "negated"], ["a"]), helper.make_node("MatMul", ["x", "kept"], ["b"]),
         helper.make_node("Max", ["a", "b"], ["y"])]
graph = helper.make_graph(nodes, "g", [info("x", 1, ["n", 4])], [info("y", 1, ["n", 300])], tensors)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, os.path.join(sys.argv[1], "a.onnx"), save_as_external_data=True, location="b.onnx.data", size_threshold=0)
