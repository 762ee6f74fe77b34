#!/usr/bin/env python3
"""TIR passes keep what functions compute: the modules of TVM's recorded TIR cases, and random ones, are run before and after
each pass alone and around each pass of the lowering, under -check-semantics=each; the lowered functions are compiled, too,
and compared with the interpreted originals. An access out of bounds, or an undefined read, that was not there before is a
failure, because the function then fails. Exit code 77 without recorded cases.

    tir_values.py --ir-opt=BINARY [--ir-run=BINARY] [--generator=BINARY] [--modules=N] [--seed=N] [--pass=NAME...] FOLDER

FOLDER holds the recorded cases. Of these, N distinct modules are taken, by default all, and as many random ones if there is
a generator (test/random).
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import semantic_runs

SKIPPED = 77
FILES = ["tir_pass.jsonl.gz", "nets_tir_pass.jsonl.gz"]
# The passes of tir.lower that are there, in its order.
LOWERING = [
    "tir.LowerInitBlock", "tir.PlanAndUpdateBufferAllocationLocation", "tir.ConvertBlocksToOpaque", "tir.UnifyThreadBinding",
    "tir.CompactBufferAllocation", "tir.LowerMatchBuffer", "tir.Simplify", "tir.LowerOpaqueBlock", "tir.FlattenBuffer",
    "tir.NarrowDataType", "tir.Simplify", "tir.HoistIfThenElse", "tir.VectorizeLoop", "tir.InjectVirtualThread",
    "tir.InjectDoubleBuffer", "tir.StorageRewrite", "tir.UnrollLoop", "tir.RenormalizeSplitPattern", "tir.Simplify",
    "tir.RemoveNoOp", "tir.RewriteUnsafeSelect", "tir.CommonSubexprElimTIR"
]
PUBLIC = re.compile(r"@T\.prim_func\n +def (\w+)\(")
# Passes whose results cannot be compared, with the reason.
NOT_COMPARABLE = {
    "tir.PointerValueTypeRewrite": "parameters become buffers of vectors",
    "tir.SplitHostDevice": "the parts of a function for a device are functions, too, and count as outputs",
    # A fault that is known: see docs/testing.md.
    "tir.ForceNarrowIndexToInt32": "variables of shapes of buffers without a declaration are left undefined",
}
# What TVM's text cannot express: it reads back as something else, as in TVM.
TEXT_LOSSES = re.compile(
    r'reads back as another one: .*("virtual_thread", "thread_extent"|call of tir\.if_then_else|node\.dom\.extent)')
# Memory of a kind of its own is merged by TVM, too, without new shapes for the buffers in it.
SPECIAL_MEMORY = re.compile(r'"global:\w+"')
# Loops that share a thread run at the same time, once they are unified; before, each runs on its own.
THREAD = re.compile(r'thread="([\w.]+)"')
UNIFYING = ["tir.UnifyThreadBinding", "tir.LiftThreadBinding", "lowering"]
OUTCOMES = ["compared", "unchanged", "refused", "FAILED"]
REFUSED = (2, 3, 4)


def recorded_modules(folder):
    """The distinct inputs of the cases, in their order."""
    modules = {}
    for name in FILES:
        path = os.path.join(folder, "cases", name)
        if not os.path.exists(path):
            continue
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for line in f:
                modules.setdefault(json.loads(line)["before"])
    return list(modules)


def random_modules(options, count):
    for index in range(count):
        done = subprocess.run([options.generator, str(options.seed), str(index)], capture_output=True, text=True, check=True)
        yield done.stdout


def write(folder, index, text):
    path = os.path.join(folder, f"{index}.ir")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def run_pipeline(ir_opt, pipeline, path):
    """One of OUTCOMES, and the messages of a failure."""
    command = [ir_opt, "-O4", f"-passes={pipeline}", "-check-semantics=each", "-check-semantics-budget=100000000", path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode in REFUSED:
        return "refused", ""
    if TEXT_LOSSES.search(done.stderr):
        return "unchanged", ""
    summary = semantic_runs.SUMMARY.search(done.stderr)
    if done.returncode != 0 or not summary:
        return "FAILED", f"exit code {done.returncode}: {done.stderr[:1500]}"
    functions, unchanged, not_compared = map(int, summary.groups())
    return "compared" if functions > unchanged + not_compared else "unchanged", ""


def run_compiled(ir_run, pipeline, path, text):
    """The same for compiled functions. One that fails before it is lowered is left alone."""
    worst = "unchanged", ""
    for name in PUBLIC.findall(text):
        expected = f"{path}.{name}.npz"
        flags = [f"-entry={name}", "-random-inputs"]
        before = subprocess.run([ir_run, *flags, f"-output={expected}", path], capture_output=True, check=False)
        if before.returncode != 0:
            continue
        command = [ir_run, "-O4", *flags, f"-passes={pipeline}", "-loops=compile", f"-check={expected}", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode in REFUSED:
            continue
        if done.returncode != 0:
            return "FAILED", f"'{name}', exit code {done.returncode}: {done.stderr[:1500]}"
        worst = "compared", ""
    return worst


def check_module(options, work, path, text):
    """What the runs have found; nothing if the module itself is not accepted, or does not read back as it is."""
    plain = [options.ir_opt, "-O4", "-passes=Sequential()", "-verify-roundtrip", path]
    if SPECIAL_MEMORY.search(text) or subprocess.run(plain, capture_output=True, check=False).returncode != 0:
        return []
    threads = THREAD.findall(text)
    shares_threads = len(threads) != len(set(threads))
    results = [(name, run_pipeline(options.ir_opt, pipeline, path)) for name, pipeline in work
               if not (shares_threads and name in UNIFYING)]
    if options.ir_run and not shares_threads:
        results.append(("compiled", run_compiled(options.ir_run, ",".join(LOWERING), path, text)))
    return results


def report(outcomes, failures):
    for name, place, message in failures:
        print(f"FAILED  {name} on {place}, {message}")
    for name, counts in outcomes.items():
        print(f"{name:42}" + ", ".join(f"{counts.get(outcome, 0)} {outcome}" for outcome in OUTCOMES))
    return 1 if failures or not any(counts.get("compared") for counts in outcomes.values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", help="runs compiled functions if it is given")
    parser.add_argument("--generator", help="the program random_module")
    parser.add_argument("--modules", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pass", action="append", dest="passes", help="all, and the lowering, by default")
    parser.add_argument("--keep", help="a folder for the modules; by default a temporary one")
    parser.add_argument("folder")
    options = parser.parse_args()
    texts = recorded_modules(options.folder)
    if not texts:
        return SKIPPED
    if options.modules:
        texts = random.Random(options.seed).sample(texts, min(options.modules, len(texts)))
    if options.generator:
        texts += random_modules(options, len(texts))
    listed = subprocess.run([options.ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, check=True).stdout
    names = [p["name"] for p in json.loads(listed)["passes"] 
             if p["name"].startswith("tir.") and p["name"] not in NOT_COMPARABLE]
    work = [(name, semantic_runs.BEFORE.get(name, "") + name + semantic_runs.OPTIONS.get(name, ""))
            for name in options.passes or names]
    if not options.passes:
        work.append(("lowering", ",".join(LOWERING)))
    outcomes, failures = {}, []
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = options.keep or temporary
        paths = [write(folder, index, text) for index, text in enumerate(texts)]
        runs = pool.map(lambda path, text: check_module(options, work, path, text), paths, texts)
        for path, results in zip(paths, runs):
            for name, (outcome, message) in results:
                counts = outcomes.setdefault(name, {})
                counts[outcome] = counts.get(outcome, 0) + 1
                if outcome == "FAILED":
                    failures.append((name, os.path.basename(path), message))
    return report(outcomes, failures)


if __name__ == "__main__":
    sys.exit(main())
