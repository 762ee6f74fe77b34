"""What verify-rules proves of rules that are nearly right agrees in runs.

  rule_mutants.py --ir-opt=ir-opt --plugin=wrong_passes.so [--only=TEXT] [--each=4] [--seed=0] RULES.json...

A mutant is a rule with one number, name, operator or sign changed, or one of its conditions gone or wider. Those that are proved run with small
sizes for which the conditions hold, 0 and 1 among them, for floats and for integers that wrap around. Prints how many mutants were proved,
refuted and not decided, and fails if a run refutes one that was proved.
"""
import argparse
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

OTHERS = {"add": "subtract", "subtract": "add", "multiply": "add", "divide": "multiply", "maximum": "minimum", "minimum": "maximum",
          "logical_or": "logical_and", "logical_and": "logical_or", "greater": "greater_equal", "less": "less_equal", "greater_equal": "greater",
          "less_equal": "less", "equal": "not_equal", "not_equal": "equal", "zeros_like": "ones_like", "ones_like": "zeros_like", "negative": "abs",
          "abs": "negative", "exp": "abs", "mod": "floor_mod", "floor_mod": "mod", "sum": "max"}
SIZES = (0, 1, 2, 3, 4)
MOST_INSTANCES = 5  # of a rule


def with_words(text, words):
    return re.sub(r"\w+", lambda found: str(words.get(found[0], found[0])), text)


def choices(rule):
    """The rule for each choice of its values."""
    keys = [(re.findall(r"\w+", key), options) for key, options in rule.get("values", {}).items()]
    for chosen in itertools.product(*(options for _, options in keys)):
        words = {}
        for (names, _), option in zip(keys, chosen):
            words.update(zip(names, option if len(names) > 1 else [option]))
        words = {name: with_words(str(value), words) for name, value in words.items()}
        yield {key: replaced(value, words) for key, value in rule.items() if key not in ("values", "name")} | {"name": rule["name"]}


def replaced(value, words):
    if isinstance(value, str):
        return with_words(value, words)
    if isinstance(value, list):
        return [replaced(item, words) for item in value]
    return {key: replaced(item, words) for key, item in value.items()} if isinstance(value, dict) else value


def mutants_of_text(text, names):
    """The texts with one change."""
    def put(found, new):
        return text[:found.start()] + new + text[found.end():]

    for found in re.finditer(r"(?<![\w.'])\d+(?![\w.'])", text):
        yield put(found, str(int(found[0]) + 1))
        if int(found[0]) > 0:
            yield put(found, str(int(found[0]) - 1))
    for found in re.finditer(r"(?<=R\.)\w+(?=\()", text):
        if found[0] in OTHERS:
            yield put(found, OTHERS[found[0]])
    for found in re.finditer(r"(?<![\w.'=])[a-z]\w*(?![\w.'=(])", text):
        for other in names:
            if found[0] in names and other != found[0]:
                yield put(found, other)
    for found in re.finditer(r" [+-] ", text):
        yield put(found, " - " if found[0] == " + " else " + ")


def mutants(rule):
    sizes = sorted(set(re.findall(r"'(\w+)'", " ".join(type_of(value) for value in rule.get("variables", {}).values() if "((" in type_of(value))
                                  .replace("'elem'", ""))))
    for side in ("replacement", "pattern"):
        for names in (list(rule.get("variables", {})), [*rule.get("integers", []), *sizes]):
            for text in mutants_of_text(rule[side], names):
                yield {**rule, side: text}
    conditions = rule.get("conditions", [])
    for at, condition in enumerate(conditions):
        rest = conditions[:at] + conditions[at + 1:]
        yield {**rule, "conditions": rest}
        left, operator, right = re.split(r" (<=|==|<) ", condition, maxsplit=1) if re.search(r" (<=|==|<) ", condition) else (condition, "", "")
        wider = {"<=": f"{left} <= {right} + 1", "<": f"{left} <= {right}", "==": f"{left} <= {right}"}
        if operator:
            yield {**rule, "conditions": [*rest, wider[operator]]}
    if "changes" in rule:
        yield {key: value for key, value in rule.items() if key != "changes"}


def type_of(variable):
    return variable if isinstance(variable, str) else variable["type"]


def verify(args, folder, rules):
    """The answers by the names of the rules; those that cannot be read are left out."""
    rules = dict(enumerate(rules))
    for _ in range(20):
        (folder / "rules.json").write_text(json.dumps({"rules": [{**rule, "name": str(number)} for number, rule in rules.items()]}))
        run = subprocess.run([args.ir_opt, "verify-rules", "-format=json", str(folder / "rules.json")], capture_output=True, text=True)
        wrong = {int(number) for number in re.findall(r"rule '(\d+)'", run.stderr)}
        if run.returncode in (0, 6) and not wrong:
            rows = [json.loads(line) for line in run.stdout.splitlines()]
            return {int(row["rule"]): row["answer"] for row in rows}, rules
        if not wrong:
            sys.exit(f"the rules are not read ({run.returncode}):\n{run.stderr}")
        rules = {number: rule for number, rule in rules.items() if number not in wrong}
    sys.exit("rules cannot be read")


def instances(rule, rng):
    """The two sides with small sizes and dtypes: parameters, pattern, replacement."""
    all_choices = list(choices(rule))
    for choice in rng.sample(all_choices, min(3, len(all_choices))):
        types = {name: type_of(value) for name, value in choice.get("variables", {}).items()}
        names = [*choice.get("integers", [])]
        for text in types.values():
            dims = re.search(r"\(\((.*?)\)", text)
            names += [name for name in re.findall(r"'(\w+)'", dims[1] if dims else "") if name not in names]
        found = []
        assignments = list(itertools.product(SIZES, repeat=len(names))) if len(names) < 6 else []
        assignments = [[rng.choice(SIZES) for _ in names] for _ in range(4000)] if not assignments else assignments
        rng.shuffle(assignments)
        for assignment in [[0] * len(names), [1] * len(names), *assignments]:
            words = dict(zip(names, assignment))
            if all(eval(condition, {}, dict(words)) for condition in choice.get("conditions", [])):
                found.append(words)
            if len(found) == MOST_INSTANCES:
                break
        for words in found:
            for dtype in ("float32", "int8"):
                params = [f"{name}: {concrete(text, words, dtype)}" for name, text in types.items()]
                yield ", ".join(params), with_words(choice["pattern"], words), with_words(choice["replacement"], words)
                if all(re.search(r"dtype=|'(bool|float|u?int)\d*'", text) for text in types.values()):
                    break


def concrete(text, words, dtype):
    """The type with these sizes; (2, 3) and the dtype where it does not say them."""
    given = re.search(r"'(bool|float\d+|u?int\d+)'", text)
    dims = re.search(r"\(\((.*?)\)", text)
    names = [name.strip(" '") for name in dims[1].split(",")] if dims else [] if "ndim=0" in text else ["2", "3"]
    shape = "".join(f"{with_words(name, words)}, " for name in names if name)
    return f"R.Tensor(({shape}), '{given[1] if given else dtype}')"


def functions(rows, side):
    text = "from tvm.script import ir as I, relax as R, tir as T\n\n@I.ir_module\nclass Module:\n"
    starts = {}
    for number, row in rows.items():
        starts[text.count("\n") + 1] = number
        text += f"    @R.function\n    def f{number}({row[0]}):\n        return {row[side]}\n\n"
    return text, starts


def differing(args, folder, rows):
    """The numbers of the rows whose sides differ in runs, and how many rows could be run."""
    rows = dict(enumerate(rows))
    before, after = folder / "before.ir", folder / "after.ir"
    for side, path in ((1, before), (2, after)) * 6:
        text, starts = functions(rows, side)
        path.write_text(text)
        run = subprocess.run([args.ir_opt, str(path), "-o", "/dev/null"], capture_output=True, text=True)
        lines = [int(line) for line in re.findall(rf"{path.name}:(\d+):\d+: error", run.stderr)]
        bad = {starts[max(start for start in starts if start <= line)] for line in lines}
        rows = {number: row for number, row in rows.items() if number not in bad}
    if not rows:
        return set(), 0
    for side, path in ((1, before), (2, after)):
        path.write_text(functions(rows, side)[0])
    run = subprocess.run([args.ir_opt, f"-load-pass-plugin={args.plugin}", f'-passes=test.ReplaceModule<file="{after}">', "-check-semantics=all",
                          "-check-semantics-inputs=ordinary", str(before), "-o", "/dev/null"], capture_output=True, text=True)
    # Where the shapes differ, the rule is not applied.
    found = re.findall(r"the result of function 'f(\d+)'[^\n]*\n?(?:[^\n]*note[^\n]*\n)?", run.stderr)
    wrong = {int(number) for number in found if number}
    by_shape = {int(number) for number in re.findall(r"the result of function 'f(\d+)'(?:(?!the result of).)*?shape", run.stderr, re.DOTALL)}
    return wrong - by_shape, len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--each", type=int, default=4, help="the number of mutants of each rule")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    made = []
    for file in args.files:
        for rule in json.loads(pathlib.Path(file).read_text())["rules"]:
            if args.only in rule["name"]:
                alike = [mutant for mutant in mutants(rule) if mutant != rule]
                made += rng.sample(alike, min(args.each, len(alike)))
    # A few values say as much as many.
    for rule in made:
        rule["values"] = {key: rng.sample(options, min(2, len(options))) for key, options in rule.get("values", {}).items()}
    counts, num_run, wrong = {}, 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        answers, rules = verify(args, folder, made)
        for answer in answers.values():
            counts[answer] = counts.get(answer, 0) + 1
        rows = [(number, row) for number, answer in answers.items() if answer == "proved" for row in instances(rules[number], rng)]
        for begin in range(0, len(rows), 60):
            some = rows[begin:begin + 60]
            differ, run = differing(args, folder, [row for _, row in some])
            num_run += run
            wrong += [(rules[some[at][0]], some[at][1]) for at in differ]
    for rule, row in wrong:
        print(f"proved, but wrong: {json.dumps(rule)}\n  {row}")
    print(f"mutants: {len(answers)}, " + ", ".join(f"{count} {answer}" for answer, count in sorted(counts.items())) + f"; instances run: {num_run}")
    sys.exit(bool(wrong) or not num_run)


if __name__ == "__main__":
    main()
