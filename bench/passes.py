#!/usr/bin/env python3
"""Time every pass alone on a small and on a big module, and print the cost of a binding in both, side by side.

  passes.py [--ir-opt build/bin/ir-opt] [--small 10000] [--big 1000000] [--runs 3] [PASS...]

The passes over PrimFuncs are those of tir_passes.py. A pass that is linear has a ratio near 1; caches account for some tenths. Each pass runs on one thread, in a module that gives
it something to do (see gen_program.py and gen_workload.py), the runs of the two sizes in turn; what counts is the least
processor time that -time-passes shows.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OPS_PER_FUNCTION = 10_000
WORKLOAD = "workload"

# Programs for passes to which the default, the workload of compare.py, does not apply.
PROGRAMS = {
    "AlterOpLayout": "attributes",
    "BindSymbolicVars": "symbolic",
    "BundleModelParams": "weights",
    "CanonicalizeCast": "undone",
    "ConvertLayout": "attributes",
    "DynamicToStatic": "devices",
    "ExpandTupleArguments": "calls",
    "InlinePrivateFunctions": "calls",
    "InlinePrivateFunctions": "calls",
    "LambdaLift": "closures",
    "LiftTransformParams": "weights",
    "OptimizeLayoutTransform": "undone",
    "RealizeVDevice": "devices",
    "RemoveRedundantReshape": "undone",
    "RemoveUnusedOutputs": "calls",
    "RemoveUnusedParameters": "calls",
    "ToMixedPrecision": "devices",
    "UpdateVDevice": "devices",
}
OPTIONS = {
    "BindSymbolicVars": '<binding_map={"n":16}>',
    "ConvertLayout": '<desired_layouts={"relax.nn.conv2d":["NHWC","OHWI"]}>',
    "UpdateParamStructInfo": '<updates={"f0":{"y":"R.Tensor((2, 3))"}}>',
    "UpdateVDevice": "<new_vdevice=\"I.vdevice('cuda')\">",
}

# Passes that are not measured, with the reason.
UNMEASURED = {"Gradient": "the results of the programs are not scalars", "PrintIR": "it shows the module"}


def generate(program, size, path):
    functions = str(max(1, size // OPS_PER_FUNCTION))
    if program == WORKLOAD:
        command = ["gen_workload.py", "--ops", str(size), "--funcs", functions, "--tvmscript", path]
    else:
        per_function = str(min(size, OPS_PER_FUNCTION))
        command = ["gen_program.py", "--kind", program, "--size", per_function, "--funcs", functions, "-o", path]
    subprocess.run([sys.executable, os.path.join(HERE, command[0]), *command[1:]], check=True)


def count_bindings(path):
    with open(path, encoding="utf-8") as f:
        return sum(" = " in line and not line.lstrip().startswith(("cls =", "@", "#")) for line in f)


class PassFailed(Exception):
    """The command and what it said."""


def list_passes(ir_opt):
    listed = subprocess.run([ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, check=True).stdout
    return [p["name"] for p in json.loads(listed)["passes"]]


def time_pass(ir_opt, pipeline, path, flags=()):
    """Processor time of the last pass of the pipeline in seconds, and whether it changed the module."""
    command = [ir_opt, "-O4", "-threads=1", "-time-passes=json", f"-passes={pipeline}", *flags, "-o", os.devnull, path]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    tables = [line for line in done.stderr.split("\n") if line.startswith('{"time-passes"')]
    if done.returncode != 0 or not tables:
        raise PassFailed(f"{' '.join(command)}\n{done.stderr[:2000]}")
    row = json.loads(tables[0])["time-passes"]["passes"][0]["passes"][-1]
    return row["cpu_ms"] / 1e3, row["changed"] != 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default="build/bin/ir-opt")
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--big", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("passes", nargs="*", metavar="PASS")
    return parser.parse_args()


def main():
    options = parse_arguments()
    names = options.passes or [name for name in list_passes(options.ir_opt)
                               if name not in UNMEASURED and not name.startswith("tir.")]
    print(f"{'pass':26} {'program':11} {'ns, ' + format(options.small, ','):>14} {'ns, ' + format(options.big, ','):>14}  ratio  changes")
    with tempfile.TemporaryDirectory() as folder:
        modules = {}  # (program, size) -> path, bindings
        for name in names:
            program = PROGRAMS.get(name, WORKLOAD)
            sizes = (options.small, options.big)
            for size in sizes:
                if (program, size) not in modules:
                    path = os.path.join(folder, f"{program}-{size}.ir")
                    generate(program, size, path)
                    modules[program, size] = path, count_bindings(path)
            best = [float("inf")] * 2
            for _ in range(options.runs):
                for i, size in enumerate(sizes):
                    path, bindings = modules[program, size]
                    seconds, changes = time_pass(options.ir_opt, name + OPTIONS.get(name, ""), path)
                    best[i] = min(best[i], seconds / bindings * 1e9)
            print(f"{name:26} {program:11} {best[0]:14.1f} {best[1]:14.1f} {best[1] / max(best[0], 1e-9):6.2f}  {'yes' if changes else 'no'}",
                  flush=True)


if __name__ == "__main__":
    main()
