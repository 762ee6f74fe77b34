#!/usr/bin/env python3
"""Prints what an ONNX model has, a line for each part: onnx_nodes.py IN.onnx. Needs the Python package onnx."""
import sys

import onnx
import onnx.numpy_helper


def type_text(value):
    tensor = value.type.tensor_type
    dims = [dim.dim_param or str(dim.dim_value) for dim in tensor.shape.dim]
    return f"{onnx.TensorProto.DataType.Name(tensor.elem_type)}[{','.join(dims)}]"


def attribute_text(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.GraphProto):
        return f"{attribute.name}=graph"
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value).tolist()
    return f"{attribute.name}={list(value) if attribute.ints else value}"


def print_graph(graph, indent=""):
    for value in graph.input:
        print(f"{indent}input {value.name} {type_text(value)}")
    for tensor in graph.initializer:
        place = "".join(f" {entry.key}={entry.value}" for entry in tensor.external_data)
        print(f"{indent}initializer {tensor.name} {list(tensor.dims)}{place}")
    for node in graph.node:
        attributes = ", ".join(attribute_text(attribute) for attribute in node.attribute)
        domain = f"{node.domain}." if node.domain else ""
        name = f" named {node.name}" if node.name else ""
        print(f"{indent}{', '.join(node.output)} = {domain}{node.op_type}({', '.join(node.input)}) {{{attributes}}}{name}")
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                print_graph(attribute.g, indent + "  ")
    for value in graph.output:
        print(f"{indent}output {value.name} {type_text(value)}")


def main():
    model = onnx.load(sys.argv[1], load_external_data=False)
    onnx.checker.check_model(sys.argv[1])
    print(f"ir_version {model.ir_version}, opset {model.opset_import[0].version}, graph {model.graph.name}")
    print_graph(model.graph)


if __name__ == "__main__":
    main()
