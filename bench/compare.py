#!/usr/bin/env python3
"""Time ir-opt, and mlir-opt where it is installed, on the same program, in turn, and print the ratios.

  compare.py [--ir-opt build/bin/ir-opt] [--mlir-opt mlir-opt] [--ops 1000000] [--funcs 100] [--runs 5] [--scaling]

The workload generator writes one program in both spellings. Each run reads the file, simplifies and prints it:
    ir-opt   -O3 -passes=FoldConstant,EliminateCommonSubexpr,CanonicalizeBindings,DeadCodeElimination -threads=1
    mlir-opt -canonicalize -cse --mlir-disable-threading
For each command the table shows medians of the wall time, of the processor time (user and system, all threads) and of the peak
memory. Ratios of processor times are the ones to trust on a machine that does other things, too.
docs/performance.md says what the numbers mean.
"""
import argparse
import ctypes
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES = "FoldConstant,EliminateCommonSubexpr,CanonicalizeBindings,DeadCodeElimination"
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
OPS_PER_FUNCTION = 10_000  # in the runs of different sizes
PR_SET_CHILD_SUBREAPER = 36


class Sample(NamedTuple):
    wall: float  # seconds
    cpu: float
    memory: int  # bytes


def measure(command):
    """One run with its output thrown away.

    Linux counts into a process's peak memory what its parent had in memory when it was started, which for Python is more
    than a small run needs. So a shell starts the command, and the orphan comes back to this process, its subreaper.
    """
    start = time.perf_counter()
    shell = subprocess.run(["sh", "-c", '"$@" >/dev/null & echo $!', "sh", *command], stdout=subprocess.PIPE, check=True)
    _, status, usage = os.wait4(int(shell.stdout), 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def median(samples):
    return Sample(*(statistics.median(column) for column in zip(*samples)))


def measure_in_turn(commands, runs):
    """The medians of each command; the runs take turns, so that a change of the machine's speed meets all of them."""
    samples = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            samples[name].append(measure(command))
    return {name: median(s) for name, s in samples.items()}


def describe(sample, ops):
    return (f"wall {sample.wall:7.3f} s   cpu {sample.cpu:7.3f} s {sample.cpu / ops * 1e6:7.3f} us/op   "
            f"memory {sample.memory / 2**20:8.1f} MiB {sample.memory / ops:7.1f} B/op")


def find_mlir_opt(name):
    """The named program; where the name is the default, also the newest of a Debian package (mlir-opt-22)."""
    found = shutil.which(name)
    if found or name != "mlir-opt":
        return found
    versions = {}
    for folder in os.get_exec_path():
        for entry in os.listdir(folder) if os.path.isdir(folder) else []:
            match = re.fullmatch(r"mlir-opt-(\d+)", entry)
            if match:
                versions.setdefault(int(match[1]), os.path.join(folder, entry))
    return versions[max(versions)] if versions else None


def generate(args, folder, ops, funcs, with_mlir):
    base = os.path.join(folder, f"w{ops}_{funcs}")
    command = [sys.executable, args.generator, "--ops", str(ops), "--funcs", str(funcs), "--tvmscript", base + ".ir"]
    subprocess.run(command + (["--mlir", base + ".mlir"] if with_mlir else []), check=True)
    return base + ".ir", base + ".mlir"


def ir_opt_command(args, path, threads):
    return [args.ir_opt, "-O3", f"-passes={PASSES}", f"-threads={threads}", path]


def compare(args, folder):
    peer = find_mlir_opt(args.mlir_opt)
    ir, mlir = generate(args, folder, args.ops, args.funcs, bool(peer))
    commands = {"ir-opt, 1 thread": ir_opt_command(args, ir, 1), "ir-opt, 2 threads": ir_opt_command(args, ir, 2)}
    if peer:
        commands["mlir-opt"] = [peer, "-canonicalize", "-cse", "--mlir-disable-threading", mlir]
    print(f"{args.ops} operations in {args.funcs} functions, medians of {args.runs} runs in turn")
    results = measure_in_turn(commands, args.runs)
    for name, sample in results.items():
        print(f"  {name:18} {describe(sample, args.ops)}")
    one, two = results["ir-opt, 1 thread"], results["ir-opt, 2 threads"]
    print(f"  two threads against one:    {one.wall / two.wall:.2f} times faster by wall time, with {two.cpu / one.cpu:.2f} of "
          f"the cpu time and {two.memory / one.memory:.2f} of the memory")
    if peer:
        other = results["mlir-opt"]
        print(f"  one thread against {os.path.basename(peer)}: {other.wall / one.wall:.1f} times faster by wall time, "
              f"{other.cpu / one.cpu:.1f} by cpu time, {one.memory / other.memory:.2f} of the memory")
    else:
        print(f"  {args.mlir_opt} is not installed: no comparison")


def scaling(args, folder):
    empty = os.path.join(folder, "empty.ir")
    with open(empty, "w", encoding="utf-8") as f:
        f.write("@I.ir_module\nclass Module:\n    pass\n")
    base = measure_in_turn({"empty": ir_opt_command(args, empty, 1)}, args.runs)["empty"]
    print(f"one thread, functions of up to {OPS_PER_FUNCTION} operations; ratios are of cpu time and memory per operation to those "
          f"of the smallest,\nas measured, and without what a run on an empty module takes ({base.cpu * 1e3:.1f} ms, "
          f"{base.memory / 2**20:.1f} MiB)")
    first = None
    for ops in (size for size in SIZES if size <= args.max_ops):
        path, _ = generate(args, folder, ops, max(1, ops // OPS_PER_FUNCTION), False)
        # Short runs vary more and cost less.
        runs = max(args.runs, min(50, 1_000_000 // ops))
        sample = measure_in_turn({"run": ir_opt_command(args, path, 1)}, runs)["run"]
        os.unlink(path)
        per_op = (sample.cpu / ops, sample.memory / ops, (sample.cpu - base.cpu) / ops, (sample.memory - base.memory) / ops)
        first = first or per_op
        cpu, memory, net_cpu, net_memory = (value / of for value, of in zip(per_op, first))
        print(f"  {ops:9} {describe(sample, ops)}   ratio {cpu:.2f} {memory:.2f}, without start {net_cpu:.2f} {net_memory:.2f}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ir-opt", default=os.path.join(HERE, "..", "build", "bin", "ir-opt"))
    ap.add_argument("--mlir-opt", default="mlir-opt", help="also found as mlir-opt-NN")
    ap.add_argument("--generator", default=os.path.join(HERE, "gen_workload.py"), help="another generator with the same flags")
    ap.add_argument("--ops", type=int, default=1_000_000)
    ap.add_argument("--funcs", type=int, default=100)
    ap.add_argument("--runs", type=int, default=5)
    ap.add_argument("--scaling", action="store_true", help="also runs of different sizes")
    ap.add_argument("--max-ops", type=int, default=SIZES[-1], help="the biggest size of --scaling")
    args = ap.parse_args()
    if not shutil.which(args.ir_opt):
        sys.exit(f"no program at {args.ir_opt}: build it with scripts/build.sh release ir-opt, or name it with --ir-opt")
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("this needs Linux")
    with tempfile.TemporaryDirectory() as folder:
        compare(args, folder)
        if args.scaling:
            scaling(args, folder)


if __name__ == "__main__":
    main()
