#!/usr/bin/env python3
"""Chooses float16 operators of models, and compares with a greedy search that measures each operator.

    precision.py [--folder FOLDER] [--models NAME,...] [--samples 1] [--part 0.5] [--rtol 0.01] [--node-modules DIR]

The models are networks for images of FOLDER, such as ../shared/corpus/models, with random weights of the scale that training
begins with, and BERT as bench/transformer_models.py writes it (bert: base; bert_small). Run with the package iropt on the path:
PYTHONPATH=build/python.

The search begins with no operator, and adds each in turn, in the order of the program, if the error of the outputs with it, which
a run of the model on all samples measures, is within the tolerance. Both emulate float16 alike. The tolerance is --rtol, or
with --part a part of the error of all operators that may have the format, so that not all of them can have it. Times are those of
the processor. With --node-modules, a folder node_modules with onnxruntime-node, the chosen model runs there as well, and the
error of its outputs must be within a factor of two of the one that was measured here; the exit code is 1 if it is not, or if the search
lowers more operators."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import with_onnx  # noqa: F401
import numpy as np

import iropt
from iropt import precision

import models as corpus
import transformer_models

RUN = """
const fs = require("fs"), ort = require("onnxruntime-node");
const [, model, feeds, out] = process.argv;
(async () => {
  const session = await ort.InferenceSession.create(model, {graphOptimizationLevel: "disabled", logSeverityLevel: 4});
  const inputs = {};
  for (const {name, kind, dims, file} of JSON.parse(fs.readFileSync(feeds))) {
    const bytes = fs.readFileSync(file), memory = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    inputs[name] = new ort.Tensor(kind, kind === "int64" ? new BigInt64Array(memory) : new Float32Array(memory), dims);
  }
  const results = await session.run(inputs);
  const {data} = results[session.outputNames[0]];
  fs.writeFileSync(out, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
})().catch(error => { console.error(String(error)); process.exit(1); });
"""


def weight(random, name, shape):
    """Of a variance that keeps that of activations; statistics and scales of normalizations are near to 1 or 0."""
    if len(shape) > 1:
        fan_in = int(np.prod(shape[1:]))
        # That of the last layer is small, so that a softmax behind it is not that of one element.
        scale = 0.01 if len(shape) == 2 else 1
        return (random.standard_normal(shape) * scale * np.sqrt(2 / fan_in)).astype(np.float32)
    if any(part in name for part in ("beta", "bias", "mean")):
        return (random.standard_normal(shape) * 0.1).astype(np.float32)
    return random.uniform(0.8, 1.2, shape).astype(np.float32)


def network(path, num_samples):
    """A model of the corpus with weights, and random images."""
    function, num_input, params = corpus.parameters(path)
    random = np.random.default_rng(1)
    weights = {name: weight(random, name, shape) for name, shape, dtype in params[num_input:]
               if shape is not None and dtype == "float32"}
    module = iropt.relax.transform.BindParams(function, weights)(iropt.from_file(path))
    # Shapes that no operator reads.
    others = {name: np.zeros(shape, dtype) for name, shape, dtype in params[num_input:] if dtype != "float32"}
    samples = [{**{name: random.standard_normal(shape).astype(np.float32) for name, shape, _ in params[:num_input]}, **others}
               for _ in range(num_samples)]
    return module, samples, function


def bert(path, num_samples, **sizes):
    transformer_models.bert(path, length=128, **sizes)
    random = np.random.default_rng(1)
    samples = [{"tokens": random.integers(0, sizes["vocabulary"], (1, 128)), "positions": np.arange(128)[None],
                "mask": np.where(np.arange(128) < random.integers(64, 128), 0, -100).astype(np.float32).reshape(1, 1, 1, 128)}
               for _ in range(num_samples)]
    return iropt.onnx.load(path), samples, "main"


def greedy(model, candidates, rtol):
    lowered = []
    for operator in candidates:
        if model.error([*lowered, operator]) <= rtol:
            lowered.append(operator)
    return lowered


def timed(function):
    begin = time.process_time()
    result = function()
    return result, time.process_time() - begin


def in_onnxruntime(before, after, sample, node_modules, folder):
    """The relative error of the first output."""
    feeds = []
    for name, array in sample.items():
        file = os.path.join(folder, f"{len(feeds)}.bin")
        array.tofile(file)
        feeds.append({"name": name, "kind": str(array.dtype), "dims": list(array.shape), "file": file})
    with open(os.path.join(folder, "feeds.json"), "w", encoding="utf-8") as f:
        json.dump(feeds, f)
    values = []
    for module in (before, after):
        path, out = os.path.join(folder, "run.onnx"), os.path.join(folder, "out.bin")
        iropt.onnx.save(module, path)
        subprocess.run(["node", "-e", RUN, path, os.path.join(folder, "feeds.json"), out], check=True,
                       env={**os.environ, "NODE_PATH": os.path.abspath(node_modules)})
        values.append(np.fromfile(out, np.float32).astype(np.float64))
    return np.linalg.norm(values[1] - values[0]) / np.linalg.norm(values[0])


def make(name, args, folder):
    if name.startswith("bert"):
        sizes = transformer_models.BERT if name == "bert" else {"layers": 2, "size": 128, "heads": 2, "vocabulary": 1000}
        return bert(os.path.join(folder, "bert.onnx"), args.samples, **sizes)
    return network(os.path.join(args.folder, f"{name}.ir"), args.samples)


def compare(name, args, folder):
    module, samples, function = make(name, args, folder)
    model = precision.Model(module, samples, function=function)
    loose = model.choose(1e9)
    candidates = [i for i, row in enumerate(loose.rows) if row.lowered]
    everything = loose.error
    rtol = everything * args.part if args.part else args.rtol
    choice, seconds = timed(lambda: model.choose(rtol))
    chosen = [i for i, row in enumerate(choice.rows) if row.lowered]
    predicted = f"{choice.predicted_error:10.2e}" if choice.predicted_error is not None else " " * 10
    row = (f"{name:14} {len(model.operators):5} {everything:10.2e} {rtol:10.2e} | {len(chosen):5} {seconds:8.2f} s "
           f"{predicted} {choice.error:10.2e}")
    ok = True
    if not args.no_search:
        found, search = timed(lambda: greedy(model, candidates, rtol))
        row += f" | {len(found):5} {search:8.2f} s {model.error(found):10.2e} | {search / seconds:6.1f}"
        ok = len(chosen) >= len(found)
    if args.node_modules:
        error = in_onnxruntime(module, choice.module, samples[0], args.node_modules, folder)
        row += f" | {error:10.2e}"
        ok &= choice.error / 2 <= error <= choice.error * 2
    print(row, flush=True)
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="../shared/corpus/models")
    parser.add_argument("--models", default="shufflenet,bert_small")
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--part", type=float)
    parser.add_argument("--rtol", type=float, default=1e-2)
    parser.add_argument("--no-search", action="store_true")
    parser.add_argument("--node-modules")
    args = parser.parse_args()
    print(f"{'model':14} {'ops':>5} {'all':>10} {'tolerance':>10} | {'ops':>5} {'time':>10} {'predicted':>10} {'error':>10}"
          f" | greedy: ops, time, error | ratio | onnxruntime")
    with tempfile.TemporaryDirectory() as folder:
        results = [compare(name, args, folder) for name in args.models.split(",")]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
