#!/usr/bin/env python3
"""Reads and runs nodes that are almost right: no crash, no hang, little memory, and each refusal is explained.

    onnx_odd_nodes.py --ir-opt=build/bin/ir-opt --ir-run=build/bin/ir-run [--count=300] [--seed=0] [--every=1] [--filter=OP] [--keep=FOLDER]

The nodes are the cases of onnx_rows.py, which every operator that is read or run has. Of each, each input is left out, is a scalar and has
another axis; --every=N tries each N-th of these. Then there are --count random ones: inputs are left out, added, and have other shapes, types
and elements; attributes are removed and have values that are negative, huge, empty or of another type; outputs are left out and added; the
operator set is another one. Some are nodes of test/onnx_operators.txt with inputs, attributes and graphs of any kind. Where ir-run computes
values, ir-opt must write a file with the same values. Models that fail are kept in --keep.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy
import onnx_file
import onnx_row_cases
from onnx_case import Case
from onnx_rows import encode, operators

ACCEPTED = range(8)  # exit codes of programs that end by themselves; 7: a budget was exceeded
SECONDS = 20
BYTES = 1 << 30
VIRTUAL_KB = 4 << 20  # results of many GB, which some attributes ask for, do not fit
DTYPES = ("float32", "float16", "float64", "int64", "int32", "int8", "uint8", "uint64", "bool", "str")
SHAPES = ((), (0,), (1,), (3,), (2, 0), (2, 4), (1, 1, 1), (0, 3, 4), (2, 4, 4, 4), (1, 2, 3, 4, 5))
NUMBERS = (0, 1, -1, 2, 3, 5, 7, -5, 100, 2**31, 2**62, -2**63)
TEXTS = ("", "x", "NOTSET", "SAME_UPPER", "linear", "reverse", "bidirectional", "ij,jk->ik", "i...->", "Tanh")
GRAPHS = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "Scan": ("body",), "SequenceMap": ("body",)}
FLOATS = (0.0, 1.0, -1.0, 1e30, float("inf"), float("nan"))


def attribute_names():
    """The attributes that the sources name, so that a node gets those which mean something."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "lib", "exchange", "onnx")
    names = set()
    for parent, _, files in os.walk(folder):
        for name in files:
            if name.endswith((".cpp", ".h")):
                with open(os.path.join(parent, name), encoding="utf-8") as file:
                    names.update(re.findall(r'\b(?:Int|Ints|Float|Floats|String|Strings|FindAttr|AttrOrInput|Body)\("(\w+)"', file.read()))
    return sorted(names)


def odd_list(rng, values):
    return [rng.choice(values) for _ in range(rng.choice((0, 1, 2, 3, 4, 5, 8)))]


def odd_value(rng, old=None):
    """An attribute: like the old one, or of another type."""
    if isinstance(old, list) and old and rng.random() < 0.5:
        changed = list(old)
        kind = rng.randrange(3)
        if kind == 0:
            del changed[rng.randrange(len(changed))]
        elif kind == 1:
            changed.append(changed[-1])
        elif isinstance(changed[0], int):
            changed[rng.randrange(len(changed))] = rng.choice(NUMBERS)
        return changed
    if isinstance(old, int) and rng.random() < 0.7:
        return rng.choice(NUMBERS)
    return rng.choice((rng.choice(NUMBERS), rng.choice(FLOATS), rng.choice(TEXTS), odd_list(rng, NUMBERS), odd_list(rng, FLOATS),
                       odd_list(rng, TEXTS), odd_graph(rng), odd_array(rng)))


def odd_array(rng):
    return filled(rng, rng.choice(SHAPES), rng.choice(DTYPES))


def filled(rng, shape, dtype):
    count = int(numpy.prod(shape, dtype=int))
    if dtype == "str":
        return numpy.array([rng.choice(TEXTS) for _ in range(count)] or [], "U8").reshape(shape)
    numbers = [rng.choice((0, 1, 2, 3, -1, 5)) for _ in range(count)]
    return numpy.array(numbers, "float64").astype("int64").astype(dtype).reshape(shape)


def odd_graph(rng):
    """A graph with few inputs and outputs, some of which nothing defines."""
    inputs = [onnx_file.value(f"b{i}", rng.choice(("float32", "int64", "bool")), rng.choice((None, *SHAPES))) for i in range(rng.randrange(4))]
    names = [f"b{i}" for i in range(rng.randrange(4))] + ["x0", "y0", "c"]
    nodes = [onnx_file.node("Identity", [rng.choice(names)], [f"c{i or ''}"]) for i in range(rng.randrange(3))]
    outputs = [onnx_file.value(rng.choice(names), "float32", None) for _ in range(rng.randrange(4))]
    return onnx_file.graph(nodes, inputs, outputs)


def change_input(rng, case):
    if not case.inputs:
        case.inputs.append(odd_array(rng))
        return
    i = rng.randrange(len(case.inputs))
    array = case.inputs[i]
    kind = rng.randrange(10)
    if kind == 0:
        case.inputs[i] = None
    elif kind == 1:
        del case.inputs[rng.randrange(len(case.inputs)):]
    elif kind == 2:
        case.inputs.append(odd_array(rng))
    elif kind == 3:
        case.constants = case.constants ^ {i}
    elif array is None or kind == 4:
        case.inputs[i] = odd_array(rng)
    elif kind == 5 and array.dtype.kind != "U":
        dtype = rng.choice(DTYPES)
        with numpy.errstate(all="ignore"):
            case.inputs[i] = filled(rng, array.shape, dtype) if dtype == "str" else numpy.nan_to_num(array.astype("float64")).astype(dtype)
    elif kind == 6:
        case.inputs[i] = array[None] if rng.random() < 0.5 or not array.ndim else array[0] if array.shape[0] else array.reshape(-1)
    elif kind == 7 and array.ndim:
        axis = rng.randrange(array.ndim)
        part = array.take(range(rng.choice((0, 1, max(0, array.shape[axis] - 1)))), axis=axis) if array.shape[axis] else array
        case.inputs[i] = part
    elif array.dtype.kind in "iu" and array.size:
        changed = array.copy()
        limits = numpy.iinfo(array.dtype)
        changed.flat[rng.randrange(array.size)] = min(max(rng.choice(NUMBERS), limits.min), limits.max)
        case.inputs[i] = changed
    elif array.dtype.kind == "f" and array.size:
        changed = array.copy()
        changed.flat[rng.randrange(array.size)] = rng.choice((0.0, -1.0, 6e4, float("inf"), float("nan")))
        case.inputs[i] = changed


def change_attribute(rng, case, names):
    own = sorted(case.attributes)
    kind = rng.randrange(6)
    if own and kind == 0:
        del case.attributes[rng.choice(own)]
    elif own and kind < 5:
        name = rng.choice(own)
        case.attributes[name] = odd_value(rng, case.attributes[name])
    else:
        case.attributes[rng.choice(names)] = odd_value(rng)


def change_outputs(rng, case):
    kind = rng.randrange(3)
    if kind == 0 and len(case.expected) > 1:
        case.expected[rng.randrange(len(case.expected))] = None
    elif kind == 1:
        case.expected.append(numpy.zeros(1, "float32"))
    elif len(case.expected) > 1:
        case.expected.pop()


def changed(rng, case, names):
    """A copy of the case with one to three changes. Cases of several nodes keep these."""
    case = dataclasses.replace(case, inputs=list(case.inputs), expected=list(case.expected), attributes=dict(case.attributes))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.randrange(20)
        if kind < 11:
            change_input(rng, case)
        elif kind < 17:
            change_attribute(rng, case, names)
        elif kind < 19:
            change_outputs(rng, case)
        else:
            case.opset = rng.choice((6, 7, 11, 13, 17, 21, 24, 28)) if not case.domain else case.opset
    return case


def swept(cases):
    """The cases with one input that is missing, a scalar, or has another axis."""
    for case in cases:
        for i, array in enumerate(case.inputs):
            if array is not None:
                scalar = array.reshape(-1)[:1].reshape(()) if array.size else None
                for odd in (None, array[None], *([] if scalar is None else [scalar])):
                    yield dataclasses.replace(case, inputs=[*case.inputs[:i], odd, *case.inputs[i + 1:]], nodes=[])


def unfit(rng, names, op):
    """A node of the operator with some inputs and attributes."""
    domain, _, name = op.rpartition(".")
    shape, dtype = rng.choice(SHAPES), rng.choice(("float32", "float32", *DTYPES))
    inputs = [rng.choice((filled(rng, shape, dtype), filled(rng, shape, dtype), odd_array(rng), None)) for _ in range(rng.randrange(6))]
    attributes = {rng.choice(names): odd_value(rng) for _ in range(rng.randrange(4))}
    attributes.update({graph: odd_graph(rng) for graph in GRAPHS.get(op, ()) if rng.random() < 0.9})
    constants = {i for i, array in enumerate(inputs) if array is not None and rng.random() < 0.3}
    outputs = [numpy.zeros(1, "float32")] * rng.choice((1, 1, 2, 3))
    opset = 1 if domain else rng.choice((11, 13, 17, 18, 21, 24, 28))
    return Case(name, opset, inputs, outputs, attributes, domain, constants)


def run(command):
    """The exit code, None after too long, with what is on stderr and the greatest memory in bytes."""
    limited = ["sh", "-c", f'ulimit -v {VIRTUAL_KB}; exec "$@"', "sh", *command]
    with tempfile.TemporaryFile() as log:
        with subprocess.Popen(limited, stdout=subprocess.DEVNULL, stderr=log) as process:
            end = time.monotonic() + SECONDS
            wait = 0.002
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > end:
                    process.kill()
                    os.wait4(process.pid, 0)
                    process.returncode = -9
                    return None, "", 0
                time.sleep(wait)
            process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        return process.returncode, log.read().decode(errors="replace"), usage.ru_maxrss * 1024


def bad(code, text, size):
    """What is wrong with the end of a program, or the empty string."""
    if code is None:
        return f"no end after {SECONDS} s"
    if code not in ACCEPTED or re.search("internal|please report", text, re.IGNORECASE):
        return f"exit code {code}: {text[:400]}"
    if code and "error:" not in text:
        return f"exit code {code} without an error: {text[:400]}"
    return f"{size >> 20} MB" if size > BYTES else ""


def may_not_end(case):
    """A loop without a number of iterations, or with many."""
    return case.op == "Loop" and (not case.inputs or case.inputs[0] is None or case.inputs[0].dtype.kind != "i" or (case.inputs[0] > 100).any())


def problem(case, options, folder):
    if may_not_end(case):
        return ""
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(encode(case))
    fed = {f"x{i}": array for i, array in enumerate(case.inputs) if array is not None and i not in case.constants}
    fed.update(case.captured)
    numpy.savez(f"{folder}/in.npz", **fed)
    by_values = any(array.dtype.kind == "U" for array in fed.values())
    given = ["-random-inputs"] if by_values else [f"-inputs={folder}/in.npz"]
    ran = run([options.ir_run, *given, f"-output={folder}/out.npz", path])
    if bad(*ran):
        return f"ir-run: {bad(*ran)}"
    written = run([options.ir_opt, "-O3", path, "-o", f"{folder}/written.onnx"])
    if bad(*written):
        return f"ir-opt -O3: {bad(*written)}"
    plain = run([options.ir_opt, path, "-o", f"{folder}/plain.ir"])
    if bad(*plain):
        return f"ir-opt: {bad(*plain)}"
    if written[0]:
        return ""
    checks = [f"-check={folder}/out.npz"] if ran[0] == 0 else []
    again = run([options.ir_run, *given, *checks, f"{folder}/written.onnx"])
    if bad(*again):
        return f"ir-run of what was written: {bad(*again)}"
    differs = ran[0] == 0 and again[0] and re.search("elements differ|, expected ", again[1])
    return f"what was written: {again[1][:400]}" if differs else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep")
    options = parser.parse_args()
    cases = [case for case in onnx_row_cases.cases() if options.filter in case.full_name]
    listed = [op for op in sorted({*operators(), *(case.full_name for case in cases)}) if options.filter in op]
    names = attribute_names()
    sweep = list(swept(cases))[options.seed % options.every::options.every]

    def case_of(number):
        if number < len(sweep):
            return sweep[number]
        rng = random.Random(f"{options.seed} {number - len(sweep)}")
        return unfit(rng, names, rng.choice(listed)) if rng.random() < 0.2 or not cases else changed(rng, rng.choice(cases), names)

    def tried(number):
        case = case_of(number)
        with tempfile.TemporaryDirectory() as folder:
            found = problem(case, options, folder)
            if found and options.keep:
                os.makedirs(options.keep, exist_ok=True)
                for name in ("model.onnx", "in.npz"):
                    shutil.move(f"{folder}/{name}", f"{options.keep}/{number}_{case.op}_{name}")
        return f"{number}: {case.full_name} of version {case.opset}: {found}" if found else ""

    failures = 0
    count = len(sweep) + options.count
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        for found in executor.map(tried, range(count)):
            if found:
                failures += 1
                print(found, flush=True)
    print(f"{count - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
