#!/usr/bin/env python3
"""Runs a model of one node for each row of the tables of ONNX's operators, and compares with what NumPy computes.

    onnx_rows.py SOURCE_FOLDER --ir-run=build/bin/ir-run [--ir-opt=build/bin/ir-opt] [--filter=OP] [--node-modules=FOLDER]

The cases are in onnx_row_cases.py. Each row of SOURCE_FOLDER/ops, which is for an operator from a version of the operator
set on, and each kernel and definition of SOURCE_FOLDER/run must have a case, and so must each version from 23 on of the
operators of ONNX, which test/onnx_operators.txt lists. All of these must have a type rule, and be run but for a list. What docs/onnx.md
names as run or not run must be so. Models run
as they are and under -O3. With the folder of onnxruntime-node, the cases of its domain and of operators from version 18 on are
also compared with it, as they are and as ir-opt -O3 writes them. --table prints what becomes of each operator that sets 23 to 28
added or changed, and of those of onnxruntime.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx_file
import onnx_row_cases

ROW = re.compile(r'^\s*\{"(\w+)", (\d+), \w+, \w+, [\w:<>]+,', re.MULTILINE)
ROW_NAME = re.compile(r'^\s*\{"(\w+)", \d+,', re.MULTILINE)
KERNEL = re.compile(r'\{"([\w.]+)",\s*"\d*",\s*(?:Run|Define)\w+[,}]')
DEFINITION = re.compile(r'\{"([\w.]+)",\s*"\d*",\s*Define\w+,\s*"([^"]+)"\}')


def read(folder, pattern):
    text = ""
    for path in sorted(glob.glob(os.path.join(folder, pattern))):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return text


LAST_IN_ONNXRUNTIME = 26  # the last operator set of version 1.30
# Operators on sequences, which need graphs: test/exchange/onnx/sequences.test.
GRAPHS = {"ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
          "SplitToSequence"}


# Operators whose nodes have types by their graphs or values.
TYPED_BY_VALUES = {"Constant", "If", "Loop", "Scan"}
TYPE_ROW = re.compile(r'\{("[\w.\s"]+"),\s*\d+,')
STRINGS = "strings"
RANDOM = "random numbers"
CLASSIC = "classical models"
NOT_RUN = {"Bernoulli": RANDOM, "Multinomial": RANDOM, "RandomNormal": RANDOM, "RandomNormalLike": RANDOM, "RandomUniform": RANDOM,
           "RandomUniformLike": RANDOM, "ImageDecoder": "files of images", "Optional": "optional values",
           "RegexFullMatch": STRINGS,
           "SequenceMap": "a function of other operators", "StringConcat": STRINGS, "StringNormalizer": STRINGS, "StringSplit": STRINGS,
           "ai.onnx.preview.training.Gradient": "gradients of graphs"}


def operators():
    """The operators of ONNX with the versions that changed them."""
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "onnx_operators.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {name: [int(version) for version in versions] for name, *versions in lines}


def typed(folder):
    """The operators that have a type rule."""
    names = set()
    for row in TYPE_ROW.findall(read(folder, "types/*.cpp")):
        names.update(re.sub(r'"\s*"|"', "", row).split())
    return names


def unlisted(folder, cases):
    """What operators of ONNX lack: a type rule, a way to run, or a case for a late version."""
    run = set(dict(ROW.findall(read(folder, "ops/*.cpp")))) | set(KERNEL.findall(read(folder, "run/*.cpp")))
    rules = typed(folder)
    for name, versions in operators().items():
        if name not in rules and name not in TYPED_BY_VALUES:
            yield f"no type rule for {name}"
        reason = NOT_RUN.get(name) or (CLASSIC if name.startswith("ai.onnx.ml.") else None)
        if (name in run) == (reason is not None):
            yield f"{name} is {'not run' if reason is None else f'run, and listed as not run ({reason})'}"
        for low, high in zip(versions, [*versions[1:], 1000]):
            if low >= 23 and not any(case.full_name == name and low <= case.opset < high for case in cases):
                yield f"no case for {name} of version {low}"
    for name in sorted(rules):
        if name.startswith("com.microsoft.") and name in run and not any(case.full_name == name for case in cases):
            yield f"no case for {name}"


def misdocumented(folder):
    """The operators of which docs/onnx.md says that they run, and do not, or the reverse."""
    with open(os.path.join(folder, "..", "..", "..", "docs", "onnx.md"), encoding="utf-8") as file:
        text = " ".join(file.read().split())
    run = set(ROW_NAME.findall(read(folder, "ops/*.cpp"))) | set(KERNEL.findall(read(folder, "run/*.cpp")))
    runs, _, fails = text.partition("`ir-run` runs these calls:")[2].partition("- Calls have the dtype")[0].partition("It does not run")
    standard, separator, contributed = fails.partition("Of `com.microsoft` these are")
    if not separator:
        yield "docs/onnx.md has no list of operators that do not run"
    for name in re.findall(r"`([A-Z]\w+)`", runs):
        if name not in run and f"com.microsoft.{name}" not in run:
            yield f"docs/onnx.md: {name} does not run"
    for name in re.findall(r"`([A-Z]\w+)`(?! in training)", standard):
        if name in run:
            yield f"docs/onnx.md: {name} runs"
    for pattern in re.findall(r"`([*A-Z][\w*]+)`", contributed):
        expected = re.compile(pattern.replace("*", r"\w+"))
        for name in sorted(run):
            if name.startswith("com.microsoft.") and expected.fullmatch(name.removeprefix("com.microsoft.")):
                yield f"docs/onnx.md: {name} runs"


def table(folder, cases):
    """The operators that sets 23 to 28 added or changed, and those of onnxruntime: what they are read as, and what was tried."""
    rows = {name: becomes for name, becomes in re.findall(r'^\s*\{"(\w+)", \d+, \w+, \w+, [\w:<>]+,\s*"([^"]*)"', read(folder, "ops/*.cpp"),
                                                           re.MULTILINE)}
    rows = {**dict(DEFINITION.findall(read(folder, "run/*.cpp"))), **rows}
    rules = typed(folder)
    listed = [(name, version) for name, versions in operators().items() for version in versions
              if version >= 23 or name.startswith("ai.onnx.preview.F")]
    run = set(KERNEL.findall(read(folder, "run/*.cpp"))) | set(rows)
    listed += [(name, 1) for name in sorted(run) if name.startswith("com.microsoft.")]
    for name, version in listed:
        tried = [case for case in cases if case.full_name == name and case.opset >= version]
        becomes = rows.get(name, "a call")
        typing = "yes" if name in rules else "by its graphs or values"
        yield (name, str(version), becomes, typing, str(len(tried)), str(sum(case.in_onnxruntime and case.opset <= LAST_IN_ONNXRUNTIME
                                                                             for case in tried)))


def missing(folder, cases):
    """The rows and kernels without a case."""
    versions = {}
    for name, since in ROW.findall(read(folder, "ops/*.cpp")):
        versions.setdefault(name, []).append(int(since))
    for name in set(KERNEL.findall(read(folder, "run/*.cpp"))) - GRAPHS:
        versions.setdefault(name, [1])
    for name, since in sorted(versions.items()):
        bounds = sorted(since) + [1000]
        for low, high in zip(bounds, bounds[1:]):
            if not any(case.full_name == name and low <= case.opset < high for case in cases):
                yield f"{name} from version {low} on"


def encode(case):
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(case.inputs)]
    constants = [(names[i], array) for i, array in enumerate(case.inputs)
                 if array is not None and i in case.constants]
    inputs = [onnx_file.value(names[i], onnx_file.type_name(array), array.shape) for i, array in enumerate(case.inputs)
              if array is not None and i not in case.constants]
    inputs += [onnx_file.value(name, onnx_file.type_name(array), array.shape) for name, array in case.captured.items()]
    outputs = [f"y{i}" if array is not None else "" for i, array in enumerate(case.expected)]
    results = [onnx_file.value(name, onnx_file.type_name(array), None) for name, array in zip(outputs, case.expected) if name]
    node = onnx_file.node(case.op, names, outputs, case.domain, **case.attributes)
    graph = onnx_file.graph(case.nodes or [node], inputs, results, constants)
    return onnx_file.model(graph, case.opset, [case.domain] if case.domain else [])


def write_tensor(path, array):
    with open(path, "wb") as file:
        file.write(onnx_file.tensor(array))


def compare(cases, node_modules, ir_opt):
    """What differs between the cases and onnxruntime: of the models, and of what becomes of them."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_run.js")
    with tempfile.TemporaryDirectory() as folder:
        jobs, names = [], []
        for i, case in enumerate(cases):
            paths = {"model": f"{folder}/{i}.onnx", "inputs": [], "outputs": [], "level": "disabled"}
            with open(paths["model"], "wb") as file:
                file.write(encode(case))
            for kind, arrays in (("inputs", case.inputs), ("outputs", case.expected)):
                for j, array in enumerate(arrays):
                    if array is not None and (kind == "outputs" or j not in case.constants):
                        paths[kind].append(f"{folder}/{i}_{kind}{j}.pb")
                        write_tensor(paths[kind][-1], array)
            jobs.append(paths)
            names.append(f"{case.full_name} of version {case.opset}")
            if ir_opt:
                written = f"{folder}/{i}_out.onnx"
                done = subprocess.run([ir_opt, "-O3", paths["model"], "-o", written], capture_output=True, text=True, timeout=60, check=False)
                if done.returncode:
                    yield f"{names[-1]}: is not written: {done.stderr.strip()[:300]}"
                    continue
                jobs.append({**paths, "model": written})
                names.append(f"{names[-1]} as it is written")
        with open(f"{folder}/jobs.json", "w", encoding="utf-8") as file:
            json.dump(jobs, file)
        done = subprocess.run(["node", script, f"{folder}/jobs.json"], capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "NODE_PATH": node_modules})
        for name, line in zip(names, done.stdout.splitlines()):
            result = json.loads(line)
            if result["status"] != "same":
                yield f"{name}: onnxruntime: {result.get('reason', result['status'])}"


def differ(expected, actual):
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"{actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind == "f":
        tolerance = {"rtol": 2e-3, "atol": 1e-3} if expected.dtype == "float16" else {"rtol": 1e-4, "atol": 1e-5}
        same = numpy.allclose(actual.astype("float64"), expected.astype("float64"), equal_nan=True, **tolerance)
    else:
        same = numpy.array_equal(expected, actual)
    return "" if same else f"{actual.tolist()}, expected {expected.tolist()}"


def problem(case, ir_run, flags):
    """What is wrong with the results of a case, or the empty string."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/model.onnx", "wb") as file:
            file.write(encode(case))
        fed = {f"x{i}": array for i, array in enumerate(case.inputs) if array is not None and i not in case.constants}
        fed.update(case.captured)
        command = [ir_run, *flags, f"-output={folder}/out.npz", f"{folder}/model.onnx"]
        if fed:
            numpy.savez(f"{folder}/in.npz", **fed)
            command.append(f"-inputs={folder}/in.npz")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr.strip()[:300]}"
        with numpy.load(f"{folder}/out.npz") as results:
            expected = [array for array in case.expected if array is not None]
            if len(results.files) != len(expected):
                return f"{len(results.files)} results, expected {len(expected)}"
            for i, (name, array) in enumerate(zip(results.files, expected)):
                difference = differ(array, results[name])
                if difference:
                    return f"result {i} is {difference}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("--ir-run")
    parser.add_argument("--ir-opt")
    parser.add_argument("--node-modules")
    parser.add_argument("--filter", default="")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    cases = onnx_row_cases.cases()
    if options.table:
        for row in [("operator", "version", "read as", "type rule", "cases", "in onnxruntime"), ("---",) * 6, *table(options.folder, cases)]:
            print(f"| {' | '.join(row)} |")
        return 0
    problems = [f"no case for the row {row}" for row in missing(options.folder, cases)]
    problems += unlisted(options.folder, cases)
    problems += misdocumented(options.folder)
    for case in cases:
        if options.filter not in case.full_name:
            continue
        for flags in ([], ["-O3"]):
            found = problem(case, options.ir_run, flags)
            if found:
                problems.append(f"{case.full_name} of version {case.opset}{' under -O3' if flags else ''}: {found}")
                break
    if options.node_modules:
        chosen = [case for case in cases if options.filter in case.full_name and case.in_onnxruntime and
                  (case.domain == "com.microsoft" or 18 <= case.opset <= LAST_IN_ONNXRUNTIME)]
        problems += compare(chosen, options.node_modules, options.ir_opt)
    print("\n".join(problems) if problems else f"{len(cases)} cases: the values are those of NumPy")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
