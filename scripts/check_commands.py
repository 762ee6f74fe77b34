#!/usr/bin/env python3
"""Checks the commands of documents that are not run, because they build, need other inputs, or take long.

  check_commands.py BUILD_DIR [FILE.md...]

They are the lines of indented blocks, and the texts between backticks, that begin with a tool or a file of the repository
or with ctest, also behind variables, `|` and `;`. Blocks of kind `console` are run by check_docs.py. Checked are
presets and targets of scripts/build.sh and scripts/test.sh, programs in build*/bin, tags of Catch2, selections of ctest and
lit, flags of ir-opt, ir-run, ir-reduce and ir-lsp and of scripts, and that the scripts exist. Without files, all documents are
checked, and docs/usage.md must name every flag of ir-opt.
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TOOLS = ("ir-opt", "ir-run", "ir-reduce", "ir-lsp")
FENCED = re.compile(r"^```[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_BLOCK = re.compile(r"^```\w+ +(\S*[./]\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    +(?! )((?:.*\\\n)*.*)$", re.MULTILINE)
INLINE = re.compile(r"`([^`]+)`")
ASSIGNMENT = re.compile(r"\w+=")
PROGRAM = re.compile(r"build(?:-\w+)?/bin/([\w-]+)")
MODE = re.compile(r"^  ([a-z][a-z-]*) \S", re.MULTILINE)  # a command in the help of ir-opt
SCRIPT = re.compile(r"(?:scripts|test|bench)/[\w/.-]+")
OPERATORS = {"|", "||", "&&", ";", "do"}


class Project:
    """The names that commands may use."""

    def __init__(self, build_dir, presets=(), targets=(), tests=(), labels=(), flags=None, modes=None):
        self.build_dir = build_dir
        self.presets, self.targets, self.tests, self.labels = set(presets), set(targets), set(tests), set(labels)
        self.flags = flags or {}  # by tool
        self.modes = modes or {}  # the flags of the commands of ir-opt

    @staticmethod
    def of_build(build_dir):
        def run(*command):
            return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout

        with open(os.path.join(ROOT, "CMakePresets.json"), encoding="utf-8") as f:
            file = json.load(f)
        presets = [preset["name"] for kind in ("buildPresets", "testPresets") for preset in file[kind]]
        targets = re.findall(r"^([\w-]+): phony$", run("ninja", "-C", build_dir, "-t", "targets", "all"), re.MULTILINE)
        tests = json.loads(run("ctest", "--show-only=json-v1", "--test-dir", build_dir))["tests"]
        labels = [label for test in tests for p in test.get("properties", []) if p["name"] == "LABELS" for label in p["value"]]
        flags = {}
        for tool in TOOLS:
            offered = run(os.path.join(build_dir, "bin", tool), "-complete", f"{tool} -")
            flags[tool] = flags_in(offered)
        modes = dict.fromkeys(MODE.findall(run(os.path.join(build_dir, "bin", "ir-opt"), "-help")))
        for mode in modes:
            modes[mode] = flags_in(run(os.path.join(build_dir, "bin", "ir-opt"), "-complete", f"ir-opt {mode} -"))
        return Project(build_dir, presets, targets, [test["name"] for test in tests], labels, flags, modes)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def commands_of(text):
    """The commands of a document, as lists of words."""
    outside = FENCED.sub("\n", text)
    lines = INDENTED.findall(outside) + [" ".join(span.split()) for span in INLINE.findall(INDENTED.sub("", outside))]
    for line in lines:
        lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars="|&;<>")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        try:
            words = list(lexer)
        except ValueError:
            continue  # not a command: an open quote
        command = []
        for word in [*words, ";"]:
            if word not in OPERATORS:
                command.append(word)
                continue
            while command and ASSIGNMENT.match(command[0]) and not command[0].startswith("LIT_FILTER="):
                del command[0]
            if command:
                yield command
            command = []


def check_ctest(words, project):
    for flag, pattern in zip(words, words[1:]):
        if flag == "--preset" and pattern not in project.presets:
            yield f"there is no preset '{pattern}'"
        kind, known = {"-R": ("test", project.tests), "-L": ("label", project.labels)}.get(flag, ("", ()))
        if kind and not any(re.search(pattern, name) for name in known):
            yield f"`ctest {flag} '{pattern}'` matches no {kind}"


def check_build(words, project):
    script, arguments = words[0], [word for word in words[1:] if not word.startswith("[")]
    if arguments and arguments[0] not in project.presets:
        yield f"there is no preset '{arguments[0]}'"
    for target in arguments[1:] if script.endswith("build.sh") else ():
        if target not in project.targets:
            yield f"there is no target '{target}'"


def check_flags(name, words, known):
    """Flags of a tool, or of a script, which holds their names."""
    for word in words:
        flag = word.split("=")[0]
        if not re.fullmatch(r"--?[A-Za-z][\w-]*", flag):
            continue
        if isinstance(known, set):
            found = "-" + flag.lstrip("-") in known
        else:
            found = re.search(rf"(?<!\w){re.escape(flag.lstrip('-'))}(?![\w-])", known)
        if not found:
            yield f"{name} has no flag '{flag}'"


def flags_in(completions):
    """The flags that a tool offers."""
    return {line.split("\t")[0].split("=")[0] for line in completions.splitlines()}


def flags_of(words, project):
    """The flags of a tool, or of the command that its first argument or one of its flags names."""
    known = project.flags.get(words[0], set())
    if words[0] != "ir-opt" or len(words) < 2:
        return known
    if words[1] in project.modes:
        return project.modes[words[1]]
    named = {"-" + word.lstrip("-").split("=")[0] for word in words[1:] if word.startswith("-")}
    return known.union(*(flags for flags in project.modes.values() if named & flags - known))


def check_program(name, words, project, document):
    if name not in project.targets and not name.startswith("fuzz_"):
        yield f"there is no program '{name}'"
    if name in project.flags:
        yield from check_flags(name, words, flags_of([name, *words], project))
    sources = None
    for tag in re.findall(r"\[\w+\]", " ".join(words)) if name.startswith("unit_") else ():
        sources = sources or "".join(map(read, glob.glob(os.path.join(ROOT, "test/unit/**/*.cpp"), recursive=True)))
        if tag not in sources and not any(tag in body for _, body in FILE_BLOCK.findall(document)):
            yield f"no test has the tag '{tag}'"


def check_lit_filter(pattern, document):
    names = [os.path.relpath(path, os.path.join(ROOT, "test"))
             for path in glob.glob(os.path.join(ROOT, "test", "**", "*.*"), recursive=True)]
    names += [name for name, _ in FILE_BLOCK.findall(document) if name.startswith("test/")]
    if not any(re.search(pattern, name) for name in names):
        yield f"LIT_FILTER={pattern} matches no test"


def problems_of(document, project):
    for words in commands_of(document):
        if words[0].startswith("LIT_FILTER="):
            yield from check_lit_filter(words.pop(0).split("=")[1], document)
        if words and words[0].startswith("python"):
            del words[0]
        if not words:
            continue
        program = PROGRAM.fullmatch(words[0])
        if words[0] == "ctest":
            yield from check_ctest(words, project)
        elif words[0] in TOOLS:
            yield from check_flags(words[0], words[1:], flags_of(words, project))
        elif program:
            yield from check_program(program.group(1), words[1:], project, document)
        elif SCRIPT.fullmatch(words[0]):
            path = os.path.join(ROOT, words[0])
            if not os.path.exists(path):
                yield f"there is no file {words[0]}"
            elif words[0] in ("scripts/build.sh", "scripts/test.sh"):
                yield from check_build(words, project)
            elif os.path.isfile(path):
                yield from check_flags(words[0], words[1:], read(path))


def unnamed_flags(document, flags):
    for flag in sorted(flags):
        if not re.search(rf"`{re.escape(flag)}(?![\w-])", document):
            yield f"flag '{flag}' is not named"


def main():
    project = Project.of_build(sys.argv[1])
    paths = sys.argv[2:] or [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md")]
    if not sys.argv[2:]:
        paths += sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
    problems = []
    if not sys.argv[2:]:
        usage = os.path.join(ROOT, "docs", "usage.md")
        # -O1 to -O3 stand between -O0 and -O4.
        flags = {flag for flag in project.flags["ir-opt"] if not re.fullmatch("-O[123]", flag)}
        problems += [f"docs/usage.md: {problem}" for problem in unnamed_flags(read(usage), flags)]
    problems += [f"{os.path.relpath(path, ROOT)}: {problem}" for path in paths for problem in problems_of(read(path), project)]
    print("\n".join(problems) if problems else "commands: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
