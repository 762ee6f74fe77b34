#!/usr/bin/env python3
"""Checks the C++ sources with clang-tidy, as .clang-tidy says.

  check_tidy.py BUILD_FOLDER [--minutes=N] [FILE...]

BUILD_FOLDER holds compile_commands.json. A file whose text, headers and checks have not changed since it passed is not
checked again: the folder `tidy` in BUILD_FOLDER remembers it. Without clang-tidy 14 the check is skipped (exit code 77).
With --minutes, no file is begun after that time, and the files that were changed last come first. Prints what clang-tidy reports and exits with 1 if that is anything.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time

from clang_tools import ROOT, find_tool, sources

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def language_flags(command):
    """The flags of a compile command that decide what the source means: not those of one compiler."""
    flags, words = [], iter(shlex.split(command))
    for word in words:
        if word in ("-I", "-isystem", "-D"):
            flags += [word, next(words)]
        elif word.startswith(("-I", "-D", "-std=", "-mavx", "-mfma")):
            flags.append(word)
    return flags


def compiled_sources(path):
    """The sources that a compile command is for: those that the file includes if it is one of CMake's unity build."""
    if os.path.basename(os.path.dirname(path)) != "Unity":
        return [os.path.realpath(path)]
    with open(path, encoding="utf-8") as f:
        return [os.path.realpath(os.path.join(os.path.dirname(path), name)) for name in INCLUDE.findall(f.read())]


class Checker:
    def __init__(self, root, build):
        self.root = os.path.realpath(root)
        self.tool = find_tool("clang-tidy")
        self.passed = os.path.join(build, "tidy")
        os.makedirs(self.passed, exist_ok=True)
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            self.flags = {path: language_flags(c["command"]) for c in json.load(f) for path in compiled_sources(c["file"])}
        with open(os.path.join(root, ".clang-tidy"), encoding="utf-8") as f:
            self.checks = f.read()
        self.deadline = None
        self.not_begun = 0

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        try:
            with open(path, encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def closure(self, path, folders):
        """The file and every file of the repository that it includes."""
        found, work = {path}, [path]
        while work:
            at = work.pop()
            for name in INCLUDE.findall(self.text(at)):
                for folder in (os.path.dirname(at), *folders):
                    candidate = os.path.realpath(os.path.join(folder, name))
                    if candidate.startswith(self.root) and self.text(candidate) is not None:
                        if candidate not in found:
                            found.add(candidate)
                            work.append(candidate)
                        break
        return found

    def key(self, path, flags):
        folders = [f[2:] if len(f) > 2 else "" for f in flags if f.startswith("-I")]
        digest = hashlib.sha256("\0".join([self.checks, *flags]).encode())
        for file in sorted(self.closure(path, folders)):
            digest.update(self.text(file).encode())
        return digest.hexdigest()

    def check(self, path):
        """What clang-tidy reports for a file; empty if it is clean."""
        flags = self.flags[path]
        marker = os.path.join(self.passed, self.key(path, flags))
        if os.path.exists(marker):
            return ""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.not_begun += 1
            return ""
        result = subprocess.run([self.tool, "--quiet", path, "--", *flags], capture_output=True, text=True, cwd=self.root)
        if result.returncode == 0 and not result.stdout.strip():
            open(marker, "w").close()
            return ""
        return result.stdout or result.stderr


def newest_first(root, files):
    """The files in the order of their last commits, those without one first."""
    log = subprocess.run(["git", "log", "--format=", "--name-only", "--", "lib", "tools"], capture_output=True, text=True,
                         cwd=root, check=False)
    rank = {}
    for name in log.stdout.splitlines():
        rank.setdefault(os.path.realpath(os.path.join(root, name)), len(rank))
    return sorted(files, key=lambda path: rank.get(path, -1))


def check(root, build=None, only=(), minutes=None):
    """What clang-tidy reports for the files of lib and tools that the build folder compiles, or for `only` some."""
    checker = Checker(root, build or os.path.join(root, "build"))
    files = map(os.path.realpath, only or [os.path.join(root, path) for path in sources(root, ".cpp", ("lib", "tools"))])
    files = [path for path in files if path in checker.flags]
    if not files:
        sys.exit("check_tidy: the build folder compiles none of the files")
    if minutes is not None:
        checker.deadline = time.monotonic() + 60 * minutes
        files = newest_first(root, files)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = [report.strip() for report in pool.map(checker.check, files) if report]
    if checker.not_begun:
        print(f"tidy: {checker.not_begun} of {len(files)} files were not checked within {minutes:g} minutes")
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build folder with compile_commands.json")
    parser.add_argument("--minutes", type=float, help="begin no file after this time")
    parser.add_argument("files", nargs="*", help="check only these")
    args = parser.parse_args()
    problems = check(ROOT, args.build, args.files, args.minutes)
    print("\n".join(problems) if problems else "tidy: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
