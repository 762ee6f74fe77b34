#!/usr/bin/env python3
"""Runs real models before and after -O3, after the pipelines that lower them, and in the lowered forms that TVM made of
them (legalized, fused, lowered), and compares the results.
Inputs and weights are random and follow from the names of the parameters, so that all forms get the same. Exit code 77 if
there are no models.

    run_models.py --ir-run=BINARY [--forms] [--model=NAME...] FOLDER

With --forms, the lowered models and forms are run with compiled PrimFuncs; interpreting a whole model would take hours. The
forms are compared with each other: TVM made them for inference, where a batch norm uses the moving mean and variance, whereas the operator uses
those of its data.
"""
import argparse
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
# The function and the sizes of its inputs.
MODELS = {
    "llama_2l_tiny": ("forward", ["n=7"]),
    "lfm2_decoder_tiny": ("main", ["batch_size=1", "sequence_length=3", "past_sequence_length=2", "total_sequence_length=5"]),
    **dict.fromkeys(["densenet121", "inception_v2", "resnet50", "shufflenet", "squeezenet"], ("main", [])),
}
STAGES = ["zero", "default_build"]
FORMS = ["legalized", "fused", "lowered"]


class Runner:
    def __init__(self, ir_run, folder):
        self.ir_run = ir_run
        self.folder = folder
        self.failures = 0

    def run(self, name, *arguments):
        done = subprocess.run([self.ir_run, "-random-inputs", *arguments], capture_output=True, text=True, check=False)
        ok = done.returncode == 0
        print(f"{'ok' if ok else 'FAILED':7} {name}", flush=True)
        if not ok:
            print(done.stderr[:2000])
            self.failures += 1
        return ok

    def run_model(self, name, with_forms, models):
        entry, sizes = MODELS[name]
        flags = [f"-entry={entry}", *[f"-sym={size}" for size in sizes]]
        expected = os.path.join(self.folder, f"{name}.npz")
        path = os.path.join(models, f"{name}.ir")
        if not self.run(name, *flags, f"-output={expected}", path):
            return
        self.run(f"{name} -O3", *flags, "-O3", f"-check={expected}", path)
        for stage in STAGES if with_forms else []:
            self.run(f"{name} -passes={stage}", *flags, f"-passes={stage}", "-loops=compile", f"-check={expected}", path)
        forms = [form for form in FORMS if os.path.exists(os.path.join(models, f"{name}.{form}.ir"))]
        first = os.path.join(self.folder, f"{name}.form.npz")
        for form in forms if with_forms else []:
            goal = f"-output={first}" if form == forms[0] else f"-check={first}"
            self.run(f"{name}.{form}", *flags, "-loops=compile", goal, os.path.join(models, f"{name}.{form}.ir"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--forms", action="store_true")
    parser.add_argument("--model", action="append", choices=MODELS, help="all by default")
    parser.add_argument("models", help="a folder of models")
    options = parser.parse_args()
    names = [name for name in options.model or MODELS if os.path.exists(os.path.join(options.models, f"{name}.ir"))]
    if not names:
        print(f"SKIPPED: no models in {options.models}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options.ir_run, folder)
        for name in names:
            runner.run_model(name, options.forms, options.models)
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
