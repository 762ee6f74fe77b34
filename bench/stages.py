#!/usr/bin/env python3
"""The processor time of each pass that lowers a model, and of reading and writing, in milliseconds.

    stages.py [--ir-opt build/bin/ir-opt] [--runs 5] [--passes zero] MODEL.ir...

Least of the runs, on one thread. "all" is the whole run.
"""
import argparse
import json
import os
import subprocess
import tempfile


def leaves(passes):
    """The passes that are not made of others, in order."""
    for entry in passes:
        if entry.get("passes"):
            yield from leaves(entry["passes"])
        else:
            yield entry["name"], entry["cpu_ms"]


def times(ir_opt, pipeline, path, out):
    command = [ir_opt, f"-passes={pipeline}", "-threads=1", "-time-passes=json", path, "-o", out]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
    report = json.loads(done.stderr)["time-passes"]
    steps = {step["name"]: step["cpu_ms"] for step in report["steps"]}
    rows = [("read", steps["read"] + steps["check"]), *leaves(report["passes"]),
            ("write", steps["check result"] + steps["write"])]
    return [*rows, ("all", sum(steps.values()))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default="build/bin/ir-opt")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--passes", default="zero")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    columns = []
    with tempfile.TemporaryDirectory() as folder:
        for path in options.models:
            runs = [times(options.ir_opt, options.passes, path, os.path.join(folder, "out.ir"))
                    for _ in range(options.runs)]
            columns.append([(row[0][0], min(ms for _, ms in row)) for row in zip(*runs)])
    names = [os.path.basename(path).removesuffix(".ir") for path in options.models]
    print(f"{'':40}" + "".join(f"{name:>20}" for name in names))
    for row in zip(*columns):
        print(f"{row[0][0]:40}" + "".join(f"{ms:20.1f}" for _, ms in row))


if __name__ == "__main__":
    main()
