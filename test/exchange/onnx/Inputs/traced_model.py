"""Writes a model whose nodes have documentation and stack traces as PyTorch's exporter notes them: traced_model.py KIND OUT.

KIND: network, with nodes that passes take apart, move and merge; merged, with several nodes that become one; scaled, with factors that go
into weights; equal, with nodes that are merged with others of the same kind; sum, which adds tensors that do not fit; noise, which has an
operator that cannot be run."""
import sys

import onnx
from onnx import helper, numpy_helper
import numpy as np

KEY = b"pkg.torch.onnx.stack_trace"


def field(number, content):
    """Of protobuf: bytes of any length."""
    length, size = len(content), b""
    while True:
        low, length = length & 127, length >> 7
        size += bytes([low | (128 if length else 0)])
        if not length:
            return bytes([number << 3 | 2]) + size + content


def node(line, kind, inputs, output, **attributes):
    made = helper.make_node(kind, inputs, [output], name=f"{kind.lower()}_{line}", doc_string=f"line {line}", **attributes)
    trace = f'File "/home/me/train.py", line 3, in <module>\n    net(x)\nFile "/home/me/model.py", line {line}, in forward\n    {output} = ...'
    made.MergeFromString(field(9, field(1, KEY) + field(2, trace.encode())))
    return made


def value(name, *shape, kind=onnx.TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def network():
    ones = np.ones(4, np.float32)
    numbers = [constant(f"n{i}", ones * np.float32(v)) for i, v in enumerate((1.5, 0.5, 0.25, 0.9))]
    first = constant("first", np.array([-4])), constant("last", np.array([2**63 - 1])), constant("axis", np.array([0]))
    weight = constant("w", np.full((3, 8, 1, 1), 0.5, np.float32))
    nodes = [node(10, "Concat", ["x", "y"], "both", axis=1),
             node(11, "Transpose", ["both"], "last_channels", perm=[0, 2, 3, 1]),
             node(12, "Relu", ["last_channels"], "positive"),
             node(13, "Transpose", ["positive"], "first_channels", perm=[0, 3, 1, 2]),
             node(14, "Conv", ["first_channels", "w"], "conv"),
             node(15, "BatchNormalization", ["x", "n0", "n1", "n2", "n3"], "normal"),
             node(16, "Relu", ["normal"], "scores"),
             node(17, "Slice", ["rows", "first", "last", "axis"], "tail"),
             node(18, "Shape", ["tail"], "size"),
             node(19, "NonZero", ["rows"], "places")]
    inputs = [value("x", 1, 4, 8, 8), value("y", 1, 4, 8, 8), value("rows", "N", 2)]
    outputs = [value("conv", 1, 3, 8, 8), value("scores", 1, 4, 8, 8), value("tail", None, 2), value("size", 2, kind=7),
               value("places", 2, None, kind=7)]
    return helper.make_graph(nodes, "traced", inputs, outputs, [*numbers, *first, weight])


def merged():
    """A norm of its steps, padding, slices of slices, a constant that is too big to fold, and the opposite of a condition."""
    vector, kernel = np.ones(4, np.float32), np.ones((1, 1, 3, 3), np.float32)
    constants = [constant("two", np.float32(2)), constant("small", np.float32(1e-5)), constant("gamma", np.float32(1.5) * vector), constant("beta", vector),
                 constant("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1])), constant("w", kernel), constant("one", np.array([1])),
                 constant("three", np.array([3])), constant("zero", np.array([0])), constant("tiny", vector[:1]), constant("far", np.array([500000, 500000]))]
    nodes = [node(10, "ReduceMean", ["x"], "mean", axes=[-1]), node(11, "Sub", ["x", "mean"], "centered"),
             node(12, "Pow", ["centered", "two"], "square"), node(13, "ReduceMean", ["square"], "variance", axes=[-1]),
             node(14, "Add", ["variance", "small"], "sum"), node(15, "Sqrt", ["sum"], "root"),
             node(16, "Div", ["centered", "root"], "normal"), node(17, "Mul", ["normal", "gamma"], "scaled"),
             node(18, "Add", ["scaled", "beta"], "norm"),
             node(20, "Pad", ["image", "pads"], "bigger"), node(21, "Pad", ["bigger", "pads"], "biggest"), node(22, "Conv", ["biggest", "w"], "conv"),
             node(30, "Slice", ["x", "one", "three", "zero"], "rows"), node(31, "Slice", ["rows", "one", "three", "one"], "part"),
             node(35, "Pad", ["tiny", "far"], "wide"), node(36, "Pad", ["wide", "far"], "wider"),
             node(40, "Not", ["c"], "other"), node(41, "Where", ["other", "x", "norm"], "choice")]
    inputs = [value("x", 4, 4), value("image", 1, 1, 8, 8), value("c", 4, 4, kind=onnx.TensorProto.BOOL)]
    outputs = [value("norm", 4, 4), value("conv", 1, 1, 10, 10), value("part", 2, 2), value("choice", 4, 4), value("wider", 2000001)]
    return helper.make_graph(nodes, "traced", inputs, outputs, constants)


def scaled():
    nodes = [node(10, "Conv", ["image", "k"], "conv"), node(11, "Reshape", ["conv", "columns"], "rows"), node(12, "MatMul", ["rows", "w"], "product"),
             node(13, "Mul", ["product", "factors"], "y"),
             node(20, "Mul", ["image", "gain"], "louder"), node(21, "Conv", ["louder", "k"], "z")]
    constants = [constant("k", np.ones((1, 1, 1, 1), np.float32)), constant("w", np.ones((4, 3), np.float32)),
                 constant("factors", np.array([1, 2, 3], np.float32)), constant("columns", np.array([-1, 4])),
                 constant("gain", np.full((1, 1, 1, 1), 2, np.float32))]
    return helper.make_graph(nodes, "traced", [value("image", 1, 1, 4, 4)], [value("y", 4, 3), value("z", 1, 1, 4, 4)], constants)


def equal():
    """Nodes that compute the same, and products of one tensor."""
    nodes = [node(10, "Exp", ["x"], "first"), node(11, "Exp", ["x"], "second"), node(12, "Neg", ["first"], "a"), node(13, "Neg", ["second"], "b"),
             node(14, "Add", ["a", "b"], "y"),
             node(20, "MatMul", ["rows", "p"], "left"), node(21, "MatMul", ["rows", "q"], "right")]
    return helper.make_graph(nodes, "traced", [value("x", 4), value("rows", 2, 4), value("p", 4, 3), value("q", 4, 3)],
                             [value("y", 4), value("left", 2, 3), value("right", 2, 3)], [])


def add():
    return helper.make_graph([node(12, "Add", ["x", "y"], "z")], "traced", [value("x", 2), value("y", 3)], [value("z", 2)])


def noise():
    return helper.make_graph([node(12, "Bernoulli", ["x"], "z")], "traced", [], [value("z", 2)], [constant("x", np.ones(2, np.float32))])


def main():
    kind, path = sys.argv[1:]
    graph = {"network": network, "merged": merged, "scaled": scaled, "equal": equal, "sum": add, "noise": noise}[kind]()
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


if __name__ == "__main__":
    main()
