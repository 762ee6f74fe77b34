#!/usr/bin/env python3
"""Compares what ir-opt -O3 makes of ONNX models with onnxsim's npm package and onnxruntime's level basic.

    onnx_peers.py [--ir-opt build/bin/ir-opt] [--node-modules DIR] [--repeat 3] [--limit 120] [--only NAME,...] [FILE.onnx...]

The models are made here: networks with convolutions, batch norms, transposes, padding, attention, shapes that are computed,
constants and quantization, with random weights. Each tool runs in a process of its own; printed are the nodes, the best
wall time and the largest memory. A run that takes more than the limit, in seconds, is ended, and not repeated. DIR is a folder node_modules with onnxruntime-node and onnxsim; a tool that is not there
is left out. Fails if ir-opt leaves more nodes than the model had, than onnxsim or than onnxruntime. Needs Python's onnx
(python3-onnx); runs again with /usr/bin/python3 if this Python lacks it."""
import argparse
import os
import sys
import tempfile

import onnx_reading as big

HERE = os.path.dirname(os.path.abspath(__file__))
np, TensorProto = big.np, big.TensorProto

SIMPLIFY = """
const fs = require("fs"), path = require("path"), url = require("url");
const [, folder, input, output] = process.argv;
import(url.pathToFileURL(path.join(folder, "onnxsim", "index.mjs")).href)
    .then(({ simplify }) => simplify(fs.readFileSync(input)))
    .then(({ model }) => { fs.writeFileSync(output, model); process.exit(0); })
    .catch((error) => { console.error(String(error)); process.exit(1); });
"""


def save(g, path, inputs, output):
    g.save(path, [(name, TensorProto.FLOAT, shape) for name, shape in inputs], [output])


def state_output(path, shape=None):
    """Gives the output the shape that it has, which onnxsim asks for."""
    model = big.onnx.load(path)
    output = model.graph.output[0]
    if shape is None:
        output.CopyFrom(big.onnx.shape_inference.infer_shapes(model).graph.output[0])
    else:
        output.CopyFrom(big.onnx.helper.make_tensor_value_info(output.name, TensorProto.FLOAT, shape))
    big.onnx.save(model, path)


def batch_norm(g, x, channels):
    ones = np.ones(channels, np.float32)
    return g.add("BatchNormalization", [x, *(g.constant(ones * np.float32(v)) for v in (1.1, 0.1, 0.2, 0.9))])


def mobile(path):
    """Convolutions by channel, and an activation that is clipped."""
    g = big.Graph()
    x, channels = "image", 3
    for width in (16, 32, 64, 128):
        x = batch_norm(g, g.add("Conv", [x, g.weight([width, channels, 1, 1])]), width)
        x = g.add("Clip", [x, g.constant(np.float32(0)), g.constant(np.float32(6))])
        x = g.add("Conv", [x, g.weight([width, 1, 3, 3])], group=width, pads=[1] * 4, strides=[2, 2])
        x = g.add("Clip", [batch_norm(g, x, width), g.constant(np.float32(0)), g.constant(np.float32(6))])
        channels = width
    g.add("GlobalAveragePool", [x], "scores")
    save(g, path, [("image", [1, 3, 64, 64])], "scores")


def padded(path):
    """Padding as nodes of its own, in front of convolutions and pools."""
    g = big.Graph()
    x, channels = "image", 3
    for width in (16, 32):
        x = g.add("Pad", [x, g.constant(np.array([0, 0, 1, 1, 0, 0, 1, 1]))])
        x = g.add("Relu", [g.add("Conv", [x, g.weight([width, channels, 3, 3]), g.weight([width])])])
        x = g.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
        channels = width
    g.add("Flatten", [x], "flat")
    save(g, path, [("image", [1, 3, 32, 32])], "flat")


def dense(path):
    """Each layer normalizes and takes what all before it gave."""
    g = big.Graph()
    features, channels = ["image"], 16
    for _ in range(6):
        x = features[0] if len(features) == 1 else g.add("Concat", features, axis=1)
        x = g.add("Relu", [batch_norm(g, x, channels)])
        features.append(g.add("Conv", [x, g.weight([8, channels, 3, 3])], pads=[1] * 4))
        channels += 8
    g.add("Concat", features, "all", axis=1)
    save(g, path, [("image", [1, 16, 16, 16])], "all")


def decoder_of_images(path):
    """Transposed convolutions with batch norms."""
    g = big.Graph()
    x, channels = "code", 32
    for width in (16, 8, 4):
        x = g.add("ConvTranspose", [x, g.weight([channels, width, 2, 2])], strides=[2, 2])
        x = g.add("Relu", [batch_norm(g, x, width)])
        channels = width
    g.add("Sigmoid", [x], "image")
    save(g, path, [("code", [1, 32, 4, 4])], "image")


def encoder(path, layers=4, size=64, heads=4):
    """A transformer as exporters write it: shapes from operands, and norms of their steps."""
    g = big.Graph()
    x = "tokens"
    for _ in range(layers):
        q, k, v = (big.heads_of(g, g.add("Add", [g.add("MatMul", [x, g.weight([size, size])]), g.weight([size])]), heads,
                                size // heads) for _ in range(3))
        scores = g.add("MatMul", [q, g.add("Transpose", [k], perm=[0, 1, 3, 2])])
        scores = g.add("Softmax", [g.add("Div", [scores, g.constant(np.float32(4))])], axis=-1)
        mixed = g.add("Transpose", [g.add("MatMul", [scores, v])], perm=[0, 2, 1, 3])
        shape = g.add("Shape", [mixed])
        parts = [g.add("Unsqueeze", [g.add("Gather", [shape, g.constant(np.int64(i))], axis=0), g.constant(np.array([0]))])
                 for i in range(2)]
        joined = g.add("Reshape", [mixed, g.add("Concat", [*parts, g.constant(np.array([size]))], axis=0)])
        x = norm(g, g.add("Add", [x, g.add("MatMul", [joined, g.weight([size, size])])]), size)
        h = g.add("Add", [g.add("MatMul", [x, g.weight([size, 4 * size])]), g.weight([4 * size])])
        erf = g.add("Erf", [g.add("Div", [h, g.constant(np.float32(2 ** 0.5))])])
        h = g.add("Mul", [g.add("Mul", [h, g.add("Add", [erf, g.constant(np.float32(1))])]), g.constant(np.float32(0.5))])
        x = norm(g, g.add("Add", [x, g.add("MatMul", [h, g.weight([4 * size, size])])]), size)
    g.add("Identity", [x], "states")
    save(g, path, [("tokens", ["batch", "sequence", size])], "states")


def norm(g, x, size):
    distance = g.add("Sub", [x, g.add("ReduceMean", [x], axes=[-1])])
    variance = g.add("ReduceMean", [g.add("Pow", [distance, g.constant(np.float32(2))])], axes=[-1])
    root = g.add("Sqrt", [g.add("Add", [variance, g.constant(np.float32(1e-5))])])
    return g.add("Add", [g.add("Mul", [g.add("Div", [distance, root]), g.weight([size])]), g.weight([size])])


def recurrent(path):
    g = big.Graph()
    x = g.add("Transpose", ["sound"], perm=[1, 0, 2])
    y = g.add("LSTM", [x, g.weight([1, 128, 16]), g.weight([1, 128, 32]), g.weight([1, 256])], hidden_size=32)
    y = g.add("Squeeze", [y, g.constant(np.array([1]))])
    g.add("Transpose", [y], "states", perm=[1, 0, 2])
    save(g, path, [("sound", ["batch", "time", 16])], "states")


def shapes(path):
    """Grids and masks that are computed from the shape of an input."""
    g = big.Graph()
    shape = g.add("Shape", ["image"])
    height, width = (g.add("Gather", [shape, g.constant(np.int64(i))], axis=0) for i in (2, 3))
    zero, one = g.constant(np.int64(0)), g.constant(np.int64(1))
    rows, columns = (g.add("Cast", [g.add("Range", [zero, n, one])], to=1) for n in (height, width))
    grid = g.add("Add", [g.add("Unsqueeze", [rows, g.constant(np.array([1]))]), columns])
    ones = g.add("ConstantOfShape", [g.add("Shape", ["image"])])
    g.add("Add", [g.add("Mul", [ones, grid]), "image"], "result")
    save(g, path, [("image", [1, 3, "height", "width"])], "result")


def folded(path):
    """Nodes that do nothing, and constants that are computed."""
    g = big.Graph()
    x = g.add("Identity", ["x"])
    x = g.add("Transpose", [g.add("Transpose", [x], perm=[1, 0])], perm=[1, 0])
    x = g.add("Add", [x, g.constant(np.zeros(8, np.float32))])
    w = g.add("Mul", [g.weight([8, 8]), g.add("Sqrt", [g.constant(np.float32(2))])])
    x = g.add("MatMul", [g.add("Cast", [x], to=1), g.add("Transpose", [w], perm=[1, 0])])
    x = g.add("Reshape", [g.add("Reshape", [x, g.constant(np.array([2, 32]))]), g.constant(np.array([8, 8]))])
    g.add("Dropout", [g.add("Mul", [x, g.constant(np.float32(1))])], "y")
    save(g, path, [("x", [8, 8])], "y")


def quantized(path):
    g = big.Graph()
    scale, zero = g.constant(np.float32(0.02)), g.constant(np.uint8(128))
    x, channels = "image", 3
    for width in (8, 16):
        weight = g.constant(np.random.default_rng(width).integers(-100, 100, [width, channels, 3, 3]).astype(np.int8))
        w = g.add("DequantizeLinear", [weight, g.constant(np.float32(0.01)), g.constant(np.int8(0))])
        x = g.add("DequantizeLinear", [g.add("QuantizeLinear", [x, scale, zero]), scale, zero])
        x = g.add("Relu", [g.add("Conv", [x, w, g.weight([width])], pads=[1] * 4)])
        channels = width
    g.add("DequantizeLinear", [g.add("QuantizeLinear", [x, scale, zero]), scale, zero], "y")
    save(g, path, [("image", [1, 3, 16, 16])], "y")


MODELS = {"resnet50": big.resnet50, "mobile": mobile, "padded": padded, "dense": dense, "images": decoder_of_images,
          "encoder": encoder, "recurrent": recurrent, "shapes": shapes, "folded": folded, "quantized": quantized}


def tools(args, path, folder):
    """The name, the command, the file that it writes and the environment of each tool that is there."""
    out = {name: os.path.join(folder, f"{name}.onnx") for name in ("ir-opt", "onnxsim", "onnxruntime")}
    yield "ir-opt", [args.ir_opt, "-O3", path, "-o", out["ir-opt"]], out["ir-opt"], None
    modules = args.node_modules
    if modules and os.path.isdir(os.path.join(modules, "onnxsim")):
        yield "onnxsim", ["node", "-e", SIMPLIFY, modules, path, out["onnxsim"]], out["onnxsim"], None
    if modules and os.path.isdir(os.path.join(modules, "onnxruntime-node")):
        env = {**os.environ, "NODE_PATH": modules}
        yield "onnxruntime", ["node", "-e", big.OPTIMIZE, path, out["onnxruntime"]], out["onnxruntime"], env


def compare(name, path, args, folder):
    """Prints a row, and returns whether no tool leaves fewer nodes than ir-opt."""
    counts, row = {}, f"{name:12} {big.nodes_in(path):5}"
    for tool, command, out, env in tools(args, path, folder):
        runs = []
        while len(runs) < args.repeat and all(code == 0 for _, _, code in runs):
            runs.append(big.run(command, env, args.limit))
        if runs[-1][2] != 0:
            reason = f"more than {args.limit} s" if runs[-1][0] >= args.limit else "failed"
            row += f" | {reason:>26}"
            continue
        counts[tool] = big.nodes_in(out)
        seconds, memory = min(run[0] for run in runs), max(run[1] for run in runs)
        row += f" | {counts[tool]:4} {seconds:8.3f} s {memory:7.0f} MB"
    print(row)
    return "ir-opt" in counts and counts["ir-opt"] <= min([*counts.values(), big.nodes_in(path)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--ir-opt", default=os.path.join(HERE, "..", "build", "bin", "ir-opt"))
    parser.add_argument("--node-modules", help="a folder with the packages onnxruntime-node and onnxsim")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, default=120, help="the seconds that a run may take")
    parser.add_argument("--only", default="", help="names of models, between commas")
    args = parser.parse_args()
    only = args.only.split(",") if args.only else list(MODELS)
    with tempfile.TemporaryDirectory() as folder:
        models = []
        for name in only:
            models.append((name, os.path.join(folder, f"{name}_model.onnx")))
            MODELS[name](models[-1][1])
            state_output(models[-1][1], ["batch", "sequence", 64] if name == "encoder" else None)
        models += [(os.path.basename(path), path) for path in args.files]
        print(f"{'model':12} {'nodes':>5} | ir-opt -O3: nodes, s, MB   | onnxsim | onnxruntime basic")
        behind = [name for name, path in models if not compare(name, path, args, folder)]
    if behind:
        sys.exit(f"more nodes than before, or than others leave: {', '.join(behind)}")


if __name__ == "__main__":
    main()
