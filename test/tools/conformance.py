#!/usr/bin/env python3
"""Runs the conformance checker with the arguments after `--`, or says that it is skipped (exit code 77) where the
folder with the cases is not there: it is bigger than a repository should be and is next to it.

The checker starts the tool once for each case and reads all files of cases, which takes longer than most checks. Here it
is shown the files of the kinds asked for, each of which holds cases of one kind; cases with the same command line share a
run of the tool, which separates them by -split-input-file, and if that run fails, those of each half do; and modules with
the same text are equal without their normal forms. The verdicts stay the checker's.

With --level, it runs the cases of the passes of a level, `graph` or `tir`, that the tool has. All cases must agree but those
of known_differences.txt, which must not.
"""
import argparse
import concurrent.futures
import glob
import gzip
import importlib
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
TEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FIXED_BY_TVM, KNOWN = os.path.join(TEST, "fixed_by_tvm.txt"), os.path.join(TEST, "known_differences.txt")


def kind_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return json.loads(f.readline())["kind"]


def link_cases(cases, kinds, folder):
    """Links to the files of `cases` that hold cases of the kinds."""
    for path in glob.glob(os.path.join(cases, "*.jsonl*")):
        if kind_of(path) in kinds:
            os.symlink(path, os.path.join(folder, os.path.basename(path)))


class ModuleText:
    """Compared by the text, and by the normal form where that differs."""
    def __init__(self, text, normal_form):
        self.text = text.strip()
        self.normal_form = normal_form

    def __eq__(self, other):
        return self.text == other.text or self.normal_form(self.text) == self.normal_form(other.text)


class SharedRuns:
    """Stands for the checker's function that runs the tool on the text of a case."""
    MARKER = "# ----- next case"
    CASES = 50

    def __init__(self, run):
        self.run_alone = run
        self.wanted = {}
        self.results = {}

    @staticmethod
    def key(args, pipeline, extension):
        return json.dumps([args, pipeline, extension], sort_keys=True)

    def note(self, _, args, text, timeout, pipeline=None, extension="ir", files=()):
        """Records what the checker will ask for, but for runs with files of their own."""
        if not files:
            request = (args, pipeline, extension)
            self.wanted.setdefault(self.key(*request), (request, timeout, []))[-1].append(text)
        return None, "", ""

    def run_batch(self, ir_opt, request, timeout, texts):
        args, pipeline, extension = request
        split = [f"-split-input-file={self.MARKER}"]
        if "--verify-only" not in args:
            split.append(f"-output-split-marker={self.MARKER}")
        joined = f"\n{self.MARKER}\n".join(texts)
        code, out, err = self.run_alone(ir_opt, [*args, *split], joined, timeout * len(texts), pipeline, extension)
        parts = out.split(f"{self.MARKER}\n")
        # Without an output, as with --verify-only, success is all there is.
        if code == 0 and (len(parts) == len(texts) or not out):
            key = self.key(*request)
            for text, part in zip(texts, parts if out else [""] * len(texts)):
                self.results[key, text] = (code, part, err)
        elif len(texts) > 2:
            half = len(texts) // 2
            self.run_batch(ir_opt, request, timeout, texts[:half])
            self.run_batch(ir_opt, request, timeout, texts[half:])

    def run_all(self, ir_opt, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for request, timeout, texts in self.wanted.values():
                for begin in range(0, len(texts), self.CASES):
                    pool.submit(self.run_batch, ir_opt, request, timeout, texts[begin:begin + self.CASES])

    def run(self, ir_opt, args, text, timeout, pipeline=None, extension="ir", files=()):
        result = None if files else self.results.get((self.key(args, pipeline, extension), text))
        return result or self.run_alone(ir_opt, args, text, timeout, pipeline, extension, files)


def shares_run(case, kinds, passes):
    """Whether a case is asked for, and succeeds if the tool is right."""
    if case["kind"] not in kinds or case["kind"].endswith("value") or (passes and case.get("pass") not in passes):
        return False
    return not case.get("error") and not case.get("outside") and case.get("verdict") is not False


def run_checker(checker, arguments, ir_opt, kinds, passes):
    """The exit code of the checker, whose table goes to stdout."""
    sys.path.insert(0, os.path.dirname(checker))
    check = importlib.import_module("check")
    normal_form, load, runs = check.normal_form, check.load, SharedRuns(check.run)

    def load_and_run(folder):
        cases = load(folder)
        check.run = runs.note
        for case in cases:
            if shares_run(case, kinds, passes):
                check.verdict(ir_opt, None, case, 20)
        runs.run_all(ir_opt, os.cpu_count())
        check.run = runs.run
        return cases

    check.normal_form = lambda text: ModuleText(text, normal_form)
    check.load = load_and_run
    sys.argv = [checker, *arguments]
    return check.main()


def passes_of(level, ir_opt):
    """The names of the passes of the level."""
    listed = json.loads(subprocess.run([ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, check=True).stdout)
    return [p["name"] for p in listed["passes"] if p["name"].startswith("tir.") == (level == "tir")]


def known_differences():
    with open(KNOWN, encoding="utf-8") as f:
        return {line.split()[0] for line in f if line.strip() and not line.startswith("#")}


def problems(verdicts, known):
    """The cases that do not agree and are not known, and those that are known and agree."""
    for case, verdict in verdicts.items():
        if (verdict != "ok") != (case in known):
            yield f"{case}: {verdict}" if verdict != "ok" else f"{case} agrees: remove it from {os.path.basename(KNOWN)}"
    if not verdicts:
        yield "there are no cases"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, help="where check.py and its cases are")
    parser.add_argument("--cases", default="cases", help="the folder in it, those of TVM 0.18 by default")
    parser.add_argument("--kind", action="append", required=True, help="of the cases")
    parser.add_argument("--level", choices=["graph", "tir"], help="of the passes, of cases of the kind `pass`")
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("arguments", nargs="*", help="passed to check.py")
    options = parser.parse_args()
    checker = os.path.abspath(os.path.join(options.folder, "check.py"))
    if not os.path.exists(checker):
        print(f"SKIPPED: no conformance cases in {options.folder}; set IROPT_CONFORMANCE_DIR to run them")
        return SKIPPED
    passes = passes_of(options.level, options.ir_opt) if options.level else []
    with tempfile.TemporaryDirectory() as folder:
        link_cases(os.path.join(os.path.dirname(checker), options.cases), options.kind, folder)
        verdicts = os.path.join(folder, "verdicts.json")
        arguments = ["--cases", folder, "--except", FIXED_BY_TVM, "--json", verdicts, *(f"--kind={kind}" for kind in options.kind),
                     *(f"--pass={name}" for name in passes), "--ir-opt", options.ir_opt, *options.arguments]
        code = run_checker(checker, arguments, options.ir_opt, options.kind, passes)
        with open(verdicts, encoding="utf-8") as f:
            found = list(problems(json.load(f), known_differences()))
    print("\n".join(f"FAILED: {problem}" for problem in found))
    return 1 if found else code


if __name__ == "__main__":
    sys.exit(main())
