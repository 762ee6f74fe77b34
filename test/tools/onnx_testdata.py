#!/usr/bin/env python3
"""Runs the models of Debian's libonnx-testdata and compares with their recorded outputs.

    onnx_testdata.py --ir-run=build/bin/ir-run [--ir-opt=build/bin/ir-opt] [--filter=TEXT] [--sample=N] [--known=FILE] [--table]

Each model is read, optimized by -O3 and run on the recorded inputs. Models with strings, sequences, optional values or
complex numbers as inputs or outputs are only read. Prints what fails, a table by operator (--table) and the share of numeric
models whose outputs agree. The exit code is 1 if a program crashes or hangs, or if those that fail are not exactly the models
that --known names, a line "MODEL: REASON" for each. Needs the Python
package onnx (Debian: python3-onnx); without it or the data, nothing is tested.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile

DATA = "/usr/lib/python3/dist-packages/onnx/backend/test/data"
TIMEOUT = 120
REFUSALS = (2, 3)  # exit codes of models that are not read


def load():
    import numpy
    import onnx
    from onnx import numpy_helper
    return numpy, onnx, numpy_helper


def tensor_of(path, onnx, numpy_helper):
    """The array in a recorded file; None if it is not a tensor of numbers."""
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        data = file.read()
    try:
        tensor.ParseFromString(data)
        array = numpy_helper.to_array(tensor)
    except Exception:  # pylint: disable=broad-except
        return None
    kinds = "biuf"
    return array if array.dtype.kind in kinds and tensor.data_type else None


def bfloat16_inputs(model, onnx):
    values = list(model.graph.input) + list(model.graph.output)
    return any(v.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16 for v in values)


def is_numeric(model, onnx):
    for value in list(model.graph.input) + list(model.graph.output):
        if not value.type.HasField("tensor_type"):
            return False
        if value.type.tensor_type.elem_type in (0, onnx.TensorProto.STRING, onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128):
            return False
    return True


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "hang", f"no end after {TIMEOUT} s"
    message = "\n".join(line for line in done.stderr.splitlines() if "error:" in line)[:500]
    if done.returncode == 0:
        return "ok", ""
    if done.returncode < 0 or done.returncode >= 70:
        return "crash", f"exit code {done.returncode}: {done.stderr[:500]}"
    return "refused" if done.returncode in REFUSALS else "failed", message


def compare(numpy, expected, actual):
    if expected.shape != actual.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    if expected.dtype.kind == "f":
        expected = expected.astype("float64")
        actual = actual.astype("float64")
        rtol, atol = 1e-3, 1e-5
        if numpy.allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True):
            return ""
        return f"greatest difference {numpy.nanmax(numpy.abs(actual - expected)):.3g}"
    return "" if numpy.array_equal(expected, actual) else "other integers"


def run_set(folder, model_path, options, numpy, onnx, numpy_helper):
    def files(kind):
        return sorted(glob.glob(os.path.join(folder, f"{kind}_*.pb")), key=lambda p: int(p.rsplit("_", 1)[1][:-3]))
    inputs = [tensor_of(path, onnx, numpy_helper) for path in files("input")]
    expected = [tensor_of(path, onnx, numpy_helper) for path in files("output")]
    if any(array is None for array in inputs + expected):
        return "other", "recorded values that are not tensors of numbers"
    with tempfile.TemporaryDirectory() as temporary:
        command = [options.ir_run, *options.flags, f"-output={temporary}/out.npz", model_path]
        if inputs:
            numpy.savez(f"{temporary}/in.npz", **{str(i): array for i, array in enumerate(inputs)})
            command.insert(1, f"-inputs={temporary}/in.npz")
        status, message = run(command)
        if status != "ok":
            return status, message
        with numpy.load(f"{temporary}/out.npz") as results:
            if len(results.files) != len(expected):
                return "differs", f"{len(results.files)} results, expected {len(expected)}"
            for i, (name, array) in enumerate(zip(results.files, expected)):
                difference = compare(numpy, array, results[name])
                if difference:
                    return "differs", f"output {i}: {difference}"
    return "ok", ""


def run_model(path, options, modules):
    numpy, onnx, numpy_helper = modules
    model = onnx.load(path)
    ops = sorted({node.op_type for node in model.graph.node})
    sets = sorted(glob.glob(os.path.join(os.path.dirname(path), "test_data_set_*")))
    if not is_numeric(model, onnx) or bfloat16_inputs(model, onnx) or not sets:
        status, message = run([options.ir_opt, "-O3", path, "-o", "/dev/null"]) if options.ir_opt else ("ok", "")
        return ops, "other" if status == "ok" else status, message, False
    for folder in sets:
        status, message = run_set(folder, path, options, numpy, onnx, numpy_helper)
        if status != "ok":
            return ops, status, message, status != "other"
    return ops, "ok", "", True


def read_known(path):
    """The models that are known to fail, with reasons."""
    if not path:
        return {}
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def report_unexpected(failing, known, tried):
    """Prints what the list of known failures does not say. Returns whether there is something."""
    new = sorted(set(failing) - set(known))
    fixed = sorted((set(known) & set(tried)) - set(failing))
    for name in new:
        print(f"{name} fails, and is not a known failure")
    for name in fixed:
        print(f"{name} does not fail: remove it from the known failures")
    return bool(new or fixed)


def print_table(results):
    by_op = collections.defaultdict(collections.Counter)
    for ops, status, _, _ in results.values():
        for op in ops:
            by_op[op][status] += 1
    for op in sorted(by_op):
        print(f"{op:30} " + "  ".join(f"{status} {count}" for status, count in sorted(by_op[op].items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--ir-opt")
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--filter", default="")
    parser.add_argument("--sample", type=int, default=1, help="every N-th model")
    parser.add_argument("--known", help="the file of known failures")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--flags", default="-O3")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    options.flags = options.flags.split()
    try:
        modules = load()
    except ImportError:
        print("the Python package onnx is not installed: nothing is tested")
        return 0
    paths = [path for path in sorted(glob.glob(os.path.join(options.data, "*", "*", "model.onnx"))) if options.filter in path]
    paths = paths[::options.sample]
    if not paths:
        print("there are no models: nothing is tested")
        return 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = dict(zip(paths, pool.map(lambda path: run_model(path, options, modules), paths)))
    names = {path: os.path.relpath(os.path.dirname(path), options.data) for path in paths}
    counts = collections.Counter()
    failing = []
    numeric = 0
    for path, (ops, status, message, counts_as_numeric) in results.items():
        counts[status] += 1
        numeric += counts_as_numeric
        if status in ("ok", "other"):
            continue
        failing.append(names[path])
        if not options.quiet:
            print(f"{status}: {names[path]} ({', '.join(ops[:6])}): {message}")
    if options.table:
        print_table(results)
    share = counts["ok"] / numeric if numeric else 1.0
    print(f"{len(results)} models, " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) +
          f"; {share:.3f} of {numeric} with numbers agree")
    unexpected = report_unexpected(failing, read_known(options.known), names.values()) if options.known else failing
    return 1 if unexpected or counts["crash"] or counts["hang"] else 0


if __name__ == "__main__":
    sys.exit(main())
