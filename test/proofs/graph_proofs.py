"""Proves the integer rules of passes on the graph, for all elements that tensors can have, by -prove.

  graph_proofs.py --ir-opt=ir-opt FILE

Each line of FILE is an expression of R operators on the tensors x and y, "# pass NAME" before them the pass that changes them. DTYPE, VIA and
TO stand for every dtype, and C and D for constants. All instances run through the pass, and -prove-floats=ieee must prove what it changes; a
line of which it changes none is a failure.
"""
import argparse
import ctypes
import json
import pathlib
import re
import subprocess
import sys
import tempfile

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL = [*INTEGERS, "bool", "float16", "float32", "float64"]
WITH_SIGN = ["0", "1", "3", "-1", "-128", "127"]
WITHOUT_SIGN = ["0", "1", "3", "128", "255"]


def instances(texts, word, values):
    """The texts with each of the values for the word; a text itself if it does not have the word."""
    pattern = re.compile(rf"\b{word}\b")
    return [text for old in texts for text in ([pattern.sub(value, old) for value in values] if pattern.search(old) else [old])]


def prove(args, folder, name, line, dtype):
    """The numbers of instances that the pass changes and that are proved."""
    texts = instances([line], "DTYPE", [dtype])
    for word in ("VIA", "TO"):
        texts = instances(texts, word, ALL)
    for word in "CD":
        texts = instances(texts, word, WITH_SIGN if dtype.startswith("i") else WITHOUT_SIGN)
    module = folder / "module.ir"
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    function = '@R.function\ndef f{0}(x: R.Tensor((2,), "{1}"), y: R.Tensor((2,), "{1}")):\n    return {2}\n\n'
    module.write_text("".join(function.format(i, dtype, text) for i, text in enumerate(texts)))
    run = subprocess.run([args.ir_opt, "-O3", f"-passes={name}", "-prove=all", "-prove-floats=ieee", f"-prove-report={report}", str(module),
                          "-o", "/dev/null"], capture_output=True, text=True)
    if not report.exists():
        sys.exit(f"{name} of {line} for {dtype}:\n{run.stderr}")
    rows = json.loads(report.read_text())["proofs"]
    failures = [row for row in rows if row["answer"] != "proved"]
    for row in failures:
        print(f"{name} of {texts[int(row['function'][1:])]}, {dtype}: {row['answer']}, {row['reason']}")
    return len(rows), len(rows) - len(failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("file")
    args = parser.parse_args()
    try:
        ctypes.CDLL("libz3.so.4")
    except OSError:
        print("skipped: Z3 (libz3-4) was not found")
        return
    name, lines, changed, proved, unchanged = None, 0, 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for line in pathlib.Path(args.file).read_text().splitlines():
            if line.startswith("# pass "):
                name = line.removeprefix("# pass ")
            if not line or line.startswith("#"):
                continue
            has_casts = "VIA" in line and "clip" not in line
            counts = [prove(args, pathlib.Path(folder), name, line, dtype) for dtype in (ALL if has_casts else INTEGERS)]
            lines += 1
            changed += sum(count for count, _ in counts)
            proved += sum(count for _, count in counts)
            unchanged += [] if any(count for count, _ in counts) else [line]
    for line in unchanged:
        print(f"no instance changes: {line}")
    print(f"{lines} rules, {proved} of {changed} instances proved")
    sys.exit(proved != changed or bool(unchanged) or lines == 0)


if __name__ == "__main__":
    main()
