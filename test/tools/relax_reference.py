#!/usr/bin/env python3
"""Random Relax modules whose results NumPy computes while they are written: an evaluator that shares nothing with the library.

    relax_reference.py --ir-opt BIN --ir-run BIN [--count N] [--seed N] [--compiled] [--print INDEX]

Each module must give NumPy's results as it is, after random pipelines of passes, and with --compiled as compiled loops. Operators
that magnify rounding errors, such as R.round or comparisons, are applied to numbers that all formats hold exactly. Exit code 77
without NumPy.
"""
import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    np = None

import relax_operators
from relax_rules import FLOATS, INTEGERS, RULES, is_exact, is_float

SKIPPED = 77
PIPELINES = ["LegalizeOps", "zero", "default<O3>", "SimplifyExpr", "EliminateCommonSubexpr,DeadCodeElimination",
             "FoldConstant,CanonicalizeBindings", "LegalizeOps,tir.Simplify", "zero,tir.lower", "ConvertToDataflow,LegalizeOps",
             "DecomposeOpsForInference,LegalizeOps", "SimplifyInference,RecognizeIdioms,LegalizeOps", "DataflowUseInplaceCalls,zero",
             "LambdaLift,InlinePrivateFunctions,zero", "Normalize,CombineParallelMatmul,zero", "ExpandMatmulOfSum,AdjustMatmulOrder"]


class Value:
    """A variable of the function. `exact`: all formats hold its numbers exactly, and they are small."""

    def __init__(self, name, dims, array, exact):
        self.name, self.dims, self.array, self.exact = name, dims, array, exact

    @property
    def dtype(self):
        return str(self.array.dtype)

    @property
    def rank(self):
        return self.array.ndim


class Module:
    """Builds a function statement by statement; `dims` of values are texts of dimensions, numbers or variables."""

    def __init__(self, rng):
        self.rng = rng
        self.sizes = {"n": rng.choice([0, 1, 2, 3, 5]), "m": rng.choice([1, 2, 4, 7])}
        self.lines, self.values, self.params, self.functions = [], [], [], []
        for _ in range(rng.randint(2, 4)):
            self.add_param()
        for _ in range(rng.randint(3, 14)):
            self.add_binding()
        others = self.values[:-1]
        self.results = [self.values[-1], *rng.sample(others, min(len(others), rng.randint(0, 2)))]

    # ---- Inputs

    def size_of(self, dim):
        return self.sizes[dim] if dim in self.sizes else int(dim)

    def numbers(self, dtype, shape, is_factor=False):
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        kind = self.rng.choice(["small", "small", "ties", "ends", "small" if is_factor else "offset"])
        if dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool), True
        if dtype in INTEGERS:
            info = np.iinfo(dtype)
            if kind == "ends":
                return rng.choice(np.array([info.min, info.max, info.min + 1, 0, 1], dtype), shape), False
            return rng.integers(0 if info.min == 0 else -6, 7, shape).astype(dtype), True
        if kind == "offset":
            return (4096 + rng.standard_normal(shape)).astype(dtype), False
        if kind == "ties":
            return (rng.integers(-5, 6, shape) / 2).astype(dtype), True
        return (rng.integers(-12, 13, shape) / 4).astype(dtype), True

    def add_input(self, dims, dtype="float32", is_factor=False):
        """A parameter of a shape that an operator needs. Factors are small, where large ones would magnify rounding errors."""
        array, exact = self.numbers(dtype, tuple(self.size_of(d) for d in dims), is_factor)
        value = Value(f"p{len(self.params)}", dims, array, exact)
        self.params.append(value)
        return value

    def add_param(self):
        rank = self.rng.choice([1, 2, 2, 3])
        dims = [self.rng.choice(["n", "m", "2", "3", "4", "1"]) for _ in range(rank)]
        # A parameter that defines the sizes comes first.
        if not self.params:
            dims = ["n", "m"]
        dtype = self.rng.choice(FLOATS * 3 + INTEGERS + ["bool"])
        array, exact = self.numbers(dtype, tuple(self.size_of(d) for d in dims))
        value = Value(f"p{len(self.params)}", dims, array, exact)
        self.params.append(value)
        self.values.append(value)

    # ---- Bindings

    def pick(self, condition):
        """A value, more often one of the last ones: chains of operators are what passes rewrite."""
        fitting = [value for value in self.values if condition(value)]
        return self.rng.choice(fitting[-3:] if self.rng.random() < 0.6 else fitting) if fitting else None

    def bind(self, text, dims, array, exact):
        finite = array.dtype.kind != "f" or np.all(np.isfinite(array))
        if not finite or (array.size and array.dtype.kind == "f" and np.max(np.abs(array)) > 1e7):
            return False
        value = Value(f"v{len(self.lines)}", dims, array, exact and (array.dtype.kind != "f" or is_exact(array)))
        self.lines.append(f"{value.name} = {text}")
        self.values.append(value)
        return True

    def add_binding(self):
        for _ in range(20):
            with np.errstate(all="ignore"):
                if self.rng.choice(RULES + relax_operators.RULES)(self):
                    return


def text_of(module):
    def tensor(value):
        dims = ", ".join(f'"{d}"' if not d.isdigit() else d for d in value.dims)
        return f'R.Tensor(({dims}{"," if len(value.dims) == 1 else ""}), "{value.dtype}")'

    params = ", ".join(f"{p.name}: {tensor(p)}" for p in module.params)
    names = list(dict.fromkeys(value.name for value in module.results))
    lines = ["from tvm.script import ir as I, relax as R, tir as T", "", "@I.ir_module", "class Module:", *module.functions, "    @R.function",
             f"    def main({params}):", "        n = T.int64()", "        m = T.int64()", "        with R.dataflow():"]
    lines += [f"            {line}" for line in module.lines]
    lines += [f"            out = ({', '.join(names)},)", "            R.output(out)", "        return out", ""]
    return "\n".join(lines)


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired as error:
        return "none", str(error)
    return done.returncode, done.stderr


def compare(module, path):
    """What differs between the file of results and NumPy's; empty if nothing does."""
    results = list(dict.fromkeys(module.results))
    with np.load(path) as file:
        for i, want in enumerate(results):
            got = file[f"out{i}"]
            if got.shape != want.array.shape or str(got.dtype) != want.dtype:
                return f"out{i} is {got.dtype}{got.shape}, expected {want.dtype}{want.array.shape}"
            if want.array.dtype.kind != "f" or want.exact:
                same = np.array_equal(got, want.array)
            else:
                # A later operator may be steep, and earlier numbers large.
                bound = max([1.0, *(float(np.max(np.abs(v.array))) for v in module.values + module.params if is_float(v) and v.array.size)])
                same = np.allclose(got, want.array, rtol=1e-3, atol=2e-6 * bound if want.dtype == "float32" else 1e-9 * bound)
            if not same:
                return f"out{i} ({want.name}) is\n{got}\nexpected\n{want.array}"
    return ""


def check(options, index):
    rng = random.Random(f"{options.seed}/{index}")
    module = Module(rng)
    text = text_of(module)
    if not module.lines:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        source, inputs, outputs = (os.path.join(folder, name) for name in ("in.ir", "in.npz", "out.npz"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        np.savez(inputs, **{p.name: p.array for p in module.params})
        flags = [[]] + [[f"-passes={','.join(rng.sample(PIPELINES, rng.randint(1, 2)))}"] for _ in range(2)] + [["-O3"]]
        flags += [["-O3", "-loops=compile"]] if options.compiled else []
        for extra in flags:
            code, errors = run(options.ir_run, source, f"-inputs={inputs}", f"-output={outputs}", *extra)
            problem = errors if code else compare(module, outputs)
            if problem:
                return f"module {index} of seed {options.seed}, flags {extra}: exit code {code}\n{problem}\n{text}"
        code, errors = run(options.ir_opt, source, flags[1][0], "-check-semantics=each", "-o", os.devnull)
        if code:
            return f"module {index} of seed {options.seed}, -check-semantics=each {flags[1][0]}: exit code {code}\n{errors}\n{text}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compiled", action="store_true", help="also compiled loops")
    parser.add_argument("--print", type=int, metavar="INDEX", help="prints one module")
    options = parser.parse_args()
    if np is None:
        print("SKIPPED: this Python has no NumPy")
        return SKIPPED
    if options.print is not None:
        print(text_of(Module(random.Random(f"{options.seed}/{options.print}"))))
        return 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [problem for problem in pool.map(lambda i: check(options, i), range(options.count)) if problem]
    for problem in problems[:5]:
        print(problem)
    print(f"{options.count - len(problems)} of {options.count} modules compute what NumPy does")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
