#!/usr/bin/env python3
"""The operators that -O3 leaves of convolutional models compared with those that onnxruntime's basic optimizations leave.

    onnxruntime_nodes.py --node-modules DIR [--ir-opt build/bin/ir-opt] FOLDER

Writes each model with the weights of models.py as ONNX, optimizes that with onnxruntime at the level `basic`, and counts.
Where onnxsim is installed, its result has a column, too. Needs Python's onnx (python3-onnx) and `npm install --ignore-scripts onnxruntime-node` in the folder above DIR. An ONNX
operator with a bias counts as two, because R.nn.conv2d and R.matmul have none. What TVM made of ONNX's Sum, a sum of
stacked tensors, is written as Sum again.
"""
import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile

import with_onnx  # noqa: F401
import onnx
from onnx import TensorProto, helper

from models import HERE, bound_weights, measure, models_in, parameters, random_values

OPTIMIZE = """
const ort = require("onnxruntime-node");
const [, input, output] = process.argv;
ort.InferenceSession.create(input, {graphOptimizationLevel: "basic", optimizedModelFilePath: output, logSeverityLevel: 3});
"""
ELEMENTWISE = {"add": "Add", "multiply": "Mul", "nn.relu": "Relu"}


def callee(call):
    """nn.relu of R.nn.relu(x)."""
    names = []
    node = call.func
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join(reversed(names))


def literal(node):
    return ast.literal_eval(node)


class Exporter:
    """The nodes and initializers of one dataflow block."""

    def __init__(self):
        self.calls = {}  # by the names of variables
        self.nodes = []
        self.initializers = []

    def constant(self, values):
        name = f"constant{len(self.initializers)}"
        self.initializers.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))

    def bind(self, name, value):
        if isinstance(value, ast.Subscript):  # the field of a tuple
            if literal(value.slice) == 0:
                self.node("Identity", [value.value.id], name)
        elif isinstance(value, ast.Name):
            self.node("Identity", [value.id], name)
        elif isinstance(value, ast.Call):
            self.calls[name] = value
            self.call(name, callee(value), value.args, {k.arg: k.value for k in value.keywords})
        else:
            sys.exit(f"cannot export: {ast.unparse(value)}")

    def call(self, name, op, args, keywords):
        if op in ELEMENTWISE:
            self.node(ELEMENTWISE[op], [a.id for a in args], name)
        elif op == "nn.conv2d":
            self.node("Conv", [a.id for a in args], name, strides=literal(keywords["strides"]),
                      pads=literal(keywords["padding"]), dilations=literal(keywords["dilation"]),
                      group=literal(keywords["groups"]))
        elif op == "nn.batch_norm":
            self.node("BatchNormalization", [a.id for a in args], name, epsilon=literal(keywords["epsilon"]))
        elif op in ("nn.max_pool2d", "nn.avg_pool2d"):
            own = {"count_include_pad": int(literal(keywords["count_include_pad"]))} if op == "nn.avg_pool2d" else {}
            self.node("MaxPool" if op == "nn.max_pool2d" else "AveragePool", [args[0].id], name,
                      kernel_shape=literal(keywords["pool_size"]), strides=literal(keywords["strides"]),
                      pads=literal(keywords["padding"]), ceil_mode=int(literal(keywords["ceil_mode"])), **own)
        elif op == "reshape":
            self.node("Reshape", [args[0].id, self.constant(literal(args[1].args[0]))], name)
        elif op == "expand_dims":
            self.node("Unsqueeze", [args[0].id, self.constant(literal(keywords["axis"]))], name)
        elif op == "concat":
            self.node("Concat", [a.id for a in args[0].elts], name, axis=literal(keywords["axis"]))
        elif op == "permute_dims":
            self.node("Transpose", [args[0].id], name, perm=literal(keywords["axes"]))
        elif op == "matmul":
            self.node("MatMul", [a.id for a in args], name)
        elif op == "nn.softmax":
            self.node("Softmax", [args[0].id], name, axis=literal(keywords["axis"]))
        elif op == "mean":
            self.node("ReduceMean", [args[0].id], name, axes=literal(keywords["axis"]),
                      keepdims=int(literal(keywords["keepdims"])))
        elif op == "sum":
            parts = self.calls[args[0].id].args[0].elts
            self.node("Sum", [self.calls[part.id].args[0].id for part in parts], name)
        else:
            sys.exit(f"cannot export R.{op}")


def used_nodes(nodes, output):
    """The nodes that the output depends on."""
    makers = {node.output[0]: node for node in nodes}
    used, open_names = set(), [output]
    while open_names:
        name = open_names.pop()
        if name in makers and name not in used:
            used.add(name)
            open_names += makers[name].input
    return [node for node in nodes if node.output[0] in used]


def export_model(path):
    function, num_input, params = parameters(path)
    with open(path, encoding="utf-8") as text:
        module = ast.parse(text.read())
    body = next(n for n in ast.walk(module) if isinstance(n, ast.FunctionDef) and n.name == function)
    exporter = Exporter()
    result = None
    for statement in ast.walk(body):
        if isinstance(statement, ast.Return):
            result = statement.value.id
    block = next(s for s in body.body if isinstance(s, ast.With))
    for statement in block.body:
        if isinstance(statement, ast.AnnAssign):
            exporter.bind(statement.target.id, statement.value)
    for name, shape, _ in params[num_input:]:
        exporter.initializers.append(
            helper.make_tensor(name, TensorProto.FLOAT, shape, random_values(name, shape), raw=True))
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s, _ in params[:num_input]]
    outputs = [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)]
    graph = helper.make_graph(used_nodes(exporter.nodes, result), function, inputs, outputs, exporter.initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def count_operators(model):
    biases = sum(len(node.input) == 3 for node in model.graph.node if node.op_type in ("Conv", "Gemm"))
    return sum(node.op_type not in ("Constant", "Identity") for node in model.graph.node) + biases


def optimize(model, node_modules, folder):
    source, target = os.path.join(folder, "in.onnx"), os.path.join(folder, "out.onnx")
    onnx.save(model, source)
    environment = {**os.environ, "NODE_PATH": os.path.abspath(node_modules)}
    subprocess.run(["node", "-e", OPTIMIZE, source, target], env=environment, check=True)
    return onnx.load(target)


def simplify(model, folder):
    source, target = os.path.join(folder, "in.onnx"), os.path.join(folder, "simplified.onnx")
    onnx.save(model, source)
    subprocess.run(["onnxsim", source, target], stdout=subprocess.DEVNULL, check=True)
    return onnx.load(target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default=os.path.join(HERE, "..", "build", "bin", "ir-opt"))
    parser.add_argument("--node-modules", required=True)
    parser.add_argument("folder")
    options = parser.parse_args()
    has_onnxsim = shutil.which("onnxsim") is not None
    columns = ["model", "operators", "onnxruntime basic", *(["onnxsim"] if has_onnxsim else []), "ir-opt -O3"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    with tempfile.TemporaryDirectory() as folder:
        for path in models_in(options.folder):
            model = export_model(path)
            counts = [count_operators(model), count_operators(optimize(model, options.node_modules, folder))]
            if has_onnxsim:
                counts.append(count_operators(simplify(model, folder)))
            metrics, _ = measure(options.ir_opt, path, bound_weights(path, folder) + ",default<O3>", 3)
            counts.append(metrics["total"]["calls"])
            name = os.path.splitext(os.path.basename(path))[0]
            print(f"| {name} | {' | '.join(map(str, counts))} |", flush=True)


if __name__ == "__main__":
    main()
