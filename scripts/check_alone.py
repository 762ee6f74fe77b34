#!/usr/bin/env python3
"""Checks that the C++ sources and headers include what they use: that each compiles alone.

  check_alone.py BUILD_FOLDER [--changed] [FILE...]

BUILD_FOLDER holds compile_commands.json. In a unity build, and with precompiled headers, a file can use what another one
includes; then the preset `dev`, which compiles sources one by one, does not compile it. Each source is read by its own
compiler with the options of its command, without a precompiled header and without making code, and so is each header of
the folders include and lib that it is the first to include. With --changed, only what differs from the commit at
which the check passed last in the folder is checked, or from where the branch left origin/main. Prints what the compiler
reports and exits with 1 if that is anything.
"""
import concurrent.futures
import os
import re
import subprocess

from compiled_sources import CompiledSources, PassedCommit, run_check

# Options with a value that is not for a compilation that makes nothing.
WITH_VALUE = ("-o", "-MF", "-MT", "-MQ", "-include")
FOLDERS = ("bench", "examples", "lib", "python", "test/random", "test/unit", "tools")
COMPILER = re.compile(r"(^|/)[^/]*(c|g|clang)\+\+[^/]*$")


def syntax_command(command):
    """The compiler and its options, to read a source that is to be added; launchers of the compiler are left out."""
    start = next((i for i, word in enumerate(command) if COMPILER.search(word)), 0)
    words, kept = iter(command[start:command.index("-c")]), []
    for word in words:
        if word in WITH_VALUE:
            next(words)
        elif word not in ("-MD", "-MMD", "-fpch-preprocess", "-Winvalid-pch"):
            kept.append(word)
    return [*kept, "-fsyntax-only", "-x", "c++"]


def headers_of(compiled, files, changed):
    """Pairs of a header that is to be checked and a source that includes it; each header once."""
    folders = tuple(os.path.join(compiled.root, folder) + os.sep for folder in ("include", "lib"))
    found = {}
    for path in files:
        for header in sorted(compiled.closure(path)):
            if header.endswith(".h") and header.startswith(folders) and (changed is None or header in changed):
                found.setdefault(header, path)
    return list(found.items())


def check(root, build=None, only=(), changed=False):
    """The reports of the compiler for the files of FOLDERS that the build folder compiles, or for `only` some."""
    build = build or os.path.join(root, "build")
    compiled = CompiledSources(root, build)
    changed_files = PassedCommit(root, build, "alone").changed_files() if changed else None
    files = compiled.select("alone", FOLDERS, only, changed_files)
    pairs = [(path, path) for path in files if changed_files is None or path in changed_files]
    pairs += headers_of(compiled, files, changed_files)

    def report(pair):
        path, source = pair
        # A header that is compiled itself would be the main file, in which GCC warns of #pragma once.
        text = f'#include "{path}"\n'
        result = subprocess.run([*syntax_command(compiled.commands[source]), "-"], input=text, capture_output=True,
                                text=True, cwd=build, check=False)
        return f"{os.path.relpath(path, root)} does not compile alone:\n{result.stderr}" if result.returncode else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [text.strip() for text in pool.map(report, pairs) if text]


if __name__ == "__main__":
    run_check("alone", __doc__, check)
