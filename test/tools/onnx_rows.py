#!/usr/bin/env python3
"""Runs a model of one node for each row of the tables of ONNX's operators, and compares with what NumPy computes.

    onnx_rows.py SOURCE_FOLDER --ir-run=build/bin/ir-run [--ir-opt=build/bin/ir-opt] [--filter=OP] [--node-modules=FOLDER]

The cases are in onnx_row_cases.py. Each row of SOURCE_FOLDER/ops, which is for an operator from a version of the operator
set on, and each kernel and definition of SOURCE_FOLDER/run must have a case. Models run as they are and under -O3. With the
folder of onnxruntime-node, the cases of its domain and of operators from version 23 on are also compared with it, as they are
and as ir-opt -O3 writes them.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx_file
import onnx_row_cases

ROW = re.compile(r'^\s*\{"(\w+)", (\d+), \w+, \w+, [\w:<>]+,', re.MULTILINE)
KERNEL = re.compile(r'\{"([\w.]+)", (?:Run|Define)\w+\}')


def read(folder, pattern):
    text = ""
    for path in sorted(glob.glob(os.path.join(folder, pattern))):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return text


# Operators on sequences, which need graphs: test/exchange/onnx/sequences.test.
GRAPHS = {"ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
          "SplitToSequence"}


def missing(folder, cases):
    """The rows and kernels without a case."""
    versions = {}
    for name, since in ROW.findall(read(folder, "ops/*.cpp")):
        versions.setdefault(name, []).append(int(since))
    for name in set(KERNEL.findall(read(folder, "run/*.cpp"))) - GRAPHS:
        versions.setdefault(name, [1])
    for name, since in sorted(versions.items()):
        bounds = sorted(since) + [1000]
        for low, high in zip(bounds, bounds[1:]):
            if not any(case.full_name == name and low <= case.opset < high for case in cases):
                yield f"{name} from version {low} on"


def encode(case):
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(case.inputs)]
    constants = [(names[i], array) for i, array in enumerate(case.inputs) if i in case.constants]
    inputs = [onnx_file.value(names[i], array.dtype.name, array.shape) for i, array in enumerate(case.inputs)
              if array is not None and i not in case.constants]
    inputs += [onnx_file.value(name, array.dtype.name, array.shape) for name, array in case.captured.items()]
    outputs = [f"y{i}" if array is not None else "" for i, array in enumerate(case.expected)]
    results = [onnx_file.value(name, array.dtype.name, None) for name, array in zip(outputs, case.expected) if name]
    node = onnx_file.node(case.op, names, outputs, case.domain, **case.attributes)
    graph = onnx_file.graph([node], inputs, results, constants)
    return onnx_file.model(graph, case.opset, [case.domain] if case.domain else [])


def write_tensor(path, array):
    with open(path, "wb") as file:
        file.write(onnx_file.tensor(array))


def compare(cases, node_modules, ir_opt):
    """What differs between the cases and onnxruntime: of the models, and of what becomes of them."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_run.js")
    with tempfile.TemporaryDirectory() as folder:
        jobs, names = [], []
        for i, case in enumerate(cases):
            paths = {"model": f"{folder}/{i}.onnx", "inputs": [], "outputs": [], "level": "disabled"}
            with open(paths["model"], "wb") as file:
                file.write(encode(case))
            for kind, arrays in (("inputs", case.inputs), ("outputs", case.expected)):
                for j, array in enumerate(arrays):
                    if array is not None and (kind == "outputs" or j not in case.constants):
                        paths[kind].append(f"{folder}/{i}_{kind}{j}.pb")
                        write_tensor(paths[kind][-1], array)
            jobs.append(paths)
            names.append(f"{case.full_name} of version {case.opset}")
            if ir_opt:
                written = f"{folder}/{i}_out.onnx"
                done = subprocess.run([ir_opt, "-O3", paths["model"], "-o", written], capture_output=True, text=True, timeout=60, check=False)
                if done.returncode:
                    yield f"{names[-1]}: is not written: {done.stderr.strip()[:300]}"
                    continue
                jobs.append({**paths, "model": written})
                names.append(f"{names[-1]} as it is written")
        with open(f"{folder}/jobs.json", "w", encoding="utf-8") as file:
            json.dump(jobs, file)
        done = subprocess.run(["node", script, f"{folder}/jobs.json"], capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "NODE_PATH": node_modules})
        for name, line in zip(names, done.stdout.splitlines()):
            result = json.loads(line)
            if result["status"] != "same":
                yield f"{name}: onnxruntime: {result.get('reason', result['status'])}"


def differ(expected, actual):
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"{actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind == "f":
        same = numpy.allclose(actual.astype("float64"), expected.astype("float64"), rtol=1e-4, atol=1e-5, equal_nan=True)
    else:
        same = numpy.array_equal(expected, actual)
    return "" if same else f"{actual.tolist()}, expected {expected.tolist()}"


def problem(case, ir_run, flags):
    """What is wrong with the results of a case, or the empty string."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/model.onnx", "wb") as file:
            file.write(encode(case))
        fed = {f"x{i}": array for i, array in enumerate(case.inputs) if array is not None and i not in case.constants}
        fed.update(case.captured)
        command = [ir_run, *flags, f"-output={folder}/out.npz", f"{folder}/model.onnx"]
        if fed:
            numpy.savez(f"{folder}/in.npz", **fed)
            command.append(f"-inputs={folder}/in.npz")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr.strip()[:300]}"
        with numpy.load(f"{folder}/out.npz") as results:
            expected = [array for array in case.expected if array is not None]
            if len(results.files) != len(expected):
                return f"{len(results.files)} results, expected {len(expected)}"
            for i, (name, array) in enumerate(zip(results.files, expected)):
                difference = differ(array, results[name])
                if difference:
                    return f"result {i} is {difference}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--ir-opt")
    parser.add_argument("--node-modules")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    cases = onnx_row_cases.cases()
    problems = [f"no case for the row {row}" for row in missing(options.folder, cases)]
    for case in cases:
        if options.filter not in case.full_name:
            continue
        for flags in ([], ["-O3"]):
            found = problem(case, options.ir_run, flags)
            if found:
                problems.append(f"{case.full_name} of version {case.opset}{' under -O3' if flags else ''}: {found}")
                break
    if options.node_modules:
        chosen = [case for case in cases if options.filter in case.full_name and case.in_onnxruntime and
                  (case.domain == "com.microsoft" or case.opset >= 23)]
        problems += compare(chosen, options.node_modules, options.ir_opt)
    print("\n".join(problems) if problems else f"{len(cases)} cases: the values are those of NumPy")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
