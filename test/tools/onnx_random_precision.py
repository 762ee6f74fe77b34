#!/usr/bin/env python3
"""Gives random networks each number format of -precision, and compares the results with those of the original.

    onnx_random_precision.py --ir-opt PATH --ir-run PATH [--count N] [--seed N] [--node-modules DIR]

A network has layers with constant weights, some of them shared, in branches, or on values from outside of the branch, and between
them activations, sums, concatenations, pools and moves. Each format must be written, and be within its tolerance on the samples that it
was chosen for. DIR is a folder node_modules with onnxruntime-node, which must take the files as well, but for those with bfloat16,
which it cannot run on CPUs. Needs Python's onnx."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
# The format, the greatest error, and whether it takes samples. ir-run sums bfloat16 in bfloat16, which -precision does not expect.
FORMATS = [("auto:fp16", 0.01, True), ("fp16", 0.05, True), ("auto:bf16", 0.05, True), ("int8", 0.01, True), ("int8-weights", 0.1, False),
           ("int8-weights", 0.1, True), ("int4-weights", 0.5, False), ("int8-dynamic", 0.2, False)]
BATCH, CHANNELS, SIZE = 2, 12, 4
IMAGE = [BATCH, CHANNELS, SIZE, SIZE]


class Network:
    """The nodes of a graph while it is made. Its values are images."""

    def __init__(self, rng, outer=None):
        self.rng, self.outer = rng, outer
        self.weights = outer.weights if outer else []
        self.names = outer.names if outer else iter(f"v{i}" for i in range(10**6))
        self.nodes, self.images = [], []

    def weight(self, *shape):
        known = [w.name for w in self.weights if tuple(w.dims) == shape]
        if known and self.rng.random() < 0.2:
            return self.rng.choice(known)
        scale = np.sqrt(2 / np.prod(shape[1:])) if len(shape) > 1 else 0.1
        numbers = np.random.default_rng(self.rng.getrandbits(32)).standard_normal(shape) * scale
        self.weights.append(numpy_helper.from_array(numbers.astype("float32"), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, kind, *inputs, **attributes):
        name = next(self.names)
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"{kind}_{name}", **attributes))
        return name

    def constant(self, name, value):
        if name not in [w.name for w in self.weights]:
            self.weights.append(numpy_helper.from_array(value, name))
        return name

    def known(self):
        """The values of this graph, and those outside of it."""
        return self.images + (self.outer.known() if self.outer else [])

    def image(self):
        return self.rng.choice(self.known())

    def step(self, depth):
        """Adds a value that is like the others."""
        rng, x = self.rng, self.image()
        kind = rng.choice("conv conv conv depthwise relu clip sigmoid add concat pool transpose dense dense if".split())
        if kind == "if" and depth < 2:
            return self.conditional(depth)
        if kind == "depthwise":
            y = self.add("Conv", x, self.weight(CHANNELS, 1, 3, 3), pads=[1] * 4, group=CHANNELS)
        elif kind in ("relu", "sigmoid"):
            y = self.add(kind.capitalize(), x)
        elif kind == "clip":
            y = self.add("Clip", x, self.constant("zero", np.float32(0)), self.constant("six", np.float32(6)))
        elif kind == "add":
            y = self.add("Add", x, self.image())
        elif kind == "concat":
            y = self.add("Conv", self.add("Concat", x, self.image(), axis=1), self.weight(CHANNELS, 2 * CHANNELS, 1, 1))
        elif kind == "pool":
            y = self.add(rng.choice(["MaxPool", "AveragePool"]), x, kernel_shape=[3, 3], pads=[1] * 4)
        elif kind == "transpose":
            y = self.add("Transpose", x, perm=[0, 1, 3, 2])
        elif kind == "dense":
            features = CHANNELS * SIZE * SIZE
            y = self.add("MatMul", self.add("Flatten", x), self.weight(features, features))
            y = self.add("Reshape", y, self.constant("shape", np.array(IMAGE, "int64")))
        else:
            inputs = [x, self.weight(CHANNELS, CHANNELS, 3, 3)] + ([self.weight(CHANNELS)] if rng.random() < 0.6 else [])
            y = self.add("Conv", *inputs, pads=[1] * 4)
            if rng.random() < 0.5:
                y = self.add("Relu", y)
        self.images.append(y)

    def conditional(self, depth):
        graphs = []
        for word in ("then", "else"):
            inner = Network(self.rng, self)
            for _ in range(self.rng.randint(1, 3)):
                inner.step(depth + 1)
            # A branch computes what it returns.
            result = inner.add("Identity", inner.rng.choice(inner.images))
            graphs.append(helper.make_graph(inner.nodes, f"{word}{result}", [],
                                            [helper.make_tensor_value_info(result, TensorProto.FLOAT, IMAGE)]))
        self.images.append(self.add("If", "condition", then_branch=graphs[0], else_branch=graphs[1]))


def make(path, seed):
    rng = random.Random(seed)
    net = Network(rng)
    net.images.append("x")
    for _ in range(rng.randint(3, 12)):
        net.step(0)
    outputs = [net.images[-1]] if rng.random() < 0.3 else []
    flat = net.add("Flatten", net.add("GlobalAveragePool", net.images[-1]))
    outputs.append(net.add("Gemm", flat, net.weight(10, CHANNELS), net.weight(10), transB=1))
    if outputs[0] == "x":
        outputs.pop(0)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, IMAGE),
              helper.make_tensor_value_info("condition", TensorProto.BOOL, [])]
    graph = helper.make_graph(net.nodes, "network", inputs,
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs], net.weights)
    opset = rng.choice([13, 15, 17, 21])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


class Tester:
    def __init__(self, args, folder):
        self.args, self.folder, self.failures, self.worst = args, folder, [], {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, model, inputs):
        out = self.path("out.npz")
        done = subprocess.run([self.args.ir_run, f"-inputs={inputs}", f"-output={out}", model], capture_output=True, text=True, timeout=120)
        if done.returncode:
            return done.stderr
        with np.load(out) as results:
            return [results[name].astype("float64") for name in results.files]

    def onnxruntime_refuses(self, model, inputs):
        """The reason; none if it runs the model. Its optimizations crash where a branch reads a transposed dequantized value."""
        with open(model, "rb") as f:
            has_branches = any(node.op_type == "If" for node in onnx.ModelProto.FromString(f.read()).graph.node)
        with np.load(inputs) as arrays:
            files = []
            for name in ("x", "condition"):
                files.append(self.path(f"{name}.pb"))
                with open(files[-1], "wb") as f:
                    f.write(numpy_helper.from_array(arrays[name], name).SerializeToString())
        with open(self.path("jobs.json"), "w") as f:
            json.dump([{"model": model, "inputs": files, "save": self.path("y"), "level": "disabled" if has_branches else "all"}], f)
        done = subprocess.run(["node", os.path.join(HERE, "onnx_run.js"), self.path("jobs.json")], capture_output=True, text=True,
                              env={**os.environ, "NODE_PATH": self.args.node_modules}, timeout=120)
        answer = json.loads(done.stdout) if done.stdout else {"status": "failed", "reason": done.stderr[-200:]}
        return None if answer["status"] == "same" else answer["reason"]

    def check(self, seed):
        model = self.path("model.onnx")
        make(model, seed)
        inputs = self.path("in.npz")
        numbers = np.random.default_rng(seed)
        np.savez(inputs, x=numbers.standard_normal(IMAGE).astype("float32"),
                 condition=np.array(bool(numbers.integers(2))))
        expected = self.run(model, inputs)
        for level in ("-O0", "-O3"):
            for name, most, sampled in FORMATS:
                what = f"seed {seed}: {level} -precision={name}{' with samples' if sampled else ''}"
                reason = self.error_of(level, name, sampled, model, inputs, expected, most)
                if reason:
                    self.failures.append(what)
                    print(f"FAILED {what}: {reason}", flush=True)

    def error_of(self, level, name, sampled, model, inputs, expected, most):
        """What is wrong; none if nothing is."""
        result = self.path("result.onnx")
        command = [self.args.ir_opt, level, f"-precision={name}", *([f"-inputs={inputs}"] if sampled else []), model, "-o", result]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr[-400:]}"
        got = self.run(result, inputs)
        if isinstance(got, str):
            return f"ir-run: {got[-400:]}"
        for before, after in zip(expected, got, strict=True):
            norm = np.linalg.norm(before)
            error = np.linalg.norm(after - before) / norm if norm else 0
            self.worst[name] = max(self.worst.get(name, 0), error)
            if not error <= most:
                return f"the error is {error}, above {most}"
        if self.args.node_modules and "bf16" not in name:
            return self.onnxruntime_refuses(result, inputs)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--node-modules")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(args, folder)
        for seed in range(args.seed, args.seed + args.count):
            tester.check(seed)
    print(f"{args.count} networks, {len(tester.failures)} failures; the greatest errors: "
          + ", ".join(f"{name} {error:.1e}" for name, error in tester.worst.items()))
    return 1 if tester.failures else 0


if __name__ == "__main__":
    sys.exit(main())
