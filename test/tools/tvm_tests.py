#!/usr/bin/env python3
"""Runs TVM's own tests with `tvm` answered by the Python package.

  tvm_tests.py --package FOLDER (--repository REPOSITORY [--tag TAG] | --tests FOLDER) [--minimum GROUP=RATIO ...] [TEST...]

The tests are taken from a clone of TVM's repository at a tag, into a temporary folder, or from a folder that has them. By
default they are those of the groups below. Prints a table by file: how many tests pass, fail, are skipped, and cannot be collected.
Skipped tests do not count. The share of a group is also printed without the tests that expect of TVM what is corrected here
(docs/tvm_fixes.md). With --minimum, exits with 1 if fewer of the tests of a group pass. --reasons prints the most frequent
messages of failures.
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

GROUPS = {
    "relax": "tests/python/relax/test_transform*.py",
    "tir": "tests/python/tir-transform/*.py",
    "ir": "tests/python/ir/test_pass_instrument.py",
    "schedule": "tests/python/tir-schedule/*.py",
    "tir_base": "tests/python/tir-base/*.py",
    "arith": "tests/python/arith/*.py",
    "tir_analysis": "tests/python/tir-analysis/*.py",
    "tvmscript": "tests/python/tvmscript/*.py",
    "create_prim_func": "tests/python/te/test_te_create_primfunc.py",
}

# Tests that expect loops of TVM 0.18 whose values are wrong: extremes that begin with the least finite number, places of extremes
# that begin with -1, variances in one pass, and products with rounded reciprocals.
CORRECTED = {
    "test_transform_legalize_ops_nn": (
        "max_pool2d max_pool2d_NCHW16c max_pool2d_ceil_mode adaptive_avg_pool2d batch_norm layer_norm layer_norm_fp16 "
        "layer_norm_symbolic group_norm group_norm_fp16 group_norm_symbolic rms_norm rms_norm_fp16 rms_norm_no_bias"),
    "test_transform_legalize_ops_search_statistical": (
        "argmax argmax_symbolic argmin argmin_symbolic max max_symbolic min min_symbolic mean std variance variance_no_keepdims"),
    "test_transform_legalize_ops_grad": "max_pool2d_backward",
}


def is_corrected(file, test):
    """Returns whether a test expects what is corrected here."""
    names = CORRECTED.get(os.path.basename(file).removesuffix(".py"), "").split()
    return test.removeprefix("test_") in names


def extract(repository, tag, folder):
    """Unpacks the tests of a tag of a repository."""
    folders = ["relax", "tir-transform", "ir", "tir-schedule", "tir-base", "arith", "tir-analysis", "tvmscript", "te", "conftest.py"]
    archive = subprocess.run(["git", "-C", repository, "archive", f"refs/tags/{tag}", "conftest.py"] +
                             ["tests/python/" + name for name in folders],
                             check=True, capture_output=True).stdout
    subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)


def run(folder, package, files):
    """The results by file: a list of (test, outcome, message)."""
    with tempfile.TemporaryDirectory() as temporary:
        report = os.path.join(temporary, "report.xml")
        command = [sys.executable, "-m", "pytest", "-p", "iropt.testing.plugin", "-p", "no:cacheprovider", "-q",
                   "-W", "ignore", "--continue-on-collection-errors", f"--junit-xml={report}", "-o",
                   "junit_family=xunit1", *files]
        environment = {**os.environ, "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(command, cwd=folder, env=environment, check=False, stdout=subprocess.DEVNULL)
        results = collections.defaultdict(list)
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            outcome, message = "passed", ""
            for child in case:
                if child.tag in ("failure", "error", "skipped"):
                    outcome = {"failure": "failed", "error": "error"}.get(child.tag, child.tag)
                    message = (child.get("message") or "").split("\n")[0]
            # Methods that tests inherit are in other files; a file that cannot be collected is the name of its test.
            words = (case.get("classname") or case.get("name")).split(".")
            last = next((i for i, word in enumerate(words) if word.startswith("test_")), len(words) - 1)
            file = "/".join(words[: last + 1]) + ".py"
            results[file].append((case.get("name"), outcome, message))
        return results


def print_table(results):
    width = max(len(file) for file in results)
    print(f"{'file':{width}}  passed  failed  errors  skipped")
    for file in sorted(results):
        count = collections.Counter(outcome for _, outcome, _ in results[file])
        print(f"{file:{width}}  {count['passed']:6}  {count['failed']:6}  {count['error']:6}  {count['skipped']:7}")


def print_ratios(results, minimums):
    """Prints the share of each group; returns whether all are large enough."""
    enough = True
    for group, pattern in GROUPS.items():
        prefix = pattern.split("*")[0].rsplit(".py", 1)[0]
        outcomes = [(outcome, is_corrected(file, test)) for file, cases in results.items() if file.startswith(prefix)
                    for test, outcome, _ in cases if outcome != "skipped"]
        if not outcomes:
            continue
        passed = sum(outcome == "passed" for outcome, _ in outcomes)
        corrected = sum(outcome == "failed" and is_other for outcome, is_other in outcomes)
        ratio = passed / len(outcomes)
        enough &= ratio >= minimums.get(group, 0)
        print(f"{group}: {passed} of {len(outcomes)} tests pass ({ratio:.3f})" + (
            f", {passed / (len(outcomes) - corrected):.3f} without {corrected} that expect what is corrected here" if corrected else ""))
    return enough


def print_reasons(results):
    reasons = collections.Counter()
    for cases in results.values():
        reasons.update(re.sub(r"^\S+:\d+:\d+: ", "", message)[:120] for _, outcome, message in cases
                       if outcome in ("failed", "error"))
    for reason, count in reasons.most_common(40):
        print(f"{count:5}  {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", required=True, help="the folder that has the package iropt")
    parser.add_argument("--repository", help="a clone of TVM's repository")
    parser.add_argument("--tag", default="v0.18.0")
    parser.add_argument("--tests", help="a folder that has tests/python of TVM")
    parser.add_argument("--minimum", action="append", default=[], metavar="GROUP=RATIO")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("files", nargs="*", metavar="TEST")
    options = parser.parse_args()
    minimums = {group: float(ratio) for group, ratio in (item.split("=") for item in options.minimum)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.tests or temporary
        if not options.tests:
            extract(options.repository, options.tag, folder)
        files = options.files or [os.path.relpath(file, folder) for pattern in GROUPS.values()
                                  for file in sorted(glob.glob(os.path.join(folder, pattern)))]
        results = run(folder, os.path.abspath(options.package), files)
    print_table(results)
    if options.reasons:
        print_reasons(results)
    return 0 if print_ratios(results, minimums) else 1


if __name__ == "__main__":
    sys.exit(main())
