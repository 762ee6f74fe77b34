#!/usr/bin/env python3
"""Runs a command on the cases of a file, each of which it has to refuse with an error of its own.

    refusals.py [--mark=NAME] FILE COMMAND...

The file, in which lines that begin with '#' are comments:

    [title]                     a module: the lines from here on to the first case
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        ...
    given b = sch.get_block("B")                     goes before each of the cases that follow
    sch.split(sch.get_loops(b)[0], [2, 2]) !! the product of factors is not
    [another title]
    ...

In the command, {case} stands for a file with the text of a case, and {module} for one with the module. $case in a module
is the text, too. What follows '!!' is part of an error of the run. With --mark=NAME, the cases with '!NAME!' are run, too.
Prints what each case got that was not as expected.
"""
import argparse
import dataclasses
import os
import re
import subprocess
import sys
import tempfile

CASE = re.compile(r"(?P<text>.*?) ?!(?P<mark>\w*)! (?P<message>.+)")
INTERNAL_ERROR = 70
OUTPUT = 600
SECONDS = 120


@dataclasses.dataclass
class Case:
    line: int
    module: str
    text: str
    mark: str
    message: str


def read_cases(lines):
    cases = []
    module, given = [], ""
    in_cases = False
    for number, line in enumerate(lines, 1):
        match = CASE.fullmatch(line)
        if line.startswith("#"):
            continue
        if re.fullmatch(r"\[.*\]", line):
            module, given, in_cases = [], "", False
        elif line.startswith("given "):
            given, in_cases = line[len("given "):], True
        elif match:
            in_cases = True
            text = "; ".join(part for part in (given, match["text"]) if part)
            cases.append(Case(number, "\n".join(module) + "\n", text, match["mark"], match["message"]))
        elif not in_cases:
            module.append(line)
        elif line.strip():
            raise ValueError(f"line {number} is neither a case nor a title: {line}")
    return cases


def run(case, command, folder):
    """Returns what is wrong; nothing if it is as expected."""
    module, text = (os.path.join(folder, f"line{case.line}.{ending}") for ending in ("ir", "txt"))
    for path, content in ((module, case.module.replace("$case", case.text)), (text, case.text + "\n")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(content)
    words = [word.replace("{case}", text).replace("{module}", module) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True, errors="replace",
                          timeout=SECONDS)
    if done.returncode <= 0 or done.returncode >= INTERNAL_ERROR:
        return f"exit code {done.returncode}\n{done.stdout[:OUTPUT]}"
    error = re.search(r"error: .*", done.stdout, re.DOTALL)
    if not error or case.message not in error[0]:
        return done.stdout[:OUTPUT]
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mark", default="")
    parser.add_argument("file")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as f:
        cases = [case for case in read_cases(f.read().split("\n")) if case.mark in ("", options.mark)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            wrong = run(case, options.command, folder)
            if wrong:
                failed += 1
                print(f"{options.file}:{case.line}: {case.text}\nexpected: {case.message}\ngot: {wrong}")
    if not cases:
        print(f"{options.file}: no cases")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
