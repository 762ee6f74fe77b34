#!/usr/bin/env python3
"""Times calls of transformers and of quantized models as compiled loops, compared with onnxruntime.

    run_transformers.py [--ir-run build/bin/ir-run] [--node-modules DIR] [--threads 1,2] [--repeat 20] [--rounds 3] [--level 3]
                        [--models A,B] [--small] [--kernels] [--cpu]

Makes the models of transformer_models.py, with random weights, and quantized ones: BERT with dynamic ranges (-precision=int8-dynamic), a
decoder with weights of 4 bits (-precision=int4-weights), and MobileNetV2 (mobilenet.py) in floats, by QuantizeStatic (mobilenet_qdq), and of QLinear operators (mobilenet_bytes). Runs `ir-run -O3 -loops=compile` and, with DIR, the folder of the
package onnxruntime-node, that at its level `all`, by turns, and compares their results. Printed are the least times of a call
in milliseconds, and what passes and compilation take without a cache. With --kernels, the times of kernels in the fastest call,
in one thread, and what share they reach of the most that a loop of multiply-adds does and a copy. --small is quick.
With --cpu, what a call takes of the processor in the mean instead of the least time, for one thread on a busy machine.
Needs Python's onnx (python3-onnx).
"""
import argparse
import json
import math
import os
import re
import resource
import subprocess
import tempfile

import with_onnx  # noqa: F401
import numpy as np
import onnx

from mobilenet import BLOCKS, SMALL_BLOCKS, Bytes, Floats, mobilenet
from models import HERE, run
from transformer_models import MODELS as TRANSFORMERS

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
  let results, begun;
  for (let i = 0; i < Number(repeat) + 2; ++i) {
    if (i == 2) begun = process.cpuUsage();
    const begin = process.hrtime.bigint();
    results = await session.run(feeds);
    if (i >= 2) times.push(Number(process.hrtime.bigint() - begin) / 1e6);
  }
  const used = process.cpuUsage(begun);
  const shapes = session.outputNames.map((name, i) => {
    const data = results[name].data;
    fs.writeFileSync(folder + "/result" + i + ".bin", Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    return results[name].dims;
  });
  console.log(JSON.stringify({time: Math.min(...times), cpu: (used.user + used.system) / 1e3 / times.length, shapes}));
})().catch((error) => { console.error(String(error)); process.exit(1); });
"""
LIMITS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef float Vector __attribute__((vector_size(4 * LANES)));
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e9 * t.tv_sec + t.tv_nsec; }
int main(int argc, char** argv) {
  enum { SUMS = 12, STEPS = 1 << 18, BYTES = 1 << 26 };
  Vector sum[SUMS];
  for (int i = 0; i < SUMS; ++i) sum[i] = (Vector){0} + (float)argc;
  const Vector factor = (Vector){0} + 0.5f * (float)argc;
  char *from = malloc(BYTES), *to = malloc(BYTES);
  memset(from, argc, BYTES);
  double add_time = 1e18, copy_time = 1e18;
  for (int round = 0; round < 60; ++round) {
    const double begin = now();
    for (int step = 0; step < STEPS; ++step)
      for (int i = 0; i < SUMS; ++i) sum[i] = sum[i] * factor + factor;
    const double middle = now();
    memcpy(to, from, BYTES);
    const double end = now();
    if (middle - begin < add_time) add_time = middle - begin;
    if (end - middle < copy_time) copy_time = end - middle;
  }
  for (int i = 1; i < SUMS; ++i) sum[0] += sum[i];
  fprintf(stderr, "%f %d", (double)sum[0][0], to[BYTES / 2]);
  printf("%g %g", (double)SUMS * STEPS * LANES / add_time, 2.0 * BYTES / copy_time);
}
"""


NET = {"blocks": BLOCKS, "pixels": 224}, {"blocks": SMALL_BLOCKS, "pixels": 64}


def quantize(path, ir_opt):
    """By two images."""
    folder = os.path.dirname(path)
    samples = [os.path.join(folder, f"sample{i}.npz") for i in range(2)]
    sizes = [dim.dim_value for dim in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
    for i, sample in enumerate(samples):
        np.savez(sample, image=np.random.default_rng(i).standard_normal(sizes, dtype=np.float32))
    names = ", ".join(f'"{sample}"' for sample in samples)
    run([ir_opt, f"-passes=QuantizeStatic<inputs=[{names}]; max_error=0>", path, "-o", path])


# What makes the model smaller, and the greatest error of its results compared with onnxruntime's: a number that is rounded to another
# integer changes all that follows.
QUANTIZED = {
    "bert_int8": ((*TRANSFORMERS["bert"],), lambda path, ir_opt: run([ir_opt, "-precision=int8-dynamic", path, "-o", path]), 0.3),
    "llama_step_int4": ((*TRANSFORMERS["llama_step"],), lambda path, ir_opt: run([ir_opt, "-precision=int4-weights", path, "-o", path]), 1e-3),
    "mobilenet_qdq": ((lambda path, **sizes: mobilenet(path, Floats, **sizes), *NET, {}), quantize, 0.1),
    "mobilenet_bytes": ((lambda path, **sizes: mobilenet(path, Bytes, **sizes), *NET, {}), None, 0),
}
MODELS = {**TRANSFORMERS, "mobilenet": (lambda path, **sizes: mobilenet(path, Floats, **sizes), *NET, {}),
          **{name: row[0] for name, row in QUANTIZED.items()}}


def vector_feature():
    with open("/proc/cpuinfo", encoding="ascii") as info:
        return "avx512f" if " avx512f " in info.read() else "avx2"


def machine_limits(folder):
    """The multiply-adds of float32 in a nanosecond that one core makes, and the bytes that it copies (read and written)."""
    source, program = os.path.join(folder, "limits.c"), os.path.join(folder, "limits")
    with open(source, "w", encoding="ascii") as file:
        file.write(LIMITS)
    lanes = 16 if vector_feature() == "avx512f" else 8
    run(["cc", "-O3", "-march=native", f"-DLANES={lanes}", "-ffp-contract=fast", source, "-o", program])
    text = subprocess.run(["taskset", "-c", "0", program], check=True, capture_output=True, text=True).stdout
    return [float(number) for number in text.split()]


def work_of_kernels(text):
    """By the name of a scheduled PrimFunc: its multiply-adds, and the bytes of its buffers. Unknown sizes count as 1."""
    work = {}
    for part in text.split("    def ")[1:]:
        name, signature = part[: part.index("(")], part[: part.index("\n")]
        size_of = {"float32": 4, "int64": 8, "int32": 4, "float16": 2, "bool": 1, "uint8": 1, "int8": 1}
        buffers = re.findall(r'T\.Buffer\(\((.*?)\), "(\w+)"\)', signature)
        total = sum(math.prod(map(int, re.findall(r"\b(\d+)\b", dims.replace("int64", "")))) * size_of.get(dtype, 4)
                    for dims, dtype in buffers)
        products = 0
        for block in part.split('with T.block("')[1:]:
            if block[: block.index('"')].endswith("_update"):
                axes = re.findall(r"T\.axis\.(?:spatial|reduce)\((?:T\.int64\()?(\d+)", block[: block.index("T.reads")])
                products += math.prod(map(int, axes))
        work[name] = (products, total)
    return work


class Model:
    """A model in a folder, with inputs and what processes ran it."""

    def __init__(self, name, options, folder):
        write, full, small, sizes = MODELS[name]
        self.options, self.folder = options, folder
        self.path = os.path.join(folder, f"{name}.onnx")
        write(self.path, **(small if options.small else full))
        _, make_small, error = QUANTIZED.get(name, (None, None, 0))
        if make_small:
            make_small(self.path, options.ir_opt)
        self.tolerance = [f"-atol={error}"] if error else []
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

    def cpu_time(self, processors):
        """The milliseconds of the processor for a call: what more calls take in addition."""
        used = []
        for repeat in (1, self.options.repeat + 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.run([f"-repeat={repeat}", "-warmup=2"], processors)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return (used[1] - used[0]) / self.options.repeat * 1e3

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
        self.run([f"-check={expected}", "-require-comparison", *self.tolerance], processors)
        return found["cpu" if self.options.cpu else "time"]


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
            loops.append(model.cpu_time(processors) if options.cpu else model.time([], processors)["min_ms"])
            if options.node_modules:
                others.append(model.time_onnxruntime(processors))
        cells = [min(loops), model.first["passes_ms"], model.first["compile_ms"]]
        if others:
            ratios.append(min(loops) / min(others))
            cells += [min(others), ratios[-1]]
        print(f"| {name} | {threads} | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)
    return ratios


def show_kernels(name, options, folder):
    model = Model(name, options, folder)
    products, copied = machine_limits(folder)
    scheduled = os.path.join(folder, "scheduled.ir")
    run([options.ir_opt, f"-O{options.level}", f"-target=llvm -mattr=+{vector_feature()}", model.path, "-o", scheduled])
    with open(scheduled, encoding="utf-8") as file:
        work = work_of_kernels(file.read())
    text = min((model.run([f"-repeat={options.repeat}", "-warmup=2", "-time"], range(1)) for _ in range(options.rounds)),
               key=lambda text: float(re.search(r"([0-9.]+) +100.0 +total", text).group(1)))
    print(f"{name}: one core makes {products:.1f} multiply-adds in a nanosecond at most and copies {copied:.1f} bytes\n")
    print("| ms | calls | multiply-adds in a nanosecond | of the peak | bytes in a nanosecond | kernel |")
    print("| --- | --- | --- | --- | --- | --- |")
    for line in text.splitlines():
        row = re.match(r" *([0-9.]+) +[0-9.]+ +(\d+)  PrimFunc +(\w+)", line)
        if not row or float(row[1]) == 0:
            continue
        speeds = [int(row[2]) * amount / float(row[1]) / 1e6 for amount in work.get(row[3], (0, 0))]
        print(f"| {row[1]} | {row[2]} | {speeds[0]:.1f} | {speeds[0] / products:.0%} | {speeds[1]:.1f} | {row[3]} |")
    print(f"| {re.search(r'([0-9.]+) +100.0 +total', text)[1]} | | | | | total |\n", flush=True)


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
    parser.add_argument("--cpu", action="store_true")
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
