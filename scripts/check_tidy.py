#!/usr/bin/env python3
"""Checks the C++ sources with clang-tidy, as .clang-tidy says.

  check_tidy.py BUILD_FOLDER [--changed=HOURS] [FILE...]

BUILD_FOLDER holds compile_commands.json. Sources that CMake's unity build compiles together are checked together, which
takes an eighth of the time. Sources whose texts, headers and checks have not changed since they passed are not checked
again: the folder `tidy` in BUILD_FOLDER remembers it. Without clang-tidy 14 the check is skipped (exit code 77). With
--changed, only what was changed within so many hours before the last commit is checked, and what is not committed; of the
sources that include a changed header, one is enough. Prints what clang-tidy reports and exits with 1 if that is anything.
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


def is_unity_source(path):
    return os.path.basename(os.path.dirname(path)) == "Unity"


def compiled_sources(path):
    """The sources that a compile command is for: those that the file includes if it is one of CMake's unity build."""
    if not is_unity_source(path):
        return [os.path.realpath(path)]
    with open(path, encoding="utf-8") as f:
        return [os.path.realpath(os.path.join(os.path.dirname(path), name)) for name in INCLUDE.findall(f.read())]


class Checker:
    def __init__(self, root, build):
        self.root = os.path.realpath(root)
        self.tool = find_tool("clang-tidy")
        self.passed = os.path.join(os.path.realpath(build), "tidy")
        os.makedirs(self.passed, exist_ok=True)
        self.flags, self.unity = {}, {}
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            for command in json.load(f):
                for path in compiled_sources(command["file"]):
                    self.flags[path] = language_flags(command["command"])
                    self.unity[path] = command["file"]
        with open(os.path.join(root, ".clang-tidy"), encoding="utf-8") as f:
            self.checks = f.read()

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        try:
            with open(path, encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return None

    @functools.lru_cache(maxsize=None)
    def included(self, path, name, folders):
        """The file of the repository that `path` includes by this name, or nothing."""
        for folder in (os.path.dirname(path), *folders):
            candidate = os.path.realpath(os.path.join(folder, name))
            if candidate.startswith(self.root) and self.text(candidate) is not None:
                return candidate
        return None

    def closure(self, path):
        """The file and every file of the repository that it includes."""
        folders = tuple(f[2:] for f in self.flags[path] if f.startswith("-I") and len(f) > 2)
        found, work = {path}, [path]
        while work:
            at = work.pop()
            for name in INCLUDE.findall(self.text(at)):
                file = self.included(at, name, folders)
                if file and file not in found:
                    found.add(file)
                    work.append(file)
        return found

    def key(self, paths):
        digest = hashlib.sha256("\0".join([self.checks, *self.flags[paths[0]]]).encode())
        for file in sorted(set().union(*map(self.closure, paths))):
            digest.update(self.text(file).encode())
        return digest.hexdigest()

    def groups(self, paths):
        """Lists of the sources that are compiled together."""
        groups = {}
        for path in paths:
            groups.setdefault(self.unity[path], []).append(path)
        return list(groups.values())

    def check(self, paths):
        """The reports of clang-tidy for sources that are compiled together; empty if they are clean."""
        key = self.key(paths)
        marker = os.path.join(self.passed, key)
        if os.path.exists(marker):
            return ""
        source, checks = paths[0], []
        if len(paths) > 1:
            source, checks = f"{marker}.cpp", ["--checks=-bugprone-suspicious-include"]
            with open(source, "w", encoding="utf-8") as f:
                f.writelines(f'#include "{path}"\n' for path in paths)
        result = subprocess.run([self.tool, "--quiet", *checks, f"--config-file={self.root}/.clang-tidy", source, "--",
                                 *self.flags[paths[0]]], capture_output=True, text=True, cwd=self.root, check=False)
        if result.returncode == 0 and not result.stdout.strip():
            open(marker, "w").close()
            return ""
        return result.stdout or result.stderr


def git(root, *arguments):
    result = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=root, check=False)
    return result.stdout if result.returncode == 0 else None


def changed_files(root, hours):
    """The files that were changed within so many hours before the last commit or since; None where git does not know."""
    time = git(root, "log", "-1", "--format=%ct")
    if not time:
        return None
    names = git(root, "log", f"--since={int(time) - 3600 * hours}", "--format=", "--name-only", "--no-renames")
    names += git(root, "diff", "HEAD", "--name-only") + git(root, "ls-files", "--others", "--exclude-standard")
    return {os.path.realpath(os.path.join(root, name)) for name in names.splitlines()}


def affected(checker, files, changed):
    """The files that changed, and for each changed header that none of them includes, one that does."""
    chosen = [path for path in files if path in changed]
    left = changed.difference(*map(checker.closure, chosen))
    for path in files:
        if left and not left.isdisjoint(checker.closure(path)):
            chosen.append(path)
            left -= checker.closure(path)
    return chosen


def check(root, build=None, only=(), hours=None):
    """The reports of clang-tidy for the files of lib and tools that the build folder compiles, or for `only` some."""
    checker = Checker(root, build or os.path.join(root, "build"))
    files = map(os.path.realpath, only or [os.path.join(root, path) for path in sources(root, ".cpp", ("lib", "tools"))])
    files = [path for path in files if path in checker.flags]
    if not files:
        sys.exit("check_tidy: the build folder compiles none of the files")
    changed = changed_files(root, hours) if hours is not None else None
    if changed is not None:
        every = len(files)
        files = affected(checker, files, changed)
        print(f"tidy: {len(files)} of {every} files, for what was changed within {hours} hours before the last commit")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [report.strip() for report in pool.map(checker.check, checker.groups(files)) if report]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build folder with compile_commands.json")
    parser.add_argument("--changed", type=int, metavar="HOURS", help="check only what was changed so recently")
    parser.add_argument("files", nargs="*", help="check only these")
    args = parser.parse_args()
    problems = check(ROOT, args.build, args.files, args.changed)
    print("\n".join(problems) if problems else "tidy: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
