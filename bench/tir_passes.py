#!/usr/bin/env python3
"""Time every pass over PrimFuncs on small and on big functions, and print the cost of a unit of statements in both.

  tir_passes.py [--ir-opt build/bin/ir-opt] [--sizes 10,1000,10000] [--runs 3] [--kinds stores,loops|all] [--each] [PASS...]

Each pass runs alone, on one thread and without checks, on the kinds of functions that gen_prim_func.py writes, after the
passes that it needs before it. Modules of the smaller sizes have several functions. What counts is the least processor
time that -time-passes shows, divided by the units, and where these are nested also by the depth. A pass that is linear
has ratios near 1; caches account for some tenths, and stacks for a walk into statements that are nested as deep as there
are of them, such as bindings, for more. Shown is the kind with the greatest ratio, with --each every kind. Passes that
refuse a kind are left out of it.
"""
import argparse
import math
import os
import sys
import tempfile

import gen_prim_func
import passes

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "test", "tools"))
import semantic_runs  # noqa: E402

# Functions in a module of a size, so that the times of small ones can be measured.
MIN_UNITS = 2000
# Below this a unit costs next to nothing, and its time says nothing.
MIN_SECONDS = 20e-9

_CUDA = 'tir.BindTarget<target="cuda -host=llvm">,'
_SPLIT = f"{_CUDA}tir.AnnotateDeviceRegions,tir.SplitHostDevice,"
BEFORE = semantic_runs.BEFORE | {
    "tir.AnnotateDeviceRegions": _CUDA,
    "tir.CombineContextCall": 'tir.BindTarget<target="llvm -host=llvm">,',
    "tir.LowerDeviceKernelLaunch": _SPLIT,
    "tir.SplitHostDevice": f"{_CUDA}tir.AnnotateDeviceRegions,",
    "tir.ConvertSSA": "tir.UnrollLoop,",
    "tir.DefaultGPUSchedule": 'tir.BindTarget<target="cuda">,',
}
OPTIONS = semantic_runs.OPTIONS

# What every pass sees, and what a pass acts on besides.
COMMON = ["stores", "loops", "ifs", "lets", "allocations", "blocks", "functions", "loop_nests", "if_nests"]
_SHARED = ["shared", "shared_own", "shared_memories", "kernels"]
_BUFFERS = ["one_loop_blocks", "declared", "scoped_allocations", "live_allocations", "long_pipeline", "block_nests", "axis_pairs"]
_CONDITIONS = ["hoisted", "one_loop_ifs", "asserts", "let_exprs", "selects", "assumed", "overcomputed"]
ACTS_ON = {
    "tir.AnnotateDeviceRegions": ["kernels", "target_regions"],
    "tir.BF16ComputeLegalize": ["bfloat16"],
    "tir.BF16StorageLegalize": ["bfloat16"],
    "tir.CombineContextCall": ["contexts"],
    "tir.CommonSubexprElimTIR": ["repeated", "repeated_lets", "common", "expression", "index_expression", "intrinsics", "let_exprs", "attrs"],
    "tir.CompactBufferAllocation": [*_BUFFERS, "matched"],
    "tir.ConvertBlocksToOpaque": ["reductions", "one_loop_blocks", "block_nests", "axis_pairs"],
    "tir.ConvertForLoopsToSerial": ["parallel"],
    "tir.ConvertSSA": ["unrolled", "let_exprs"],
    "tir.DefaultGPUSchedule": ["reductions"],
    "tir.ExtractPrimFuncConstants": ["constants"],
    "tir.FP8ComputeLegalize": ["float8"],
    "tir.FP8StorageLegalize": ["float8"],
    "tir.FlattenBuffer": ["realized", "one_loop_blocks", "reductions"],
    "tir.ForceNarrowIndexToInt32": ["long_indices"],
    "tir.HoistExpression": _CONDITIONS,
    "tir.HoistIfThenElse": _CONDITIONS,
    "tir.InjectDoubleBuffer": ["double_buffers"],
    "tir.InjectPTXLDG32": ["conditional_loads"],
    "tir.InjectPermutedLayout": ["permuted"],
    "tir.InjectPrefetch": ["prefetched"],
    "tir.InjectRollingBuffer": ["rolling"],
    "tir.InjectSoftwarePipeline": ["pipelines", "long_pipeline", "async_pipeline"],
    "tir.InjectVirtualThread": ["virtual_threads", "one_virtual_thread", "virtual_memory"],
    "tir.InlinePrivateFunctions": ["private_calls"],
    "tir.InstrumentBoundCheckers": ["bounds"],
    "tir.LegalizePackedCalls": ["packed_calls"],
    "tir.LiftThreadBinding": ["kernel_loops", "bound_blocks"],
    "tir.LoopPartition": ["likely", "likely_constant"],
    "tir.LowerAsyncDMA": ["async_copies"],
    "tir.LowerCrossThreadReduction": ["thread_reductions"],
    "tir.LowerDeviceKernelLaunch": ["target_regions"],
    "tir.LowerInitBlock": ["reductions"],
    "tir.LowerIntrin": ["intrinsics"],
    "tir.LowerMatchBuffer": ["matched"],
    "tir.LowerOpaqueBlock": ["reductions", "one_loop_blocks"],
    "tir.LowerTVMBuiltin": ["packed_calls", "array_calls"],
    "tir.MakePackedAPI": ["params"],
    "tir.MakeUnpackedAPI": ["params"],
    "tir.ManifestSharedMemoryLocalStage": ["local_stages"],
    "tir.NarrowDataType": ["long_indices"],
    "tir.PlanAndUpdateBufferAllocationLocation": [*_BUFFERS, "matched"],
    "tir.PointerValueTypeRewrite": ["vectorized", "repeated"],
    "tir.ReduceBranchingThroughOvercompute": ["overcomputed"],
    "tir.RemoveAssume": ["assumed", "overwritten"],
    "tir.RemoveNoOp": ["overwritten", "same_element", "effects", "one_loop"],
    "tir.RemoveStoreUndef": ["undefined"],
    "tir.RemoveWeightLayoutRewriteBlock": ["weight_layouts"],
    "tir.RenormalizeSplitPattern": ["split_loops"],
    "tir.RewriteUnsafeSelect": ["selects"],
    "tir.Simplify": [*_CONDITIONS, "expression", "index_expression", "whiles", "one_if"],
    "tir.SkipAssert": ["asserts"],
    "tir.SplitHostDevice": ["target_regions", "kernels"],
    "tir.StorageFlatten": ["realized"],
    "tir.StorageRewrite": ["scoped_allocations", "live_allocations", "shared_memories"],
    "tir.TextureFlatten": ["textures"],
    "tir.ThreadSync": [*_SHARED, "shared_written", "awaited"],
    "tir.TransformMmaBufferLayout": ["matrices"],
    "tir.UnifyThreadBinding": ["kernel_loops", "bound_blocks"],
    "tir.UnrollLoop": ["unrolled"],
    "tir.UseAssumeToReduceBranches": ["assumed"],
    "tir.VectorizeLoop": ["vectorized", "vectorized_ifs", "one_vectorized"],
    "tir.VerifyMemory": ["kernels"],
    "tir.VerifyRaces": [*_SHARED],
}
FLAGS = {"tir.LoopPartition": ["-config=tir.LoopPartition.partition_const_loop=true"]}


def generate(kind, size, folder):
    """The module, and how many units it has, times their depth."""
    functions = max(1, min(200, MIN_UNITS // size))
    path = os.path.join(folder, f"{kind}-{size}.ir")
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as f:
            gen_prim_func.write(f, kind, size, functions)
    depth = max(1, math.isqrt(size)) if kind in gen_prim_func.NESTED else 1
    return path, functions * size * depth


def time_kind(options, name, kind, folder):
    """Seconds per unit for each size; None if the pass refuses the kind."""
    pipeline = BEFORE.get(name, "") + name + OPTIONS.get(name, "")
    flags = ["-no-verify", *FLAGS.get(name, [])]
    best = []
    for size in options.sizes:
        path, units = generate(kind, size, folder)
        try:
            times = [passes.time_pass(options.ir_opt, pipeline, path, flags)[0] for _ in range(options.runs)]
        except passes.PassFailed:
            return None
        best.append(min(times) / units)
    return best


def show(name, kind, best):
    ratios = [best[-1] / max(seconds, MIN_SECONDS) for seconds in best[:-1]]
    print(f"{name:42} {kind:19}" + "".join(f"{seconds * 1e9:12.1f}" for seconds in best)
          + "".join(f"{ratio:9.2f}" for ratio in ratios), flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default="build/bin/ir-opt")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[10, 1000, 10000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kinds", type=lambda text: list(gen_prim_func.KINDS) if text == "all" else text.split(","))
    parser.add_argument("--each", action="store_true", help="show every kind")
    parser.add_argument("passes", nargs="*", metavar="PASS")
    return parser.parse_args()


def main():
    options = parse_arguments()
    names = options.passes or [name for name in passes.list_passes(options.ir_opt) if name.startswith("tir.")]
    sizes = [f"{size:,}" for size in options.sizes]
    print(f"{'pass':42} {'kind':19}" + "".join(f"{'ns, ' + size:>12}" for size in sizes)
          + "".join(f"{'/ ' + size:>9}" for size in sizes[:-1]))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            worst = None
            for kind in options.kinds or [*COMMON, *ACTS_ON.get(name, [])]:
                best = time_kind(options, name, kind, folder)
                if best is None:
                    continue
                if options.each:
                    show(name, kind, best)
                growth = best[-1] / max(MIN_SECONDS, min(best[:-1]))
                if worst is None or growth > worst[0]:
                    worst = growth, kind, best
            if worst and not options.each:
                show(name, *worst[1:])


if __name__ == "__main__":
    main()
