#!/usr/bin/env python3
"""survive.py IR_OPT CODE KIND:N... makes the modules of gen.py and runs all passes on them with every check and dump.

Each must end with the exit code CODE, with one and two threads alike; with the code 0, what comes out must be the same for both
and read back to the same text, and with another code a located error must have been printed.
"""
import os
import re
import subprocess
import sys
import tempfile

GEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gen.py")
PASSES = "-passes=Normalize,CanonicalizeBindings,EliminateCommonSubexpr,DeadCodeElimination,FoldConstant"


def run(arguments, folder):
    """The exit code; the outputs go to files because they can be big."""
    with open(os.path.join(folder, "err"), "wb") as err:
        return subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=err).returncode


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check(ir_opt, code, kind, n, folder):
    path = os.path.join(folder, "in.ir")
    with open(path, "wb") as file:
        subprocess.run([sys.executable, GEN, kind, n], stdout=file, check=True)
    outputs = [os.path.join(folder, f"out{threads}") for threads in (1, 2)]
    for threads, output in enumerate(outputs, 1):
        got = run([ir_opt, path, "-O3", PASSES, "-verify-each", "-print-after-all", f"-threads={threads}", "-o", output], folder)
        if got != code:
            return f"exit code {got} with -threads={threads}: " + read(os.path.join(folder, "err"))[-1000:].decode(errors="replace")
        if code != 0 and not re.search(rb"^[^\n]*:\d+:\d+: error: ", read(os.path.join(folder, "err")), re.M):
            return "no located error"
        if code != 0 and os.path.exists(output):
            return "an output in spite of the error"
    if code != 0:
        return None
    if read(outputs[0]) != read(outputs[1]):
        return "other output with two threads"
    again = os.path.join(folder, "again")
    if run([ir_opt, outputs[0], "-o", again], folder) != 0 or read(again) != read(outputs[0]):
        return "the output does not read back"
    return None


def main():
    ir_opt, code, *cases = sys.argv[1:]
    failed = False
    for case in cases:
        kind, n = case.split(":")
        with tempfile.TemporaryDirectory() as folder:
            problem = check(ir_opt, int(code), kind, n, folder)
        print(f"{kind} {n}: {problem or 'fine'}")
        failed = failed or problem is not None
    sys.exit(failed)


if __name__ == "__main__":
    main()
