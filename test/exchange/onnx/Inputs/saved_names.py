"""Writes a model with two names that have one identifier, and its inputs: saved_names.py MODEL.onnx INPUTS.npz."""
import sys

import numpy
import onnx
from onnx import helper

FLOAT = onnx.TensorProto.FLOAT
info = helper.make_tensor_value_info
nodes = [helper.make_node("Abs", ["x"], ["a/b"]), helper.make_node("Neg", ["a/b"], ["a.b"]),
         helper.make_node("Add", ["a/b", "a.b"], ["plain"])]
graph = helper.make_graph(nodes, "g", [info("x", FLOAT, [2])], [info("plain", FLOAT, [2])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
numpy.savez(sys.argv[2], x=numpy.float32([-1, 2]))
