#!/usr/bin/env python3
"""Runs ONNX models with named dimensions at several sizes, before and after -O3, and compares the results.

    onnx_dynamic.py --ir-opt BIN --ir-run BIN [--node-modules DIR] [--count N] [--seed N] [--keep DIR] [MODEL...]

Models are random ones, or those that are given. Each runs with 0, 1, 2, 3 and 8 for all named dimensions, and with one size
for each. onnxruntime (the package onnxruntime-node in DIR) without its own optimizations computes what is right; where it
refuses the original, nothing is compared. What `ir-opt -O3` writes must give the same in onnxruntime, and so must the model
itself in ir-run, as read and after -O3. It may not have more nodes or bytes than onnx_growth.py allows. Needs node, onnxruntime-node, and the Python packages onnx and NumPy; where one is
missing, nothing is tested."""

import argparse
import collections
import concurrent.futures
import os
import shutil
import sys
import tempfile

import onnx_dynamic_steps
import onnx_growth
import onnx_round_trip
import onnx_testdata

SIZES = (0, 1, 2, 3, 8)


class RandomModel:
    def __init__(self, path, recorded="", conditions=0):
        self.path, self.recorded, self.conditions = path, recorded or path, conditions


def named_dims(model):
    names = []
    for value in model.graph.input:
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            name = dim.dim_param or (None if dim.HasField("dim_value") else f"{value.name}/{i}")
            if name and name not in names:
                names.append(name)
    return names


def assignments(names, rng):
    """The sizes of the named dimensions, run by run."""
    for size in SIZES if names else (1,):
        yield {name: size for name in names}
    for _ in range(2 if len(names) > 1 else 0):
        yield {name: int(rng.choice(SIZES)) for name in names}


def make_input(value, sizes, rng, onnx):
    dtype = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[value.type.tensor_type.elem_type]
    shape = []
    for i, dim in enumerate(value.type.tensor_type.shape.dim):
        shape.append(dim.dim_value if dim.HasField("dim_value") else sizes[dim.dim_param or f"{value.name}/{i}"])
    if dtype.kind == "f":
        return rng.uniform(-2, 2, shape).astype(dtype)
    return rng.integers(0 if dtype.kind in "bu" else -2, 2 if dtype.kind == "b" else 5, shape).astype(dtype)


class Case:
    """One model with the inputs of one run: a folder as those of libonnx-testdata. The model that is recorded may have
    further outputs, the last ones, which must not be 0."""

    def __init__(self, model, folder, sizes):
        self.model, self.folder, self.sizes = model.path, folder, sizes
        self.recorded, self.conditions = model.recorded, model.conditions

    def files(self, kind):
        files = [name for name in os.listdir(self.folder) if name.startswith(kind)]
        return [os.path.join(self.folder, f"{kind}_{i}.pb") for i in range(len(files))]

    def __str__(self):
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        return f"{os.path.basename(os.path.dirname(self.model))} ({sizes})"


def make_cases(random_model, seed, modules):
    np, onnx = modules
    path = random_model.path
    model = onnx.load(path)
    rng = np.random.default_rng(seed)
    initialized = {tensor.name for tensor in model.graph.initializer}
    cases = []
    for i, sizes in enumerate(assignments(named_dims(model), rng)):
        folder = os.path.join(os.path.dirname(path), f"test_data_set_{i}")
        os.makedirs(folder)
        inputs = [value for value in model.graph.input if value.name not in initialized]
        for k, value in enumerate(inputs):
            array = make_input(value, sizes, rng, onnx)
            with open(os.path.join(folder, f"input_{k}.pb"), "wb") as file:
                file.write(onnx.numpy_helper.from_array(array).SerializeToString())
        cases.append(Case(random_model, folder, sizes))
    return cases


class Comparison:
    def __init__(self, args, folder):
        self.args = args
        self.judge = onnx_round_trip.Judge(args, folder)
        self.failures = collections.defaultdict(dict)  # by judge and model

    def fail(self, case, who, reason):
        self.failures[who].setdefault(case.model, []).append(f"{case}: {reason}")

    def record(self, cases):
        """Those that onnxruntime runs, with its results, and whose conditions hold."""
        jobs = [{"model": case.recorded, "inputs": case.files("input"), "level": "disabled",
                 "save": os.path.join(case.folder, "output_")} for case in cases]
        answers = self.judge.run_onnxruntime(jobs)
        return [case for case, answer in zip(cases, answers) if answer["status"] == "same" and self.holds(case)]

    def holds(self, case):
        _, onnx, numpy_helper = onnx_testdata.load()
        files = case.files("output")
        sizes = files[len(files) - case.conditions:]
        holds = all(onnx_testdata.tensor_of(file, onnx, numpy_helper).all() for file in sizes)
        for file in sizes:
            os.remove(file)
        return holds

    def run_written(self, cases):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            models = sorted({case.model for case in cases})
            written = dict(zip(models, pool.map(self.judge.convert, models)))
        jobs, judged = [], []
        for case in cases:
            out, reason = written[case.model]
            if out is None:
                self.fail(case, "ir-opt -O3", reason)
                continue
            judged.append(case)
            jobs.append({"model": out, "inputs": case.files("input"), "outputs": case.files("output"), "level": "disabled"})
        for case, answer in zip(judged, self.judge.run_onnxruntime(jobs)):
            if answer["status"] != "same":
                self.fail(case, "written after -O3", f"{answer['status']}: {answer['reason']}")
        pairs = sorted({(case.model, written[case.model][0]) for case in judged})
        for model, reason in onnx_growth.growth(self.judge, pairs).items():
            self.failures["growth"][model] = [f"{os.path.basename(os.path.dirname(model))}: {reason}"]

    def run_ir_run(self, cases, flag):
        options = argparse.Namespace(ir_run=self.args.ir_run, flags=[flag])
        modules = onnx_testdata.load()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda case: onnx_testdata.run_set(case.folder, case.model, options, *modules), cases)
        for case, (status, message) in zip(cases, results):
            if status != "ok":
                self.fail(case, f"ir-run {flag}", f"{status}: {message}")

    def run(self, cases):
        good = self.record(cases)
        self.run_written(good)
        for flag in ("-O0", "-O3"):
            self.run_ir_run(good, flag)
        for who, failures in self.failures.items():
            print(f"{who}:")
            for first, *others in failures.values():
                print(f"  {first}" + (f" (and {len(others)} others)" if others else ""))
        count = sum(len(runs) for failures in self.failures.values() for runs in failures.values())
        print(f"{len(good)} of {len(cases)} runs compared, {count} differences")
        return 1 if count or not good else 0


def make_models(args, folder, modules):
    models = []
    for given in args.models:
        path = os.path.join(folder, os.path.splitext(os.path.basename(given))[0], "model.onnx")
        os.makedirs(os.path.dirname(path))
        shutil.copy(given, path)
        models.append(RandomModel(path))
    for seed in range(args.seed, args.seed + (0 if args.models else args.count)):
        path = os.path.join(folder, f"seed_{seed}", "model.onnx")
        os.makedirs(os.path.dirname(path))
        model, recorded, conditions = onnx_dynamic_steps.make_model(seed, modules)
        modules[1].checker.check_model(recorded)
        modules[1].save(model, path)
        modules[1].save(recorded, path + ".recorded")
        models.append(RandomModel(path, path + ".recorded", conditions))
    return models


def missing(args):
    if not args.node_modules or not os.path.isdir(os.path.join(args.node_modules, "onnxruntime-node")):
        return "onnxruntime-node is not there (-DIROPT_NODE_MODULES)"
    return None if shutil.which("node") else "node is not there"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--node-modules", default="")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="the folder for the models")
    args = parser.parse_args()
    args.passes = "default<O3>"
    reason = missing(args)
    try:
        import numpy
        import onnx
        import onnx.numpy_helper
    except ImportError:
        reason = "the Python package onnx is not installed"
    if reason:
        print(f"skipped: {reason}")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        models = make_models(args, args.keep or temporary, (numpy, onnx))
        cases = [case for i, model in enumerate(models) for case in make_cases(model, args.seed + i, (numpy, onnx))]
        return Comparison(args, temporary).run(cases)


if __name__ == "__main__":
    sys.exit(main())
