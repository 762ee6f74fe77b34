#!/usr/bin/env python3
"""Mutation testing: changes one operator, condition, constant or call at a time, and tells which changes no test notices.

  scripts/mutation.py lib/arith/bounds.cpp --unit=arith [--record=FILE] [--limit=200] [--seed=0]
  scripts/mutation.py lib/transform/relax/simplify --unit=transform --lit=transform/relax/dead_code_elimination

The places come from the syntax tree of Clang (clang-query, of the package clang-tools-14). Each mutant is compiled in a build
folder of its own (--build, made if it is missing), without unity builds: the object of the changed file, and the programs that
run the tests. A mutant that does not compile does not count. The tests are the Catch2 programs of --unit and the folders of
--lit below test/; a mutant is dead if one of them fails, crashes or takes ten times as long as before.

The record is a table of the numbers by file and a list of the mutants that survived, which a person may mark as equivalent by
a reason after "equivalent:"; the next run keeps that.
"""
import argparse
import dataclasses
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What an operator is replaced by.
OPERATORS = {
    "<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "&&": ["||"], "||": ["&&"],
    "&": ["|"], "|": ["&"], "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "<<": [">>"], ">>": ["<<"],
}
MATCHERS = {
    "operator": 'binaryOperator(isExpansionInMainFile(), hasRHS(expr().bind("at")))',
    "overload": 'cxxOperatorCallExpr(isExpansionInMainFile(), hasAnyOverloadedOperatorName("==", "!="), '
                'hasArgument(1, expr().bind("at")))',
    "condition": 'ifStmt(isExpansionInMainFile(), hasCondition(expr().bind("at")))',
    "integer": 'integerLiteral(isExpansionInMainFile()).bind("at")',
    "boolean": 'cxxBoolLiteral(isExpansionInMainFile()).bind("at")',
    "call": 'compoundStmt(isExpansionInMainFile(), forEach(expr(anyOf(callExpr(), '
            'exprWithCleanups(has(callExpr())))).bind("at")))',
}


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    file: str
    begin: int  # offsets
    end: int
    text: str  # what replaces the source there

    def apply(self, source):
        return source[:self.begin] + self.text + source[self.end:]

    def describe(self, source):
        line = source.count("\n", 0, self.begin) + 1
        old = " ".join(source[self.begin:self.end].split())
        return f"{self.file}:{line}: `{old}` -> `{self.text or 'nothing'}`"


def offsets_of(source):
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    return offsets


def closing(source, begin):
    """The offset after the parenthesis that closes the one at `begin`."""
    depth = 0
    for i in range(begin, len(source)):
        depth += (source[i] in "([{") - (source[i] in ")]}")
        if depth == 0:
            return i + 1
    return len(source)


def mutants_at(kind, file, source, at):
    """The mutants for the place that a matcher has found: the beginning of the expression that is bound."""
    if kind in ("operator", "overload"):
        match = re.search(r"(<<=|>>=|<=|>=|==|!=|&&|\|\||\+=|-=|\|=|&=|<<|>>|[-+*/%<>&|])\s*[(\s]*$", source[max(at - 200, 0):at])
        if not match:
            return []
        begin = max(at - 200, 0) + match.start(1)
        return [Mutant(file, begin, begin + len(match.group(1)), new) for new in OPERATORS.get(match.group(1), [])]
    if kind == "condition":
        begin = source.rfind("(", 0, at + 1)
        head = source[max(begin - 12, 0):begin].rstrip()
        if begin < 0 or not head.endswith(("if", "constexpr")) or head.endswith("constexpr"):
            return []
        end = closing(source, begin)
        inner = source[begin + 1:end - 1]
        if ";" in inner:
            begin += 1 + inner.rfind(";")
        return [Mutant(file, begin + 1, end - 1, value) for value in ("true", "false")] if "=" not in re.sub(
            r"[=!<>]=", "", inner) else []
    if kind == "integer":
        match = re.match(r"\d+\b", source[at:])
        if not match:
            return []
        return [Mutant(file, at, at + match.end(), str(int(match.group()) + 1))]
    if kind == "boolean":
        match = re.match(r"true|false", source[at:])
        return [Mutant(file, at, at + match.end(), {"true": "false", "false": "true"}[match.group()])] if match else []
    end = source.find(";", at)
    before = source[:at].rstrip()
    if end < 0 or "return" in source[at:end] or not before.endswith((";", "{", "}")):
        return []
    return [Mutant(file, at, end + 1, ";")]


def find_places(query, build, file):
    """(kind, line, column) of what the matchers find in the file."""
    args = [query, "-p", str(build), "--extra-arg=-Wno-everything", "-c", "set output diag", "-c", "set bind-root false"]
    kinds = list(MATCHERS)
    for kind in kinds:
        args += ["-c", f"match {MATCHERS[kind]}"]
    result = subprocess.run([*args, str(ROOT / file)], capture_output=True, text=True)
    kind = 0
    for line in result.stdout.splitlines():
        found = re.match(r'(.+?):(\d+):(\d+): note: "at" binds here', line)
        if found and pathlib.Path(found.group(1)).resolve() == (ROOT / file).resolve():
            yield kinds[kind], int(found.group(2)), int(found.group(3))
        elif re.fullmatch(r"\d+ match(es)?\.", line):
            kind += 1
    if kind != len(kinds):
        sys.exit(f"clang-query fails for {file}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")


def find_mutants(query, build, file):
    source = (ROOT / file).read_text()
    offsets = offsets_of(source)
    mutants = set()
    for kind, line, column in find_places(query, build, file):
        mutants.update(mutants_at(kind, file, source, offsets[line - 1] + column - 1))
    return sorted(mutants)


def run(command, timeout, cwd=None):
    """The exit code; a timeout or a crash is one that is not 0."""
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 124


def copy_sources(tree):
    """Makes the tree what the repository is now; files that are the same keep their times, so they are not built again."""
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, names.split("\0")):
        source, target = ROOT / name, tree / name
        if not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


class Tester:
    """A copy of the sources and a build of it, in which files are changed."""

    def __init__(self, args):
        self.build = pathlib.Path(args.build).resolve()
        self.tree = self.build / "source"
        self.units = args.unit
        self.lit = args.lit
        self.jobs = str(args.jobs)
        self.slowest = 0

    def prepare(self):
        self.build.mkdir(parents=True, exist_ok=True)
        copy_sources(self.tree)
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "-G", "Ninja", "-S", str(self.tree), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Release",
                            "-DCMAKE_UNITY_BUILD=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], check=True, stdout=subprocess.DEVNULL)
        if self.compile() != 0:
            sys.exit(f"{self.build}: the sources without changes do not build")
        begin = time.monotonic()
        if self.fails(3600):
            sys.exit("the tests fail without any change")
        self.slowest = time.monotonic() - begin

    def compile(self):
        targets = [f"unit_{unit}" for unit in self.units] + (["ir-opt", "ir-run"] if self.lit else [])
        return run(["ninja", "-j", self.jobs, *targets], 3600, self.build)

    def fails(self, timeout):
        for unit in self.units:
            if run([str(self.build / "bin" / f"unit_{unit}"), "-a"], timeout) != 0:
                return True
        folders = [str(self.build / "test" / folder) for folder in self.lit]
        lit = re.search(r"IROPT_LIT:\w+=(.*)", (self.build / "CMakeCache.txt").read_text())
        return bool(folders) and run([sys.executable, lit.group(1), "-q", "-j", self.jobs, *folders], timeout) != 0

    def test(self, mutant, source):
        """"dead", "alive", or "invalid" if it does not compile."""
        path = self.tree / mutant.file
        path.write_text(mutant.apply(source))
        try:
            if self.compile() != 0:
                return "invalid"
            return "dead" if self.fails(10 * self.slowest + 10) else "alive"
        finally:
            path.write_text(source)


def read_record(path):
    """The reasons of equivalent mutants, by their descriptions without the line number."""
    reasons = {}
    if path and path.exists():
        for line in path.read_text().splitlines():
            found = re.match(r"- (.*?) -- equivalent: (.*)", line)
            if found:
                reasons[without_line(found.group(1))] = found.group(2)
    return reasons


def without_line(text):
    return re.sub(r":\d+:", ":", text, count=1)


def render(results, reasons):
    """The record: numbers by file, then the survivors."""
    lines = ["# Mutants", "", "Written by scripts/mutation.py. What survives is a hole in the tests, or equivalent.", "",
             "| file | mutants | dead | alive | equivalent | share of dead |", "| --- | --- | --- | --- | --- | --- |"]
    alive = []
    for file in sorted({mutant.file for mutant, _, _ in results}):
        own = [(text, outcome) for mutant, text, outcome in results if mutant.file == file and outcome != "invalid"]
        dead = sum(outcome == "dead" for _, outcome in own)
        survivors = [text for text, outcome in own if outcome == "alive"]
        equivalent = sum(without_line(text) in reasons for text in survivors)
        total = len(own) - equivalent
        lines.append(f"| {file} | {len(own)} | {dead} | {len(survivors) - equivalent} | {equivalent} | "
                     f"{100 * dead // total if total else 100}% |")
        alive += survivors
    lines += ["", "## Alive", ""]
    for text in alive:
        reason = reasons.get(without_line(text))
        lines.append(f"- {text}" + (f" -- equivalent: {reason}" if reason else ""))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files or folders below the root of the sources")
    parser.add_argument("--unit", action="append", default=[], help="the area of a program of unit tests")
    parser.add_argument("--lit", action="append", default=[], help="a folder of lit tests below test/")
    parser.add_argument("--build", default="build-mutation", help="the build folder for mutants")
    parser.add_argument("--record", type=pathlib.Path, help="the file to write")
    parser.add_argument("--limit", type=int, help="test so many, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="only list the mutants; needs the build folder's commands")
    args = parser.parse_args()
    query = shutil.which("clang-query-14") or shutil.which("clang-query")
    if not query:
        print("skipped: clang-query was not found")
        return 77
    files = []
    for path in args.paths:
        found = [path] if path.endswith(".cpp") else [str(p.relative_to(ROOT)) for p in (ROOT / path).rglob("*.cpp")]
        files += sorted(found)
    tester = Tester(args)
    if not args.list:
        tester.prepare()
    commands = tester.build if not args.list else pathlib.Path(args.build)
    mutants = [mutant for file in files for mutant in find_mutants(query, commands, file)]
    if args.limit and args.limit < len(mutants):
        mutants = sorted(random.Random(args.seed).sample(mutants, args.limit))
    sources = {file: (ROOT / file).read_text() for file in files}
    results = []
    for mutant in mutants:
        text = mutant.describe(sources[mutant.file])
        outcome = "listed" if args.list else tester.test(mutant, sources[mutant.file])
        print(f"{outcome}: {text}", flush=True)
        results.append((mutant, text, outcome))
    if args.record and not args.list:
        args.record.parent.mkdir(parents=True, exist_ok=True)
        args.record.write_text(render(results, read_record(args.record)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
