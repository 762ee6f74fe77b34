#!/usr/bin/env python3
"""Times ir-opt -O3 on big ONNX models that it makes, compared with onnxruntime.

    onnx_reading.py [--ir-opt build/bin/ir-opt] [--node-modules DIR] [--repeat 3] [--layers 32] [FILE.onnx...]

The models: a decoder of 32 layers with 28 GB of weights in a sparse file next to it, and ResNet-50 with 100 MB of weights in the
file and batch norms to fold. FILE.onnx are measured, too. Each is read, optimized and written in a run of its own; printed are
the best wall time, the largest memory, and the nodes before and after. With DIR, the folder of the package onnxruntime-node,
the same of onnxruntime at its level `basic`, which writes what it made of the model. Needs Python's onnx (python3-onnx); runs
again with /usr/bin/python3 if this Python lacks it.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import with_onnx  # noqa: F401
import numpy as np
import onnx
from onnx import TensorProto

from onnx_graph import Graph
from transformer_models import heads_of, rms_norm

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIMIZE = """
const ort = require("onnxruntime-node");
const [, input, output] = process.argv;
ort.InferenceSession.create(input, {graphOptimizationLevel: "basic", optimizedModelFilePath: output, logSeverityLevel: 3})
    .catch((error) => { console.error(String(error)); process.exit(1); });
"""


def decoder(path, layers, size=4096, inner=11008, heads=32, vocabulary=32000):
    g = Graph(path + ".weights")
    x = g.add("Gather", [g.weight([vocabulary, size]), "tokens"], axis=0)
    for _ in range(layers):
        n = rms_norm(g, x, size)
        q, k, v = (heads_of(g, g.add("MatMul", [n, g.weight([size, size])]), heads, size // heads) for _ in range(3))
        scores = g.add("MatMul", [q, g.add("Transpose", [k], perm=[0, 1, 3, 2])])
        scaled = g.add("Mul", [scores, g.constant(np.float32((size // heads) ** -0.5))])
        mixed = g.add("Transpose", [g.add("MatMul", [g.add("Softmax", [scaled], axis=-1), v])], perm=[0, 2, 1, 3])
        joined = g.add("Reshape", [mixed, g.constant(np.array([0, 0, size]))])
        x = g.add("Add", [x, g.add("MatMul", [joined, g.weight([size, size])])])
        n = rms_norm(g, x, size)
        gate = g.add("MatMul", [n, g.weight([size, inner])])
        up = g.add("MatMul", [n, g.weight([size, inner])])
        swish = g.add("Mul", [gate, g.add("Sigmoid", [gate])])
        x = g.add("Add", [x, g.add("MatMul", [g.add("Mul", [swish, up]), g.weight([inner, size])])])
    g.add("MatMul", [rms_norm(g, x, size), g.weight([size, vocabulary])], "logits")
    g.save(path, [("tokens", TensorProto.INT64, ["batch", "sequence"])], ["logits"])


def convolution(g, x, channels, inputs, kernel, stride=1, relu=True):
    pad = kernel // 2
    x = g.add("Conv", [x, g.weight([channels, inputs, kernel, kernel])], kernel_shape=[kernel] * 2, strides=[stride] * 2,
              pads=[pad] * 4)
    ones = np.ones(channels, np.float32)
    x = g.add("BatchNormalization", [x, *(g.constant(ones * np.float32(v)) for v in (1.1, 0.1, 0.2, 0.9))], epsilon=1e-5)
    return g.add("Relu", [x]) if relu else x


def resnet50(path):
    g = Graph()
    x = convolution(g, "image", 64, 3, 7, 2)
    x = g.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = convolution(g, x, width, channels, 1)
            y = convolution(g, y, width, width, 3, stride)
            y = convolution(g, y, 4 * width, width, 1, relu=False)
            if block == 0:
                x = convolution(g, x, 4 * width, channels, 1, stride, relu=False)
            x = g.add("Relu", [g.add("Add", [x, y])])
            channels = 4 * width
    x = g.add("Flatten", [g.add("GlobalAveragePool", [x])], axis=1)
    g.add("Gemm", [x, g.weight([1000, channels]), g.weight([1000])], "scores", transB=1)
    g.save(path, [("image", TensorProto.FLOAT, [1, 3, 224, 224])], ["scores"])


# A process of its own measures: what a process has when it starts another counts for that, too.
MEASURE = """
import os, signal, subprocess, sys, time
start = time.monotonic()
process = subprocess.Popen(sys.argv[2:])
signal.signal(signal.SIGALRM, lambda *_: process.kill())
signal.alarm(int(sys.argv[1]))
_, status, usage = os.wait4(process.pid, 0)
print(time.monotonic() - start, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))
"""


def run(command, env=None, limit=600):
    """The wall time in seconds, the largest memory in MB and the exit code, which is -9 after `limit` seconds."""
    done = subprocess.run([sys.executable, "-c", MEASURE, str(limit), *command], env=env, capture_output=True, text=True, check=True)
    seconds, megabytes, code = done.stdout.split()[-3:]
    if code != "0":
        print(f"  {os.path.basename(command[0])}: exit code {code}: {done.stderr.strip()[:200]}", file=sys.stderr)
    return float(seconds), float(megabytes), int(code)


def nodes_in(path):
    def count(graph):
        inner = (a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH)
        return sum(node.op_type != "Constant" for node in graph.node) + sum(map(count, inner))

    return count(onnx.load(path, load_external_data=False).graph)


def measure(name, path, commands, repeat):
    before = nodes_in(path)
    for tool, command, out, env in commands:
        runs = [run(command, env) for _ in range(repeat)]
        if any(code != 0 for _, _, code in runs):
            print(f"{name:24} {tool:12} failed")
            continue
        best = min(seconds for seconds, _, _ in runs)
        memory = max(megabytes for _, megabytes, _ in runs)
        print(f"{name:24} {tool:12} {best:8.3f} s {memory:8.0f} MB   nodes {before} -> {nodes_in(out)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--ir-opt", default=os.path.join(HERE, "..", "build", "bin", "ir-opt"))
    parser.add_argument("--node-modules", help="the folder of the package onnxruntime-node")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--layers", type=int, default=32, help="of the decoder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = [("decoder", os.path.join(folder, "decoder.onnx")), ("resnet50", os.path.join(folder, "resnet50.onnx"))]
        decoder(models[0][1], args.layers)
        resnet50(models[1][1])
        models += [(os.path.basename(path), path) for path in args.files]
        for name, path in models:
            out, other = os.path.join(folder, "out.onnx"), os.path.join(folder, "ort.onnx")
            commands = [("ir-opt -O3", [args.ir_opt, "-O3", path, "-o", out], out, None)]
            if args.node_modules:
                env = {**os.environ, "NODE_PATH": args.node_modules}
                commands.append(("onnxruntime", ["node", "-e", OPTIMIZE, path, other], other, env))
            measure(name, path, commands, args.repeat)


if __name__ == "__main__":
    main()
