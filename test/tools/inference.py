#!/usr/bin/env python3
"""What type inference gives back: of each Relax module of the conformance cases the annotations of all bindings
are taken away, and the module must read as the same one. Prints the share of the modules and of the bindings for which
that holds, and every miss with the lines that differ. Exit code 1 where the share of modules is lower than --min, 77
where there are no cases.

Not all can agree: a few modules annotate a binding with something else than what its value has by itself, a more
general type (R.Object, a tensor of unknown shape) or another expression for a dimension.

    inference.py --ir-opt=BINARY --folder=FOLDER [--min=SHARE] [--show=ID]
"""
import argparse
import concurrent.futures
import difflib
import gzip
import json
import os
import subprocess
import sys
import tempfile

from models import SKIPPED, strip_annotations

SEPARATOR = "\n# -----\n"
BATCH = 40


def load_cases(folder):
    """Pairs of ID and text, every text once, in the order of the files."""
    texts = {}
    for name in ("roundtrip", "values", "relax_pass", "models_pass", "well_formed"):
        path = os.path.join(folder, "cases", name + ".jsonl.gz")
        if not os.path.exists(path):
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for case in map(json.loads, lines):
                # Modules that are refused have no types to give back.
                if case["kind"] == "well_formed" and case["verdict"] is not True:
                    continue
                for key in ("text", "before", "after"):
                    if case.get(key):
                        texts.setdefault(case[key], case["id"] + (".after" if key == "after" else ""))
    return [(name, text) for text, name in texts.items()]


def run(ir_opt, text):
    """What ir-opt prints for the text, or None and its message."""
    with tempfile.NamedTemporaryFile("w", suffix=".ir", encoding="utf-8") as source:
        source.write(text)
        source.flush()
        done = subprocess.run([ir_opt, "--split-input-file", source.name], capture_output=True, text=True, check=False)
    return (done.stdout, "") if done.returncode == 0 else (None, done.stderr)


def check_batch(ir_opt, batch):
    """The differences of each module of the batch: "" where there are none."""
    expected, _ = run(ir_opt, SEPARATOR.join(text for _, text, _ in batch))
    found, message = run(ir_opt, SEPARATOR.join(bare for _, _, bare in batch))
    if expected is not None and expected == found:
        return [""] * len(batch)
    if len(batch) > 1:
        middle = len(batch) // 2
        return check_batch(ir_opt, batch[:middle]) + check_batch(ir_opt, batch[middle:])
    if expected is None:
        return [None]  # not a question of inference
    if found is None:
        return [message.strip() or "no output"]
    lines = difflib.unified_diff(expected.split("\n"), found.split("\n"), "annotated", "inferred", lineterm="", n=0)
    return ["\n".join(line for line in lines if not line.startswith("@@"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--folder", required=True, help="where the cases are")
    parser.add_argument("--min", type=float, default=1.0, help="least share of modules")
    parser.add_argument("--show", help="print this module without its annotations")
    options = parser.parse_args()
    cases = load_cases(options.folder)
    if not cases:
        print(f"SKIPPED: no conformance cases in {options.folder}; set IROPT_CONFORMANCE_DIR to run them")
        return SKIPPED
    modules = []
    bindings = 0
    for name, text in cases:
        bare, stripped = strip_annotations(text)
        if name == options.show:
            print(bare)
        if stripped:
            modules.append((name, text, bare))
            bindings += stripped
    if options.show:
        return 0
    batches = [modules[i : i + BATCH] for i in range(0, len(modules), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = [v for batch in pool.map(lambda b: check_batch(options.ir_opt, b), batches) for v in batch]
    read = [(module[0], verdict) for module, verdict in zip(modules, verdicts) if verdict is not None]
    misses = [(name, verdict) for name, verdict in read if verdict]
    for name, verdict in misses:
        print(f"MISS {name}\n{verdict}")
    share = 1 - len(misses) / max(len(read), 1)
    print(f"{len(read) - len(misses)} of {len(read)} modules with {bindings} bindings: {share:.4f}")
    print(f"{len(modules) - len(read)} modules are not read with their annotations either")
    return 0 if read and share >= options.min else 1


if __name__ == "__main__":
    sys.exit(main())
