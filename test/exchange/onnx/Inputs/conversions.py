"""Writes a model of a few nodes: conversions.py KIND OUT."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(path, opset, nodes, inputs, outputs, initializers=(), domains=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, version) for name, version in domains)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), path)


def main():
    kind, path = sys.argv[1:]
    if kind == "labels":
        keys = helper.make_tensor("k", TensorProto.STRING, [2], [b"a", b"b"])
        values = helper.make_tensor("v", TensorProto.FLOAT, [2], [1.0, 2.0])
        node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_tensor=keys, values_tensor=values)
        model(path, 17, [node], [value("x", [3], TensorProto.STRING)], [value("y", [3])], domains=[("ai.onnx.ml", 4)])
    elif kind == "norms":
        nodes = [helper.make_node("LpNormalization", ["x"], ["y"], axis=1), helper.make_node("LpNormalization", ["x"], ["z"], axis=1, p=1)]
        x = numpy_helper.from_array(np.array([[0, 0], [3, 4]], "float32"), "x")
        model(path, 17, nodes, [], [value("y", [2, 2]), value("z", [2, 2])], [x])
    elif kind == "quotient":
        nodes = [helper.make_node("Div", ["x", "y"], ["z"])]
        model(path, 17, nodes, [value("x", ["a"], TensorProto.INT32), value("y", ["b"], TensorProto.INT32)], [value("z", [None], TensorProto.INT32)])
    elif kind == "optional":
        nodes = [helper.make_node("OptionalHasElement", ["x"], ["a"]), helper.make_node("OptionalHasElement", [], ["b"]), helper.make_node("OptionalGetElement", ["x"], ["c"])]
        model(path, 18, nodes, [value("x", [2])], [value("a", [], TensorProto.BOOL), value("b", [], TensorProto.BOOL), value("c", [2])])
    elif kind == "twice":
        model(path, 17, [helper.make_node("Abs", ["x"], ["a"])], [value("x", [2])], [value("a", [2]), value("a", [2])])
    elif kind == "indices":
        table = np.arange(400, dtype="int64").reshape(20, 20) % 20
        sizes = helper.make_tensor("t", TensorProto.INT64, table.shape, table.flatten().tolist())
        nodes = [helper.make_node("Constant", [], ["t"], value=sizes), helper.make_node("Gather", ["x", "t"], ["y"])]
        model(path, 17, nodes, [value("x", [20])], [value("y", [20, 20])])
    elif kind == "bfloat":
        nodes = [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)]
        model(path, 13, nodes, [value("x", [2])], [value("y", [2], TensorProto.BFLOAT16)])
    elif kind == "places":
        nodes = [helper.make_node("MaxPool", ["x"], ["y", "z"], kernel_shape=[2, 2])]
        model(path, 12, nodes, [value("x", [1, 1, 4, 4])], [value("y", [1, 1, 3, 3]), value("z", [1, 1, 3, 3], TensorProto.INT64)])
    elif kind == "windows":
        nodes = [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[1, 1], strides=[2, 2], ceil_mode=1)]
        model(path, 22, nodes, [value("x", [1, 1, 2, 2])], [value("y", [1, 1, 1, 1])])
    elif kind == "loop":
        body = helper.make_graph(
            [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Abs", ["v"], ["w"]), helper.make_node("Neg", ["v"], ["s"])], "b",
            [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("v", [2, 3], TensorProto.INT64)],
            [value("d", [], TensorProto.BOOL), value("w", [2, 3], TensorProto.INT64), value("s", [2, 3], TensorProto.INT64)])
        constants = [numpy_helper.from_array(np.array(0), "n"), numpy_helper.from_array(np.array(True), "yes"), numpy_helper.from_array(np.ones((2, 3), "int64"), "x")]
        model(path, 17, [helper.make_node("Loop", ["n", "yes", "x"], ["y", "z"], body=body)], [],
              [value("y", [2, 3], TensorProto.INT64), value("z", [None, 2, 3], TensorProto.INT64)], constants)
    elif kind == "repeated":
        nodes = [helper.make_node("Expand", ["x", "shape"], ["e"]), helper.make_node("Softsign", ["e"], ["y"]), helper.make_node("Neg", ["e"], ["z"])]
        model(path, 17, nodes, [value("x", [3, 1])], [value("y", [3, 4]), value("z", [3, 4])], [numpy_helper.from_array(np.array([3, 4]), "shape")])


if __name__ == "__main__":
    main()
