#!/usr/bin/env python3
"""-O3 keeps the meaning of graph-level models, and all of it is compared without further flags, in a limited time. Models whose
weights do not fit into the memory are named as not compared. Exit code 77 if there are no models.

    compared_by_default.py --ir-opt=BINARY [--seconds=N] FOLDER_OR_FILE...
"""
import argparse
import os
import re
import resource
import subprocess
import sys

import models

# Modules after passes are not at the graph level.
LOWERED = (".legalized.ir", ".fused.ir", ".lowered.ir")
TOO_BIG = re.compile(r"is not compared: (it exceeds a budget, see -check-semantics-budget: )?its inputs (have|take) \d+")


def check(ir_opt, path, seconds):
    """What is wrong, or nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [ir_opt, "-O3", "-check-semantics=each", "-require-comparison", path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    too_big = TOO_BIG.search(done.stderr)
    result = "too big" if too_big else "compared"
    print(f"{os.path.basename(path):24}: {result} in {spent:.1f} s of processor time")
    if done.returncode != (6 if too_big else 0):
        return f"exit code {done.returncode}:\n{done.stderr[:1500]}"
    return f"it takes more than {seconds} s" if spent > seconds else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--seconds", type=float, default=120, help="of processor time for each model")
    parser.add_argument("models", nargs="+", help="modules, or folders with modules")
    options = parser.parse_args()
    paths = [path for path in models.find(options.models) if not path.endswith(LOWERED)]
    if not paths:
        print(f"SKIPPED: no models in {', '.join(options.models)}")
        return models.SKIPPED
    failures = [(path, why) for path in paths if (why := check(options.ir_opt, path, options.seconds))]
    for path, why in failures:
        print(f"FAILED  {path}: {why}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
