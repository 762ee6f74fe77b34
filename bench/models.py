#!/usr/bin/env python3
"""What the levels do to real models: operators, multiply-adds, bytes of constants and the time of the pipeline.

    models.py [--ir-opt build/bin/ir-opt] [--runs 5] [--check] FOLDER

The weights of each model, which are its parameters after the first num_input ones, are bound to random values that
repeat; those with one dimension that is not 1 lie between 0.5 and 1.5, because they may be variances and scales. The time is the
least processor time of the pipeline default<O0>, ..., without reading, binding and writing. With --check, the exit code
is 1 if -O3 leaves a batch norm, or if a level has more operators or multiply-adds than the model; 77 if the folder has
no models.
"""
import argparse
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = range(5)
MODELS = ("resnet50", "densenet121", "inception_v2", "shufflenet", "squeezenet")
SKIPPED = 77


def parameters(path):
    """The name of the function that has num_input, this number, and names, shapes and dtypes of all its parameters;
    the shapes of symbolic parameters are None."""
    signature = ""
    with open(path, encoding="utf-8") as text:
        for line in text:
            if line.lstrip().startswith("def "):
                signature = line
            found = re.search(r'"num_input": (\d+)', line)
            if found:
                break
        else:
            sys.exit(f"{path}: no function has num_input")
    name = re.search(r"def (\w+)\(", signature).group(1)
    params = []
    for param, dims, dtype in re.findall(r'(\w+): R\.Tensor\(\((.*?)\), dtype="(\w+)"\)', signature.split(") ->")[0] + ")"):
        sizes = [size for size in re.split(r",\s*", dims) if size]
        shape = [int(size) for size in sizes] if all(size.isdigit() for size in sizes) else None
        params.append((param, shape, dtype))
    return name, int(found.group(1)), params


def models_in(folder):
    paths = [os.path.join(folder, f"{name}.ir") for name in MODELS]
    return [path for path in paths if os.path.exists(path)]


def random_values(seed, shape):
    """Float32 numbers, between 0.5 and 1.5 if only one dimension is not 1: they may be variances or scales."""
    count = math.prod(shape)
    low, high = (0.5, 1.5) if count == max(shape, default=1) else (-0.1, 0.1)
    generator = random.Random(seed)
    block = struct.pack("<1021f", *(generator.uniform(low, high) for _ in range(1021)))
    return (block * (count * 4 // len(block) + 1))[: count * 4]


def write_weights(weights, path):
    """Float32 weights by name and shape, in a safetensors file."""
    header, data, offset = {}, [], 0
    for name, shape, dtype in weights:
        count = math.prod(shape)
        data.append(random_values(name, shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + count * 4]}
        offset += count * 4
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(data)


def bound_weights(path, folder):
    """A pass that binds the float32 weights of the model, from a file in the folder."""
    function, num_input, params = parameters(path)
    weights = [p for p in params[num_input:] if p[1] is not None and p[2] == "float32"]
    file = os.path.join(folder, "weights.safetensors")
    write_weights(weights, file)
    return f'BindParams<func_name={function};params="{file}">'


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stderr


def measure(ir_opt, model, passes, level):
    """The -metrics and the -time-passes of the passes, as objects."""
    flags = [f"-O{level}", "-metrics=json", "-time-passes=json", "-threads=1"]
    text = run([ir_opt, f"-passes={passes}", *flags, model, "-o", os.devnull])
    found = {}
    for line in text.splitlines():
        if line.startswith("{"):  # the others are warnings
            found.update(json.loads(line))
    return found["metrics"], found["time-passes"]


def milliseconds(times, name):
    for item in times["passes"]:
        if item["name"] == name:
            return item["cpu_ms"]
        inner = milliseconds(item, name) if "passes" in item else None
        if inner is not None:
            return inner
    return None


def row(label, metrics, time):
    total = metrics["total"]
    norms = sum(op["count"] for op in metrics["operators"] if op["name"] == "R.nn.batch_norm")
    print(f"| {label} | {total['calls']} | {norms} | {total['multiply_adds'] / 1e6:,.0f} million "
          f"| {total['constant_bytes'] / 1e6:,.1f} MB | {time} |", flush=True)
    return total["calls"], norms, total["multiply_adds"]


def measure_model(ir_opt, model, runs, folder):
    """Prints the rows of one model, and returns whether its levels keep what --check asks for."""
    name = os.path.splitext(os.path.basename(model))[0]
    binding = bound_weights(model, folder)
    metrics, _ = measure(ir_opt, model, binding, 0)
    calls, _, products = row(name, metrics, "")
    is_right = True
    for level in LEVELS:
        pipeline = f"default<O{level}>"
        results = [measure(ir_opt, model, f"{binding},{pipeline}", level) for _ in range(runs)]
        time = min(milliseconds(times, pipeline) for _, times in results)
        after = row(f"{name} -O{level}", results[0][0], f"{time:.2f} ms")
        is_right &= after[0] <= calls and after[2] <= products and (level != 3 or after[1] == 0)
    return is_right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default=os.path.join(HERE, "..", "build", "bin", "ir-opt"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folder")
    options = parser.parse_args()
    models = models_in(options.folder)
    if not models:
        print(f"SKIPPED: no models in {options.folder}")
        return SKIPPED
    print("| model | operators | batch norms | multiply-adds | constants | pipeline |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        verdicts = [measure_model(options.ir_opt, model, options.runs, folder) for model in models]
    return 1 if options.check and not all(verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
