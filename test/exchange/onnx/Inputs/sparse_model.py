"""Writes a model with a sparse initializer, one that is transposed, and a small one: sparse_model.py MODEL.onnx INPUTS.npz."""
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

FLOAT = onnx.TensorProto.FLOAT
info = helper.make_tensor_value_info


def sparse(name, places, values, dims):
    elements = numpy_helper.from_array(numpy.array(values, "float32"), name)
    return helper.make_sparse_tensor(elements, numpy_helper.from_array(numpy.array(places, "int64")), dims)


nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Transpose", ["t"], ["u"]), helper.make_node("MatMul", ["a", "u"], ["b"]),
         helper.make_node("Relu", ["b"], ["r"]),
         helper.make_node("Add", ["r", "few"], ["y"])]
graph = helper.make_graph(nodes, "g", [info("x", FLOAT, ["n", 40])], [info("y", FLOAT, ["n", 3])], sparse_initializer=[
    sparse("w", [0, 5, 1199], [1, 2, -0.0], [40, 30]), sparse("t", [[0, 0], [2, 29]], [3, 4], [3, 30]), sparse("few", [1], [2], [3])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), sys.argv[1])
numpy.savez(sys.argv[2], x=numpy.arange(80, dtype="float32").reshape(2, 40))
