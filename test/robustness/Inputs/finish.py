#!/usr/bin/env python3
"""finish.py IR_OPT KIND:N[:OPTION]... runs all passes with every check on gen.py's modules, which are so big that a quadratic
step would not end. The option may name other passes.

Each takes a few seconds of processor time at most. LIMIT leaves room for a slow and busy machine, and yet a step that looks
at all pairs of N = 200,000 parts, even at one nanosecond each, takes more. It is a bound for what hangs, not a measurement.
"""
import os
import resource
import signal
import subprocess
import sys
import tempfile

from survive import GEN, PASSES

LIMIT = 20  # seconds of processor time


def check(ir_opt, kind, n, options, folder):
    path = os.path.join(folder, "in.ir")
    with open(path, "wb") as file:
        subprocess.run([sys.executable, GEN, kind, n], stdout=file, check=True)
    code = subprocess.run(
        [ir_opt, path, "-O3", *([] if any(o.startswith("-passes=") for o in options) else [PASSES]), *options, "-verify-each",
         "-threads=1"],
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1)),
        check=False,
    ).returncode
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"not done after {LIMIT} s of processor time"
    return None if code == 0 else f"exit code {code}"


def main():
    ir_opt, *cases = sys.argv[1:]
    failed = False
    for case in cases:
        kind, n, *options = case.split(":")
        with tempfile.TemporaryDirectory() as folder:
            problem = check(ir_opt, kind, n, options, folder)
        print(f"{kind} {n}: {problem or 'fine'}")
        failed = failed or problem is not None
    sys.exit(failed)


if __name__ == "__main__":
    main()
