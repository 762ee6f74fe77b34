#!/usr/bin/env python3
"""Runs the conformance checker with the arguments after `--`, or says that it is skipped (exit code 77) where the
folder with the cases is not there: it is bigger than a repository should be and lives beside it.

The checker reads all files of cases, which takes longer than many a check; it is shown those of the kinds asked for. Each
file holds cases of one kind.

With --level, it runs the cases of the passes of a level, `graph` or `tir`, that the tool has, and each pass has a minimum
of its own: the share of its cases that must agree, both of all cases and of those that a tool which prints its input
unchanged would fail. --minimum=PASS=SHARE states one; it is 1 for the others.
"""
import argparse
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
# "tir.Simplify    181/183   changing  100/102"
SCORE = re.compile(r"(?P<name>\S+) +(?P<ok>\d+)/(?P<all>\d+)(?: +changing +(?P<changing_ok>\d+)/(?P<changing>\d+))?")


def kind_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return json.loads(f.readline())["kind"]


def link_cases(cases, kinds, folder):
    """Links to the files of `cases` that hold cases of the kinds."""
    for path in glob.glob(os.path.join(cases, "*.jsonl*")):
        if kind_of(path) in kinds:
            os.symlink(path, os.path.join(folder, os.path.basename(path)))


def passes_of(level, ir_opt):
    """The names of the passes of the level."""
    listed = json.loads(subprocess.run([ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, check=True).stdout)
    return [p["name"] for p in listed["passes"] if p["name"].startswith("tir.") == (level == "tir")]


def shares(table):
    """For each pass of the checker's table, the smaller one of its two shares."""
    for line in table.splitlines():
        score = SCORE.match(line)
        if not score or score["name"] == "total":
            continue
        share = int(score["ok"]) / int(score["all"])
        if score["changing"]:
            share = min(share, int(score["changing_ok"]) / int(score["changing"]))
        yield score["name"], share


def check_passes(command, minima):
    """The exit code: 1 if a pass agrees in too few of its cases, or if a minimum is of a pass without cases."""
    table = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    print(table)
    found = dict(shares(table))
    problems = [f"{name} agrees in {share:.3f} of its cases, less than {minima.get(name, 1)}"
                for name, share in found.items() if share < minima.get(name, 1)]
    problems += [f"{name} has a minimum, but no cases" for name in minima if name not in found]
    print("\n".join(f"FAILED: {problem}" for problem in problems))
    return 1 if problems or not found else 0


def named_share(text):
    name, share = text.rsplit("=", 1)
    return name, float(share)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, help="where check.py and its cases are")
    parser.add_argument("--kind", action="append", required=True, help="of the cases")
    parser.add_argument("--level", choices=["graph", "tir"], help="of the passes, of cases of the kind `pass`")
    parser.add_argument("--minimum", action="append", type=named_share, default=[], help="PASS=SHARE")
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("arguments", nargs="*", help="passed to check.py")
    options = parser.parse_args()
    checker = os.path.abspath(os.path.join(options.folder, "check.py"))
    if not os.path.exists(checker):
        print(f"SKIPPED: no conformance cases in {options.folder}; set IROPT_CONFORMANCE_DIR to run them")
        return SKIPPED
    kinds = [f"--kind={kind}" for kind in options.kind]
    with tempfile.TemporaryDirectory() as folder:
        link_cases(os.path.join(os.path.dirname(checker), "cases"), options.kind, folder)
        command = [sys.executable, checker, "--cases", folder, *kinds, "--ir-opt", options.ir_opt, *options.arguments]
        if not options.level:
            return subprocess.run(command, check=False).returncode
        command += [f"--pass={name}" for name in passes_of(options.level, options.ir_opt)]
        return check_passes(command, dict(options.minimum))


if __name__ == "__main__":
    sys.exit(main())
