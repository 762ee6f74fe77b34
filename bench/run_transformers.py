#!/usr/bin/env python3
"""Times calls of transformers as compiled loops, compared with onnxruntime.

    run_transformers.py [--ir-run build/bin/ir-run] [--node-modules DIR] [--threads 1,2] [--repeat 20] [--rounds 3] [--level 3]
                        [--models A,B] [--small] [--kernels]

Makes the models of transformers.py, with random weights. Runs `ir-run -O3 -loops=compile` and, with DIR, the folder of the
package onnxruntime-node, that at its level `all`, by turns, and compares their results. Printed are the least times of a call
in milliseconds, and what passes and compilation take without a cache. With --kernels, the times of kernels in the fastest call
and what share of the processor's peak a call reaches, which a loop of multiply-adds measures, in one thread. --small is quick.
Needs Python's onnx (python3-onnx).
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

# The folder of this script comes last: it has an onnx.py.
sys.path.append(sys.path.pop(0))
try:
    import numpy as np
    import onnx  # noqa: F401
except ImportError:
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
from models import HERE, run
from transformers import MODELS

ONNXRUNTIME = """
const ort = require("onnxruntime-node");
const fs = require("fs");
const [, model, folder, threads, repeat] = process.argv;
const TYPES = {float32: Float32Array, int64: BigInt64Array};
(async () => {
  const session = await ort.InferenceSession.create(
      model, {graphOptimizationLevel: "all", intraOpNumThreads: Number(threads), interOpNumThreads: 1, logSeverityLevel: 3});
  const feeds = {};
  for (const {name, dtype, shape} of JSON.parse(fs.readFileSync(folder + "/inputs.json"))) {
    const bytes = fs.readFileSync(folder + "/" + name + ".bin");
    const data = new TYPES[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    feeds[name] = new ort.Tensor(dtype, data, shape);
  }
  const times = [];
  let results;
  for (let i = 0; i < Number(repeat) + 2; ++i) {
    const begin = process.hrtime.bigint();
    results = await session.run(feeds);
    if (i >= 2) times.push(Number(process.hrtime.bigint() - begin) / 1e6);
  }
  const shapes = session.outputNames.map((name, i) => {
    const data = results[name].data;
    fs.writeFileSync(folder + "/result" + i + ".bin", Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    return results[name].dims;
  });
  console.log(JSON.stringify({time: Math.min(...times), shapes}));
})().catch((error) => { console.error(String(error)); process.exit(1); });
"""
PEAK = """
#include <stdio.h>
#include <time.h>
typedef float Vector __attribute__((vector_size(4 * LANES)));
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
int main(int argc, char** argv) {
  enum { SUMS = 12, STEPS = 1 << 22 };
  Vector sum[SUMS];
  for (int i = 0; i < SUMS; ++i) sum[i] = (Vector){0} + (float)argc;
  const Vector factor = (Vector){0} + 0.5f * (float)argc;
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double begin = now();
    for (int step = 0; step < STEPS; ++step) {
      for (int i = 0; i < SUMS; ++i) sum[i] = sum[i] * factor + factor;
      asm volatile("" : "+v"(sum[0]));
    }
    const double time = now() - begin;
    if (time < least) least = time;
  }
  for (int i = 1; i < SUMS; ++i) sum[0] += sum[i];
  fprintf(stderr, "%f", (double)sum[0][0]);
  printf("%g", (double)SUMS * STEPS * LANES / least);
}
"""


def peak(folder):
    """The multiply-adds of float32 in a second that one core makes."""
    with open("/proc/cpuinfo", encoding="ascii") as info:
        lanes = 16 if " avx512f " in info.read() else 8
    source, program = os.path.join(folder, "peak.c"), os.path.join(folder, "peak")
    with open(source, "w", encoding="ascii") as file:
        file.write(PEAK)
    run(["cc", "-O3", "-march=native", f"-DLANES={lanes}", "-ffp-contract=fast", source, "-o", program])
    return float(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


class Model:
    """A model in a folder, with inputs and what processes ran it."""

    def __init__(self, name, options, folder):
        write, full, small, sizes = MODELS[name]
        self.options, self.folder = options, folder
        self.path = os.path.join(folder, f"{name}.onnx")
        write(self.path, **(small if options.small else full))
        sizes = [f"-sym={symbol}={size}" for symbol, size in sizes.items()]
        self.flags = [options.ir_run, "-random-inputs", *sizes, f"-O{options.level}", "-loops=compile",
                      f"-cache-dir={os.path.join(folder, 'cache')}"]
        self.inputs = os.path.join(folder, "inputs.npz")
        self.first = self.time([f"-save-inputs={self.inputs}"], range(2))

    def run(self, flags, processors):
        processors = ",".join(map(str, processors))
        return run(["taskset", "-c", processors, *self.flags, *flags, self.path])

    def time(self, flags, processors):
        text = self.run([f"-repeat={self.options.repeat}", "-warmup=2", "-report=json", *flags], processors)
        return next(json.loads(line) for line in text.splitlines() if line.startswith("{"))["run-times"]["programs"][0]

    def write_inputs(self):
        descriptions = []
        for name, array in np.load(self.inputs).items():
            descriptions.append({"name": name, "dtype": str(array.dtype), "shape": array.shape})
            array.tofile(os.path.join(self.folder, f"{name}.bin"))
        with open(os.path.join(self.folder, "inputs.json"), "w", encoding="utf-8") as file:
            json.dump(descriptions, file)

    def time_onnxruntime(self, processors):
        """The results are compared with those of compiled loops."""
        environment = {**os.environ, "NODE_PATH": os.path.abspath(self.options.node_modules)}
        command = ["taskset", "-c", ",".join(map(str, processors)), "node", "-e", ONNXRUNTIME, self.path, self.folder,
                   str(len(processors)), str(self.options.repeat)]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        results = [np.fromfile(os.path.join(self.folder, f"result{i}.bin"), np.float32).reshape(shape)
                   for i, shape in enumerate(found["shapes"])]
        expected = os.path.join(self.folder, "expected.npz")
        np.savez(expected, **{f"out{i}": result for i, result in enumerate(results)})
        self.run([f"-check={expected}", "-require-comparison"], processors)
        return found["time"]


def measure(name, options, folder):
    """Prints a row for each number of threads. Returns the ratios."""
    model = Model(name, options, folder)
    ratios = []
    for threads in options.threads.split(","):
        processors = range(int(threads))
        loops, others = [], []
        if options.node_modules:
            model.write_inputs()
        for _ in range(options.rounds):
            loops.append(model.time([], processors)["min_ms"])
            if options.node_modules:
                others.append(model.time_onnxruntime(processors))
        cells = [min(loops), model.first["passes_ms"], model.first["compile_ms"]]
        if others:
            ratios.append(min(loops) / min(others))
            cells.append(min(others))
        cells = [f"{cell:.2f}" for cell in cells] + [f"{ratios[-1]:.2f}"] * bool(others)
        print(f"| {name} | {threads} | {' | '.join(cells)} |", flush=True)
    return ratios


def show_kernels(name, options, folder):
    model = Model(name, options, folder)
    metrics = json.loads(run([options.ir_opt, f"-O{options.level}", "-metrics=json", model.path, "-o", os.devnull]))
    work = metrics["metrics"]["total"]["multiply_adds"]
    most = peak(folder)
    least = model.time([], range(1))["min_ms"]
    print(f"{name}: {work / 1e6:.0f} million multiply-adds, {work / most * 1e3:.2f} ms at the peak of {most / 1e9:.1f} in a "
          f"nanosecond, {least:.2f} ms measured")
    text = model.run([f"-repeat={options.repeat}", "-time"], range(1))
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for tool in ("ir-opt", "ir-run"):
        parser.add_argument(f"--{tool}", default=os.path.join(HERE, "..", "build", "bin", tool))
    parser.add_argument("--node-modules")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--level", type=int, choices=(3, 4), default=3)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    options = parser.parse_args()
    if not options.kernels:
        print("| model | threads | compiled loops | passes | compilation | onnxruntime | ratio |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
    ratios = []
    for name in options.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            ratios += (show_kernels if options.kernels else measure)(name, options, folder) or []
    if ratios:
        print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
