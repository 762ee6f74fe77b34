"""Writes models with an error each to the folder that is the argument."""
import os
import sys

import onnx
from onnx import helper

FLOAT = onnx.TensorProto.FLOAT
folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def info(name, dims):
    return helper.make_tensor_value_info(name, FLOAT, dims)


def model(nodes, inputs, initializers=(), functions=()):
    graph = helper.make_graph(nodes, "g", inputs, [info("y", [2])], list(initializers))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, functions=list(functions), opset_imports=opsets)


def save(name, value):
    with open(os.path.join(folder, f"{name}.onnx"), "wb") as file:
        file.write(value if isinstance(value, bytes) else value.SerializeToString())


def external(location, offset):
    tensor = onnx.TensorProto(name="w", data_type=FLOAT, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset))):
        tensor.external_data.add(key=key, value=value)
    return tensor


add = helper.make_node("Add", ["x", "w"], ["y"], "sum")
good = model([add], [info("x", [2])], [helper.make_tensor("w", FLOAT, [2], [1, 2])])
save("truncated", good.SerializeToString()[:-20])
save("empty", b"")
relu = helper.make_node("Relu", ["x"], ["a"], "first")
save("undefined_input", model([relu, helper.make_node("Add", ["a", "nobody"], ["y"], "second")], [info("x", [2])]))
save("shapes", model([add], [info("x", [2]), info("w", [3])]))
save("short_tensor", model([add], [info("x", [2])], [onnx.TensorProto(name="w", data_type=FLOAT, dims=[2], raw_data=b"1234")]))
with open(os.path.join(folder, "w.bin"), "wb") as data:
    data.write(bytes(8))
save("outside", model([add], [info("x", [2])], [external("../w.bin", 0)]))
save("past_the_end", model([add], [info("x", [2])], [external("w.bin", 4)]))
call = helper.make_node("F", ["x"], ["y"], domain="own")
function = helper.make_function("own", "F", ["x"], ["y"], [call], [helper.make_opsetid("own", 1)])
save("recursive", model([call], [info("x", [2])], functions=[function]))
save("wrapped_offset", model([add], [info("x", [2])], [external("w.bin", 2**64 - 8)]))
save("zero_byte", model([add], [info("x", [2])], [external("w\0.bin", 0)]))
save("backslash", model([add], [info("x", [2])], [external("data\\w.bin", 0)]))
# 2^40 nodes in functions that call each other twice.
functions = []
for i in range(40):
    inner = helper.make_node(f"F{i + 1}" if i < 39 else "Relu", ["x"], ["a"], domain="own" if i < 39 else "")
    outer = helper.make_node(f"F{i + 1}" if i < 39 else "Relu", ["a"], ["y"], domain="own" if i < 39 else "")
    opsets = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]
    functions.append(helper.make_function("own", f"F{i}", ["x"], ["y"], [inner, outer], opsets))
save("expansion", model([helper.make_node("F0", ["x"], ["y"], domain="own")], [info("x", [2])], functions=functions))


branch = helper.make_graph([helper.make_node("Relu", ["a"], ["b"])], "branch", [info("a", [2])], [info("b", [2])])
choice = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch, else_branch=branch)
save("branch_input", model([choice], [info("a", [2]), helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])]))

# ---- Tensors


def save_tensor(name, tensor):
    save(name, model([add], [info("x", [2])], [tensor]))


save_tensor("few_elements", onnx.TensorProto(name="w", data_type=onnx.TensorProto.INT32, dims=[2], int32_data=[1]))
save_tensor("no_location", onnx.TensorProto(name="w", data_type=FLOAT, dims=[2], data_location=onnx.TensorProto.EXTERNAL))
save_tensor("no_offset", external("w.bin", "first"))


def save_sparse(name, dims, index):
    values = helper.make_tensor("w", FLOAT, [1], [1])
    indices = helper.make_tensor("i", onnx.TensorProto.INT64, [1], [index])
    sparse = helper.make_sparse_tensor(values, indices, dims)
    save(name, model([helper.make_node("Constant", [], ["w"], sparse_value=sparse), add], [info("x", [2])]))


save_sparse("sparse_dims", [-1], 0)
save_sparse("sparse_index", [2], 2)

# ---- Bytes


def field(number, content):
    return bytes([number << 3 | 2, len(content)]) + content


save("wire_type", bytes([7 << 3, 1]))
save("half_number", field(7, field(5, field(4, b"123"))))
graph = helper.make_graph([], "inner", [], [])
for _ in range(200):
    branch = onnx.AttributeProto(name="then_branch", type=onnx.AttributeProto.GRAPH, g=graph)
    graph = helper.make_graph([onnx.NodeProto(op_type="If", attribute=[branch])], "outer", [], [])
save("nested", helper.make_model(graph))
