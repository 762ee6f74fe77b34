#!/usr/bin/env python3
"""Runs the tests of the WebAssembly build.

  run.py [--native build/bin/ir-opt] [TEST...]

TEST is `runtime` (web/runtime), `files` (files in memory), `size` (of the module), `package` (the package for npm), `runs` (runs leave
nothing behind for each other), `bytes` (what the tools write is what the native ones do), `lit` (every 25th lit test of test/text,
test/transform and test/exchange), `page` and `firefox` (the page, in Chromium and in Firefox), or `lit_all`; without a name, all but
the last one run, two at a time but for those of the page, which measure what a run takes. Tests that lack what they need are skipped: `bytes` the native tool, `page` and `firefox` the browser, all of them the
build of scripts/web.sh. The exit code is 1 if a test fails, and 77 if all are skipped.
"""
import argparse
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
BUILD = os.path.join(ROOT, "build-wasm")
SKIPPED = 77
ALONE = ("page", "firefox")


def steps(native):
    """The command of each test, and why it cannot run, if so."""
    no_native = None if native else "the native ir-opt is not built"
    flags = [f"--native={native}"] if native else []
    missing = {name: None if shutil.which(name) else f"{name} is not installed" for name in ("chromium", "firefox-esr")}
    return {"runtime": (["runtime.py"], None), "files": (["memory_files.mjs"], None), "size": (["size.mjs"], None),
            "package": (["package.py", *flags], None), "runs": (["runs.mjs"], None), "bytes": (["same_bytes.py", *flags], no_native),
            "lit": (["lit_in_node.py", "--sample=25"], None), "page": (["page.py"], missing["chromium"]),
            "firefox": (["page.py", "--firefox"], missing["firefox-esr"]), "lit_all": (["lit_in_node.py"], None)}


def reason_to_skip():
    """Why no test can run; nothing if they can."""
    if not shutil.which("node"):
        return "Node is not installed: Debian's package is nodejs"
    if not glob.glob(os.path.join(BUILD, "npm", "ir-opt-*.tgz")):
        return f"{BUILD} has no WebAssembly build: run scripts/web.sh, which installs what it needs, builds it and runs these tests"
    return None


def run_test(step):
    """The exit code of a test, and what it prints."""
    (script, *flags), why = step
    if why:
        return SKIPPED, f"skipped, {why}\n"
    command = [*(["node"] if script.endswith(".mjs") else [sys.executable, "-B"]), os.path.join(FOLDER, script), *flags]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout


def run_all(names, known):
    """Runs tests, prints what they print in their order, and returns their exit codes."""
    codes = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first = {name: pool.submit(run_test, known[name]) for name in names if name not in ALONE}
        for name in names:
            # The tests of the page come last: they start when all others have ended.
            if name in ALONE:
                concurrent.futures.wait(first.values())
            code, printed = run_test(known[name]) if name in ALONE else first[name].result()
            print(f"== {name}\n{printed}", end="", flush=True)
            codes.append(code)
    return codes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", metavar="PROGRAM", default=os.path.join(ROOT, "build", "bin", "ir-opt"))
    parser.add_argument("tests", nargs="*", metavar="TEST")
    args = parser.parse_args()
    known = steps(args.native if os.path.exists(args.native) else None)
    if unknown := [name for name in args.tests if name not in known]:
        parser.error(f"unknown test '{unknown[0]}': expected {', '.join(known)}")
    if why := reason_to_skip():
        print(f"skipped: {why}")
        return SKIPPED
    codes = run_all(args.tests or [name for name in known if name != "lit_all"], known)
    failed = [code for code in codes if code not in (0, SKIPPED)]
    print(f"{codes.count(0)} passed, {len(failed)} failed, {codes.count(SKIPPED)} skipped")
    return 1 if failed else 0 if 0 in codes else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
