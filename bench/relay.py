#!/usr/bin/env python3
"""Measures how fast Relay text is read, compared with TVMScript of the same module.

  relay.py IR_OPT [--operators 100000] [--rounds 9] [--at-most RATIO]

Each text is read and checked (--verify-only, one thread), in turn; the least time of the rounds counts. With --at-most, exits
with 1 if Relay takes more than that many times as long.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

# The operators of the texts, one after the other, each on the result of the one before it.
TEXTS = {
    "element-wise": ["add({}, %x)", "multiply({}, %x)", "nn.relu({})"],
    "attributes": ["nn.dense({}, %w, units=None)", "nn.bias_add({}, %b)", "nn.relu({})", "add({}, %x)", "multiply({}, 2f)",
                   "nn.softmax({}, axis=-1)", "transpose({}, axes=[0, 1])", "sigmoid({})",
                   "reshape({}, newshape=[8, 16])", "clip({}, a_min=0f, a_max=6f)"],
}


def relay_text(calls, count):
    lines = ['#[version = "0.0.5"]',
             "def @main(%x: Tensor[(8, 16), float32], %w: Tensor[(16, 16), float32], %b: Tensor[(16), float32]) {"]
    last = "%x"
    for i in range(count):
        lines.append(f"  %{i} = {calls[i % len(calls)].format(last)};")
        last = f"%{i}"
    return "\n".join([*lines, f"  {last}", "}", ""])


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ir_opt")
    parser.add_argument("--operators", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--at-most", type=float)
    arguments = parser.parse_args()
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        for name, calls in TEXTS.items():
            relay, script = os.path.join(folder, "in.relay"), os.path.join(folder, "in.ir")
            with open(relay, "w") as file:
                file.write(relay_text(calls, arguments.operators))
            subprocess.run([arguments.ir_opt, relay, "-o", script], check=True)
            best = {relay: float("inf"), script: float("inf")}
            for _ in range(arguments.rounds):
                for path in best:
                    best[path] = min(best[path], seconds([arguments.ir_opt, "-threads=1", "--verify-only", path]))
            ratio = best[relay] / best[script]
            micros = {path: 1e6 * time / arguments.operators for path, time in best.items()}
            print(f"{name}: Relay {micros[relay]:.2f}, TVMScript {micros[script]:.2f} us per operator, {ratio:.2f} times")
            slow = slow or (arguments.at_most is not None and ratio > arguments.at_most)
    sys.exit(slow)


if __name__ == "__main__":
    main()
