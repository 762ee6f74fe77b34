#!/usr/bin/env python3
"""Every pass keeps the meaning of real models: each pass runs alone on each of them under -check-semantics=each, and then a
pipeline of passes. Exit code 77 if there are no models.

A softmax as the result of a model hides what comes before it: with random weights it gives almost only zeros and ones. It
is replaced by a negation.

    semantics_on_models.py --ir-opt=BINARY [--budget=N] [--pass=NAME...] [--model=NAME...] FOLDER_OR_FILE...
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import models
import semantic_runs
from passes_on_models import NOT_ON_MODELS, PIPELINE

# A function, its first parameters and what follows.
FUNCTION = re.compile(r"@R\.function\n    def (\w+)\((.*)\)")
VECTOR = re.compile(r'(\w+): R\.Tensor\(\((\d+),\), dtype="(float\d+)"\)')
LAST_SOFTMAX = re.compile(r"(\n +(\w+): .* = )R\.nn\.softmax\((\w+), axis=-1\)(?=\n +R\.output\(\2\)\n)")
SYMBOL = re.compile(r"^        (\w+) = T\.int64\(.*\)$", re.MULTILINE)


def prepare(path, folder):
    """A copy of the model without the softmax. Returns its path and text."""
    with open(path, encoding="utf-8") as f:
        text = LAST_SOFTMAX.sub(r"\1R.negative(\3)", f.read())
    copy = os.path.join(folder, os.path.basename(path))
    with open(copy, "w", encoding="utf-8") as f:
        f.write(text)
    return copy, text


def options_for(text):
    """The options of passes, which may depend on the names of functions, parameters and symbolic variables."""
    name, params = FUNCTION.search(text).groups()
    options = dict(semantic_runs.OPTIONS)
    vector = VECTOR.search(params)
    if vector:
        weight, size, dtype = vector.groups()
        data = [(i % 7 - 3) / 4 for i in range(int(size))]
        bound = {weight: {"dtype": dtype, "shape": [int(size)], "data": data}}
        options["BindParams"] = f"<params={json.dumps(bound)};func_name={name}>"
        # The type says less than before.
        updates = {name: {weight: f'R.Tensor(ndim=1, dtype="{dtype}")'}}
        options["UpdateParamStructInfo"] = f"<updates={json.dumps(updates)}>"
    symbols = SYMBOL.findall(text)
    if symbols:
        options["BindSymbolicVars"] = f"<binding_map={json.dumps({symbols[0]: 3})};func_name={name}>"
    return options


def report(work, runs):
    """Prints a line for each pipeline. Returns the exit code."""
    by_pass = {}
    for (name, _, path), run in zip(work, runs):
        by_pass.setdefault(name, []).append((os.path.basename(path), run))
    for name, results in by_pass.items():
        for model, run in results:
            if run.failure:
                print(f"FAILED  {name} on {model}, {run.failure}")
            for reason in run.reasons:
                print(f"        {name} on {model}: {reason}")
        compared = sum(run.compared > 0 for _, run in results)
        not_compared = sum(run.not_compared for _, run in results)
        print(f"{name:24}: {compared} of {len(results)} models compared, {not_compared} functions not compared")
    return 1 if any(run.failure for run in runs) or not any(run.compared for run in runs) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--budget", type=int, default=1_000_000_000, help="of -check-semantics-budget")
    parser.add_argument("--pass", action="append", dest="passes", help="all, and a pipeline, by default")
    parser.add_argument("--model", action="append", help="the name of a file without .ir; all by default")
    parser.add_argument("models", nargs="+", help="modules, or folders with modules")
    options = parser.parse_args()
    paths = [path for path in models.find(options.models)
             if not options.model or os.path.basename(path).removesuffix(".ir") in options.model]
    if not paths:
        print(f"SKIPPED: no models in {', '.join(options.models)}")
        return models.SKIPPED
    listed = subprocess.run([options.ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, check=True).stdout
    names = options.passes or [p["name"] for p in json.loads(listed)["passes"] if p["name"] not in NOT_ON_MODELS]
    # Compiling each version of each PrimFunc would take too long.
    flags = [f"-check-semantics-budget={options.budget}", "-check-semantics-compiled=never"]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = []
        for path, text in [prepare(path, folder) for path in paths]:
            pass_options = options_for(text)
            work += [(name, pipeline, path) for name, pipeline in semantic_runs.pipelines(names, pass_options, text)]
            work += [] if options.passes else [("the pipeline", PIPELINE, path)]
        runs = list(pool.map(lambda w: semantic_runs.run(options.ir_opt, w[1], w[2], *flags), work))
    return report(work, runs)


if __name__ == "__main__":
    sys.exit(main())
