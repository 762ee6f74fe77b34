#!/usr/bin/env python3
"""Random PrimFuncs compute what tir_reference.py says, which shares nothing with the library: interpreted and compiled, as they
are and after pipelines of loop passes, of which each function gets some at random.

    reference_values.py --ir-opt=BINARY --ir-run=BINARY [--functions=N] [--first=N] [--seed=N] [--pipelines=N] [--no-compile]
                        [--cpus=NAME,...] [--keep=FOLDER]

A pipeline may refuse a function; a wrong value, a crash, an ill-formed result or an error of the run is a failure, of which the
inputs are kept in the folder.
"""
import argparse
import ast
import collections
import concurrent.futures
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

import random_prim_funcs
import semantic_runs
import tir_reference

REFUSED = (2, 3, 4)
# Operators on vectors fold and get other names when they are read, as in TVM: the text of such a result is another module.
TEXT_LOSS = "reads back as another one"
NUMPY_CODES = {"bool": "|b1", "int8": "|i1", "uint8": "|u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
               "int64": "<i8", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8"}
STRUCT_CODES = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
                "uint64": "Q", "float16": "e", "float32": "f", "float64": "d"}
LOWER = "tir.lower"
# Passes that apply to any function, and those after which a function still has the form of the source.
ANYWHERE = ["tir.Simplify", "tir.RemoveNoOp", "tir.HoistExpression", "tir.HoistIfThenElse", "tir.UnrollLoop", "tir.LoopPartition",
            "tir.NarrowDataType", "tir.ForceNarrowIndexToInt32", "tir.CommonSubexprElimTIR", "tir.ConvertSSA",
            "tir.RenormalizeSplitPattern", "tir.CanonicalizeLoop", "tir.ReduceBranchingThroughOvercompute",
            "tir.ConvertForLoopsToSerial", "tir.RewriteUnsafeSelect"]
LOWERED = ["tir.StorageRewrite", "tir.VectorizeLoop", "tir.PointerValueTypeRewrite", "tir.FlattenBuffer", LOWER]
STAGES = ["tir.LowerInitBlock", "tir.PlanAndUpdateBufferAllocationLocation", "tir.ConvertBlocksToOpaque",
          "tir.CompactBufferAllocation", "tir.LowerMatchBuffer", "tir.LowerOpaqueBlock", "tir.FlattenBuffer", "tir.VectorizeLoop",
          "tir.StorageRewrite", "tir.UnrollLoop"]


def npy(tensor):
    """The bytes of a file of NumPy."""
    shape = ", ".join(map(str, tensor.shape)) + "," * (len(tensor.shape) == 1)
    header = f"{{'descr': '{NUMPY_CODES[tensor.dtype]}', 'fortran_order': False, 'shape': ({shape}), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    values = struct.pack(f"<{len(tensor.values)}{STRUCT_CODES[tensor.dtype]}", *tensor.values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def write_npz(path, tensors):
    with zipfile.ZipFile(path, "w") as archive:
        for name, tensor in tensors.items():
            archive.writestr(f"{name}.npy", npy(tensor))


def sizes_of(params, rng):
    """Values of the symbols, not so small that a quotient is 0."""
    names = {node.id for _, _, nodes in params for node in nodes if isinstance(node, ast.Name)}
    return {name: rng.randint(2, 5) for name in sorted(names)}


def value_of(dtype, rng):
    if dtype == "bool":
        return rng.random() < 0.5
    if tir_reference.is_float(dtype):
        return rng.randint(-8, 8) / 4
    return rng.randint(0 if dtype.startswith("uint") else -8, 8)


class Case:
    """A function with its inputs, and what it computes."""

    def __init__(self, seed, index):
        self.text = random_prim_funcs.generate(seed, index)
        self.rng = random.Random(f"{seed} {index}")
        run, params = tir_reference.functions(self.text)["main"]
        sizes = sizes_of(params, self.rng)
        tensors = {}
        for name, dtype, nodes in params:
            shape = [tir_reference.evaluate(node, sizes) for node in nodes]
            # The reads of a result that was not written are found.
            values = [None if name.startswith("C") else value_of(dtype, self.rng) for _ in range(math.prod(shape))]
            tensors[name] = tir_reference.Tensor(dtype, shape, values)
        self.inputs = {name: tensor for name, tensor in tensors.items() if not name.startswith("C")}
        before = {name: list(tensor.values) for name, tensor in self.inputs.items()}
        run(tensors)
        assert all(tensor.values == before[name] for name, tensor in self.inputs.items())
        results = [tensor for name, tensor in tensors.items() if name.startswith("C")]
        self.expected = {f"out{i}": tensor for i, tensor in enumerate(results)}

    def pipeline(self):
        """A random pipeline."""
        kind = self.rng.randrange(4)
        if kind == 0:
            return f"{LOWER}," + ",".join(self.rng.sample(LOWERED + ANYWHERE, self.rng.randint(0, 2)) + [self.rng.choice(LOWERED)])
        parts = []
        if kind == 1:
            done = self.rng.randint(1, len(STAGES))
            for stage in ["tir.LowerCrossThreadReduction", *STAGES[:done]]:
                parts += [stage] + self.rng.sample(ANYWHERE, self.rng.randint(0, 1))
            return ",".join(parts)
        parts = self.rng.sample(ANYWHERE, self.rng.randint(1, 4))
        return ",".join(parts + [LOWER] * (kind == 2))


def run_case(options, folder, index):
    """The name of each way and its outcome: a text that is empty if the values are right."""
    case = Case(options.seed, index)
    paths = {kind: os.path.join(folder, f"{index}.{kind}") for kind in ("ir", "in.npz", "out.npz")}
    with open(paths["ir"], "w", encoding="utf-8") as f:
        f.write(case.text)
    write_npz(paths["in.npz"], case.inputs)
    write_npz(paths["out.npz"], case.expected)
    tolerance = ["-rtol=3e-2", "-atol=3e-2"] if "float16" in case.text else ["-rtol=1e-3", "-atol=1e-3"]
    outcomes = []
    for pipeline in ["", *(case.pipeline() for _ in range(options.pipelines))]:
        way, passes = ("pipelines", ["-O4", f"-passes={pipeline}"]) if pipeline else ("as written", [])
        check = [options.ir_opt, *passes, "-verify-each", paths["ir"], "-o", os.devnull]
        run = [options.ir_run, f"-inputs={paths['in.npz']}", f"-check={paths['out.npz']}", *tolerance, *passes, paths["ir"]]
        ways = [("verified", check)] * bool(pipeline) + [("interpret", [*run, "-loops=interpret"])]
        if options.compile:
            ways.append(("compile", [*run, "-loops=compile", *case.rng.choice(options.processors)]))
        for name, command in ways:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
            if pipeline and done.returncode in REFUSED:
                outcomes.append(("refused", name, ""))
                break
            failed = done.returncode != 0 and TEXT_LOSS not in done.stderr
            outcomes.append((way, name, f"exit code {done.returncode}: {' '.join(command)}\n{done.stderr[:1200]}" if failed else ""))
            if failed:
                break
    return outcomes


PROBE = """@T.prim_func
def main(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
    B[0] = A[0]
"""


def processors(options):
    """The flags of ir-run for the host and those of the processors whose code it runs."""
    flags = [[], *([f"-loop-cpu={name}"] for name in options.cpus.split(",") if name)]
    probe = [options.ir_run, "-random-inputs", "-loops=compile", "-"]
    return [flag for flag in flags
            if not flag or subprocess.run([*probe, *flag], input=PROBE, capture_output=True, text=True, check=False).returncode == 0]


def tried(options, folder, index):
    try:
        return run_case(options, folder, index)
    except Exception as error:  # pylint: disable=broad-except
        return [("reference", "", f"{type(error).__name__}: {error}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--functions", type=int, default=100)
    parser.add_argument("--cpus", default="", help="processors for which some functions are compiled, if the host runs that")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pipelines", type=int, default=2)
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="a folder for the functions and their inputs; by default a temporary one")
    options = parser.parse_args()
    options.processors = processors(options) if options.compile else []
    counts, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
        indices = range(options.first, options.first + options.functions)
        for index, outcomes in zip(indices, pool.map(lambda i: tried(options, options.keep or temporary, i), indices)):
            for way, loops, failure in outcomes:
                counts[f"{way}, {loops}: {'FAILED' if failure else 'right'}"] += 1
                if failure:
                    failed += 1
                    print(f"FAILED  function {index}, {way}, {loops}: {failure}", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{name:40}{count:>8}")
    return 1 if failed or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
