#!/usr/bin/env python3
"""Runs the compiler passes of MLC-LLM with `tvm` answered by the Python package, and looks at what they do.

  mlc_passes.py --package FOLDER --repository REPOSITORY [--commit COMMIT] [--minimum COUNT] [PASS...]

The passes are taken from a clone of MLC-LLM's repository, into a temporary folder. Each file of python/mlc_llm/compiler_pass
runs on a module that it has something to do in: functions that it adds are run and compared with NumPy, modules that it
rewrites compute the same before and after. `pipeline` is the whole pipeline on a model of MLC-LLM, whose functions compute the
same then. Prints a table. Exits with 1 if fewer than --minimum are right, and with 77 if there is no such clone.
"""
import os
import sys
import traceback

from mlc_models import run_on_checkout
from mlc_pass_checks import CHECKS


def describe(error):
    """What went wrong, and where in MLC-LLM or the package."""
    frames = traceback.extract_tb(error.__traceback__)
    place = next((frame for frame in reversed(frames) if "mlc_llm" in frame.filename), frames[-1])
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:150]} ({os.path.basename(place.filename)}:{place.lineno})"


def add_arguments(parser):
    parser.add_argument("--trace", action="store_true", help="print tracebacks")
    parser.add_argument("passes", nargs="*")


def check_passes(options, folder, models):
    del models
    there = sorted(file.removesuffix(".py") for file in os.listdir(os.path.join(folder, "python/mlc_llm/compiler_pass"))
                   if not file.startswith("__"))
    right = 0
    for name in options.passes or there:
        try:
            CHECKS[name]()
            right += 1
            print(f"{name:40} right", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            print(f"{name:40} {describe(error)}", flush=True)
            if options.trace:
                traceback.print_exc()
    print(f"{right} of {len(options.passes or there)}")
    return 1 if right < options.minimum else 0


if __name__ == "__main__":
    sys.exit(run_on_checkout(__doc__, add_arguments, check_passes))
