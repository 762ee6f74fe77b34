"""Proves the rules of passes on the graph, for all elements and sizes that tensors can have, by -prove.

  graph_proofs.py --ir-opt=ir-opt --sources=lib/transform/relax --unproven=FILE [--only=TEXT] FILE

Each line of FILE is the name of a rule, the dtypes for which it is proved, and an expression of R operators; "# pass NAME" before them is the pass.
DTYPE, VIA and TO stand for every dtype, and C and D for constants. All instances run through the pass, whose remarks must name the rule, and -prove
must prove what it changes: for integers and booleans that every bit stays. Each rule that the sources name must have a line, or one in the
file of unproven rules, "NAME -- REASON".
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
FLOATS = ["float16", "float32", "float64"]
KINDS = {"integers": INTEGERS, "floats": FLOATS, "numbers": [*INTEGERS, *FLOATS], "bool": ["bool"], "all": [*INTEGERS, "bool", *FLOATS]}
WITH_SIGN = ["0", "1", "3", "-1", "-128", "127"]
WITHOUT_SIGN = ["0", "1", "3", "128", "255"]
PARAMS = {"x": '("n", "m")', "y": '("n", "m")', "t": '("n", "m", "k")', "b": '("m",)', "s": "()", "u": "(2,)", "v": "(2,)", "q": "(4, 6)",
          "p": '("n", "m")'}
RULE = re.compile(r'(?:Add\(\{|\bRow\(|\bIdentity\()"([^"]+)"|\b(?:rules_?|table)\.(?:Add|Row|Identity)\(\s*\{?"([^"]+)"')


def instances(texts, word, values):
    """The texts with each of the values for the word; a text itself if it does not have the word."""
    pattern = re.compile(rf"\b{word}\b")
    return [text for old in texts for text in ([pattern.sub(value, old) for value in values] if pattern.search(old) else [old])]


def texts_of(line, dtype):
    texts = instances([line], "DTYPE", [dtype])
    for word in ("VIA", "TO"):
        texts = instances(texts, word, KINDS["all"])
    for word in "CD":
        texts = instances(texts, word, WITH_SIGN if dtype.startswith(("i", "f")) else WITHOUT_SIGN)
    return texts


def function_of(number, text, dtype):
    used = [name for name in PARAMS if re.search(rf"\b{name}\b", text)]
    params = ", ".join(f'{name}: R.Tensor({PARAMS[name]}, "{"bool" if name == "p" else dtype}")' for name in used)
    sizes = sorted({size for name in used for size in re.findall(r'"(\w)"', PARAMS[name])})
    return f"@R.function\ndef f{number}({params}):\n" + "".join(f"    {size} = T.int64()\n" for size in sizes) + f"    return {text}\n\n"


def prove(args, folder, name, lines, is_float):
    """For each line, the instances that the pass changes by the rule and those that are proved; prints the others."""
    made = [(at, text, dtype) for at, (_, kind, line) in enumerate(lines) for dtype in KINDS[kind] if dtype.startswith("f") == is_float
            for text in texts_of(line, dtype)]
    if not made:
        return [[0, 0] for _ in lines]
    module, report, remarks = (folder / file for file in ("module.ir", "report.json", "remarks.yaml"))
    report.unlink(missing_ok=True)
    module.write_text("".join(function_of(number, text, dtype) for number, (_, text, dtype) in enumerate(made)))
    run = subprocess.run([args.ir_opt, "-O3", f"-passes={name}", "-prove=all", f"-prove-floats={'real' if is_float else 'ieee'}",
                          f"-prove-report={report}", f"-remarks={remarks}", str(module), "-o", "/dev/null"], capture_output=True, text=True)
    if not report.exists():
        sys.exit(f"{name}:\n{run.stderr}")
    applied = set()
    for remark in remarks.read_text().split("--- !"):
        text = " ".join(remark.replace("''", "'").split())
        rule = re.search(r"the rule '(.*?)' is applied", text)
        function = re.search(r'Function: "f(\d+)"', text)
        if rule and function:
            applied.add((int(function[1]), rule[1]))
    counts = [[0, 0] for _ in lines]
    for row in json.loads(report.read_text())["proofs"]:
        number = int(row["function"][1:])
        at, text, dtype = made[number]
        if (number, lines[at][0]) not in applied:
            continue
        counts[at][0] += 1
        counts[at][1] += row["answer"] == "proved"
        if row["answer"] != "proved":
            print(f"{lines[at][0]}: {text}, {dtype}: {row['answer']}, {row['reason']}")
    return counts


def names_in(folder):
    """The names of rules in sources."""
    return {a or b for path in sorted(pathlib.Path(folder).rglob("*.cpp")) for a, b in RULE.findall(path.read_text())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--unproven", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("file")
    args = parser.parse_args()
    try:
        ctypes.CDLL("libz3.so.4")
    except OSError:
        print("skipped: Z3 (libz3-4) was not found")
        return
    passes, name = {}, None
    for line in pathlib.Path(args.file).read_text().splitlines():
        if line.startswith("# pass "):
            name = line.removeprefix("# pass ")
        elif line and not line.startswith("#") and args.only in line:
            passes.setdefault(name, []).append([part.strip() for part in line.split(" | ")])
    unproven = dict(line.split(" -- ", 1) for line in pathlib.Path(args.unproven).read_text().splitlines() if line and not line.startswith("#"))
    changed, proved, problems = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in passes.items():
            counts = [prove(args, pathlib.Path(folder), name, lines, is_float) for is_float in (False, True)]
            for at, line in enumerate(lines):
                both = [counts[0][at][i] + counts[1][at][i] for i in (0, 1)]
                changed, proved = changed + both[0], proved + both[1]
                problems += [] if both[0] else [f"no instance is changed by the rule: {' | '.join(line)}"]
    listed = {line[0] for lines in passes.values() for line in lines}
    if not args.only:
        names = names_in(args.sources)
        problems += [f"neither proved nor with a reason: {rule}" for rule in sorted(names - listed - set(unproven))]
        problems += [f"not a rule: {rule}" for rule in sorted((listed | set(unproven)) - names)]
        problems += [f"proved, and in the list of those that are not: {rule}" for rule in sorted(listed & set(unproven))]
    print("\n".join([*problems, f"{len(listed)} rules, {proved} of {changed} instances proved, {len(unproven)} rules with a reason instead"]))
    sys.exit(proved != changed or bool(problems) or not listed)


if __name__ == "__main__":
    main()
