#!/usr/bin/env python3
"""Time ir-opt against mlir-opt on the same program, in turn, and print the ratios.

  compare.py --ir-opt build/bin/ir-opt [--mlir-opt mlir-opt-22] [--ops 1000000] [--funcs 100] [--runs 5]

The workload generator writes one program in both spellings. Each run reads the file, simplifies and prints it:
    ir-opt   -O3 -passes=FoldConstant,EliminateCommonSubexpr,CanonicalizeBindings,DeadCodeElimination -threads=1
    mlir-opt -canonicalize -cse --mlir-disable-threading
Without mlir-opt the table shows ir-opt alone, also with two threads and on other sizes (--scaling).
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES = "FoldConstant,EliminateCommonSubexpr,CanonicalizeBindings,DeadCodeElimination"


def measure(command):
    """Wall seconds and peak resident bytes of one run with its output thrown away."""
    with open(os.devnull, "wb") as null:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=null)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return seconds, usage.ru_maxrss * 1024


def generator():
    for path in (os.path.join(HERE, "..", "..", "shared", "bench", "gen_workload.py"), os.path.join(HERE, "gen_workload.py")):
        if os.path.exists(path):
            return path
    sys.exit("no workload generator found")


def generate(folder, ops, funcs, mlir):
    ir, ml = os.path.join(folder, f"w{ops}_{funcs}.ir"), os.path.join(folder, f"w{ops}_{funcs}.mlir")
    command = [sys.executable, generator(), "--ops", str(ops), "--funcs", str(funcs), "--tvmscript", ir]
    subprocess.run(command + (["--mlir", ml] if mlir else []), check=True)
    return ir, ml


def ir_opt_command(args, path, threads):
    return [args.ir_opt, "-O3", f"-passes={PASSES}", f"-threads={threads}", path]


def summary(samples, ops):
    seconds = statistics.median(s for s, _ in samples)
    memory = statistics.median(m for _, m in samples)
    return seconds, memory, f"{seconds:8.3f} s {seconds / ops * 1e6:7.3f} us/op {memory / 2**20:8.1f} MiB {memory / ops:7.1f} B/op"


def compare(args, folder):
    mlir = shutil.which(args.mlir_opt)
    ir, ml = generate(folder, args.ops, args.funcs, bool(mlir))
    commands = {"ir-opt, 1 thread": ir_opt_command(args, ir, 1), "ir-opt, 2 threads": ir_opt_command(args, ir, 2)}
    if mlir:
        commands["mlir-opt"] = [mlir, "-canonicalize", "-cse", "--mlir-disable-threading", ml]
    samples = {name: [] for name in commands}
    for _ in range(args.runs):
        for name, command in commands.items():
            samples[name].append(measure(command))
    print(f"{args.ops} operations in {args.funcs} functions, median of {args.runs} runs in turn")
    results = {name: summary(s, args.ops) for name, s in samples.items()}
    for name, (_, _, text) in results.items():
        print(f"  {name:18} {text}")
    one, two = results["ir-opt, 1 thread"], results["ir-opt, 2 threads"]
    print(f"  two threads are {one[0] / two[0]:.2f} times faster than one")
    if mlir:
        peer = results["mlir-opt"]
        print(f"  against mlir-opt: {peer[0] / one[0]:.1f} times faster, {one[1] / peer[1]:.2f} of the memory")
    else:
        print(f"  {args.mlir_opt} is not installed: no comparison")


def scaling(args, folder):
    print("time and memory per operation, one thread")
    for ops in (10_000, 100_000, 1_000_000, 10_000_000):
        ir, _ = generate(folder, ops, max(1, ops // 10_000), False)
        samples = [measure(ir_opt_command(args, ir, 1)) for _ in range(args.runs)]
        print(f"  {ops:9} {summary(samples, ops)[2]}")
        os.unlink(ir)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ir-opt", default=os.path.join(HERE, "..", "build", "bin", "ir-opt"))
    ap.add_argument("--mlir-opt", default="mlir-opt-22")
    ap.add_argument("--ops", type=int, default=1_000_000)
    ap.add_argument("--funcs", type=int, default=100)
    ap.add_argument("--runs", type=int, default=5)
    ap.add_argument("--scaling", action="store_true", help="also 10,000 to 10,000,000 operations")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(args, folder)
        if args.scaling:
            scaling(args, folder)


if __name__ == "__main__":
    main()
