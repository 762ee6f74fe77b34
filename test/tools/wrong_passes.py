"""Wrong passes on purpose (test/plugin/wrong_passes) are found by -check-semantics with its default settings, and -prove proves none.

  wrong_passes.py --ir-opt=ir-opt --plugin=wrong_passes.so --modules=FOLDER --rewrites=FOLDER --document=FILE [--write] [--seeds=5] [--escape=3]

Every pass changes its module in the first folder. A file of the second one is an example of a wrong rewrite: a comment that says what it
does, the module, "# -----", and what the rewrite makes of it. The check finds the bug if it does so at every seed. The document has a table of what
found each of them; --write brings it up to date. At most --escape passes may be found by nothing. -prove must not prove any, and must refute half of them,
by inputs that were run.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

BEGIN = "<!-- wrong passes: begin -->"
END = "<!-- wrong passes: end -->"
MISMATCH = 6  # the exit code


def run(args, *flags):
    return subprocess.run([args.ir_opt, f"-load-pass-plugin={args.plugin}", *flags], capture_output=True, text=True)


def how(result):
    """What the difference was and the inputs that showed it, from the notes of the error."""
    notes = [line[len("note: "):] for line in result.stderr.splitlines() if line.startswith("note: ")]
    if not notes:
        return "interface"
    if any(text in note for note in [notes[0], *notes[:-1]] for text in ("concurrent loop", "without a barrier")):
        return "race"
    if "printed" in notes[0]:
        return "output of prints"
    if notes[0].startswith("the run fails"):
        return "failing run"
    if "the result is" in notes[0]:
        return "structure of the result"
    if "is overwritten" in notes[0]:
        return "overwritten input"
    inputs = notes[-1].removeprefix("with ")
    if "bytes" in inputs:
        return "bytes of all values"
    if "times" in inputs:
        return "tiny floats" if "e-" in inputs else "large floats"
    if "whole dimensions" in inputs:
        return "indices of whole dimensions"
    if "any size" in inputs:
        return "integers of any size"
    if "near" in inputs:
        return "numbers of the program"
    return inputs.split(",")[0].split(" (")[0]


def check(args, passes, module):
    """The kinds of inputs that found it, by seed (None where it escaped), and whether the verifier finds it. Text if the pass does
    not fit the module."""
    before = run(args, "-passes=", module)
    plain = run(args, passes, module)
    if before.returncode or plain.returncode:
        return f"the pass does not run:\n{before.stderr}{plain.stderr}"
    if before.stdout == plain.stdout:
        return f"the pass does not change {module}"
    verified = run(args, "-verify-each", passes, module, "-o", "/dev/null").returncode != 0
    seeds = []
    for seed in range(args.seeds):
        result = run(args, "-check-semantics", f"-check-semantics-seed={seed}", passes, module, "-o", "/dev/null")
        seeds.append(how(result) if result.returncode == MISMATCH else None)
    return seeds, verified


def prove(args, passes, module):
    """The answer about the function that the pass changes, and whether Z3 was asked."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        pathlib.Path(report.name).unlink()
        run(args, "-prove=all", f"-prove-report={report.name}", passes, module, "-o", "/dev/null")
        rows = json.loads(pathlib.Path(report.name).read_text())["proofs"]
        pathlib.Path(report.name).touch()
    answers = {row["answer"] for row in rows}
    return next((answer for answer in ("refuted", "not decided", "proved") if answer in answers), "not reached")


def summaries(args):
    listed = json.loads(run(args, "-list-passes=json").stdout)["passes"]
    return {row["name"].removeprefix("wrong."): row["summary"] for row in listed if row["name"].startswith("wrong.")}


def check_rewrite(args, path, folder):
    """What the rewrite does, and the result of its check."""
    summary, text = path.read_text().split("\n", 1)
    files = []
    for when, part in zip(("before", "after"), text.split("# -----\n"), strict=True):
        files.append(folder / f"{path.stem}.{when}.ir")
        files[-1].write_text(part)
    passes = f'-passes=test.ReplaceModule<file="{files[1]}">'
    return summary.removeprefix("# "), check(args, passes, str(files[0])), prove(args, passes, str(files[0]))


def table(found, summary):
    lines = ["| pass | what it does | found by |", "| --- | --- | --- |"]
    for name, (seeds, verified) in sorted(found.items()):
        kinds = collections.Counter(seed for seed in seeds if seed)
        words = ", ".join(kind for kind, _ in sorted(kinds.items(), key=lambda item: (-item[1], item[0])))
        if None in seeds:
            words = f"escapes at {seeds.count(None)} of {len(seeds)} seeds" + (f"; {words}" if words else "")
        lines.append(f"| {name} | {summary[name]} | {words}{'; -verify-each' if verified else ''} |")
    return "\n".join(lines)


def update(args, text):
    path = pathlib.Path(args.document)
    document = path.read_text()
    head, rest = document.split(BEGIN)
    _, tail = rest.split(END)
    wanted = f"{head}{BEGIN}\n{text}\n{END}{tail}"
    if args.write:
        path.write_text(wanted)
    return args.write or document == wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--ir-opt", "--plugin", "--modules", "--rewrites", "--document"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--escape", type=int, default=3)
    args = parser.parse_args()
    summary = summaries(args)
    modules = {path.stem: str(path) for path in pathlib.Path(args.modules).glob("*.ir")}
    if set(modules) != set(summary):
        sys.exit(f"passes and modules differ: {sorted(set(modules) ^ set(summary))}")
    found = {name: check(args, f"-passes=wrong.{name}", modules[name]) for name in sorted(modules)}
    answers = {name: prove(args, f"-passes=wrong.{name}", modules[name]) for name in sorted(modules)}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(pathlib.Path(args.rewrites).glob("*.ir")):
            summary[path.stem], found[path.stem], answers[path.stem] = check_rewrite(args, path, pathlib.Path(folder))
    unfit = [f"wrong.{name}: {reason}" for name, reason in found.items() if isinstance(reason, str)]
    if unfit:
        sys.exit("\n".join(unfit))
    escaped = [name for name, (seeds, _) in found.items() if None in seeds]
    for name in escaped:
        print(f"wrong.{name} escapes: {found[name][0]}")
    print(f"{len(found) - len(escaped)} of {len(found)} wrong passes are found at all of {args.seeds} seeds")
    proved = [name for name, answer in answers.items() if answer == "proved"]
    refuted = [name for name, answer in answers.items() if answer == "refuted"]
    print(f"-prove refutes {len(refuted)} of {len(answers)}, and proves {proved}")
    if proved or 2 * len(refuted) < len(answers):
        sys.exit("wrong passes are proved, or too few are refuted")
    if not update(args, table(found, summary)):
        sys.exit(f"{args.document}: the table of wrong passes is out of date; see --write")
    sys.exit(len(escaped) > args.escape)


if __name__ == "__main__":
    main()
