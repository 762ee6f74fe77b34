#!/usr/bin/env python3
"""Write one random elementwise program as TVMScript and as MLIR (TOSA), for comparing ir-opt with mlir-opt.

  gen_workload.py --ops 100000 --funcs 10 --seed 1 --tvmscript out.ir --mlir out.mlir

The two files hold the same values in the same order. Of the operations about one in five repeats an earlier one, one in six is
never used, and one in ten has constant operands only.
"""
import argparse
import random

TENSOR = 'R.Tensor((2, 3), dtype="float32")'
TOSA_TENSOR = "tensor<2x3xf32>"
TOSA_NAMES = {"add": "add", "subtract": "sub", "maximum": "maximum", "multiply": "mul"}
RECENT = 48


def program(rng, count):
    """Yields ("const", number) or (operator, a, b) for each value; operands are parameter names or value numbers."""
    values, constants, calls = ["x", "y"], [], []
    for number in range(count):
        kind = rng.choices(["constant", "folds", "repeats", "dead", "live"], weights=[5, 10, 20, 16, 49])[0]
        if kind == "constant" or not constants:
            yield "const", rng.randint(1, 8)
            constants = [*constants[-7:], number]
            continue
        if kind == "repeats" and calls:
            call = rng.choice(calls)
        else:
            pick = constants if kind == "folds" else values[-RECENT:]
            call = (rng.choice(sorted(TOSA_NAMES)), rng.choice(pick), rng.choice(pick if kind == "folds" else pick + constants))
        yield call
        if kind == "folds":
            constants = [*constants[-7:], number]
        elif kind != "dead":
            values = [*values[-RECENT:], number]
            if kind == "live":
                calls = [*calls[-RECENT:], call]
    yield "add", values[-1], values[-2]


class TvmScript:
    HEADER = ("# from tvm.script import ir as I\n# from tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n")
    FOOTER = ""

    @staticmethod
    def function(name, values):
        yield f"    @R.function\n    def {name}(x: {TENSOR}, y: {TENSOR}) -> {TENSOR}:\n        with R.dataflow():\n"
        spell = lambda v: v if isinstance(v, str) else f"lv{v}"  # noqa: E731
        for number, (op, *operands) in enumerate(values):
            if op == "const":
                right = f'R.full(R.shape([2, 3]), R.const({operands[0]}.0, "float32"), dtype="float32")'
            else:
                right = f"R.{op}({', '.join(map(spell, operands))})"
            yield f"            lv{number}: {TENSOR} = {right}\n"
        yield f"            gv: {TENSOR} = lv{number}\n            R.output(gv)\n        return gv\n\n"


class Tosa:
    HEADER = "module {\n"
    FOOTER = "}\n"

    @staticmethod
    def function(name, values):
        t = TOSA_TENSOR
        yield f"  func.func @{name}(%x: {t}, %y: {t}) -> {t} {{\n"
        yield '    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>\n'
        spell = lambda v: f"%{v}" if isinstance(v, str) else f"%v{v}"  # noqa: E731
        for number, (op, *operands) in enumerate(values):
            if op == "const":
                yield f'    %v{number} = "tosa.const"() <{{values = dense<{operands[0]}.0> : {t}}}> : () -> {t}\n'
            else:
                shift, shift_type = (", %shift", ", tensor<1xi8>") if op == "multiply" else ("", "")
                yield (f"    %v{number} = tosa.{TOSA_NAMES[op]} {', '.join(map(spell, operands))}{shift} : "
                       f"({t}, {t}{shift_type}) -> {t}\n")
        yield f"    return %v{number} : {t}\n  }}\n"


def write(path, spelling, args):
    with open(path, "w", encoding="utf-8") as f:
        f.write(spelling.HEADER)
        for k in range(args.funcs):
            rng = random.Random(args.seed * 7919 + k)
            f.writelines(spelling.function(f"f{k}", list(program(rng, args.ops // args.funcs))))
        f.write(spelling.FOOTER)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ops", type=int, default=100_000)
    ap.add_argument("--funcs", type=int, default=1)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--tvmscript")
    ap.add_argument("--mlir")
    args = ap.parse_args()
    for path, spelling in ((args.tvmscript, TvmScript), (args.mlir, Tosa)):
        if path:
            write(path, spelling, args)


if __name__ == "__main__":
    main()
