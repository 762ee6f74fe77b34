#!/usr/bin/env python3
"""Checks that the files which comments and documents name exist, and that none at the top is empty.

  check_paths.py [ROOT]

A name is a file's path or the end of one (`stmt.h`, `tir/stmt.h`), or the path of a folder from the root; headers that are
made of tables have paths, too. Looked at are the comments of sources and scripts, and documents outside of their fenced
blocks. Names in capital letters (FILE.md) stand for any file, and a document may name the files that its own blocks hold.
An empty file at the top is what a mistyped redirection of a shell left.
Prints one line per name that leads nowhere and per empty file, and exits with 1 if there is any.
"""
import os
import re
import sys

FOLDERS = ("bench", "cmake", "docs", "examples", "include", "lib", "scripts", "test", "tools")
FILE = re.compile(r"(?<![\w/.<*%${}-])((?:[\w-]+/)*[\w-]+\.(?:h|cpp|def|cmake|py|sh|md))(?![\w*/])")
FOLDER = re.compile(rf"(?<![\w/.<*%${{}}-])((?:{'|'.join(FOLDERS)})/[\w/-]+)(?![\w*/<%$-]|\.\w)")
PLACEHOLDER = re.compile(r"(?:[\w-]+/)*[A-Z]+\.\w+")
# Files outside of the repository, as LLVM's scripts, and folders of TVM's sources.
ELSEWHERE = {"check.py", "generate-test-checks.py", "update_test_checks.py"}
OF_TVM = ("src/", "python/", "include/tvm/")
COMMENTS = {".h": r"//[^\n]*", ".cpp": r"//[^\n]*", ".def": r"//[^\n]*", ".py": r'# [^\n]*|^[ \t]*"""(?:.|\n)*?"""',
            ".cmake": r"# [^\n]*", ".txt": r"# [^\n]*", ".sh": r"# [^\n]*"}
COMMENTS = {ending: re.compile(pattern, re.MULTILINE) for ending, pattern in COMMENTS.items()}
FAMILY = re.compile(r"include/iropt/op/ops/(\w+)\.def")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HELD = re.compile(r"^(?:```\w+ |\+\+\+ b/)(\S*\.\w+)$", re.MULTILINE)


def files_of(root):
    """The paths of the files of the repository."""
    for base, dirs, names in os.walk(root):
        dirs[:] = sorted(d for d in dirs if not d.startswith((".", "build")) and d not in ("__pycache__", "node_modules"))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(base, name), root)


def generated(files):
    """The headers that scripts/tables makes, and the document of all passes."""
    yield "docs/pass_reference.md"  # which is installed
    yield from ("include/iropt/schedule/args.h", "include/iropt/schedule/typed_calls.h", "public/iropt/transform/pass_calls.h",
                "include/iropt/transform/pass_calls.h")
    families = [match[1] for match in map(FAMILY.fullmatch, files) if match]
    for name in families:
        yield from (f"include/iropt/{area}/ops/{name}.h" for area in ("op", "infer"))
    if families:
        yield from (f"public/iropt/op/ops/{name}.h" for name in ("all", "table_hash"))


def ends_of(path):
    parts = path.split("/")
    return {"/".join(parts[i:]) for i in range(len(parts))}


def blank(match):
    """Replaces text by as many empty lines, so that line numbers stay."""
    return "\n" * match[0].count("\n")


def prose_of(path, text):
    """Pairs of a place and a text without code."""
    ending = os.path.splitext(path)[1]
    if ending == ".md":
        yield 1, FENCED.sub(blank, text)
    elif ending in COMMENTS:
        for match in COMMENTS[ending].finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0]


def check(root):
    files = list(files_of(root))
    known = set().union(*map(ends_of, [*files, *generated(files)]))
    problems = [f"{path}: is empty" for path in files if "/" not in path and os.path.getsize(os.path.join(root, path)) == 0]
    for path in files:
        # The changelog names what was there.
        if os.path.splitext(path)[1] not in (".md", *COMMENTS) or path == "CHANGELOG.md":
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
            text = f.read()
        held = set()
        if path.endswith(".md"):
            held = set().union(*(ends_of(name) | {os.path.dirname(name)} for name in HELD.findall(text)))
        for first, prose in prose_of(path, text):
            for match in [*FILE.finditer(prose), *FOLDER.finditer(prose)]:
                name = match[1].rstrip("/")
                if name in known or name in held or name in ELSEWHERE or name.startswith(OF_TVM) or PLACEHOLDER.fullmatch(name):
                    continue
                if match.re is FOLDER and os.path.exists(os.path.join(root, name)):
                    continue
                line = first + prose.count("\n", 0, match.start())
                problems.append(f"{path}:{line}: there is no '{name}'")
    return problems


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems = check(root)
    print("\n".join(problems) if problems else "paths: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
