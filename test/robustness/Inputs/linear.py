#!/usr/bin/env python3
"""linear.py IR_OPT KIND:N... compares the time of gen.py's modules of sizes N and 4 N.

Four times the work in four times the time, with room for noise; a step that is quadratic takes sixteen times.
"""
import os
import resource
import subprocess
import sys
import tempfile

from survive import GEN, PASSES

MOST = 10


def seconds(ir_opt, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([ir_opt, path, "-O3", PASSES, "-verify-each", "-threads=1"], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def main():
    ir_opt, *cases = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            kind, n = case.split(":")
            times = []
            for size in (int(n), 4 * int(n)):
                path = os.path.join(folder, "in.ir")
                with open(path, "wb") as file:
                    subprocess.run([sys.executable, GEN, kind, str(size)], stdout=file, check=True)
                times.append(min(seconds(ir_opt, path) for _ in range(2)))
            # The start of the process counts for both.
            ratio = times[1] / max(times[0], 0.01)
            print(f"{kind}: {times[0]:.3f} s, {times[1]:.3f} s, ratio {ratio:.1f}")
            failed = failed or ratio > MOST
    sys.exit(failed)


if __name__ == "__main__":
    main()
