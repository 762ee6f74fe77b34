"""Writes a conditional whose branches give strings and numbers that are known: branches.py MODEL.onnx."""
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

FLOAT, STRING = onnx.TensorProto.FLOAT, onnx.TensorProto.STRING
info = helper.make_tensor_value_info


def constant(name, value):
    return numpy_helper.from_array(numpy.array(value), name)


weights = onnx.TensorProto(name="weights", data_type=22, dims=[4, 3], raw_data=bytes(range(6)))
steps = [helper.make_node("Sin", [f"v{i}"], [f"v{i + 1}"]) for i in range(100)]
nodes = [helper.make_node("DequantizeLinear", ["weights", "scale"], ["v"]), helper.make_node("MatMul", ["x", "v"], ["v0"]), *steps,
         helper.make_node("Neg", ["v100"], ["first"])]
yes = helper.make_graph(nodes, "yes", [], [info("first", FLOAT, None), info("text", STRING, None)],
                        [weights, constant("scale", numpy.float32(0.5)), constant("text", numpy.array(["a", "b"], dtype=object))])
numbers = constant("numbers", numpy.arange(600, dtype="float32").reshape(200, 3))
no = helper.make_graph([helper.make_node("Identity", ["other"], ["texts"])], "no", [], [info("numbers", FLOAT, None), info("texts", STRING, None)],
                       [numbers, constant("other", numpy.array(["c", "d"], dtype=object))])
branches = helper.make_node("If", ["is"], ["y", "s"], then_branch=yes, else_branch=no)
graph = helper.make_graph([branches], "g", [info("x", FLOAT, ["n", 4]), info("is", onnx.TensorProto.BOOL, [])], [info("y", FLOAT, [None, 3]), info("s", STRING, [2])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8), sys.argv[1])
