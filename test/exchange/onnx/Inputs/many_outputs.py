"""Writes a conditional with 40 outputs, without stated shapes: many_outputs.py MODEL.onnx."""
import sys

import onnx
from onnx import helper

FLOAT = onnx.TensorProto.FLOAT
info = helper.make_tensor_value_info


def branch(name, op):
    names = [f"{name}{i}_value" for i in range(40)]
    nodes = [helper.make_node(op, [operand], [result]) for operand, result in zip(["x", *names], names)]
    return helper.make_graph(nodes, name, [], [info(result, FLOAT, None) for result in names])


outputs = [f"y{i}" for i in range(40)]
node = helper.make_node("If", ["is"], outputs, then_branch=branch("yes", "Sin"), else_branch=branch("no", "Cos"))
graph = helper.make_graph([node], "g", [info("x", FLOAT, ["batch", "length", 4]), info("is", onnx.TensorProto.BOOL, [])], [info(name, FLOAT, None) for name in outputs])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
