#!/usr/bin/env python3
"""Checks that every pass has prose and an example which -help-pass shows, and that the pass changes the example.

  check_examples.py IR_OPT FOLDER

FOLDER is docs/passes, with an example PASS.ir for each pass.
"""
import json
import os
import re
import shlex
import subprocess
import sys


# Passes that do not change any module that was read, with the reason.
UNCHANGED = {
    "CanonicalizeOps": "the reader of Relay has done it",
    "MetaScheduleApplyDatabase": "it needs the files of a database",
    "Normalize": "reading brings modules into normal form",
    "PrintAnalyses": "it shows what analyses find out",
    "PrintIR": "it shows the module",
    "RunCodegen": "the code generators come from plugins",
    "ToANormalForm": "reading brings modules into normal form",
    "tir.ConvertSSA": "modules that are read are in SSA form",
    "tir.VerifyGPUCode": "it only checks",
    "tir.VerifyMemory": "it only checks",
    "tir.VerifyRaces": "it only checks",
    "tir.VerifySSA": "it only checks",
    "tir.VerifyVTCMLimit": "it only checks",
    "tir.analysis.OOBChecker": "it only checks",
}


def run(ir_opt, *flags, text=None):
    return subprocess.run([ir_opt, *flags], capture_output=True, text=True, input=text, timeout=60, check=False)


def check(ir_opt, folder, name):
    """What is wrong with the help of the pass, or nothing."""
    done = run(ir_opt, f"-help-pass={name}")
    if done.returncode != 0:
        return f"{name}: {done.stderr.strip()}"
    description, _, example = done.stdout.partition("\nExample:\n")
    # The summary, an empty line, and the prose, unless the lines of facts, which are indented, follow at once.
    if description.partition("\n\n")[2].startswith(" "):
        return f"{name}: no prose; docs/passes/{name}.ir begins with it, up to a line with only '#'"
    if not example:
        return f"{name}: no example; it belongs into docs/passes/{name}.ir"
    flags = re.search(r"\n  after ([^\n]*):\n\n    (?:@|metadata = )", example)
    # Split as by a shell.
    flags = shlex.split(flags[1]) if flags else []
    if not flags or name not in flags[-1]:
        return f"{name}: the example does not show the module after the pass"
    with open(os.path.join(folder, name + ".ir"), encoding="utf-8") as f:
        text = f.read()
    before = run(ir_opt, *flags[:-1], text=text).stdout
    after = run(ir_opt, "-O4", "-verify-each", *flags, text=text)
    if after.returncode != 0:
        return f"{name}: {after.stderr.strip()}"
    return f"{name}: the pass does not change its example" if before == after.stdout and name not in UNCHANGED else None


def main():
    ir_opt, folder = sys.argv[1:]
    names = {p["name"] for p in json.loads(run(ir_opt, "-list-passes=json").stdout)["passes"]}
    problems = [problem for problem in (check(ir_opt, folder, name) for name in sorted(names)) if problem]
    for file in sorted(os.listdir(folder)):
        if file.endswith(".ir") and file[:-3] not in names:
            problems.append(f"{file}: there is no such pass")
    for problem in problems:
        print(problem)
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main())
