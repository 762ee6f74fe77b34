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

SKIPPED = 77
PIPELINES = ["LegalizeOps", "zero", "default<O3>", "SimplifyExpr", "EliminateCommonSubexpr,DeadCodeElimination",
             "FoldConstant,CanonicalizeBindings", "LegalizeOps,tir.Simplify", "zero,tir.lower", "ConvertToDataflow,LegalizeOps",
             "DecomposeOpsForInference,LegalizeOps", "SimplifyInference,RecognizeIdioms,LegalizeOps", "DataflowUseInplaceCalls,zero",
             "LambdaLift,InlinePrivateFunctions,zero", "Normalize,CombineParallelMatmul,zero", "ExpandMatmulOfSum,AdjustMatmulOrder"]
FLOATS = ["float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "int32", "int64"]


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
        self.lines, self.values, self.params = [], [], []
        for _ in range(rng.randint(2, 4)):
            self.add_param()
        for _ in range(rng.randint(2, 9)):
            self.add_binding()
        results = rng.sample(self.values, min(len(self.values), rng.randint(1, 3)))
        self.results = results

    # ---- Inputs

    def size_of(self, dim):
        return self.sizes[dim] if dim in self.sizes else int(dim)

    def numbers(self, dtype, shape):
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        kind = self.rng.choice(["small", "small", "ties", "ends", "offset"])
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
        fitting = [value for value in self.values if condition(value)]
        return self.rng.choice(fitting) if fitting else None

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
                if self.rng.choice(RULES)(self):
                    return


def is_exact(array):
    """Whether float16 holds the numbers as well, and sums of a few of them."""
    return bool(np.all(array * 16 == np.floor(array * 16)) and (not array.size or np.max(np.abs(array)) < 64))


def is_float(value):
    return value.dtype in FLOATS


def is_integer(value):
    return value.dtype in INTEGERS


def wrap(array, dtype):
    return array.astype(dtype)


# ---- Rules: each adds a binding and returns whether it has done so.

def unary(module):
    name, rule, needs_exact, keeps_exact = module.rng.choice([
        ("negative", np.negative, False, True), ("abs", np.abs, False, True), ("exp", np.exp, False, False),
        ("tanh", np.tanh, False, False), ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), False, False),
        ("nn.relu", lambda x: np.maximum(x, 0), False, True), ("square", np.square, False, True), ("floor", np.floor, True, True),
        ("ceil", np.ceil, True, True), ("round", np.rint, True, True), ("trunc", np.trunc, True, True), ("sign", np.sign, True, True)])
    x = module.pick(lambda v: is_float(v) and (v.exact or not needs_exact))
    if x is None:
        return False
    return module.bind(f"R.{name}({x.name})", x.dims, rule(x.array).astype(x.dtype), x.exact and keeps_exact)


def integer_unary(module):
    name, rule = module.rng.choice([("negative", np.negative), ("abs", np.abs), ("square", lambda x: x * x)])
    x = module.pick(lambda v: is_integer(v) and v.dtype.startswith("int") and v.exact)
    return x is not None and module.bind(f"R.{name}({x.name})", x.dims, wrap(rule(x.array), x.dtype), False)


def binary(module):
    x = module.pick(lambda v: is_float(v) or is_integer(v))
    y = x and module.pick(lambda v: v.dtype == x.dtype and (v.dims == x.dims or v.dims == x.dims[-v.rank:]))
    if y is None:
        return False
    name, rule = module.rng.choice([("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("maximum", np.maximum),
                                    ("minimum", np.minimum)])
    return module.bind(f"R.{name}({x.name}, {y.name})", x.dims, wrap(rule(x.array, y.array), x.dtype), x.exact and y.exact)


def by_constant(module):
    x = module.pick(lambda v: v.dtype in ("int32", "int64", "float32"))
    if x is None:
        return False
    if is_float(x):
        c = module.rng.choice([0.5, 2.0, -4.0])
        return module.bind(f'R.divide({x.name}, R.const({c}, "{x.dtype}"))', x.dims, (x.array / np.float32(c)).astype(x.dtype), x.exact)
    c = module.rng.choice([2, 3, 5, -3, 7])
    name, rule = module.rng.choice([("floor_divide", np.floor_divide), ("floor_mod", np.mod), ("mod", np.fmod)])
    return module.bind(f'R.{name}({x.name}, R.const({c}, "{x.dtype}"))', x.dims, rule(x.array, np.array(c, x.dtype)), x.exact)


def comparison(module):
    x = module.pick(lambda v: v.dtype != "bool" and (v.exact or is_integer(v)))
    y = x and module.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims and (v.exact or is_integer(v)))
    if y is None:
        return False
    name, rule = module.rng.choice([("less", np.less), ("less_equal", np.less_equal), ("equal", np.equal), ("greater", np.greater),
                                    ("not_equal", np.not_equal)])
    return module.bind(f"R.{name}({x.name}, {y.name})", x.dims, rule(x.array, y.array), True)


def where(module):
    c = module.pick(lambda v: v.dtype == "bool")
    x = c and module.pick(lambda v: v.dtype != "bool" and v.dims == c.dims)
    y = x and module.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims)
    return y is not None and module.bind(f"R.where({c.name}, {x.name}, {y.name})", x.dims, np.where(c.array, x.array, y.array),
                                         x.exact and y.exact)


def cast(module):
    x = module.pick(lambda v: v.exact or not is_float(v))
    if x is None:
        return False
    dtype = module.rng.choice(FLOATS + INTEGERS)
    if is_float(x) and dtype.startswith("uint"):
        return False
    array = np.trunc(x.array).astype("int64").astype(dtype) if is_float(x) and dtype in INTEGERS else x.array.astype(dtype)
    exact = x.exact and dtype not in ("uint8",)
    if not x.exact and dtype in FLOATS:
        return False
    return module.bind(f'R.astype({x.name}, "{dtype}")', x.dims, array, exact)


def reduction(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype != "bool" and v.array.size)
    if x is None:
        return False
    axis, keep = module.rng.randrange(x.rank), module.rng.random() < 0.4
    name, rule = module.rng.choice([("sum", np.sum), ("max", np.max), ("min", np.min)] +
                                   ([("mean", np.mean), ("variance", np.var), ("std", np.std)] if is_float(x) else []))
    wide = x.array.astype("float64") if is_float(x) else x.array
    array = wrap(rule(wide, axis=axis, keepdims=keep, **({"dtype": x.dtype} if name == "sum" and is_integer(x) else {})), x.dtype)
    dims = [("1" if i == axis else d) for i, d in enumerate(x.dims)] if keep else [d for i, d in enumerate(x.dims) if i != axis]
    return module.bind(f"R.{name}({x.name}, axis=[{axis}], keepdims={keep})", dims, array, x.exact and name in ("sum", "max", "min"))


def arg_reduction(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype != "bool" and (v.exact or is_integer(v)) and v.array.size)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    name, rule = module.rng.choice([("argmax", np.argmax), ("argmin", np.argmin)])
    dims = [d for i, d in enumerate(x.dims) if i != axis]
    return module.bind(f"R.{name}({x.name}, axis={axis})", dims, rule(x.array, axis=axis).astype("int64"), True)


def permute(module):
    x = module.pick(lambda v: v.rank > 1)
    if x is None:
        return False
    axes = module.rng.sample(range(x.rank), x.rank)
    return module.bind(f"R.permute_dims({x.name}, axes={axes})", [x.dims[a] for a in axes], np.transpose(x.array, axes), x.exact)


def flatten(module):
    x = module.pick(lambda v: v.rank > 1)
    if x is None:
        return False
    dim = " * ".join(f"({d})" if "+" in d else d for d in x.dims)
    module.sizes[dim] = int(np.prod(x.array.shape))
    return module.bind(f"R.reshape({x.name}, R.shape([{dim}]))", [dim], x.array.reshape(-1), x.exact)


def slices(module):
    x = module.pick(lambda v: v.rank > 0)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    if x.dims[axis] not in ("2", "3", "4"):
        return False
    size = int(x.dims[axis])
    begin, end = sorted(module.rng.sample(range(size + 1), 2))
    step = module.rng.choice([1, 1, 2])
    index = tuple(slice(begin, end, step) if i == axis else slice(None) for i in range(x.rank))
    array = x.array[index]
    dims = [str(array.shape[i]) if i == axis else d for i, d in enumerate(x.dims)]
    return module.bind(f"R.strided_slice({x.name}, axes=[{axis}], begin=[{begin}], end=[{end}], strides=[{step}])", dims, array, x.exact)


def take(module):
    x = module.pick(lambda v: v.rank > 0 and v.array.size and all(d not in ("n", "m") and "*" not in d for d in v.dims))
    if x is None:
        return False
    axis, mode = module.rng.randrange(x.rank), module.rng.choice(["clip", "wrap"])
    indices = [module.rng.randint(-9, 9) if mode == "wrap" else module.rng.randint(0, 9) for _ in range(3)]
    array = np.take(x.array, indices, axis=axis, mode=mode)
    dims = ["3" if i == axis else d for i, d in enumerate(x.dims)]
    return module.bind(f'R.take({x.name}, R.const({indices}, "int64"), axis={axis}, mode="{mode}")', dims, array, x.exact)


def concat(module):
    x = module.pick(lambda v: v.rank > 0)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    y = module.pick(lambda v: v.dtype == x.dtype and v.rank == x.rank and v.dims[:axis] == x.dims[:axis]
                    and v.dims[axis + 1:] == x.dims[axis + 1:])
    array = np.concatenate([x.array, y.array], axis)
    known = all(d not in ("n", "m") and "*" not in d and "+" not in d for d in (x.dims[axis], y.dims[axis]))
    dim = str(array.shape[axis]) if known else f"{x.dims[axis]} + {y.dims[axis]}"
    if dim.count("+") > 1:
        return False
    module.sizes[dim] = array.shape[axis]
    dims = [dim if i == axis else d for i, d in enumerate(x.dims)]
    return module.bind(f"R.concat(({x.name}, {y.name}), axis={axis})", dims, array, x.exact and y.exact)


def cumulative(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype in ("int32", "int64", "float32", "float64"))
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    return module.bind(f"R.cumsum({x.name}, axis={axis})", x.dims, np.cumsum(x.array, axis=axis, dtype=x.dtype), x.exact)


def matmul(module):
    x = module.pick(lambda v: v.rank == 2 and is_float(v) and v.array.size)
    y = x and module.pick(lambda v: v.rank == 2 and v.dtype == x.dtype and v.dims[0] == x.dims[1])
    if y is None:
        return False
    return module.bind(f"R.matmul({x.name}, {y.name})", [x.dims[0], y.dims[1]],
                       (x.array.astype("float64") @ y.array.astype("float64")).astype(x.dtype), x.exact and y.exact)


def softmax(module):
    x = module.pick(lambda v: is_float(v) and v.rank > 0 and v.array.size)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    wide = x.array.astype("float64")
    powers = np.exp(wide - wide.max(axis, keepdims=True))
    return module.bind(f"R.nn.softmax({x.name}, axis={axis})", x.dims, (powers / powers.sum(axis, keepdims=True)).astype(x.dtype), False)


def layer_norm(module):
    x = module.pick(lambda v: is_float(v) and v.rank > 1 and v.dims[-1] in ("2", "3", "4"))
    if x is None:
        return False
    wide = x.array.astype("float64")
    scale = np.arange(1, wide.shape[-1] + 1) / 2
    result = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-2) * scale + 1
    constants = f'R.const({list(scale)}, "{x.dtype}"), R.const({[1.0] * len(scale)}, "{x.dtype}")'
    return module.bind(f"R.nn.layer_norm({x.name}, {constants}, axes=[-1], epsilon=0.01)", x.dims, result.astype(x.dtype), False)


def sort(module):
    x = module.pick(lambda v: v.rank > 0 and v.dtype in ("float32", "int32", "int64") and (v.exact or is_integer(v)))
    if x is None:
        return False
    axis, descending = module.rng.randrange(x.rank), module.rng.random() < 0.5
    array = np.sort(x.array, axis=axis)
    return module.bind(f"R.sort({x.name}, axis={axis}, descending={descending})", x.dims,
                       np.flip(array, axis) if descending else array, x.exact)


def shape_changes(module):
    x = module.pick(lambda v: v.rank > 0)
    if x is None:
        return False
    axis = module.rng.randrange(x.rank)
    kind = module.rng.choice(["flip", "expand", "tile", "repeat"])
    if kind == "flip":
        return module.bind(f"R.flip({x.name}, axis={axis})", x.dims, np.flip(x.array, axis), x.exact)
    if kind == "expand":
        dims = x.dims[:axis] + ["1"] + x.dims[axis:]
        return x.rank < 4 and module.bind(f"R.expand_dims({x.name}, axis=[{axis}])", dims, np.expand_dims(x.array, axis), x.exact)
    if x.dims[axis] not in ("1", "2", "3"):
        return False
    dims = [str(2 * int(d)) if i == axis else d for i, d in enumerate(x.dims)]
    if kind == "repeat":
        return module.bind(f"R.repeat({x.name}, repeats=2, axis={axis})", dims, np.repeat(x.array, 2, axis), x.exact)
    times = [2 if i == axis else 1 for i in range(x.rank)]
    return module.bind(f"R.tile({x.name}, repeats={times})", dims, np.tile(x.array, times), x.exact)


RULES = [unary, unary, integer_unary, binary, binary, binary, by_constant, comparison, where, cast, reduction, reduction, arg_reduction,
         permute, flatten, slices, take, concat, cumulative, matmul, softmax, layer_norm, sort, shape_changes]


def text_of(module):
    def tensor(value):
        dims = ", ".join(f'"{d}"' if not d.isdigit() else d for d in value.dims)
        return f'R.Tensor(({dims}{"," if len(value.dims) == 1 else ""}), "{value.dtype}")'

    params = ", ".join(f"{p.name}: {tensor(p)}" for p in module.params)
    names = list(dict.fromkeys(value.name for value in module.results))
    lines = ["from tvm.script import ir as I, relax as R, tir as T", "", "@I.ir_module", "class Module:", "    @R.function",
             f"    def main({params}):", "        n = T.int64()", "        m = T.int64()", "        with R.dataflow():"]
    lines += [f"            {line}" for line in module.lines]
    lines += [f"            out = ({', '.join(names)},)", "            R.output(out)", "        return out", ""]
    return "\n".join(lines)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
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
                bound = max([1.0, *(float(np.max(np.abs(v.array))) for v in module.values if is_float(v) and v.array.size)])
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
