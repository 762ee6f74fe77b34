"""Compares what each function of a module computes before and after FakeQuantizationToInteger.

  values.py IR_RUN FILE FOLDER

Quantized results may differ by one step, by some if a comment "steps: N" precedes the function. With hard_fail, the pass
refuses what it does not rewrite.
"""
import ast
import os
import re
import subprocess
import sys
import zipfile

ir_run, path, folder = sys.argv[1:]
PASS = "FakeQuantizationToInteger<hard_fail=true;optional_qnn_ops=[nn.softmax]>"


def elements(file):
    """The bytes of the only array of an .npz file, as integers of its dtype."""
    with zipfile.ZipFile(file) as archive:
        data = archive.read("out0.npy")
    length = int.from_bytes(data[8:10], "little")
    signed = ast.literal_eval(data[10:10 + length].decode())["descr"].endswith("i1")
    return [int.from_bytes(data[i:i + 1], "little", signed=signed) for i in range(10 + length, len(data))]


def run(name, seed, output, *more):
    command = [ir_run, f"-entry={name}", "-random-inputs", f"-seed={seed}", f"-output={output}", *more, path]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}, seed {seed}: exit {done.returncode}\n{done.stderr}")
    return elements(output)


failed = False
with open(path, encoding="utf-8") as f:
    functions = re.findall(r"(?:// steps: (\d+)\n)?^def @(\w+)", f.read(), re.MULTILINE)
for steps, name in functions:
    for seed in range(3):
        expected = run(name, seed, os.path.join(folder, "before.npz"))
        got = run(name, seed, os.path.join(folder, "after.npz"), f"-passes={PASS}")
        most = max(abs(a - b) for a, b in zip(expected, got))
        if most > int(steps or 1) or len(expected) != len(got):
            print(f"{name}, seed {seed}: {most} steps: {got} for {expected}")
            failed = True
sys.exit(failed)
