#!/usr/bin/env python3
"""What holds for every pass on every real model: what it makes verifies, and a second run changes nothing. Then the same for
a pipeline of passes as one would have it. Exit code 77 where there are no models.

    passes_on_models.py --ir-opt=BINARY FOLDER_OR_FILE...
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

import models
from semantic_runs import NEED_MORE, OPTIONS, pipelines

SKIPPED = 77

# Passes that do not apply to these models, with the reason.
NOT_ON_MODELS = NEED_MORE | {
    "AppendLoss": "they have no function that computes a loss",
    "Gradient": "their results are not scalars",
    "MergeCompositeFunctions": "some have no function 'main'",
    "UpdateVDevice": "they have no virtual devices",
    "tir.analysis.OOBChecker": "as in TVM, it does not know what conditions exclude, such as those of padding",
    "tir.BF16StorageLegalize": "their functions have buffers as parameters",
    "tir.FP8StorageLegalize": "their functions have buffers as parameters",
}
# Passes that are not idempotent, with the reason.
NOT_IDEMPOTENT = {
    "VMShapeLower": "a lowered function has the same checks as another one",
    "tir.DecorateDeviceScope": "it adds another scope",
    "tir.InjectPTXLDG32": "it allocates memory once more",
    "tir.InstrumentProfileIntrinsics": "it measures once more",
}
PIPELINE = ("Normalize,LambdaLift,InlinePrivateFunctions,AlterOpLayout,OptimizeLayoutTransform,RemoveRedundantReshape,"
            "ToMixedPrecision,DynamicToStatic,FoldConstant,EliminateCommonSubexpr,ExpandTupleArguments,"
            "RemoveUnusedParameters,RemoveUnusedOutputs,CanonicalizeBindings,InferType,DeadCodeElimination,"
            "CanonicalizeCast,TopologicalSort,LiftTransformParams,ToNonDataflow,RemovePurityChecking,AttachGlobalSymbol")


def check(ir_opt, pipeline, path, once):
    """What is wrong, or nothing."""
    flags = ["-O4", f"-passes={pipeline}", "-verify-each"] + ([] if once else ["-verify-idempotent"])
    try:
        models.run(ir_opt, *flags, path, "-o", os.devnull)
    except models.Failed as failure:
        return str(failure)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("models", nargs="+", help="modules, or folders with modules")
    options = parser.parse_args()
    paths = models.find(options.models)
    if not paths:
        print(f"SKIPPED: no models in {', '.join(options.models)}")
        return SKIPPED
    listed = subprocess.run([options.ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, check=True).stdout
    names = [p["name"] for p in json.loads(listed)["passes"] if p["name"] not in NOT_ON_MODELS and p["name"] != "PrintIR"]
    work = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            work += [(name, pipeline, path) for name, pipeline in pipelines(names, OPTIONS, f.read())]
        work.append(("the pipeline", PIPELINE, path))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda w: check(options.ir_opt, w[1], w[2], w[0] in NOT_IDEMPOTENT), work))
    for (name, _, path), problem in zip(work, found):
        if problem:
            print(f"FAILED  {name} on {os.path.basename(path)}: {problem}")
    print(f"{len(names)} passes on {len(paths)} models: {sum(map(bool, found))} failures")
    return 1 if any(found) or not names else 0


if __name__ == "__main__":
    sys.exit(main())
