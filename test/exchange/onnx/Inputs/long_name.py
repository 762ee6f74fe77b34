"""Writes a model whose node has a long name of letters of two bytes: long_name.py OUT.onnx."""
import sys

from onnx import TensorProto, helper

node = helper.make_node("Relu", ["x"], ["y"], name="n" + "é" * 90)
values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
model = helper.make_model(helper.make_graph([node], "long", values[:1], values[1:]), opset_imports=[helper.make_opsetid("", 17)])
model.ir_version = 8
with open(sys.argv[1], "wb") as file:
    file.write(model.SerializeToString())
