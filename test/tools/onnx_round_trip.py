#!/usr/bin/env python3
"""Reads ONNX models with ir-opt, writes them back, and judges what comes out.

    onnx_round_trip.py --ir-opt BIN [--ir-run BIN] [--node-modules DIR] [--passes PIPELINE] [--sample N] [FOLDER]

FOLDER holds models as Debian's libonnx-testdata has them: */model.onnx, with the tensors of inputs and outputs in
test_data_set_*. A model is good if it is written, and the result is read again and, as far as the judges are there,
valid for onnx.checker (Debian's python3-onnx) and of the recorded values in onnxruntime (the package onnxruntime-node
in DIR), where the original has them, too. Without DIR, ir-run computes the values, which needs Python's onnx and NumPy.
After passes, it may not have more nodes or bytes than onnx_growth.py allows.
Exits with 1 unless all models are good."""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

import onnx_testdata

try:
    import onnx_growth
except ImportError:  # Python's onnx is not there.
    onnx_growth = None

CHECKER = """
import sys, onnx
for path in sys.stdin.read().split():
    try:
        onnx.checker.check_model(path)
        print("")
    except Exception as error:
        print(" ".join(str(error).split())[:200])
"""


def find_models(folder):
    return sorted(glob.glob(os.path.join(folder, "**", "model.onnx"), recursive=True))


def tensors(model, kind):
    paths = glob.glob(os.path.join(os.path.dirname(model), "test_data_set_0", f"{kind}_*.pb"))
    return sorted(paths, key=lambda path: int(os.path.basename(path).split("_")[1].split(".")[0]))


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return -1, "does not end in 120 s"
    lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
    return done.returncode, lines[0] if lines else ""


class Judge:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder

    def convert(self, model):
        """The path of what comes out and, if there is none, the reason."""
        out = os.path.join(self.folder, model.strip("/").replace("/", "+"))
        passes = [f"-passes={self.args.passes}"] if self.args.passes else []
        code, reason = run([self.args.ir_opt, *passes, model, "-o", out])
        if code != 0:
            return None, f"exit code {code}: {reason}"
        code, reason = run([self.args.ir_opt, out, "-o", out + ".again.onnx"])
        if code != 0:
            return None, f"is not read again: {reason}"
        return out, ""

    def check(self, outs):
        """What onnx.checker says about each."""
        done = subprocess.run([self.args.python, "-c", CHECKER], input="\n".join(outs), capture_output=True, text=True)
        answers = done.stdout.split("\n")
        if done.returncode != 0 or len(answers) < len(outs):
            return None
        return answers[: len(outs)]

    def run_onnxruntime(self, jobs):
        path = os.path.join(self.folder, "jobs.json")
        with open(path, "w") as file:
            json.dump(jobs, file)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_run.js")
        env = {**os.environ, "NODE_PATH": self.args.node_modules}
        done = subprocess.run(["node", script, path], capture_output=True, text=True, env=env)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        missing = len(jobs) - len(answers)
        return answers + [{"status": "failed", "reason": "onnxruntime ended: " + done.stderr[-200:]}] * missing

    def run_ir_run(self, model, original):
        """Whether ir-run computes the recorded outputs, and what differs."""
        options = argparse.Namespace(ir_run=self.args.ir_run, flags=[])
        folder = os.path.join(os.path.dirname(original), "test_data_set_0")
        return onnx_testdata.run_set(folder, model, options, *onnx_testdata.load())


def operators_of(model):
    """The table's row of a model: the name of its folder without variants."""
    name = os.path.basename(os.path.dirname(model))
    parts = name.split("_")
    return "_".join(parts[:3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default="/usr/share/libonnx-testdata/data")
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run")
    parser.add_argument("--node-modules")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--passes", default="")
    parser.add_argument("--level", default="all", help="onnxruntime's own optimizations: all, basic or disabled")
    parser.add_argument("--sample", type=int, default=1, help="each N-th model")
    parser.add_argument("--filter", default="")
    parser.add_argument("--table", action="store_true", help="print a row for each operator that has failures")
    parser.add_argument("--keep", help="the folder for what comes out")
    args = parser.parse_args()
    models = [model for model in find_models(args.folder) if args.filter in model][:: args.sample]
    if not models:
        print(f"skipped: no models in {args.folder}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return judge_all(Judge(args, args.keep or folder), models, args)


def judge_all(judge, models, args):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        converted = dict(zip(models, pool.map(judge.convert, models)))
    failures = {model: reason for model, (out, reason) in converted.items() if out is None}
    written = [model for model in models if model not in failures]
    checks = judge.check([converted[model][0] for model in written])
    if checks is None:
        print("onnx.checker is not there")
    for model, answer in zip(written, checks or []):
        if answer:
            failures[model] = f"onnx.checker: {answer}"
    if args.passes and onnx_growth:
        for model, reason in onnx_growth.growth(judge, [(model, converted[model][0]) for model in written]).items():
            failures.setdefault(model, reason)
    good = [model for model in written if model not in failures]
    if args.node_modules:
        judge_values(judge, converted, good, failures)
    elif args.ir_run:
        judge_by_ir_run(judge, converted, good, failures)
    rows = collections.Counter(operators_of(model) for model in models)
    bad = collections.Counter(operators_of(model) for model in failures)
    for model, reason in sorted(failures.items()):
        print(f"{os.path.basename(os.path.dirname(model))}: {reason}")
    if args.table:
        for row in sorted(bad):
            print(f"{row:40} {rows[row] - bad[row]:4} of {rows[row]}")
    good = len(models) - len(failures)
    print(f"{good} of {len(models)} models: {good / len(models):.3f}")
    return 1 if failures else 0


def judge_values(judge, converted, models, failures):
    jobs = []
    for model in models:
        data = {"inputs": tensors(model, "input"), "outputs": tensors(model, "output"), "level": judge.args.level}
        jobs += [{"model": model, **data}, {"model": converted[model][0], **data}]
    answers = judge.run_onnxruntime(jobs)
    for i, model in enumerate(models):
        original, result = answers[2 * i], answers[2 * i + 1]
        # What onnxruntime does not do with the original does not judge the result.
        if original["status"] == "same" and result["status"] != "same":
            failures[model] = f"onnxruntime: {result['status']}: {result['reason']}"


def judge_by_ir_run(judge, converted, models, failures):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda model: judge.run_ir_run(converted[model][0], model), models)
    for model, (status, message) in zip(models, results):
        # The original is judged by onnx_testdata.py.
        if status not in ("ok", "other"):
            failures[model] = f"ir-run: {status}: {message}"


if __name__ == "__main__":
    sys.exit(main())
