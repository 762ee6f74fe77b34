#!/usr/bin/env python3
"""Runs lit tests with the WebAssembly tools in Node instead of the native ones, and compares the failures with those that are
known.

  lit_in_node.py [--sample N] [--jobs N] [FOLDER...]

Without folders: test/text, test/transform and test/exchange. With --sample, every Nth test runs. One process of Node runs all commands
(tool_server.mjs). A test that fails and is not in web/test/known_failures.txt, or is there and passes, is an error; so is a share of
passing tests below 0.97 of all, and a test of the list that does not exist.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

from tool_server import BUILD, ROOT, ToolServer

LIT = os.path.join(BUILD, "lit")
KNOWN = os.path.join(ROOT, "web", "test", "known_failures.txt")
FOLDERS = ("text", "transform", "exchange")
LEAST_SHARE = 0.97
SKIPPED = 77


def tool_folder():
    """The newest FileCheck and not; None without them."""
    for folder in sorted(glob.glob("/usr/lib/llvm-*/bin"), reverse=True):
        if all(os.path.exists(os.path.join(folder, name)) for name in ("FileCheck", "not")):
            return folder
    return None


def lit_program():
    found = sorted([*glob.glob("/usr/lib/llvm-*/bin/lit"), *glob.glob("/usr/lib/llvm-*/build/utils/lit/lit.py")], reverse=True)
    return [sys.executable, found[0]] if found else None


def known_failures():
    with open(KNOWN, encoding="utf-8") as file:
        return {line.split(":")[0].strip() for line in file if line.strip() and not line.startswith("#")}


def run_tests(lit, args):
    """What lit says of each test, by its path below test."""
    results = os.path.join(LIT, "results.json")
    config = os.path.join(LIT, "wasm.site.cfg.py")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"lit_config.load_config(config, {os.path.join(ROOT, 'web', 'test', 'lit.site.cfg.py')!r})\n")
    command = [*lit, "-q", f"-j{args.jobs}", f"--output={results}", "--config-prefix=wasm",
               f"--num-shards={args.sample}", "--run-shard=1", *(os.path.join(LIT, folder) for folder in args.folders)]
    environment = {**os.environ, "IROPT_LLVM_TOOLS": tool_folder(), "IROPT_PYTHON": sys.executable}
    subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
    with open(results, encoding="utf-8") as file:
        return {re.sub(r"^.*? :: ", "", test["name"]): test for test in json.load(file)["tests"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=1, metavar="N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    args = parser.parse_args()
    lit = lit_program()
    if lit is None or tool_folder() is None:
        print("lit: skipped, lit or FileCheck is not installed")
        return SKIPPED
    with ToolServer(os.path.join(LIT, "bin"), args.jobs):
        tests = run_tests(lit, args)
    passed = {name for name, test in tests.items() if test["code"] in ("PASS", "XFAIL")}
    failed = {name: test for name, test in tests.items() if test["code"] in ("FAIL", "TIMEOUT", "UNRESOLVED", "XPASS")}
    known = known_failures()
    problems = [f"{name}: {test['code']}\n{test['output'][-1500:]}" for name, test in sorted(failed.items()) if name not in known]
    problems += [f"{name}: passes, but is in {os.path.relpath(KNOWN, ROOT)}" for name in sorted(known & passed)]
    problems += [f"{name}: is in {os.path.relpath(KNOWN, ROOT)}, but does not exist" for name in sorted(known)
                 if not os.path.exists(os.path.join(ROOT, "test", name))]
    share = len(passed) / max(1, len(passed) + len(failed))
    print("\n".join(problems))
    print(f"share of tests that pass: {share:.3f}")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(tests) - len(passed) - len(failed)} skipped")
    return 1 if problems or (args.sample == 1 and share < LEAST_SHARE) else 0


if __name__ == "__main__":
    sys.exit(main())
