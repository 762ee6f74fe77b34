#!/usr/bin/env python3
"""Compares what small transformers compute by compiled loops on one, two, three and seven threads: the same bytes.

    loop_threads.py --ir-run IR_RUN --folder FOLDER

Writes the models (bench/transformer_models.py), their inputs and results to the folder. Needs Python's onnx.
"""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import with_onnx  # noqa: E402,F401
from transformer_models import MODELS  # noqa: E402

SIZES = {"n": 37, "past": 31, "keys": 32}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--folder", required=True)
    options = parser.parse_args()
    failures = []
    for name, (write, _, small, sizes) in MODELS.items():
        model = os.path.join(options.folder, f"{name}.onnx")
        write(model, **small)
        results = []
        for threads in (1, 2, 3, 7):
            results.append(os.path.join(options.folder, f"{name}_{threads}.npz"))
            subprocess.run([options.ir_run, "-random-inputs", *(f"-sym={size}={SIZES[size]}" for size in sizes), "-O3",
                            "-loops=compile", f"-loop-threads={threads}", f"-output={results[-1]}",
                            f"-cache-dir={os.path.join(options.folder, 'cache')}", model], check=True, timeout=600)
        with open(results[0], "rb") as file:
            expected = file.read()
        for result in results[1:]:
            with open(result, "rb") as file:
                if file.read() != expected:
                    failures.append(f"{result} differs from {results[0]}")
    print("\n".join(failures) or "the same")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
