#!/usr/bin/env python3
"""Mutation testing: changes one operator, condition, constant or call at a time, and tells which changes no test notices.

  scripts/mutation.py arith [infer_types ...] [--limit=200] [--minutes=60] [--seed=0] [--jobs=2]
  scripts/mutation.py lib/arith/bounds.cpp --unit=arith --record=FILE
  scripts/mutation.py tonight
  scripts/mutation.py arith --again

The first form takes the sources, the tests and the records (test/mutants/NAME.md) from the table FOLDERS, and `tonight` the folder
whose turn it is. With --again, only those run that the record lists as alive and not equivalent: what new tests kill.

The sources are copied to a build folder of their own (--build) and compiled once, with all mutants in them (scripts/mutants.py).
Each test of the Catch2 programs of --unit and of the folders of --lit below test/, and the recorded cases (--recorded), then
run once, and tell which mutants they reach; after that, each mutant runs with the tests that reach it, fast ones first. It is dead if one of them fails, crashes, or takes ten times
as long as before, and alive if all pass, or none reaches it. Tests that take longer than --slow seconds are left out.

The record is a table of the numbers by file and a list of the mutants that survived, which a person may mark as equivalent by
a reason after "equivalent:"; the next run keeps that.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import datetime
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mutants

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Folder:
    sources: str
    units: tuple = ()
    lits: tuple = ()
    recorded: bool = False


FOLDERS = {
    "arith": Folder("lib/arith", ("arith",), ("transform/tir_simplify", "transform/loop_partition", "transform/narrow_data_type",
                                              "transform/force_narrow_index_to_int32"), recorded=True),
    "infer_types": Folder("lib/infer/types", ("infer",), ("op", "text/relax")),
    "relax_simplify": Folder("lib/transform/relax/simplify", ("transform",), ("driver/observe", *(f"transform/{name}" for name in (
        "canonicalize_bindings", "canonicalize_cast", "dead_code_elimination", "eliminate_common_subexpr", "fold_constant",
        "remove_redundant_reshape"))), recorded=True),
    "tir_simplify": Folder("lib/transform/tir/simplify", ("transform",), tuple(f"transform/{name}" for name in (
        "common_subexpr_elim", "common_subexpr_elim_tir", "force_narrow_index_to_int32", "hoist_expression", "hoist_if_then_else",
        "narrow_data_type", "reduce_branching_through_overcompute", "remove_assume", "remove_no_op", "remove_store_undef",
        "renormalize_split_pattern", "tir_simplify", "use_assume_to_reduce_branches")), recorded=True),
}


def run(command, timeout, environment=None):
    """The exit code; a timeout is one that is not 0."""
    process = subprocess.Popen(command, env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 124


def copy_sources(tree, changed=()):
    """Makes the tree what the repository is now; files that are the same keep their times, so they are not built again. The
    files in `changed` are left as they are."""
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, names.split("\0")):
        source, target = ROOT / name, tree / name
        if name in changed or not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    known = set(names.split("\0"))
    for folder in ("include", "lib", "test", "tools"):
        for path in (tree / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(tree)) not in known:
                path.unlink()


def write_if_different(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def arguments_for_clang(command):
    """The arguments of a compiler's command that clang needs to read the source."""
    arguments = shlex.split(command)
    kept = [text for text in arguments if re.match(r"-(I|D|std=|f(PIC|no-exceptions|no-rtti))", text)]
    for i, text in enumerate(arguments):
        if text in ("-isystem", "-iquote"):
            kept += arguments[i:i + 2]
    return [*kept, "-w", "-Wno-everything"]


@dataclasses.dataclass(frozen=True)
class Test:
    """A test case of a program (`kind` is its path), a file of lit (`kind` is empty), or all recorded cases (RECORDED)."""
    kind: str
    name: str


RECORDED = "recorded cases"


class Mutator:
    """The copy of the sources with all mutants, and its build."""

    def __init__(self, cindex, build, files, jobs):
        self.build = pathlib.Path(build).resolve()
        self.tree = self.build / "source"
        self.files = files
        self.jobs = str(jobs)
        self.sources = {file: (ROOT / file).read_text() for file in files}
        self.schemas = {}
        self.dropped = {file: set() for file in files}
        self.all = [None]  # the mutants by their numbers; none has the number 0
        copy_sources(self.tree, files)
        for file in files:
            if not (self.tree / file).exists():
                (self.tree / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, self.tree / file)
        self.configure()
        self.find(cindex)

    def configure(self):
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "-G", "Ninja", "-S", str(self.tree), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Release",
                            "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_CXX_FLAGS=-w"],
                           check=True, stdout=subprocess.DEVNULL)

    def find(self, cindex):
        entries = json.loads((self.build / "compile_commands.json").read_text())
        commands = {entry["file"]: entry["command"] for entry in entries}
        header = self.build / "iropt_mutation.h"
        for file in self.files:
            path = self.tree / file
            source = self.sources[file]
            command = commands.get(str(path)) or self.command_of_area(entries, file)
            places = mutants.find_places(cindex, ROOT / file, file, source, arguments_for_clang(command))
            numbers = []
            for place in places:
                numbers.append(range(len(self.all), len(self.all) + len(place.mutants)))
                self.all += place.mutants
            self.schemas[file] = mutants.Schema(source, places, numbers, header)
        write_if_different(header, mutants.HEADER.replace("@LIMIT@", str(len(self.all) + 1)))

    @staticmethod
    def command_of_area(entries, file):
        """In a unity build, a source is compiled by the command of another one of its area."""
        target = f"iropt_{pathlib.PurePath(file).parts[1]}.dir/"
        for entry in entries:
            if target in entry["command"]:
                return entry["command"]
        sys.exit(f"{file}: no target compiles it")

    def compile(self, targets):
        """Builds the targets; places of which the mutants do not compile are left out."""
        while True:
            for file, schema in self.schemas.items():
                write_if_different(self.tree / file, schema.render(self.dropped[file]))
            result = subprocess.run(["ninja", "-k", "0", "-j", self.jobs, *targets], cwd=self.build, capture_output=True, text=True)
            if result.returncode == 0:
                return
            before = sum(map(len, self.dropped.values()))
            for line in result.stdout.splitlines():
                self.drop(line)
            if sum(map(len, self.dropped.values())) == before:
                sys.exit(f"the sources with mutants do not build:\n{result.stdout[-4000:]}")

    def drop(self, line):
        match = re.match(r"(\S+?):(\d+):(\d+):\s+(?:(?:fatal )?error: |  required from |required from )", line)
        for file, schema in self.schemas.items():
            if match and match.group(1).endswith(file):
                self.dropped[file] |= schema.places_at(int(match.group(2)), int(match.group(3)))

    def numbers(self):
        """The numbers of the mutants that compile."""
        for file, schema in self.schemas.items():
            for index, numbers in enumerate(schema.numbers):
                if index not in self.dropped[file]:
                    yield from numbers


class Tester:
    """The tests, and which mutants each of them reaches."""

    def __init__(self, mutator, args):
        self.build = mutator.build
        self.jobs = args.jobs
        self.slow = args.slow
        self.lit = re.search(r"IROPT_LIT:\w+=(.*)", (self.build / "CMakeCache.txt").read_text()).group(1)
        self.tests = [test for unit in args.unit for test in self.list_unit(str(self.build / "bin" / f"unit_{unit}"))]
        self.tests += [test for folder in args.lit for test in self.list_lit(str(self.build / "test" / folder))]
        self.tests += [Test(RECORDED, "test/recorded")] if args.recorded else []
        self.seconds = {}
        self.reaching = collections.defaultdict(list)  # tests by the number of the mutant, the fast ones first

    @staticmethod
    def list_unit(program):
        # Catch2 2 has this flag, and ends with the number of tests; Catch2 3 lists only names if it should be quiet.
        for flags in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
            text = subprocess.run([program, *flags], check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
            names = [line.strip() for line in text.splitlines() if line.strip()]
            if names and "nrecognised" not in text:
                return [Test(program, name) for name in names]
        sys.exit(f"{program}: no tests")

    def list_lit(self, folder):
        text = subprocess.run([sys.executable, self.lit, "--show-tests", folder], check=True, capture_output=True, text=True).stdout
        names = [line.split("::", 1)[1].strip() for line in text.splitlines() if "::" in line]
        return [Test("", str(self.build / "test" / name)) for name in names]

    def fails(self, tests, environment, timeout):
        """Returns whether one of the tests, all of the same kind, fails."""
        kind = tests[0].kind
        if kind == RECORDED:
            script = self.build / "source/test/tools/recorded_cases.py"
            command = [sys.executable, script, f"--ir-opt={self.build}/bin/ir-opt", self.build / "source" / tests[0].name]
            return run(command, timeout, environment) != 0
        if not kind:
            return run([sys.executable, self.lit, "-q", "-j1", *(test.name for test in tests)], timeout, environment) != 0
        names = [re.sub(r"([,\[\]\\*\"])", r"\\\1", test.name) for test in tests]
        return run([kind, "-a", ",".join(f'"{name}"' for name in names)], timeout, environment) != 0

    def record(self, test):
        with tempfile.NamedTemporaryFile() as file:
            begin = time.monotonic()
            failed = self.fails([test], {mutants.VARIABLE: f"record:{file.name}"}, self.slow)
            seconds = time.monotonic() - begin
            reached = {int(line) for line in pathlib.Path(file.name).read_text().split()}
        return failed, seconds, reached

    def find_reached(self):
        reached = {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for test, (failed, seconds, numbers) in zip(self.tests, pool.map(self.record, self.tests)):
                if seconds >= self.slow:
                    print(f"left out, slow: {test.name}", flush=True)
                elif failed:
                    sys.exit(f"the test fails without any change: {test.name}")
                else:
                    self.seconds[test] = seconds
                    reached[test] = numbers
        for test in sorted(reached, key=self.seconds.get):
            for number in reached[test]:
                self.reaching[number].append(test)

    def test(self, number):
        """"dead", "alive", or "not reached"."""
        tests = self.reaching[number]
        if not tests:
            return "not reached"
        environment = {mutants.VARIABLE: str(number)}
        groups = collections.defaultdict(list)
        for test in tests:
            groups[test.kind].append(test)
        for kind in sorted(groups, key=lambda kind: self.seconds[groups[kind][0]]):
            for first in range(0, len(groups[kind]), 20):
                part = groups[kind][first:first + 20]
                if self.fails(part, environment, 10 * sum(map(self.seconds.get, part)) + 5):
                    return "dead"
        return "alive"


NOT_TESTED = "## Not tested this time"


def read_record(path):
    """The reasons of equivalent mutants, by their descriptions without the line number."""
    reasons = {}
    if path and path.exists():
        for line in path.read_text().splitlines():
            found = re.match(r"- (.*?)(?: \(not reached\))? -- equivalent: (.*)", line)
            if found:
                reasons[without_line(found.group(1))] = found.group(2)
    return reasons


def read_alive(path):
    """The descriptions of the mutants that a record lists as alive and that are not said to be equivalent."""
    text = path.read_text() if path.exists() else ""
    return {found[1] for found in re.finditer(r"^- (.*?)(?: \(not reached\))?$", text, re.M) if " -- equivalent: " not in found[1]}


def without_dead(text, dead):
    """The record without the mutants that died since it was written. The numbers follow from what is left in the list, so that
    they are right for what was marked as equivalent by hand as well."""
    lines = [line for line in text.splitlines() if not any(re.fullmatch(r"- " + re.escape(one) + r"( \(not reached\))?", line)
                                                           for one in dead)]
    tested = lines[:lines.index(NOT_TESTED)] if NOT_TESTED in lines else lines
    sums = [0, 0, 0, 0]
    for i, line in enumerate(tested):
        numbers = re.match(r"\| (\S+) \| (\d+) \|", line)
        if numbers and numbers[1] != "all":
            survivors = [other for other in tested if other.startswith(f"- {numbers[1]}:")]
            equivalent = sum(" -- equivalent: " in other for other in survivors)
            own = [int(numbers[2]), int(numbers[2]) - len(survivors), len(survivors) - equivalent, equivalent]
            sums = [x + y for x, y in zip(sums, own)]
            lines[i] = row(numbers[1], own)
        elif numbers:
            lines[i] = row("all", sums)
    return "\n".join(lines) + "\n"


def row(name, numbers):
    """A line of the table: mutants, dead, alive, equivalent, and the share of the dead among those that are not equivalent."""
    return f"| {name} | {' | '.join(map(str, numbers))} | {share(numbers[1], numbers[0] - numbers[3])} |"


def without_line(text):
    return re.sub(r":\d+:", ":", text, count=1)


def share(dead, total):
    return f"{100 * dead // total if total else 100}%"


def render(results, reasons):
    """The record: numbers by file, then the survivors."""
    lines = ["# Mutants", "", "Written by scripts/mutation.py. What survives is a hole in the tests, or equivalent.", "",
             "| file | mutants | dead | alive | equivalent | share of dead |", "| --- | --- | --- | --- | --- | --- |"]
    survivors = []
    sums = [0, 0, 0, 0]
    for file in sorted({mutant.file for mutant, _, _ in results}):
        own = [(text, outcome) for mutant, text, outcome in results if mutant.file == file]
        alive = [(text, outcome) for text, outcome in own if outcome != "dead"]
        equivalent = sum(without_line(text) in reasons for text, _ in alive)
        numbers = [len(own), len(own) - len(alive), len(alive) - equivalent, equivalent]
        sums = [a + b for a, b in zip(sums, numbers)]
        lines.append(row(file, numbers))
        survivors += alive
    lines.append(row("all", sums))
    lines += ["", "## Alive", ""]
    for text, outcome in survivors:
        reason = reasons.get(without_line(text))
        lines.append(f"- {text}" + (" (not reached)" if outcome == "not reached" else "") + (f" -- equivalent: {reason}" if reason else ""))
    tested = {without_line(text) for _, text, _ in results}
    kept = sorted(text for text in reasons if text not in tested)
    if kept:
        lines += ["", NOT_TESTED, ""] + [f"- {text} -- equivalent: {reasons[text]}" for text in kept]
    return "\n".join(lines) + "\n"


def sources_of(paths):
    for path in paths:
        found = [path] if path.endswith(".cpp") else [str(p.relative_to(ROOT)) for p in (ROOT / path).rglob("*.cpp")]
        yield from sorted(found)


def take_folders(args):
    """Adds to `args` what the table says about the folders that it names. Returns the records to write, with the beginning
    of the names of their files."""
    if args.paths == ["tonight"]:
        args.paths = [sorted(FOLDERS)[datetime.date.today().toordinal() % len(FOLDERS)]]
    names = [name for name in args.paths if name in FOLDERS]
    for name in names:
        args.unit += [unit for unit in FOLDERS[name].units if unit not in args.unit]
        args.lit += [lit for lit in FOLDERS[name].lits if lit not in args.lit]
        args.recorded |= FOLDERS[name].recorded
    args.paths = [FOLDERS[name].sources if name in FOLDERS else name for name in args.paths]
    if args.record:
        return {args.record: ""}
    return {ROOT / "test" / "mutants" / f"{name}.md": FOLDERS[name].sources + "/" for name in names}


def test_all(tester, mutator, numbers, args):
    """The mutants with their descriptions and outcomes, those before the time is over, in the order of the sources."""
    if args.minutes or (args.limit and args.limit < len(numbers)):
        numbers = random.Random(args.seed).sample(numbers, min(args.limit or len(numbers), len(numbers)))
    end = time.monotonic() + 60 * args.minutes if args.minutes else float("inf")
    results = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for number, outcome in zip(numbers, pool.map(lambda n: tester.test(n) if time.monotonic() < end else None, numbers)):
            if outcome:
                mutant = mutator.all[number]
                text = mutant.describe(mutator.sources[mutant.file])
                print(f"{outcome}: {text}", flush=True)
                results[number] = (mutant, text, outcome)
    return [results[number] for number in sorted(results)]


def write_records(records, results, again):
    for path, prefix in records.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if again:
            alive = {text for _, text, outcome in results if outcome != "dead"}
            path.write_text(without_dead(path.read_text(), {text for _, text, _ in results} - alive))
            continue
        path.write_text(render([result for result in results if result[0].file.startswith(prefix)], read_record(path)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="names of FOLDERS, `tonight`, or files or folders below the root of the sources")
    parser.add_argument("--unit", action="append", default=[], help="the area of a program of unit tests")
    parser.add_argument("--lit", action="append", default=[], help="a folder of lit tests below test/")
    parser.add_argument("--recorded", action="store_true", help="run the cases of test/recorded")
    parser.add_argument("--build", default="build-mutation", help="the build folder")
    parser.add_argument("--record", type=pathlib.Path, help="the file to write")
    parser.add_argument("--limit", type=int, help="test so many, chosen at random")
    parser.add_argument("--minutes", type=float, help="test those, chosen at random, that are done in this time after the build")
    parser.add_argument("--again", action="store_true", help="test those that the record lists as alive")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--slow", type=float, default=30, help="seconds; tests that take longer are left out")
    args = parser.parse_args()
    records = take_folders(args)
    cindex = mutants.load_clang()
    if not cindex:
        print("skipped: libclang was not found; scripts/setup.sh installs it")
        return 77
    mutator = Mutator(cindex, args.build, list(sources_of(args.paths)), args.jobs)
    mutator.compile([f"unit_{unit}" for unit in args.unit] + (["ir-opt", "ir-run", "iropt_relay"] if args.lit or args.recorded else []))
    tester = Tester(mutator, args)
    tester.find_reached()
    numbers = list(mutator.numbers())
    print(f"{len(numbers)} mutants ({len(mutator.all) - 1 - len(numbers)} do not compile), {len(tester.seconds)} tests", flush=True)
    if args.again:
        alive = set().union(*(read_alive(path) for path in records))
        numbers = [number for number in numbers if mutator.all[number].describe(mutator.sources[mutator.all[number].file]) in alive]
        print(f"{len(numbers)} of the {len(alive)} that were alive", flush=True)
    results = test_all(tester, mutator, numbers, args)
    dead = sum(outcome == "dead" for _, _, outcome in results)
    print(f"{dead} of {len(results)} are dead: {share(dead, len(results))}")
    write_records(records, results, args.again)
    return 0


if __name__ == "__main__":
    sys.exit(main())
