#!/usr/bin/env python3
"""Times calls of real models as compiled loops, in one thread, compared with onnxruntime.

    run_models.py [--ir-run build/bin/ir-run] [--ir-opt build/bin/ir-opt] [--node-modules DIR] [--repeat 20] [--level 3]
                  [--models A,B] FOLDER

The weights of each model are bound to random values, as models.py does. Measured are `ir-run -O3`, which calls a kernel for each
operator, and `ir-run -O3 -loops=compile`, which schedules and compiles loops, and whose results must be those of the first one;
both at the level that is given.
With DIR, the folder of the package onnxruntime-node, the same model as ONNX by onnxruntime at its level `all`, with one thread
(needs Python's onnx, python3-onnx; runs again with /usr/bin/python3 if this Python lacks it). Printed are the least times of a
call in milliseconds, and what passes and compilation take without a cache. Loops run in one thread if the process has one processor: `taskset -c 0 run_models.py ...`.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

from models import HERE, MODELS, bound_weights, run

TIME_ONNXRUNTIME = """
const ort = require("onnxruntime-node");
const [, model, repeat] = process.argv;
(async () => {
  const session = await ort.InferenceSession.create(
      model, {graphOptimizationLevel: "all", intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3});
  const feeds = {};
  for (const input of session.inputMetadata) {
    const size = input.shape.reduce((a, b) => a * b, 1);
    feeds[input.name] = new ort.Tensor("float32", Float32Array.from({length: size}, () => Math.random() - 0.5), input.shape);
  }
  const times = [];
  for (let i = 0; i < Number(repeat) + 2; ++i) {
    const begin = process.hrtime.bigint();
    await session.run(feeds);
    if (i >= 2) times.push(Number(process.hrtime.bigint() - begin) / 1e6);
  }
  console.log(Math.min(...times));
})().catch((error) => { console.error(String(error)); process.exit(1); });
"""


def bind(ir_opt, path, folder):
    """The model with its weights, which are in files next to it."""
    bound = os.path.join(folder, os.path.basename(path))
    run([ir_opt, f"-passes={bound_weights(path, folder)}", "-externalize-constants=64", path, "-o", bound])
    return bound


def times_of(ir_run, model, repeat, level, flags):
    text = run([ir_run, "-random-inputs", f"-O{level}", f"-repeat={repeat}", "-warmup=2", "-report=json", *flags, model])
    return next(json.loads(line) for line in text.splitlines() if line.startswith("{"))["run-times"]["programs"][0]


def time_onnxruntime(path, node_modules, repeat, folder):
    import onnx
    from onnxruntime_nodes import export_model

    source = os.path.join(folder, "model.onnx")
    onnx.save(export_model(path), source)
    environment = {**os.environ, "NODE_PATH": os.path.abspath(node_modules)}
    done = subprocess.run(["node", "-e", TIME_ONNXRUNTIME, source, str(repeat)], env=environment, check=True,
                          capture_output=True, text=True)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for tool in ("ir-opt", "ir-run"):
        parser.add_argument(f"--{tool}", default=os.path.join(HERE, "..", "build", "bin", tool))
    parser.add_argument("--node-modules")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--level", type=int, choices=(3, 4), default=3)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("folder")
    options = parser.parse_args()
    if options.node_modules:
        import with_onnx  # noqa: F401
    print("| model | kernels | compiled loops | passes | compilation | onnxruntime | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    ratios = []
    for name in options.models.split(","):
        path = os.path.join(options.folder, f"{name}.ir")
        if not os.path.exists(path):
            sys.exit(f"{path}: no such file")
        with tempfile.TemporaryDirectory() as folder:
            model = bind(options.ir_opt, path, folder)
            expected = os.path.join(folder, "expected.npz")
            run([options.ir_run, "-random-inputs", "-O3", f"-output={expected}", model])
            run([options.ir_run, "-random-inputs", f"-O{options.level}", "-loops=compile", f"-check={expected}", model])
            kernels = times_of(options.ir_run, model, options.repeat, options.level, [])
            loops = times_of(options.ir_run, model, options.repeat, options.level, ["-loops=compile"])
            other = options.node_modules and time_onnxruntime(path, options.node_modules, options.repeat, folder)
        row = [kernels["min_ms"], loops["min_ms"], loops["passes_ms"], loops["compile_ms"]]
        cells = [f"{value:.1f}" for value in row]
        if other:
            ratios.append(loops["min_ms"] / other)
            cells += [f"{other:.1f}", f"{ratios[-1]:.2f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    if ratios:
        print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
