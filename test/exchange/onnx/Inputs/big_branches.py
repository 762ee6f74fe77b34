"""A conditional whose branches give constants of 90 kB."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPE = [150, 150]


def branch(name, number):
    value = numpy_helper.from_array(np.full(SHAPE, number, np.float32))
    constant = helper.make_node("Constant", [], [name], value=value)
    return helper.make_graph([constant], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE)])


node = helper.make_node("If", ["c"], ["y"], then_branch=branch("t", 1), else_branch=branch("e", 2))
graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, SHAPE)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
