#!/usr/bin/env python3
"""Quantizes random models and compares sizes, errors and the results of onnxruntime.

    onnx_quantization.py --ir-opt PATH --ir-run PATH [--node-modules DIR]

A stack of matmuls and a convolutional network get each form of QuantizeWeights and QuantizeStatic. The tensors of the file take as many
bytes as the form says, the error of the results is below that of the form, rounding on samples is better than to the nearest, and
onnxruntime, without its optimizations, computes what ir-run does; with them, its error is at most twice as large. DIR is a folder
node_modules with onnxruntime-node; without it, nothing is compared with onnxruntime. Needs Python's onnx."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS, WIDTH = 96, 80
# The pass with its options, the bytes of the tensors of a matmul [k, n] (none: not counted), and the greatest error.
FORMS = [
    ("QuantizeWeights", lambda k, n: n * -(-k // 32) * (16 + 4), 0.2),
    ("QuantizeWeights<block_size=16>", lambda k, n: n * -(-k // 16) * (8 + 4), 0.2),
    ("QuantizeWeights<symmetric=false>", lambda k, n: n * (-(-k // 32) * (16 + 4) + -(--(-k // 32) // 2)), 0.2),
    ("QuantizeWeights<bits=8>", lambda k, n: n * -(-k // 32) * (32 + 4), 0.02),
    ("QuantizeWeights<form=dequantize>", lambda k, n: n * (k / 2 + -(-k // 32) * 4), 0.2),
    ("QuantizeWeights<form=dequantize; symmetric=false>", lambda k, n: n * (k / 2 + -(-k // 32) * 4.5), 0.2),
    ("QuantizeWeights<form=dequantize; block_size=0>", lambda k, n: n * (k / 2 + 4), 0.25),
    ("QuantizeWeights<form=dequantize; block_size=0; bits=8>", lambda k, n: n * (k + 4), 0.02),
    ("QuantizeWeights<form=dynamic>", lambda k, n: n * (k + 4), 0.04),
]
SAMPLED = ["QuantizeWeights<method=gptq; {}>", "QuantizeWeights<method=gptq; form=dequantize; {}>"]
STATIC = ["QuantizeStatic<{}>", "QuantizeStatic<calibrate_method=percentile; {}>", "QuantizeStatic<calibrate_method=mse; {}>",
          "QuantizeStatic<calibrate_method=entropy; {}>", "QuantizeStatic<activation_type=int8; {}>", "QuantizeStatic<per_channel=false; {}>"]
TOLERANCE = 0.01  # of QuantizeStatic by default


class Net:
    """The nodes and weights of a model while it is made."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, *shape):
        scale = np.sqrt(2 / np.prod(shape[1:])) if len(shape) > 1 else 0.1
        array = (self.random.standard_normal(shape) * scale).astype("float32")
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, kind, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [f"v{len(self.nodes)}"], name=f"node{len(self.nodes)}", **attributes))
        return self.nodes[-1].output[0]

    def save(self, path, shape, result):
        graph = helper.make_graph(self.nodes, "model", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def make_matmuls(path):
    net = Net(1)
    x = net.add("Relu", net.add("Add", net.add("MatMul", "x", net.weight(INPUTS, WIDTH)), net.weight(WIDTH)))
    x = net.add("Tanh", net.add("Gemm", x, net.weight(WIDTH, WIDTH), net.weight(WIDTH), transB=1))
    net.save(path, ["b", INPUTS], net.add("MatMul", x, net.weight(WIDTH, WIDTH)))
    return [(INPUTS, WIDTH), (WIDTH, WIDTH), (WIDTH, WIDTH)], 4 * 2 * WIDTH


def make_convolutions(path):
    net = Net(2)

    def conv(x, channels, size, group=1):
        return net.add("Conv", x, net.weight(16, channels // group, size, size), net.weight(16), pads=[size // 2] * 4, group=group)

    x = net.add("MaxPool", net.add("Relu", conv("x", 3, 3)), kernel_shape=[2, 2], strides=[2, 2])
    for _ in range(3):
        y = net.add("Relu", conv(net.add("Relu", conv(x, 16, 1)), 16, 3, 16))
        x = net.add("Relu", net.add("Add", conv(y, 16, 1), x))
    x = net.add("Concat", x, net.add("Relu", conv(x, 16, 3)), axis=1)
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    net.save(path, ["b", 3, 32, 32], net.add("Gemm", x, net.weight(10, 32), net.weight(10), transB=1))


class Tester:
    def __init__(self, args, folder):
        self.args, self.folder, self.failures = args, folder, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def fail(self, what):
        self.failures += 1
        print(f"FAILED: {what}", flush=True)

    def run(self, model, x):
        np.savez(self.path("in.npz"), x=x)
        subprocess.run([self.args.ir_run, f"-inputs={self.path('in.npz')}", f"-output={self.path('out.npz')}", model], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with np.load(self.path("out.npz")) as results:
            return results[results.files[0]]

    def run_onnxruntime(self, model, x, level):
        with open(self.path("x.pb"), "wb") as f:
            f.write(numpy_helper.from_array(x, "x").SerializeToString())
        with open(self.path("jobs.json"), "w") as f:
            json.dump([{"model": model, "inputs": [self.path("x.pb")], "save": self.path("y"), "level": level}], f)
        done = subprocess.run(["node", os.path.join(HERE, "onnx_run.js"), self.path("jobs.json")], capture_output=True, text=True,
                              env={**os.environ, "NODE_PATH": self.args.node_modules})
        answer = json.loads(done.stdout) if done.stdout else {"status": "failed", "reason": done.stderr[-200:]}
        if answer["status"] != "same":
            return self.fail(f"onnxruntime: {answer['reason']}")
        tensor = TensorProto()
        with open(self.path("y0.pb"), "rb") as f:
            tensor.ParseFromString(f.read())
        return numpy_helper.to_array(tensor)

    def quantize(self, model, passes):
        """The quantized model; none after a failure."""
        result = self.path("quantized.onnx")
        done = subprocess.run([self.args.ir_opt, f"-passes={passes}", "-quiet", model, "-o", result], capture_output=True, text=True)
        return result if done.returncode == 0 else self.fail(f"{passes}: {done.stderr}")

    def check(self, model, passes, x, most):
        """The error, which is at most `most`, also in onnxruntime."""
        result = self.quantize(model, passes)
        if result is None:
            return 0
        expected, got = self.run(model, x), self.run(result, x)
        norm = np.linalg.norm(expected)
        error = np.linalg.norm(got - expected) / norm
        line = f"{passes.split('inputs')[0]:60} error {error:.2e}"
        if not 0 < error <= most:
            self.fail(f"{passes}: the error is {error}, above {most}")
        if self.args.node_modules:
            for level in ("disabled", "all"):
                theirs = self.run_onnxruntime(result, x, level)
                if theirs is None:
                    return error
                difference = np.linalg.norm(theirs - got) / norm
                their_error = np.linalg.norm(theirs - expected) / norm
                line += f", onnxruntime ({level}) {their_error:.2e}"
                # A number on the border of two integers may become either of them.
                if level == "disabled" and difference > 2e-3 or their_error > max(2 * most, 2 * error):
                    self.fail(f"{passes}: onnxruntime ({level}) differs by {difference}, its error is {their_error}")
        print(line, flush=True)
        return error


def tensor_bytes(path):
    """The bytes of the initializers as the file has them."""
    sizes = {21: 0.5, 22: 0.5, TensorProto.FLOAT: 4, TensorProto.UINT8: 1, TensorProto.INT8: 1}
    with open(path, "rb") as f:
        model = onnx.ModelProto.FromString(f.read())
    return sum(sizes[tensor.data_type] * int(np.prod(tensor.dims)) for tensor in model.graph.initializer)


def check_weights(tester):
    model = tester.path("matmuls.onnx")
    shapes, rest = make_matmuls(model)
    random = np.random.default_rng(3)
    mix = random.standard_normal((12, INPUTS))

    def data(rows):
        return (random.standard_normal((rows, 12)) @ mix / 3 + 0.1 * random.standard_normal((rows, INPUTS))).astype("float32")

    x = data(16)
    errors = {}
    for passes, size, most in FORMS:
        errors[passes] = tester.check(model, passes, x, most)
        expected = rest + sum(size(*shape) for shape in shapes)
        if tensor_bytes(tester.path("quantized.onnx")) != expected:
            tester.fail(f"{passes}: {tensor_bytes(tester.path('quantized.onnx'))} bytes instead of {expected}")
    np.savez(tester.path("sample.npz"), x=data(400))
    for passes in SAMPLED:
        nearest = errors[passes.replace("method=gptq; ", "").replace("; {}", "").replace("<{}>", "")]
        error = tester.check(model, passes.format(f'inputs=["{tester.path("sample.npz")}"]'), x, 0.2)
        if error > 0.7 * nearest:
            tester.fail(f"{passes}: the error is {error}, and {nearest} with rounding to the nearest")


def check_layers(tester):
    model = tester.path("convolutions.onnx")
    make_convolutions(model)
    random = np.random.default_rng(4)
    x = (random.standard_normal((8, 3, 32, 32)).cumsum(-1).cumsum(-2) / 20).astype("float32")
    np.savez(tester.path("sample.npz"), x=x)
    for passes in STATIC:
        # On the samples themselves.
        tester.check(model, passes.format(f'inputs=["{tester.path("sample.npz")}"]'), x, TOLERANCE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--node-modules")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(args, folder)
        check_weights(tester)
        check_layers(tester)
    return 1 if tester.failures else 0


if __name__ == "__main__":
    sys.exit(main())
