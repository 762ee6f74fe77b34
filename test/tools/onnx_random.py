#!/usr/bin/env python3
"""Makes random ONNX models with inputs and outputs, and has them judged.

    onnx_random.py --ir-opt BIN --ir-run BIN [--node-modules DIR] [--count N] [--seed N] [--keep DIR]

A model is a graph of about 24 nodes over small tensors: arithmetic with broadcasting, comparisons, reductions, changes of
shape (also by shapes that Shape, Gather and Concat compute), convolutions, pools, normalizations, indexing, conditionals and
loops. What it computes is computed with NumPy while it is made. ir-run must agree (onnx_testdata.py), and so must what
ir-opt writes, as read and after -O3 (onnx_round_trip.py, with onnxruntime if its folder is given). Needs the Python
packages onnx and NumPy; without them nothing is tested."""

import argparse
import os
import subprocess
import sys
import tempfile

import onnx_steps

OPSETS = (9, 11, 12, 13, 16, 17)
MOST_NODES = 24


def make_model(seed, modules):
    np, onnx = modules
    rng = np.random.default_rng(seed)
    opset = int(rng.choice(OPSETS))
    g = onnx_steps.Graph(np, onnx, rng, opset)
    shapes = [[int(d) for d in rng.integers(1, 5, 2)], [int(rng.integers(1, 3)), int(rng.integers(1, 4)), 5, 6], []]
    for i, shape in enumerate(shapes[: int(rng.integers(1, 4))]):
        g.inputs[f"in{i}"] = g.values[f"in{i}"] = g.numbers(shape)
    g.values["n"] = g.inputs["n"] = g.numbers([3], "int64")
    while len(g.nodes) < MOST_NODES - int(rng.integers(20)):
        before = dict(g.values)
        onnx_steps.STEPS[rng.integers(len(onnx_steps.STEPS))](g)
        # Big and special values make differences that mean nothing.
        for name in [n for n in g.values if n not in before]:
            array = g.values[name]
            if not 0 < array.size <= onnx_steps.MOST_ELEMENTS or (array.dtype.kind == "f" and not np.abs(array).max(initial=0) < 1e4):
                del g.values[name]
    used = {name for node in g.nodes for name in node.input}
    outputs = [n for node in g.nodes for n in node.output if n in g.values and n not in used][-4:]
    outputs = outputs or [g.nodes[-1].output[0]]
    return g, outputs, to_proto(g, outputs, rng, opset, onnx)


def to_proto(g, outputs, rng, opset, onnx):
    helper = g.helper
    def info(name, array, is_named=False):
        dims = [f"d_{name}_{i}" if is_named and i == 0 else d for i, d in enumerate(array.shape)]
        return helper.make_tensor_value_info(name, g.element_type(array), dims)
    named = rng.integers(2) == 1
    graph = helper.make_graph(
        g.nodes, "random", [info(name, array, named) for name, array in g.inputs.items()],
        [helper.make_tensor_value_info(n, g.element_type(g.values[n]), [None] * g.values[n].ndim) for n in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in g.initializers.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def save(folder, seed, modules):
    g, outputs, model = make_model(seed, modules)
    onnx = modules[1]
    onnx.checker.check_model(model)
    data = os.path.join(folder, "random", f"seed_{seed}", "test_data_set_0")
    os.makedirs(data)
    onnx.save(model, os.path.join(data, "..", "model.onnx"))
    for kind, arrays in (("input", g.inputs.values()), ("output", [g.values[name] for name in outputs])):
        for i, array in enumerate(arrays):
            with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as file:
                file.write(onnx.numpy_helper.from_array(array).SerializeToString())


def judge(folder, args):
    tools = os.path.dirname(os.path.abspath(__file__))
    testdata = [sys.executable, os.path.join(tools, "onnx_testdata.py"), f"--ir-run={args.ir_run}", f"--data={folder}"]
    round_trip = [sys.executable, os.path.join(tools, "onnx_round_trip.py"), f"--ir-opt={args.ir_opt}",
                  f"--ir-run={args.ir_run}", folder]
    if args.node_modules:
        # Its fusion of Pad and MaxPool pads with the least value instead of zero, or by a whole window.
        round_trip += [f"--node-modules={args.node_modules}", "--level=disabled"]
    failed = 0
    for name, command in (("ir-run", testdata + ["--flags=-O0"]), ("ir-run -O3", testdata), ("written", round_trip),
                          ("written after -O3", round_trip + ["--passes=default<O3>"])):
        print(f"{name}:", flush=True)
        failed |= subprocess.run(command, check=False).returncode
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--node-modules")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="the folder for the models")
    args = parser.parse_args()
    try:
        import numpy
        import onnx
        import onnx.numpy_helper
    except ImportError:
        print("skipped: the Python package onnx is not installed")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or temporary
        for seed in range(args.seed, args.seed + args.count):
            save(folder, seed, (numpy, onnx))
        return judge(folder, args)


if __name__ == "__main__":
    sys.exit(main())
