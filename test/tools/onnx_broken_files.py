#!/usr/bin/env python3
"""Reads broken ONNX files: no crash, no hang, and each refusal is explained.

    onnx_broken_files.py --ir-opt=build/bin/ir-opt [--count=300] [--seed=0]

Models of libonnx-testdata are cut, and bytes of them are changed, removed and repeated. Without the data, nothing is tested.
"""
import argparse
import glob
import os
import random
import subprocess
import sys
import tempfile

DATA = "/usr/lib/python3/dist-packages/onnx/backend/test/data"
ACCEPTED = (0, 1, 2, 3, 4)  # exit codes of programs that end by themselves


def broken(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(data) or 1)
        kind = rng.randrange(5)
        if kind == 0:
            del data[at:]
        elif kind == 1 and data:
            data[at] = rng.randrange(256)
        elif kind == 2 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 3:
            del data[at:at + rng.randrange(1, 9)]
        else:
            data[at:at] = data[at:at + rng.randrange(1, 40)]
        if not data:
            break
    return bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(DATA, "*", "*", "model.onnx")))
    if not paths:
        print("there are no models: nothing is tested")
        return 0
    rng = random.Random(options.seed)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.count):
            path = rng.choice(paths)
            with open(path, "rb") as file:
                data = broken(file.read(1 << 20), rng)
            target = os.path.join(folder, f"broken_{i}.onnx")
            with open(target, "wb") as file:
                file.write(data)
            try:
                done = subprocess.run([options.ir_opt, "-O2", target, "-o", os.devnull], capture_output=True, text=True,
                                      errors="replace", timeout=60)
                ok = done.returncode in ACCEPTED and (done.returncode == 0 or "error:" in done.stderr)
                what = f"exit code {done.returncode}: {done.stderr[:300]}"
            except subprocess.TimeoutExpired:
                ok, what = False, "no end after 60 s"
            if ok:
                os.remove(target)
                continue
            failures += 1
            kept = os.path.join(tempfile.gettempdir(), os.path.basename(target))
            os.replace(target, kept)
            print(f"{os.path.relpath(path, DATA)}, kept as {kept}: {what}")
    print(f"{options.count - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
