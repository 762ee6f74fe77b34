#!/usr/bin/env python3
"""What many rewriting rules cost: RewriteByRules with 5 and with 500 rules on the workload of compare.py, in turn.

    rules.py [--ir-opt build/bin/ir-opt] [--ops 1000000] [--runs 5]

The rules have all pairs of elementwise operators as patterns, so that some have the operators of every call; none
applies, because the variables stand for tensors of another rank. What counts is the least processor time of the pass.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

from models import milliseconds, run

HERE = os.path.dirname(os.path.abspath(__file__))
NUMBERS = (5, 500)
BINARY = ["add", "multiply", "subtract", "maximum", "minimum", "divide", "power"]
UNARY = ["negative", "abs", "exp", "sqrt", "tanh", "sigmoid", "log", "sin", "cos", "ceil", "floor", "square", "nn.relu",
         "nn.gelu", "nn.silu", "round"]


def expression(op, operand):
    return f"R.{op}({operand}, y)" if op in BINARY else f"R.{op}({operand})"


def write_rules(number, path):
    # Few rules have as many operators at their roots as many rules.
    ops = BINARY + UNARY
    pairs = itertools.islice(((op, ops[(i + k) % len(ops)]) for k in range(len(ops)) for i, op in enumerate(ops)), number)
    rules = [{"name": f"{outer} of {inner}", "variables": {name: "R.Tensor(ndim=7)" for name in "xy"[: 1 + needs_y]},
              "pattern": expression(outer, expression(inner, "x")), "replacement": "x"}
             for outer, inner in pairs for needs_y in [outer in BINARY or inner in BINARY]]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rules": rules}, file)


def measure(ir_opt, rules, program):
    text = run([ir_opt, f"-passes=RewriteByRules<file=\"{rules}\">", "-time-passes=json", "-threads=1", program, "-o", os.devnull])
    return milliseconds(json.loads(text)["time-passes"], "RewriteByRules")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default=os.path.join(HERE, "..", "build", "bin", "ir-opt"))
    parser.add_argument("--ops", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.ir")
        subprocess.run([sys.executable, os.path.join(HERE, "gen_workload.py"), "--ops", str(options.ops),
                        "--funcs", str(max(1, options.ops // 10_000)), "--tvmscript", program], check=True)
        files = {number: os.path.join(folder, f"{number}.json") for number in NUMBERS}
        for number, path in files.items():
            write_rules(number, path)
        times = {number: [] for number in NUMBERS}
        for _ in range(options.runs):
            for number, path in files.items():
                times[number].append(measure(options.ir_opt, path, program))
    least = {number: min(values) for number, values in times.items()}
    for number, value in least.items():
        print(f"{number:4} rules {value:10.2f} ms  {value / options.ops * 1e6:8.1f} ns per operation")
    print(f"ratio {least[NUMBERS[1]] / least[NUMBERS[0]]:.2f}")


if __name__ == "__main__":
    main()
