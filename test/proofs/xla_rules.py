"""The rules of XLA's algebraic simplifier that TensorRight states have the answers of verify-rules that a list says.

  xla_rules.py --ir-opt=ir-opt --expected=FILE [--write] RULES.json...

Each line of FILE is "ANSWER | LAWS | NAME", in the order of the rules; with --write, it is written.
"""
import argparse
import ctypes
import json
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--expected", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    try:
        ctypes.CDLL("libz3.so.4")
    except OSError:
        print("skipped: Z3 (libz3-4) was not found")
        return
    run = subprocess.run([args.ir_opt, "verify-rules", "-format=json", *args.files], capture_output=True, text=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    found = [f"{row['answer']} | {row.get('laws', '-')} | {row['rule']}" for row in rows]
    path = pathlib.Path(args.expected)
    if args.write:
        path.write_text("\n".join(found) + "\n")
    expected = path.read_text().splitlines()
    for line in [line for line in found if line not in expected]:
        print(f"not expected: {line}")
    for line in [line for line in expected if line not in found]:
        print(f"missing: {line}")
    print(run.stderr + f"{len(found)} rules, {sum(row['answer'] == 'proved' for row in rows)} proved")
    sys.exit(found != expected)


if __name__ == "__main__":
    main()
