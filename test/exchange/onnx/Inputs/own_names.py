"""Writes a model with names that are not identifiers, and its inputs: own_names.py MODEL.onnx INPUTS.npz."""
import sys

import numpy
import onnx
from onnx import helper

FLOAT = onnx.TensorProto.FLOAT
info = helper.make_tensor_value_info
nodes = [helper.make_node("Relu", ["onnx::Flatten_0"], ["Relu__1:0"]), helper.make_node("Add", ["Relu__1:0", "\u00e9"], ["out/y"]),
         helper.make_node("ReduceSum", ["out/y"], ["sum:0"], keepdims=0)]
graph = helper.make_graph(nodes, "g", [info("onnx::Flatten_0", FLOAT, ["a b"]), info("\u00e9", FLOAT, ["a b"])],
                          [info("out/y", FLOAT, ["a b"]), info("sum:0", FLOAT, [])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
x, e = numpy.float32([-1, 2]), numpy.float32([3, 4])
numpy.savez(sys.argv[2], **{"onnx::Flatten_0": x, "\u00e9": e})
base = sys.argv[2][: -len(".npz")]
numpy.savez(base + ".text.npz", onnx__Flatten_0=x, arg_1=e)
numpy.savez(base + ".numbered.npz", out0=numpy.float32([3, 6]), out1=numpy.float32([9]))
