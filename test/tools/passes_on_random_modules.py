#!/usr/bin/env python3
"""Every pass keeps the meaning of random modules of both levels: each pass runs alone on each of them under
-check-semantics=each, and its result is verified, and reads back as the same module.

    passes_on_random_modules.py --ir-opt=BINARY --generator=BINARY [--modules=N] [--first=N] [--seed=N] [--pass=NAME...]

The generator, `random_module`, prints a module by seed and number; its sources are in test/random.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import semantic_runs

# Options with which a pass has an effect; `main` has these parameters.
OPTIONS = semantic_runs.OPTIONS | {
    "BindParams": '<params={"w":{"dtype":"float32","shape":[4],"data":[1,-2,0.5,3]}}>',
    "BindSymbolicVars": '<binding_map={"n":3};func_name=main>',
    "UpdateParamStructInfo": r'<updates={"main":{"x":"R.Tensor((n, 4), dtype=\"float32\", vdevice=\"llvm:0\")"}}>',
    "UpdateVDevice": "<new_vdevice=\"I.vdevice('cuda')\">",
}

# Passes that do not apply to these modules, with the reason.
NOT_ON_RANDOM_MODULES = semantic_runs.NEED_MORE | {
    "AppendLoss": "they have no function that computes a loss",
    "Gradient": "few of them consist of one dataflow block and have a scalar result",
    "tir.BF16StorageLegalize": "their PrimFuncs have buffers as parameters",
    "tir.DefaultGPUSchedule": "it refuses loops that do not correspond to the axes of their blocks",
    "tir.FP8StorageLegalize": "their PrimFuncs have buffers as parameters",
}
MODULES_PER_RUN = 25


class Tally:
    """What the runs of a pass have found."""

    def __init__(self):
        self.failures = []
        self.changed = 0  # modules with a function that was compared
        self.not_compared = 0  # functions


def generate(options, folder, index):
    path = os.path.join(folder, f"{index}.ir")
    done = subprocess.run([options.generator, str(options.seed), str(index)], capture_output=True, text=True, check=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(done.stdout)
    return path


def check_pass(options, name, paths):
    before = semantic_runs.BEFORE_ON_SMALL_MODULES
    return semantic_runs.run_many(options.ir_opt, before.get(name, "") + name + OPTIONS.get(name, ""), paths)


def add(tally, index, run):
    if run.failure:
        tally.failures.append(f"module {index}, {run.failure}")
    tally.changed += run.compared > 0
    tally.not_compared += run.not_compared


def report(tallies, seed):
    for name, tally in tallies.items():
        for failure in tally.failures[:3]:
            print(f"FAILED  {name} on {failure}")
        print(f"{name:24}: {tally.changed} modules compared, {tally.not_compared} functions not compared,"
              f" {len(tally.failures)} failures")
    failed = sum(bool(tally.failures) for tally in tallies.values())
    if failed:
        print(f"{failed} passes failed; `random_module {seed} N` prints module N")
    return 1 if failed or not any(tally.changed for tally in tallies.values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--generator", required=True, help="the program random_module")
    parser.add_argument("--modules", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the number of the first module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pass", action="append", dest="passes", help="all by default")
    options = parser.parse_args()
    listed = subprocess.run([options.ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, check=True).stdout
    names = options.passes or [p["name"] for p in json.loads(listed)["passes"] if p["name"] not in NOT_ON_RANDOM_MODULES]
    tallies = {name: Tally() for name in names}
    indices = range(options.first, options.first + options.modules)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = list(pool.map(lambda index: generate(options, folder, index), indices))
        work = [(name, begin) for name in names for begin in range(0, len(paths), MODULES_PER_RUN)]
        runs = pool.map(lambda w: check_pass(options, w[0], paths[w[1]:w[1] + MODULES_PER_RUN]), work)
        for (name, begin), results in zip(work, runs):
            for index, run in zip(indices[begin:], results):
                add(tallies[name], index, run)
    return report(tallies, options.seed)


if __name__ == "__main__":
    sys.exit(main())
