#!/usr/bin/env python3
"""Two threads of Python read, optimize, run and drop modules, each in a context of its own, and share one module, while a
third collects garbage all the time. Every thread must get what it gets alone. With the thread sanitizer (the preset tsan),
this finds races of the package.

  python_threads.py [--rounds=N] [--threads=N]
"""
import argparse
import gc
import sys
import threading

import numpy as np

import iropt
from iropt import relax, transform

TEXT = """
@I.ir_module
class Module:
    @T.prim_func
    def scale(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] * T.float32(LEVEL)

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        cls = Module
        with R.dataflow():
            a = R.add(x, R.const(LEVEL, "float32"))
            b = R.add(x, R.const(LEVEL, "float32"))
            c = R.call_tir(cls.scale, (R.multiply(a, b),), out_sinfo=R.Tensor((4,), "float32"))
            gv = R.nn.relu(R.add(y, c))
            R.output(gv)
        return gv
"""
BROKEN = "@R.function\ndef f(x: R.Tensor((4,), 'float32')):\n    return R.ad(x)\n"


@transform.function_pass(opt_level=0, name="Same")
def same(func, mod, ctx):
    return func


@relax.expr_functor.visitor
class Calls(relax.PyExprVisitor):
    def __init__(self):
        super().__init__()
        self.count = 0

    def visit_call_(self, op):
        self.count += 1
        super().visit_call_(op)


def work(level, shared):
    """What a thread computes; the same each time."""
    with transform.PassContext(opt_level=level) as context:
        module = iropt.from_source(TEXT.replace("LEVEL", str(level)))
        optimized = transform.Sequential([transform.Pipeline("default<O3>"), same])(module)
        value = iropt.run(optimized, "main", np.full((4,), 1, "float32"), np.full((level, 4), 2, "float32"))
        calls = Calls()
        calls.visit_expr(shared["main"])
        both = transform.Pipeline("EliminateCommonSubexpr")(shared)
        try:
            iropt.from_source(BROKEN)
            message = ""
        except iropt.Error as error:
            message = str(error)
        assert transform.PassContext.current() is context or transform.PassContext.current().opt_level == level
        return (optimized.script(), np.asarray(value).tolist(), calls.count, both.script(), message)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    shared = iropt.from_source(TEXT.replace("LEVEL", "7"))
    levels = range(1, options.threads + 1)
    alone = {level: work(level, shared) for level in levels}
    differences = []
    done = threading.Event()

    def repeat(level):
        try:
            for _ in range(options.rounds):
                if work(level, shared) != alone[level]:
                    differences.append(f"the thread with level {level} gets something else than alone")
        except Exception as error:  # pylint: disable=broad-except
            differences.append(f"the thread with level {level}: {error!r}")

    def collect():
        while not done.is_set():
            gc.collect()

    collector = threading.Thread(target=collect)
    threads = [threading.Thread(target=repeat, args=(level,)) for level in levels]
    for thread in [collector, *threads]:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    collector.join()
    for difference in differences:
        print("error:", difference)
    print(f"{options.threads} threads, {options.rounds} rounds each, {len(differences)} differences")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
