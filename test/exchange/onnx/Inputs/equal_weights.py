"""Writes a conditional whose branches dequantize equal weights, each its own or those of the outer graph:
equal_weights.py MODEL.onnx TYPE own|outer."""
import sys

import onnx
from onnx import helper

FLOAT = onnx.TensorProto.FLOAT
info = helper.make_tensor_value_info
path, kind, place = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def tensors(suffix):
    parts = [("weights", kind, [64, 8], bytes(range(256)) * 2), ("scales", FLOAT, [2, 8], bytes([0, 0, 0, 63]) * 16), ("zeros", kind, [2, 8], bytes(range(16)))]
    return [onnx.TensorProto(name=name + suffix, data_type=of, dims=dims, raw_data=data if of != 22 else data[:len(data) // 2]) for name, of, dims, data in parts]


def branch(suffix, op):
    own = suffix if place == "own" else ""
    nodes = [helper.make_node("DequantizeLinear", ["weights" + own, "scales" + own, "zeros" + own], ["v" + suffix], axis=0, block_size=32),
             helper.make_node("MatMul", ["x", "v" + suffix], ["m" + suffix]), helper.make_node(op, ["m" + suffix], ["o" + suffix])]
    return helper.make_graph(nodes, "branch" + suffix, [], [info("o" + suffix, FLOAT, None)], tensors(own) if own else [])


branches = helper.make_node("If", ["is"], ["y"], then_branch=branch("_a", "Sin"), else_branch=branch("_b", "Neg"))
graph = helper.make_graph([branches], "g", [info("x", FLOAT, ["n", 64]), info("is", onnx.TensorProto.BOOL, [])], [info("y", FLOAT, ["n", 8])],
                          [] if place == "own" else tensors(""))
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8), path)
