#!/usr/bin/env python3
"""Runs the recorded cases of test/recorded: a module that our own generators made, a pass, and what TVM made of it.

  recorded_cases.py --ir-opt=build/bin/ir-opt FOLDER
  recorded_cases.py --ir-opt=build/bin/ir-opt FOLDER --choose=CASES [--count=500] [--bytes=1990000] [--longest=7200]

Each line of FOLDER/*.jsonl is a case: "pass" with its "options", "context" and "target", and the text "before" and "after".
The result must be equal to "after" but for names (ir-opt -diff). Cases of Relay ("level": "relay") are read into Relax, and
both modules are cleaned up before they are compared.

--choose replaces the cases of FOLDER: of those in the files nets_*, synthetic_* and relay_nets_* of the folder CASES that
agree today, a greedy choice of the ones that show most of what no chosen one has, for their size: an operator or a statement
before or after a pass.
"""
import argparse
import concurrent.futures
import glob
import gzip
import heapq
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FILES = ("nets_pass", "nets_tir_pass", "synthetic_pass", "relay_nets_pass")
KEYS = ("id", "pass", "level", "options", "context", "target", "before", "after")
CLEAN_UP = ["Normalize", "CanonicalizeBindings", "DeadCodeElimination"]
CONSTRUCT = re.compile(r"\b(?:R|T|I)\.[\w.]+|\b(?:for|if|while|let|fn)\b|[a-z_0-9]+(?:\.[a-z_0-9]+)*(?=\()|\"\w+\"(?= *:)|dtype=\"\w+\"")


def pipeline_of(case):
    pipeline = {"passes": [{"name": case["pass"], "options": case.get("options") or {}}]}
    context = case.get("context") or {}
    pipeline |= {key: context[key] for key in ("config", "disabled", "required") if context.get(key)}
    if case.get("target"):
        pipeline["target"] = case["target"]
    return pipeline


def run_passes(ir_opt, folder, name, text, pipeline, flags):
    """The path of the output; None with the errors of the tool if it fails."""
    source, config, output = (folder / f"{name}.{ending}" for ending in ("in", "json", "ir"))
    source.write_text(text)
    config.write_text(json.dumps(pipeline))
    result = subprocess.run([ir_opt, "-O4", *flags, f"--pipeline={config}", source, "-o", output], capture_output=True, text=True)
    return (output, "") if result.returncode == 0 else (None, f"exit code {result.returncode}: {result.stderr[:500]}")


def problem(ir_opt, case):
    """What is wrong with the result of a case, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pipeline = pipeline_of(case)
        expected = folder / "after.ir"
        expected.write_text(case["after"])
        flags = []
        if case["level"] == "relay":
            flags = ["-x", "relay"]
            pipeline["passes"] += CLEAN_UP
            expected, error = run_passes(ir_opt, folder, "expected", case["after"], {"passes": CLEAN_UP}, flags)
            if error:
                return f"the expected module: {error}"
        output, error = run_passes(ir_opt, folder, "output", case["before"], pipeline, flags)
        if error:
            return error
        result = subprocess.run([ir_opt, "-diff", expected, output], capture_output=True, text=True)
        return "" if result.returncode == 0 else f"differs:\n{(result.stdout + result.stderr)[:2000]}"


def read_cases(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def features(case):
    """The constructs before and after the pass."""
    changed = "changed" if case["before"] != case["after"] else "same"
    found = {(case["pass"], changed)}
    for side in ("before", "after"):
        found |= {(case["pass"], side, text) for text in CONSTRUCT.findall(case[side])}
    return found


def choose(cases, count, size, longest):
    """A greedy cover (Chvatal 1979): always the case with the most new features for its size. A case has fewer new features
    each time that it is looked at, so that a heap with old values finds the best one."""
    texts = [json.dumps({key: case[key] for key in KEYS if case.get(key)}, sort_keys=True) for case in cases]
    own = [features(case) for case in cases]
    covered, chosen, used = set(), [], 0

    def value(index):
        return -len(own[index] - covered) / (len(texts[index]) + 500)
    heap = [(value(index), index) for index in range(len(cases))]
    heapq.heapify(heap)
    while heap and len(chosen) < count:
        _, index = heapq.heappop(heap)
        now = value(index)
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, index))
            continue
        if used + len(texts[index]) > size or len(texts[index]) > longest:
            continue
        chosen.append(index)
        used += len(texts[index])
        covered |= own[index]
    every = set().union(*own)
    print(f"{len(chosen)} of {len(cases)} cases, {used} bytes, {len(covered)} of {len(every)} constructs by pass")
    return [(cases[index], texts[index]) for index in sorted(chosen)]


def write_choice(args, pool):
    for old in glob.glob(os.path.join(args.folder, "*.jsonl")):
        os.remove(old)
    found = []
    for name in FILES:
        for case in read_cases(os.path.join(args.choose, f"{name}.jsonl.gz")):
            if "after" in case:
                found.append({**case, "file": name})
    problems = list(pool.map(lambda case: problem(args.ir_opt, case), found))
    found = [case for case, text in zip(found, problems) if not text]
    lines = {}
    for case, text in choose(found, args.count, args.bytes, args.longest):
        lines.setdefault(case["file"], []).append(text)
    for name, texts in lines.items():
        pathlib.Path(args.folder, f"{name}.jsonl").write_text("\n".join(sorted(texts)) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--choose", metavar="CASES")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--bytes", type=int, default=1990000)
    parser.add_argument("--longest", type=int, default=7200, help="bytes of a case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        if args.choose:
            write_choice(args, pool)
        cases = [case for path in sorted(glob.glob(os.path.join(args.folder, "*.jsonl"))) for case in read_cases(path)]
        problems = list(pool.map(lambda case: problem(args.ir_opt, case), cases))
    failed = 0
    for case, text in zip(cases, problems):
        if text:
            failed += 1
            print(f"{case['id']}: {case['pass']}: {text}")
    print(f"{len(cases) - failed} of {len(cases)} recorded cases agree")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
