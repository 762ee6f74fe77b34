#!/usr/bin/env python3
"""Runs the tests of the WebAssembly build.

  run.py [--native build/bin/ir-opt] [TEST...]

TEST is `runtime` (web/runtime), `files` (files in memory), `package` (the package for npm), `bytes` (what the tools write is what the native ones do), `lit` (every
25th lit test of test/text, test/transform and test/exchange), `page` (the page, in Chromium), or `lit_all`; without a name, all but the
last one run. Tests that lack what they need are skipped: `bytes` the native tool, `page` Chromium, all of them the build of
scripts/web.sh. The exit code is 1 if a test fails, and 77 if all are skipped.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
SKIPPED = 77


def steps(native):
    """The command of each test, and why it cannot run, if so."""
    no_native = None if native else "the native ir-opt is not built"
    flags = [f"--native={native}"] if native else []
    no_browser = None if shutil.which("chromium") else "Chromium is not installed"
    return {"runtime": (["runtime.py"], None), "files": (["memory_files.mjs"], None), "package": (["package.py", *flags], None),
            "bytes": (["same_bytes.py", *flags], no_native),
            "lit": (["lit_in_node.py", "--sample=25"], None), "page": (["page.py"], no_browser), "lit_all": (["lit_in_node.py"], None)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", metavar="PROGRAM", default=os.path.join(ROOT, "build", "bin", "ir-opt"))
    parser.add_argument("tests", nargs="*", metavar="TEST")
    args = parser.parse_args()
    known = steps(args.native if os.path.exists(args.native) else None)
    if unknown := [name for name in args.tests if name not in known]:
        parser.error(f"unknown test '{unknown[0]}': expected {', '.join(known)}")
    if not glob.glob(os.path.join(ROOT, "build-wasm", "npm", "ir-opt-*.tgz")) or not shutil.which("node"):
        print("skipped: build-wasm or Node is not there; scripts/web.sh builds and installs them")
        return SKIPPED
    codes = []
    for name in args.tests or [name for name in known if name != "lit_all"]:
        (script, *flags), why = known[name]
        print(f"== {name}" + (f": skipped, {why}" if why else ""), flush=True)
        command = [*(["node"] if script.endswith(".mjs") else [sys.executable, "-B"]), os.path.join(FOLDER, script), *flags]
        codes.append(SKIPPED if why else subprocess.run(command, check=False).returncode)
    failed = [code for code in codes if code not in (0, SKIPPED)]
    print(f"{codes.count(0)} passed, {len(failed)} failed, {codes.count(SKIPPED)} skipped")
    return 1 if failed else 0 if 0 in codes else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
