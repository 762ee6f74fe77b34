#!/usr/bin/env python3
"""Times the product of two float32 matrices as compiled loops, in one thread, compared with OpenBLAS.

    matrix_product.py [--ir-run build/bin/ir-run] [--openblas libopenblas.so.0] [--size 1024] [--rounds 5] [--repeat 40]

Both are called in turn, in rounds; printed are the least times of a call in milliseconds. OpenBLAS takes its slowest
kernels for processors that it does not know: OPENBLAS_CORETYPE=SkylakeX chooses those for AVX-512. Loops run in one
thread if the process has one processor: `taskset -c 0 matrix_product.py`.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from array import array

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = """# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor(({0}, {0}), dtype="float32"), b: R.Tensor(({0}, {0}), dtype="float32")):
        with R.dataflow():
            c = R.matmul(a, b)
            R.output(c)
        return c
"""


def time_loops(ir_run, path, repeat):
    """The least time of a call in milliseconds; the compilation is not in it."""
    done = subprocess.run([ir_run, "-random-inputs", "-O3", "-loops=compile", f"-repeat={repeat}", "-warmup=2",
                           "-report=json", path], check=True, capture_output=True, text=True)
    line = next(line for line in done.stderr.splitlines() if line.startswith("{"))
    return json.loads(line)["run-times"]["programs"][0]["min_ms"]


class OpenBlas:
    """cblas_sgemm of row-major matrices."""

    ROW_MAJOR, NO_TRANSPOSE = 101, 111

    def __init__(self, library, size):
        self.sgemm = ctypes.CDLL(library).cblas_sgemm
        self.size = size
        self.arrays = [array("f", [(i % 17) / 17 for i in range(size * size)]) for _ in range(3)]
        self.pointers = [ctypes.cast(a.buffer_info()[0], ctypes.POINTER(ctypes.c_float)) for a in self.arrays]

    def time(self, repeat):
        """The least time of a call in milliseconds."""
        n, (a, b, c) = self.size, self.pointers
        least = float("inf")
        for _ in range(repeat):
            begin = time.perf_counter()
            self.sgemm(self.ROW_MAJOR, self.NO_TRANSPOSE, self.NO_TRANSPOSE, n, n, n, ctypes.c_float(1), a, n, b, n,
                       ctypes.c_float(0), c, n)
            least = min(least, time.perf_counter() - begin)
        return least * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-run", default=os.path.join(HERE, "..", "build", "bin", "ir-run"))
    parser.add_argument("--openblas", default="libopenblas.so.0")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=40)
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        other = OpenBlas(options.openblas, options.size)
    except OSError as error:
        sys.exit(f"matrix_product.py: {error}")
    times = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "product.ir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(MODULE.format(options.size))
        for _ in range(options.rounds):
            times.append((time_loops(options.ir_run, path, options.repeat), other.time(options.repeat)))
    loops, blas = (min(column) for column in zip(*times))
    print(f"compiled loops {loops:.2f} ms, OpenBLAS {blas:.2f} ms, speed {blas / loops:.2f} of OpenBLAS")


if __name__ == "__main__":
    main()
