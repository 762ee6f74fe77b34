#!/usr/bin/env python3
"""Optimizes quantized models and runs them in onnxruntime, before and after.

    onnx_quantized.py --node-modules DIR [--ir-opt build/bin/ir-opt] [--repeat 60] [--only NAME,...] [--keep DIR] [FILE.onnx...]

The models are made here, with random weights: a convolutional network like MobileNet and a small transformer, each in the
forms that quantizers write: QuantizeLinear and DequantizeLinear around operators on floats (qdq), operators on integers
(qoperator), and ranges that are measured in each run (dynamic). Each model and what ir-opt -O3 makes of it is run on the
same inputs without and with the optimizations of onnxruntime: results may differ by a few steps of the quantization.
Printed are the nodes, also those of onnxruntime's level basic, the least times of a run, and the median quotient of the times
of runs one after the other. DIR is a folder node_modules with onnxruntime-node. Fails if results differ, nodes are more than
before or than at the level basic, or runs are slower by more than 5 %. Needs Python's onnx (python3-onnx); runs again with /usr/bin/python3 if this Python lacks it."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import onnx_reading as big

HERE = os.path.dirname(os.path.abspath(__file__))
np, TensorProto = big.np, big.TensorProto

MICROSOFT = "com.microsoft"

RUN = """
const fs = require("fs"), ort = require("onnxruntime-node");
const [, before, after, level, feeds, repeat] = process.argv;
(async () => {
  const options = {graphOptimizationLevel: level, intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4};
  const sessions = [await ort.InferenceSession.create(before, options), await ort.InferenceSession.create(after, options)];
  const inputs = {};
  for (const {name, kind, dims, data} of JSON.parse(fs.readFileSync(feeds)))
    inputs[name] = new ort.Tensor(kind, kind === "int64" ? BigInt64Array.from(data.map(BigInt)) : Float32Array.from(data), dims);
  const least = [Infinity, Infinity], ratios = [], results = [];
  for (let i = 0; i < Number(repeat); ++i) {
    const times = [];
    // In turns, each of them first half of the times.
    for (const which of [i % 2, 1 - i % 2]) {
      const begin = process.hrtime.bigint();
      results[which] = await sessions[which].run(inputs);
      times[which] = Number(process.hrtime.bigint() - begin) / 1e6;
      least[which] = Math.min(least[which], times[which]);
    }
    ratios.push(times[1] / times[0]);
  }
  const ratio = ratios.sort((a, b) => a - b)[ratios.length >> 1];
  const values = sessions.map((session, i) => session.outputNames.map(name => Array.from(results[i][name].data, Number)));
  console.log(JSON.stringify({least, ratio, values}));
})().catch(error => { console.error(String(error)); process.exit(1); });
"""


class Quantizer(big.Graph):
    """A graph whose values on integers are (name, scale, zero point) and whose weights have made-up ranges."""

    def __init__(self):
        super().__init__()
        self.random = np.random.default_rng(3)
        self.opsets = {"": 17}

    def parameters(self, scale, zero, dtype=np.uint8):
        return [self.constant(np.asarray(scale, np.float32)), self.constant(np.asarray(zero, dtype))]

    def integers(self, shape, dtype=np.int8):
        info = np.iinfo(dtype)
        return self.constant(self.random.integers(info.min // 2, info.max // 2, shape).astype(dtype))

    def microsoft(self, kind, inputs, **attributes):
        self.opsets[MICROSOFT] = 1
        return self.add(kind, inputs, domain=MICROSOFT, **attributes)

    def quantize(self, x, parameters):
        return self.add("QuantizeLinear", [x, *parameters])

    def dequantize(self, x, parameters, **attributes):
        return self.add("DequantizeLinear", [x, *parameters], **attributes)

    def around(self, x, scale, zero=128):
        """Quantizes and dequantizes."""
        parameters = self.parameters(scale, zero)
        return self.dequantize(self.quantize(x, parameters), parameters)

    def write(self, path, inputs, output):
        values = [big.onnx.helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
        result = big.onnx.helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = big.onnx.helper.make_graph(self.nodes, "quantized", values, [result], self.initializers)
        opsets = [big.onnx.helper.make_opsetid(domain, version) for domain, version in self.opsets.items()]
        with open(path, "wb") as file:
            file.write(big.onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())


IMAGE = [("image", TensorProto.FLOAT, [1, 3, 160, 160])]
TOKENS = [("tokens", TensorProto.FLOAT, [2, 128, 64])]
# (channels out, kernel, stride, by channel)
LAYERS = [(16, 3, 2, False), (16, 3, 1, True), (32, 1, 1, False), (32, 3, 2, True), (64, 1, 1, False), (64, 3, 1, True), (64, 1, 1, False)]


def layers():
    """With the channels in, and the attributes of the convolution."""
    channels = 3
    for width, kernel, stride, by_channel in LAYERS:
        group = channels if by_channel else 1
        attributes = {"group": group, "pads": [kernel // 2] * 4, "strides": [stride] * 2, "kernel_shape": [kernel] * 2}
        yield width, channels, [width, channels // group, kernel, kernel], attributes
        channels = width


def mobile_qdq(path):
    """Weights with a scale for each filter, residual sums, a pool, and layouts that are changed and changed back."""
    g = Quantizer()
    x, before = g.around("image", 0.02), None
    for i, (width, channels, shape, attributes) in enumerate(layers()):
        scales = 0.002 * (1 + np.arange(width) / width)
        weight = g.dequantize(g.integers(shape), g.parameters(scales, np.zeros(width), np.int8), axis=0)
        bias = g.dequantize(g.integers([width], np.int32), [g.constant(np.float32(1e-10) * np.ones(width, np.float32))], axis=0)
        y = g.around(g.add("Relu", [g.add("Conv", [x, weight, bias], **attributes)]), 0.02, 0)
        if width == channels and attributes["strides"] == [1, 1]:
            y = g.around(g.add("Add", [x, y]), 0.02, 0)
        x = y
        if i == 1:
            x = g.around(g.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2]), 0.02, 0)
    x = g.around(g.add("Transpose", [x], perm=[0, 2, 3, 1]), 0.02, 0)
    x = g.around(g.add("Transpose", [x], perm=[0, 3, 1, 2]), 0.02, 0)
    x = g.around(g.add("GlobalAveragePool", [x]), 0.02, 0)
    x = g.around(g.add("Flatten", [x]), 0.02, 0)
    weight = g.dequantize(g.integers([64, 10]), g.parameters(0.01, 0, np.int8))
    g.dequantize(g.quantize(g.add("MatMul", [x, weight]), p := g.parameters(0.02, 128)), p)
    g.add("Identity", [g.nodes[-1].output[0]], "scores")
    g.write(path, IMAGE, "scores")


def mobile_qoperator(path):
    g = Quantizer()
    kept = g.parameters(0.02, 128)
    x = g.quantize("image", kept)
    for width, _, shape, attributes in layers():
        weight = g.parameters(0.002 * (1 + np.arange(width) / width), np.zeros(width), np.int8)
        after = g.parameters(0.03, 0)
        y = g.add("QLinearConv", [x, *kept, g.integers(shape), *weight, *after, g.integers([width], np.int32)], **attributes)
        if width == shape[0] and attributes["group"] == width and attributes["strides"] == [1, 1]:
            y = g.microsoft("QLinearAdd", [x, *kept, y, *after, *(after := g.parameters(0.04, 0))])
        x, kept = y, after
    pooled = g.parameters(0.02, 0)
    x = g.microsoft("QLinearGlobalAveragePool", [x, *kept, *pooled])
    x = g.add("Reshape", [x, g.constant(np.array([1, 64]))])
    last = g.parameters(0.05, 128)
    x = g.add("QLinearMatMul", [x, *pooled, g.integers([64, 10]), *g.parameters(0.01, 0, np.int8), *last])
    g.add("DequantizeLinear", [x, *last], "scores")
    g.write(path, IMAGE, "scores")


def dynamic(g, x):
    """The integers, the scale and the zero point of the tensor, measured in the run."""
    names = [f"{kind}{len(g.nodes)}" for kind in ("integers", "scale", "zero")]
    g.nodes.append(big.onnx.helper.make_node("DynamicQuantizeLinear", [x], names))
    return names


def mobile_dynamic(path):
    g = Quantizer()
    x = "image"
    for width, _, shape, attributes in layers():
        integers, scale, zero = dynamic(g, x)
        sums = g.add("ConvInteger", [integers, g.integers(shape, np.uint8), zero, g.constant(np.uint8(96))], **attributes)
        factor = g.add("Mul", [scale, g.constant(np.float32(0.002))])
        x = g.add("Mul", [g.add("Cast", [sums], to=TensorProto.FLOAT), factor])
        x = g.add("Relu", [g.add("Add", [x, g.weight([1, width, 1, 1])])])
    g.add("Flatten", [g.add("GlobalAveragePool", [x])], "scores")
    g.write(path, IMAGE, "scores")


def transformer(path, product, around=lambda g, x: x):
    g = Quantizer()
    x = around(g, "tokens")
    for _ in range(2):
        q, k, v = (g.add("Transpose", [around(g, g.add("Reshape", [product(g, x, 64, 64), g.constant(np.array([0, 0, 4, 16]))]))],
                         perm=[0, 2, 1, 3]) for _ in range(3))
        scores = g.add("MatMul", [q, g.add("Transpose", [k], perm=[0, 1, 3, 2])])
        scores = around(g, g.add("Softmax", [g.add("Mul", [scores, g.constant(np.float32(0.25))])], axis=-1))
        mixed = around(g, g.add("Transpose", [g.add("MatMul", [scores, v])], perm=[0, 2, 1, 3]))
        x = norm(g, g.add("Add", [x, product(g, around(g, g.add("Reshape", [mixed, g.constant(np.array([0, 0, 64]))])), 64, 64)]))
        h = product(g, around(g, x), 64, 256)
        erf = g.add("Erf", [g.add("Div", [h, g.constant(np.float32(2 ** 0.5))])])
        h = g.add("Mul", [g.add("Mul", [h, g.add("Add", [erf, g.constant(np.float32(1))])]), g.constant(np.float32(0.5))])
        x = norm(g, g.add("Add", [x, product(g, around(g, h), 256, 64)]))
    g.add("Identity", [x], "states")
    g.write(path, TOKENS, "states")


def norm(g, x):
    return g.add("LayerNormalization", [x, g.constant(np.ones(64, np.float32)), g.constant(np.zeros(64, np.float32))], axis=-1)


def qdq_product(g, x, size, width):
    """The weight is stored as linear layers have it, and transposed."""
    weight = g.dequantize(g.integers([width, size]), g.parameters(0.002 * np.ones(width), np.zeros(width), np.int8), axis=0)
    return g.add("Add", [g.add("MatMul", [x, g.add("Transpose", [weight], perm=[1, 0])]), g.constant(np.full(width, 0.1, np.float32))])


def dynamic_product(g, x, size, width):
    integers, scale, zero = dynamic(g, x)
    sums = g.add("MatMulInteger", [integers, g.integers([size, width]), zero, g.constant(np.int8(0))])
    factor = g.add("Mul", [scale, g.constant(np.float32(0.002))])
    x = g.add("Mul", [g.add("Cast", [sums], to=TensorProto.FLOAT), factor])
    return g.add("Add", [x, g.constant(np.full(width, 0.1, np.float32))])


def qoperator_product(g, x, size, width):
    before, after = g.parameters(0.04, 128), g.parameters(0.05, 128)
    weight = g.parameters(0.004, 0, np.int8)
    y = g.add("QLinearMatMul", [g.quantize(x, before), *before, g.integers([size, width]), *weight, *after])
    return g.dequantize(y, after)


MODELS = {"mobile, qdq": mobile_qdq, "mobile, qoperator": mobile_qoperator, "mobile, dynamic": mobile_dynamic,
          "transformer, qdq": lambda path: transformer(path, qdq_product, lambda g, x: g.around(x, 0.04)),
          "transformer, qoperator": lambda path: transformer(path, qoperator_product),
          "transformer, dynamic": lambda path: transformer(path, dynamic_product)}


def write_feeds(model, path):
    """Random inputs; sizes that are not known are 2."""
    random, feeds = np.random.default_rng(5), []
    known = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in known:
            continue
        kind = value.type.tensor_type
        dims = [dim.dim_value or 2 for dim in kind.shape.dim]
        is_int = kind.elem_type == TensorProto.INT64
        data = random.integers(0, 2, dims) if is_int else random.standard_normal(dims).astype(np.float32)
        feeds.append({"name": value.name, "kind": "int64" if is_int else "float32", "dims": dims, "data": data.ravel().tolist()})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(feeds, file)


def run(paths, level, feeds, args):
    """The least times of both, the median of the quotients of their times, and their results."""
    env = {**os.environ, "NODE_PATH": args.node_modules}
    done = subprocess.run(["node", "-e", RUN, *paths, level, feeds, str(args.repeat)], env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{paths[0]}, level {level}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    return result["least"], result["ratio"], [[np.array(values) for values in outputs] for outputs in result["values"]]


def difference(a, b):
    """The greatest one, as a share of the range of the results."""
    return max((np.abs(x - y).max() / max(1e-6, x.max() - x.min()) for x, y in zip(a, b) if x.size), default=0)


def compare(name, path, args, folder):
    """Prints a row, and returns whether the model is right, has no more nodes than it may, and is not slower."""
    out, basic, feeds = (os.path.join(folder, file) for file in ("out.onnx", "basic.onnx", "feeds.json"))
    subprocess.run([args.ir_opt, "-O3", path, "-o", out], check=True)
    env = {**os.environ, "NODE_PATH": args.node_modules}
    subprocess.run(["node", "-e", big.OPTIMIZE, path, basic], env=env, check=True)
    write_feeds(big.onnx.load(path), feeds)
    nodes = [big.nodes_in(file) for file in (path, out, basic)]
    row, worst, slowest = f"{name:24} {nodes[0]:5} {nodes[1]:5} {nodes[2]:5}", 0, 0
    for level in ("disabled", "all"):
        (before, after), ratio, results = run((path, out), level, feeds, args)
        off = difference(*results)
        worst, slowest = max(worst, off), max(slowest, ratio)
        row += f" | {before:8.3f} {after:8.3f} {ratio:6.3f} {off:.4f}"
    print(f"{row} | {os.path.getsize(out) / os.path.getsize(path):.3f}")
    return worst <= args.tolerance and nodes[1] <= min(nodes[0], nodes[2]) and slowest <= args.slower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--ir-opt", default=os.path.join(HERE, "..", "build", "bin", "ir-opt"))
    parser.add_argument("--node-modules", required=True, help="a folder with the package onnxruntime-node")
    parser.add_argument("--repeat", type=int, default=60)
    parser.add_argument("--only", default="", help="names of models, between semicolons")
    parser.add_argument("--tolerance", type=float, default=0.02, help="the greatest difference, as a share of the range")
    parser.add_argument("--slower", type=float, default=1.05, help="the greatest quotient of times, a median")
    parser.add_argument("--keep", help="a folder for the models")
    args = parser.parse_args()
    print(f"{'model':24} nodes ir-opt basic | disabled: ms, after, quotient, difference | all: ms, after, quotient, difference | size")
    with tempfile.TemporaryDirectory() as folder:
        models = [(os.path.basename(path), path) for path in args.files]
        for i, (name, make) in enumerate(MODELS.items() if not args.files else ()):
            if not args.only or name in args.only.split(";"):
                models.append((name, os.path.join(args.keep or folder, f"quantized{i}.onnx")))
                make(models[-1][1])
        sys.exit(0 if all([compare(name, path, args, folder) for name, path in models]) else 1)


if __name__ == "__main__":
    main()
