#!/usr/bin/env python3
"""Checks that a test expects every message of the library.

  check_messages.py [--list] [ROOT]

A message is a string literal of an area with at least three words in a row, where a field of a format counts as a word,
and that is neither the text of an internal check or error, nor a description for a table, nor a list of names with
commas. A test expects it if a line of test/ or python/tests
that states an expectation has a piece of WINDOW characters of it that begins
with a word and that no other message of the area has. A message without such a piece must be there as a whole.

test/untested_messages.txt names the others, exactly: "AREA: TEXT", below a comment with the reason. Prints one line per
violation and exits with 1 if there is any. With --list, prints the messages without a test, and the share with one.
"""
import collections
import os
import re
import sys

AREAS = ("arith", "codegen", "data", "eval", "exchange", "observe", "op", "pass", "runtime", "schedule", "text")
UNTESTED = os.path.join("test", "untested_messages.txt")
WINDOW = 16
WORD = re.compile(r"\b\w")

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|"""
                   r"""'(?:[^'\\\n]|\\.)+'|[A-Za-z_]\w*|\d[\w']*|\s+|.""", re.DOTALL)
# What holds literals that are not messages: internal checks and errors (ErrorCode::Internal),
# descriptions for tables, and lists of words.
INTERNAL = {"IROPT_CHECK", "IROPT_UNREACHABLE", "IROPT_DEBUG", "IROPT_TYPE_RULE", "static_assert", "CheckChoice", "Internal",
            "Statistic"}
FIELD = re.compile(r"\{+[^{} ]*\}+")
NAMES = re.compile(r"[\w:]+(?:, [\w:]+)+")
SENTENCE = re.compile(r"(?:(?:[a-z][a-z'-]*|\{\})[,:]? ){2}[a-z]+")
# A directive of FileCheck or -verify-diagnostics, a command that looks at the output itself, or a case of refusals.py.
EXPECTATION = re.compile(r"(?:#|^\s*//).*?(?:[A-Z][A-Z0-9_-]*:|expected-)|^\s*[A-Z][A-Z0-9_-]*:| !\w*! ")
PLAIN_TESTS = (".cpp", ".h", ".py", ".txt")
LIT_TESTS = (".ir", ".test", ".relay")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def files(root, folder, endings):
    for base, dirs, names in os.walk(os.path.join(root, folder)):
        dirs.sort()
        yield from (os.path.join(base, name) for name in sorted(names) if name.endswith(endings))


def literals(text):
    """Yields the literals outside of what INTERNAL names: neighbours as one, without their escapes."""
    calls = []
    before = last = ""
    parts = []
    for match in TOKEN.finditer(text):
        token = match.group()
        if token.isspace() or token.startswith(("//", "/*")):
            continue
        part = match.group("text") if match.group("raw") is None else match.group("raw")
        if part is not None:
            parts.append(part)
            continue
        if parts and not INTERNAL.intersection(calls):
            yield "".join(parts)
        parts = []
        if token in "({":
            calls.append("Statistic" if before == "Statistic" else last)
        elif token in ")}" and calls:
            calls.pop()
        elif token == "," and last == "Internal" and calls:
            calls[-1] = last
        before, last = last, token


def unescape(text):
    return text.replace('\\"', '"').replace("\\'", "'").replace("\\\\", "\\")


def messages(root, area):
    """Returns the messages of an area, in order, with '{}' for each field."""
    found = {}
    for folder in (os.path.join("lib", area), os.path.join("include", "iropt", area)):
        for path in files(root, folder, (".cpp", ".h")):
            for text in literals(read(path)):
                text = FIELD.sub("{}", unescape(text))
                if SENTENCE.search(text) and not NAMES.fullmatch(text):
                    found.setdefault(text, os.path.relpath(path, root))
    return found


def expectations(root):
    lines = set()
    for path in (*files(root, "test", PLAIN_TESTS), *files(root, os.path.join("python", "tests"), PLAIN_TESTS)):
        if os.path.relpath(path, root) != UNTESTED:
            lines.update(re.sub(r'"\s*\n\s*f?"', "", unescape(read(path))).split("\n"))
    for path in files(root, "test", LIT_TESTS):
        lines.update(line for line in read(path).split("\n") if EXPECTATION.search(line))
    return lines


def windows(text):
    """Yields the pieces of a line that begin with a word."""
    for match in WORD.finditer(text, 0, max(0, len(text) - WINDOW + 1)):
        yield text[match.start():match.start() + WINDOW]


def pieces(message):
    return re.split(r"\{\}|\\n|\n", message)


def untested(areas, lines):
    """Returns the messages that no line expects, as pairs of an area and a text."""
    owners = {}
    for area, texts in areas.items():
        for text in texts:
            for window in {window for piece in pieces(text) for window in windows(piece)}:
                owners.setdefault(window, collections.defaultdict(set))[area].add(text)
    expected = set()
    for line in lines:
        for window in windows(line):
            for area, texts in owners.get(window, {}).items():
                if len(texts) == 1:
                    expected.update((area, text) for text in texts)
    rest = [(area, text) for area, texts in areas.items() for text in texts if (area, text) not in expected]
    return [(area, text) for area, text in rest if not expected_whole(text, lines)]


def expected_whole(text, lines):
    parts = pieces(text)
    first = max(parts, key=len)
    while not parts[-1]:
        parts.pop()
    whole = re.compile(".+?".join(re.escape(piece) for piece in parts))
    return any(first in line and whole.search(line) for line in lines)


def excepted(root):
    path = os.path.join(root, UNTESTED)
    if not os.path.exists(path):
        return set()
    rows = [line for line in read(path).split("\n") if line and not line.startswith("#")]
    return {tuple(row.split(": ", 1)) for row in rows}


def check(root):
    areas = {area: messages(root, area) for area in AREAS}
    missing = untested(areas, expectations(root))
    exceptions = excepted(root)
    problems = [f"{areas[area][text]}: no test expects the message '{text}'" for area, text in missing
                if (area, text) not in exceptions]
    for area, text in sorted(exceptions - set(missing)):
        state = "has a test" if text in areas.get(area, {}) else "does not exist"
        problems.append(f"{UNTESTED}: the message '{text}' of {area} {state}")
    return problems


def print_list(root, names):
    areas = {area: messages(root, area) for area in names}
    missing = untested(areas, expectations(root))
    for area, text in missing:
        print(f"{areas[area][text]}: {text}")
    for area, texts in areas.items():
        tested = len(texts) - sum(of == area for of, _ in missing)
        print(f"{area}: {tested} of {len(texts)}, {tested / max(1, len(texts)):.2f}")


def main():
    args = sys.argv[1:]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if args and args[0].startswith("--list"):
        print_list(root, args[0].partition("=")[2].split(",") if "=" in args[0] else AREAS)
        return 0
    problems = check(args[0] if args else root)
    print("\n".join(problems) if problems else "messages: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
