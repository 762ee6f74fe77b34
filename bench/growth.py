#!/usr/bin/env python3
"""Check that the time of every pass grows about as much as the module: exits with 1 if the time of one grows faster.

  growth.py [--ir-opt build/bin/ir-opt] [--size 1000] [--exponent 1.3] [--slack 0.005] [--runs 4] [--kinds KIND,...] [PASS...]

Each pass runs alone, on one thread and without checks, after the passes that it needs before it, on modules that consist of
--size units of one kind and of four times as many: those of gen_program.py for passes over the graph, those of
gen_prim_func.py for passes over PrimFuncs. A pass of which the time grows like n to the power of --exponent or less is good.
The --slack, in seconds, is added to the time of the small module: it is what a short time may be wrong by, so that a pass that
is fast on the big module is good as well. A pass that is not is measured again, up to --runs times in all, and the least time
of each size counts. Passes that refuse a kind are left out of it.
"""
import argparse
import math
import os
import sys
import tempfile

import gen_prim_func
import gen_program
import passes
import tir_passes

semantic_runs = tir_passes.semantic_runs
FACTOR = 4

_LOWERED = "LegalizeOps,ToNonDataflow,RemovePurityChecking,CallTIRRewrite,StaticPlanBlockMemory,"
_ALLOCATED = f"{_LOWERED}RewriteCUDAGraph,LowerAllocTensor,KillAfterLastUse,"
_FUSED = "LegalizeOps,AnnotateTIROpPattern,"
BEFORE = {
    **semantic_runs.BEFORE_ON_SMALL_MODULES,
    **tir_passes.BEFORE,
    "AnnotateTIROpPattern": "LegalizeOps,",
    "DefuseOps": f"{_FUSED}FuseOps,",
    "FuseOps": _FUSED,
    "FuseTIR": f"{_FUSED}FuseOps,",
    "RewriteCUDAGraph": _LOWERED,
    "VMBuiltinLower": f"{_ALLOCATED}LowerRuntimeBuiltin,",
    "VMShapeLower": f"{_ALLOCATED}LowerRuntimeBuiltin,ComputePrimValue,VMBuiltinLower,LambdaLift,",
}
OPTIONS = {**passes.OPTIONS, **tir_passes.OPTIONS}
# Functions of one binding; the other kinds are one function.
FUNCTIONS = "functions"
TIR_KINDS = [*tir_passes.COMMON, *gen_prim_func.DEEP, "binding_chain", "binding_pairs", "conjuncts", "disjuncts", "expression",
             "index_expression", "params", "one_loop_ifs"]
# The text of what is nested grows with the square of the depth.
DEEP = [*gen_prim_func.DEEP, "deep_ifs"]
# What may grow faster, with the reason.
EXEMPT = {
    ("tir.CompactBufferAllocation", "binding_chain"): "each value is bounded by what is known outside of the bindings",
    ("tir.FlattenBuffer", "deep_guards"): "each condition is searched for iterators",
    ("tir.CommonSubexprElimTIR", "deep_ifs"): "each branch is looked at once for each of those around it",
    ("tir.InjectSoftwarePipeline", "long_pipeline"): "the statements of one pipeline are compared with each other, within a budget",
    ("tir.InjectSoftwarePipeline", "async_pipeline"): "the same",
}


def kinds_of(name, options):
    if name.startswith("tir."):
        known = gen_prim_func.KINDS
        kinds = options.kinds or [*TIR_KINDS, *tir_passes.ACTS_ON.get(name, [])]
    else:
        known = [*gen_program.KINDS, FUNCTIONS]
        kinds = options.kinds or known
    return [kind for kind in dict.fromkeys(kinds) if kind in known and (name, kind) not in EXEMPT]


def generate(name, kind, size, folder):
    is_tir = name.startswith("tir.")
    path = os.path.join(folder, f"{'tir' if is_tir else 'graph'}-{kind}-{size}.ir")
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as f:
            if is_tir:
                gen_prim_func.write(f, kind, size, 1)
            elif kind == FUNCTIONS:
                gen_program.write(f, "chain", 1, size)
            else:
                gen_program.write(f, kind, size, 1)
    return path


class Growth:
    """The least seconds that a pass has taken for a kind, small and big."""

    def __init__(self, options, name, kind, folder):
        self.options = options
        self.pipeline = BEFORE.get(name, "") + name + OPTIONS.get(name, "")
        self.flags = ["-no-verify", *tir_passes.FLAGS.get(name, [])]
        size = options.size // (FACTOR if kind in DEEP else 1)
        self.paths = [generate(name, kind, n, folder) for n in (size, size * FACTOR)]
        self.small = self.big = math.inf

    def time(self, path):
        return passes.time_pass(self.options.ir_opt, self.pipeline, path, self.flags)[0]

    def is_good(self):
        small = 0 if self.small == math.inf else self.small
        return self.big <= (small + self.options.slack) * FACTOR ** self.options.exponent

    def measure(self):
        """Measures until the growth is good, and returns whether it is."""
        for _ in range(self.options.runs):
            self.big = min(self.big, self.time(self.paths[1]))
            if self.is_good():
                return True
            self.small = min(self.small, self.time(self.paths[0]))
            if self.is_good():
                return True
        return False

    def __str__(self):
        exponent = math.log(self.big / max(self.small, 1e-6), FACTOR)
        return f"{self.small * 1e3:8.1f} ms {self.big * 1e3:10.1f} ms   n^{exponent:.2f}"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default="build/bin/ir-opt")
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--exponent", type=float, default=1.3)
    parser.add_argument("--slack", type=float, default=0.005)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--kinds", type=lambda text: text.split(","))
    parser.add_argument("passes", nargs="*", metavar="PASS")
    return parser.parse_args()


def main():
    options = parse_arguments()
    names = options.passes or [name for name in passes.list_passes(options.ir_opt) if name not in passes.UNMEASURED]
    measured = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for kind in kinds_of(name, options):
                growth = Growth(options, name, kind, folder)
                try:
                    is_good = growth.measure()
                except passes.PassFailed:
                    continue
                measured += 1
                if not is_good:
                    failed += 1
                    print(f"{name:42} {kind:19} {growth} FAILED", flush=True)
    print(f"{measured} passes on a kind of module, of which {failed} grow too fast")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
