"""show_report.py FILE: checks the JSON of -report=json, or the data of a page, and prints it without times and sizes."""
import json
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
page = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
report = json.loads(page.group(1)) if page else json.loads(text)["report"]
print(f"exit code {report['exit_code']}, pipeline {report['pipeline']}")
for module in report["modules"]:
    print(f"module {module['name']}: {module['relax_functions']} Relax, {module['prim_funcs']} PrimFuncs, "
          f"{module['bindings']} bindings, {module['calls']} calls")
texts = [function["text"].splitlines() for function in report.get("functions", [])]
last_end = 0
for run in report["passes"]:
    assert run["wall_ms"] >= 0 and run["begin_ms"] >= 0 and run["node_bytes"] > 0
    if not run["composite"]:
        assert run["begin_ms"] >= last_end - 0.01, "passes do not overlap"
        last_end = run["begin_ms"] + run["wall_ms"]
    print(run["name"], run["depth"], *(["composite"] if run["composite"] else []), run["outcome"])
    if "functions" not in run:
        continue
    functions, bindings = run["functions"], run["bindings"]
    print(f"  functions +{functions['added']} -{functions['removed']} ~{functions['changed']}")
    print(f"  bindings +{bindings['added']} -{bindings['removed']} ~{bindings['changed']}")
    for name, n in run["operators"].items():
        print(f"  {name} {n['before']} -> {n['after']}")
    for change in run.get("texts", []):
        old, new, at = texts[change["function"]], [], 0
        steps = change["steps"]
        for kept, removed, added in zip(steps[::3], steps[1::3], steps[2::3]):
            new += old[at:at + kept] + (added.split("\n") if added is not None else [])
            at += kept + removed
        assert at == len(old), "the steps cover the old text"
        texts[change["function"]] = new
for function, lines in zip(report.get("functions", []), texts):
    print(f"text of {function['kind']} '{function['name']}' at the end:", *lines, sep="\n  ")
print("steps", *(step["name"] for step in report["steps"]))
