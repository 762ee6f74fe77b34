"""What a build folder compiles: its sources, their commands, what they include, and which of them changed."""
import argparse
import functools
import json
import os
import re
import shlex
import subprocess
import sys

from clang_tools import ROOT, sources

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def is_unity_source(path):
    return os.path.basename(os.path.dirname(path)) == "Unity"


def compiled_sources(path):
    """The sources that a compile command is for: those that the file includes if it is one of CMake's unity build."""
    if not is_unity_source(path):
        return [os.path.realpath(path)]
    with open(path, encoding="utf-8") as f:
        return [os.path.realpath(os.path.join(os.path.dirname(path), name)) for name in INCLUDE.findall(f.read())]


class CompiledSources:
    """The sources of a build folder: `commands` has the words of their compile commands, `units` the file that is compiled
    for them, which a unity build makes of several."""

    def __init__(self, root, build):
        self.root = os.path.realpath(root)
        self.commands, self.units = {}, {}
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            for command in json.load(f):
                for path in compiled_sources(command["file"]):
                    self.commands[path] = shlex.split(command["command"])
                    self.units[path] = command["file"]

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

    @functools.lru_cache(maxsize=None)
    def closure(self, path):
        """The file and every file of the repository that it includes."""
        folders = tuple(word[2:] for word in self.commands[path] if word.startswith("-I") and len(word) > 2)
        found, work = {path}, [path]
        while work:
            at = work.pop()
            for name in INCLUDE.findall(self.text(at)):
                file = self.included(at, name, folders)
                if file and file not in found:
                    found.add(file)
                    work.append(file)
        return frozenset(found)

    def affected(self, files, changed):
        """The files that changed, and for each changed header that none of them includes, one that does."""
        chosen = [path for path in files if path in changed]
        left = changed.difference(*map(self.closure, chosen))
        for path in files:
            if left and not left.isdisjoint(self.closure(path)):
                chosen.append(path)
                left -= self.closure(path)
        return chosen

    def select(self, check, folders, only=(), changed=None):
        """The sources of the folders, or of `only`, that are compiled; of them those that `changed` files affect, if it is
        given, whose number is printed after the name of the check."""
        files = only or [os.path.join(self.root, path) for path in sources(self.root, ".cpp", folders)]
        files = [path for path in map(os.path.realpath, files) if path in self.commands]
        if not files:
            sys.exit(f"check_{check}: the build folder compiles none of the files")
        if changed is None:
            return files
        chosen = self.affected(files, changed)
        print(f"{check}: {len(chosen)} of {len(files)} files, for what was changed")
        return chosen


def git(root, *arguments):
    result = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=root, check=False)
    return result.stdout if result.returncode == 0 else None


class PassedCommit:
    """The last commit at which a check passed in a build folder."""

    def __init__(self, root, build, check):
        self.root, self.path = root, os.path.join(build, f"{check}_passed_at")

    def base(self):
        """The commit to compare with: this one, where the branch left origin/main, or the one before the last; or nothing."""
        passed = ""
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as f:
                passed = f.read().strip()
        if passed and git(self.root, "merge-base", "--is-ancestor", passed, "HEAD") is not None:
            return passed
        head = (git(self.root, "rev-parse", "HEAD") or "").strip()
        left = (git(self.root, "merge-base", "HEAD", "origin/main") or "").strip()
        return left if left and left != head else (git(self.root, "rev-parse", "HEAD~1") or "").strip()

    def changed_files(self):
        """The files that differ from the base, committed or not; None where git does not know."""
        base = self.base()
        if not base:
            return None
        names = git(self.root, "diff", base, "--name-only", "--no-renames")
        names += git(self.root, "ls-files", "--others", "--exclude-standard")
        return {os.path.realpath(os.path.join(self.root, name)) for name in names.splitlines()}

    def store(self):
        head = git(self.root, "rev-parse", "HEAD")
        if head:
            with open(self.path, "w", encoding="utf-8") as f:
                f.write(head)


def run_check(name, document, check):
    """The program of a check of compiled sources: check(root, build, only, changed) returns what it found."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build folder with compile_commands.json")
    parser.add_argument("--changed", action="store_true", help="check only what was changed since the check passed")
    parser.add_argument("files", nargs="*", help="check only these sources")
    args = parser.parse_args()
    passed = PassedCommit(ROOT, args.build, name)
    problems = check(ROOT, args.build, args.files, args.changed)
    if not problems and not args.files:
        passed.store()
    print("\n".join(problems) if problems else f"{name}: no violations")
    sys.exit(1 if problems else 0)
