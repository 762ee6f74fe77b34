#!/usr/bin/env python3
"""TIR passes keep what functions compute: PrimFuncs are run before and after each pass alone, and around each pass of
tir.lower, under -check-semantics=each; the lowered functions are compiled, too, and compared with the interpreted
originals. An access out of bounds, or an undefined read, that was not there before is a failure, because the function then
fails. Exit code 77 without recorded cases.

    tir_values.py --ir-opt=BINARY [--ir-run=BINARY] [--models=FOLDER] [--recorded=N] [--from-models=N] [--random=N]
                  [--budget=N] [--seed=N] [--threads=N] [--pass=NAME...] [--keep=FOLDER] FOLDER

The PrimFuncs are the modules of TVM's recorded TIR cases (FOLDER), those of real models (--models), by default all of them,
and random ones (random_prim_funcs.py). Models without PrimFuncs are put through `zero`, with their own shapes and with small
images. A function that exceeds the budget of the interpreter is compiled before and after tir.lower, and not compared around
single passes.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import semantic_runs
import tir_sources

SKIPPED = 77
LOWER = "tir.lower"
# As TVM continues for kernels: threads that share a copy wait for each other.
SYNCHRONIZE = "tir.ThreadSync<storage_scope=shared>,tir.ThreadSync<storage_scope=shared.dyn>"
PUBLIC = re.compile(r"@T\.prim_func\n *def (\w+)\(")
SYMBOL = re.compile(r"^ +(\w+) = T\.int(?:32|64)\((?:is_size_var=True)?\)$", re.MULTILINE)
SYMBOL_SIZE = 5
# ir-run compares with the tolerance of the type of a result. A float64 that was computed in a narrower type and converted
# has the precision of that type: its relative and absolute tolerance, as ir-run has them.
NARROW_TOLERANCES = {"bfloat16": (1e-1, 1e-1), "float16": (2e-2, 2e-2), "float32": (2e-4, 2e-5)}
# Passes whose results cannot be compared, with the reason.
NOT_COMPARABLE = {
    "tir.BF16StorageLegalize": "it refuses buffers as parameters",
    "tir.FP8StorageLegalize": "it refuses buffers as parameters",
    "tir.InjectPTXLDG32": "the interpreter does not run instructions of PTX",
    "tir.LowerAsyncDMA": "the interpreter does not run DMA transfers",
    "tir.MakePackedAPI": "functions are called by another convention",
    "tir.MakeUnpackedAPI": "functions are called by another convention",
    "tir.SplitHostDevice": "the parts of a function for a device are functions, too, and count as outputs",
}
# The text of a result may read back as another module, as in TVM: operators fold constants, and some nodes have no text of
# their own. The values are compared all the same, but only around all passes.
TEXT_LOSS = "reads back as another one"
# Memory of a kind of its own is merged by TVM, too, without new shapes for the buffers in it.
SPECIAL_MEMORY = re.compile(r'"(?:global:|local_|shared_)\w+"')
OUTCOMES = ["compared", "unchanged", "refused", "not compared", "FAILED"]
REFUSED = (2, 3, 4)
OVER_BUDGET = "it exceeds a budget"
# A remark of -check-semantics.
REASON = re.compile(r"function '([^']*)' is not compared: (.*)")
# So long a function that is too much for the budget is interpreted.
FAILURE_SECONDS = 5
# So many functions are run together; this saves processes.
BATCH = 12


class Result:
    """What a run has found: how many functions have which of OUTCOMES, why functions are not compared, by name, and the
    messages of a failure."""

    def __init__(self, outcomes, reasons=(), failure=""):
        self.outcomes = collections.Counter(outcomes)
        self.reasons = list(reasons)
        self.failure = failure

    @staticmethod
    def of(outcome, count=1, reason=""):
        return Result({outcome: count}, [("", reason)] * count if outcome == "not compared" else [])

    @property
    def is_known(self):
        """Whether it says something about each function: otherwise they are run one by one."""
        return not self.failure and not self.outcomes["refused"]

    @property
    def over_budget(self):
        return [name for name, reason in self.reasons if OVER_BUDGET in reason]


def run_pipeline(options, pipeline, path, check="-check-semantics=each"):
    command = [options.ir_opt, "-O4", f"-passes={pipeline}", check, f"-check-semantics-budget={options.budget}", path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode in REFUSED:
        return Result.of("refused")
    if TEXT_LOSS in done.stderr:
        return run_pipeline(options, pipeline, path, "-check-semantics")
    summary = semantic_runs.SUMMARY.search(done.stderr)
    if done.returncode != 0 or not summary:
        return Result({"FAILED": 1}, [], f"exit code {done.returncode}: {done.stderr[:1500]}")
    functions, unchanged, not_compared = map(int, summary.groups())
    compared = functions - unchanged - not_compared
    reasons = [REASON.match(reason).groups() for reason in semantic_runs.NOT_COMPARED.findall(done.stderr)]
    return Result({"compared": compared, "unchanged": unchanged, "not compared": not_compared}, reasons)


def fails_before(command):
    """Whether a function fails when it is interpreted. Compiled loops do not see undefined reads, which are mostly soon
    found; where it takes longer, it counts as one that does not."""
    try:
        return subprocess.run([*command, "-loops=interpret"], capture_output=True, timeout=FAILURE_SECONDS, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return False


def tolerances(text):
    """The flags of ir-run for a module with types of several precisions, if it has float64: the narrowest one decides."""
    found = next((t for name, t in NARROW_TOLERANCES.items() if name in text), None) if "float64" in text else None
    return [f"-rtol={found[0]}", f"-atol={found[1]}"] if found else []


def run_compiled(options, path, text, before_loops):
    """The same for functions that are compiled after tir.lower. One that fails before it is lowered is left alone."""
    if is_empty_when_lowered(options, path):
        return Result.of("unchanged")
    result = Result.of("not compared", 1, "it fails on random inputs")
    symbols = [f"-sym={name}={SYMBOL_SIZE}" for name in dict.fromkeys(SYMBOL.findall(text))]
    for name in PUBLIC.findall(text):
        expected = f"{path}.{name}.npz"
        flags = [f"-entry={name}", "-random-inputs", *symbols]
        run = [options.ir_run, *flags, f"-output={expected}", path]
        if before_loops == "compile" and fails_before(run):
            continue
        before = subprocess.run([*run, f"-loops={before_loops}"], capture_output=True, check=False)
        if before.returncode != 0:
            continue
        command = [options.ir_run, "-O4", *flags, f"-passes={LOWER},{SYNCHRONIZE}", "-loops=compile", f"-check={expected}",
                   *tolerances(text), path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        os.remove(expected)
        if done.returncode in REFUSED:
            result = Result.of("refused")
        elif done.returncode != 0:
            return Result({"FAILED": 1}, [], f"'{name}', exit code {done.returncode}: {done.stderr[:1500]}")
        else:
            result = Result.of("compared")
    return result


def is_empty_when_lowered(options, path):
    """Whether nothing is left of a function, such as one that stores what an element has already: it has no results then."""
    lowered = subprocess.run([options.ir_opt, "-O4", f"-passes={LOWER}", path], capture_output=True, text=True, check=False).stdout
    statements = [line.strip() for line in lowered.splitlines() if line.startswith("        ")]
    return [line for line in statements if not line.startswith(("T.func_attr", "#"))] == ["T.evaluate(0)"]


def is_accepted(options, path):
    """Whether a module is well-formed, and reads back as it is."""
    plain = [options.ir_opt, "-O4", "-passes=Sequential()", "-verify-roundtrip", path]
    return subprocess.run(plain, capture_output=True, check=False).returncode == 0


class Module:
    def __init__(self, name, text, path):
        self.name = name
        self.text = text
        self.path = path
        self.is_combinable = bool(tir_sources.rest_of_function(text))


class Checker:
    """Runs modules, each a name and a text, in batches, and tallies what is found."""

    def __init__(self, options, work, folder):
        self.options = options
        self.work = work
        self.folder = folder
        self.outcomes = collections.defaultdict(collections.Counter)  # by pass
        self.reasons = collections.Counter()

    def write(self, name, text):
        path = os.path.join(self.folder, f"{name}.ir")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def add(self, name, place, result):
        self.outcomes[name] += result.outcomes
        self.reasons.update(re.sub(r"'[^']*'|\d+|^\w+(?=:)", "...", reason)[:110] for _, reason in result.reasons)
        if result.failure:
            print(f"FAILED  {name} on {place}, {result.failure}", flush=True)

    def check(self, batch):
        """Results by pass and module, or by pass and batch."""
        modules = [Module(name, text, self.write(name, text)) for name, text in batch]
        accepted = [m for m in modules if not SPECIAL_MEMORY.search(m.text)]
        together = [m for m in accepted if m.is_combinable]
        path = self.combine(together)
        if not is_accepted(self.options, path):
            together = [m for m in together if is_accepted(self.options, m.path)]
            path = self.combine(together)
        accepted = [m for m in accepted if m in together or (not m.is_combinable and is_accepted(self.options, m.path))]
        for module in modules:
            yield "modules", module.name, Result.of("compared" if module in accepted else "refused")
        over = self.over_budget(together, path) + [m for m in accepted if not m.is_combinable and self.is_over_budget(m)]
        for module in accepted:
            if self.options.ir_run:
                before = "compile" if module in over else "interpret"
                yield "compiled", module.name, run_compiled(self.options, module.path, module.text, before)
            if module in over:
                for name, _ in self.work:
                    yield name, module.name, Result.of("not compared", 1, OVER_BUDGET)
        yield from self.check_together([m for m in together if m not in over])
        for module in accepted:
            if module not in over and not module.is_combinable:
                for name, pipeline in self.work:
                    yield name, module.name, run_pipeline(self.options, pipeline, module.path)

    def combine(self, modules):
        return self.write("together-" + modules[0].name if modules else "none",
                          tir_sources.combine([m.text for m in modules]))

    def is_over_budget(self, module):
        return bool(run_pipeline(self.options, LOWER, module.path, "-check-semantics").over_budget)

    def over_budget(self, modules, path):
        """Those of the modules that exceed the budget; their functions are f0, f1 and so on in the file."""
        result = run_pipeline(self.options, LOWER, path, "-check-semantics")
        if not result.is_known:
            return [m for m in modules if self.is_over_budget(m)]
        return [modules[int(name[1:])] for name in result.over_budget]

    def check_together(self, modules):
        if not modules:
            return
        path = self.combine(modules)
        for name, pipeline in self.work:
            result = run_pipeline(self.options, pipeline, path)
            if result.is_known:
                yield name, path, result
                continue
            for module in modules:
                yield name, module.name, run_pipeline(self.options, pipeline, module.path)

    def report(self, source):
        print(f"\n{source:42}" + "".join(f"{outcome:>14}" for outcome in OUTCOMES))
        for name, counts in self.outcomes.items():
            print(f"{name:42}" + "".join(f"{counts[outcome]:>14}" for outcome in OUTCOMES))
        for reason, count in self.reasons.most_common(15):
            print(f"  {count} not compared: {reason}")
        sys.stdout.flush()
        counts = self.outcomes.values()
        return any(count["compared"] for count in counts) and not any(count["FAILED"] for count in counts)


def sample(items, count, seed):
    return random.Random(seed).sample(items, min(count, len(items))) if count is not None else items


def sources(options):
    """Lists of names and texts by kind."""
    result = {"recorded": sample(tir_sources.recorded(options.folder), options.recorded, options.seed)}
    if options.models:
        found = tir_sources.of_models(options.ir_opt, options.models) if options.from_models != 0 else []
        result["models"] = sample(found, options.from_models, options.seed)
    result["random"] = tir_sources.generated(options.seed, options.random)
    return {kind: items for kind, items in result.items() if items}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", help="runs compiled functions if it is given")
    parser.add_argument("--models", help="a folder of models")
    parser.add_argument("--recorded", type=int, help="the number of recorded modules")
    parser.add_argument("--from-models", type=int, help="the number of PrimFuncs of models")
    parser.add_argument("--random", type=int, default=1000, help="the number of random PrimFuncs")
    parser.add_argument("--budget", type=int, default=5_000_000, help="of -check-semantics-budget")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--pass", action="append", dest="passes", help="all, and tir.lower, by default")
    parser.add_argument("--keep", help="a folder for the modules; by default a temporary one")
    parser.add_argument("folder")
    return parser.parse_args()


def main():
    options = parse_options()
    kinds = sources(options)
    if not kinds:
        return SKIPPED
    listed = subprocess.run([options.ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, check=True).stdout
    names = options.passes or [p["name"] for p in json.loads(listed)["passes"]
                               if p["name"].startswith("tir.") and p["name"] not in NOT_COMPARABLE] + [LOWER]
    work = [(name, semantic_runs.BEFORE.get(name, "") + name + semantic_runs.OPTIONS.get(name, "")) for name in names]
    ok = True
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
        for kind, items in kinds.items():
            checker = Checker(options, work, options.keep or temporary)
            items = [(f"{kind}-{name}", text) for name, text in items]
            batches = [items[i:i + BATCH] for i in range(0, len(items), BATCH)]
            for results in pool.map(lambda batch, c=checker: list(c.check(batch)), batches):
                for result in results:
                    checker.add(*result)
            ok = checker.report(kind) and ok
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
