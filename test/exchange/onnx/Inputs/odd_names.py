"""Writes a model whose values and dimensions have names that are not identifiers, or lists the names of a model with -list."""
import sys

import onnx
from onnx import TensorProto, helper

DIMS = ["-1", "None", "max(s,1)", "7", "?", "'q'"]

if sys.argv[1] == "-list":
    graph = onnx.load(sys.argv[2]).graph
    values = list(graph.input) + list(graph.output)
    print([value.name for value in values])
    for value in values:
        print([dim.dim_param for dim in value.type.tensor_type.shape.dim])
else:
    names = ("in", "None", "return")
    first, second, result = (helper.make_tensor_value_info(name, TensorProto.FLOAT, DIMS) for name in names)
    graph = helper.make_graph([helper.make_node("Add", ["in", "None"], ["return"])], "g", [first, second], [result])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
