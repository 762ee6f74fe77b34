#!/usr/bin/env python3
"""Checks the C++ sources with clang-tidy, as .clang-tidy says.

  check_tidy.py BUILD_FOLDER [--changed] [FILE...]

BUILD_FOLDER holds compile_commands.json. Sources that CMake's unity build compiles together are checked together, which
takes an eighth of the time. Sources whose texts, headers and checks have not changed since they passed are not checked
again: the folder `tidy` in BUILD_FOLDER remembers it. Without clang-tidy 14 the check is skipped (exit code 77). With
--changed, only what differs from the commit at which the check passed last in the folder is checked, or from where the
branch left origin/main; of the sources that include a changed header, one is enough. Prints what clang-tidy reports and
exits with 1 if that is anything.
"""
import concurrent.futures
import hashlib
import os
import subprocess

from clang_tools import find_tool
from compiled_sources import CompiledSources, PassedCommit, run_check


def language_flags(command):
    """The flags of a compile command that decide what the source means: not those of one compiler."""
    flags, words = [], iter(command)
    for word in words:
        if word in ("-I", "-isystem", "-D"):
            flags += [word, next(words)]
        elif word.startswith(("-I", "-D", "-std=", "-mavx", "-mfma")):
            flags.append(word)
    return flags


class Checker:
    def __init__(self, compiled, build):
        self.compiled = compiled
        self.tool = find_tool("clang-tidy")
        self.passed = os.path.join(os.path.realpath(build), "tidy")
        os.makedirs(self.passed, exist_ok=True)
        with open(os.path.join(compiled.root, ".clang-tidy"), encoding="utf-8") as f:
            self.checks = f.read()

    def key(self, paths, flags):
        digest = hashlib.sha256("\0".join([self.checks, *flags]).encode())
        for file in sorted(set().union(*map(self.compiled.closure, paths))):
            digest.update(self.compiled.text(file).encode())
        return digest.hexdigest()

    def groups(self, paths):
        """Lists of the sources that are compiled together."""
        groups = {}
        for path in paths:
            groups.setdefault(self.compiled.units[path], []).append(path)
        return list(groups.values())

    def check(self, paths):
        """The reports of clang-tidy for sources that are compiled together; empty if they are clean."""
        flags = language_flags(self.compiled.commands[paths[0]])
        marker = os.path.join(self.passed, self.key(paths, flags))
        if os.path.exists(marker):
            return ""
        source, checks = paths[0], []
        if len(paths) > 1:
            source, checks = f"{marker}.cpp", ["--checks=-bugprone-suspicious-include"]
            with open(source, "w", encoding="utf-8") as f:
                f.writelines(f'#include "{path}"\n' for path in paths)
        root = self.compiled.root
        result = subprocess.run([self.tool, "--quiet", *checks, f"--config-file={root}/.clang-tidy", source, "--", *flags],
                                capture_output=True, text=True, cwd=root, check=False)
        if result.returncode == 0 and not result.stdout.strip():
            open(marker, "w").close()
            return ""
        return result.stdout or result.stderr


def check(root, build=None, only=(), changed=False):
    """The reports of clang-tidy for the files of lib and tools that the build folder compiles, or for `only` some."""
    build = build or os.path.join(root, "build")
    compiled = CompiledSources(root, build)
    changed_files = PassedCommit(root, build, "tidy").changed_files() if changed else None
    checker = Checker(compiled, build)
    files = compiled.select("tidy", ("lib", "tools"), only, changed_files)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [report.strip() for report in pool.map(checker.check, checker.groups(files)) if report]


if __name__ == "__main__":
    run_check("tidy", __doc__, check)
