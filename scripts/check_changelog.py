#!/usr/bin/env python3
"""Checks CHANGELOG.md: its versions, their order and the version under development.

  check_changelog.py [ROOT]

The first section is `## Unreleased`; the next ones are `## X.Y.Z - YYYY-MM-DD`, the newest first. Each holds the parts of
Keep a Changelog, in their order and each once. iropt/support/version.h has the version that `Unreleased` becomes: it is
greater than that of every section, or equal to the newest while `Unreleased` is empty. Prints one line per violation and exits with 1 if there is any.
"""
import datetime
import os
import re
import sys

CHANGELOG = "CHANGELOG.md"
VERSION_HEADER = os.path.join("include", "iropt", "support", "version.h")
PARTS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
SUMMARY = 12  # lines
RELEASE = re.compile(r"(\d+)\.(\d+)\.(\d+) - (\d{4}-\d{2}-\d{2})")


def check_parts(section, parts):
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        return [f"'{section}' has a part '{unknown[0]}': expected one of {', '.join(PARTS)}"]
    if parts != [part for part in PARTS if part in parts]:
        return [f"'{section}' has its parts twice or in another order than {', '.join(PARTS)}"]
    return []


def check_summary(section, text):
    """A section with entries begins with at most SUMMARY lines for those who read no entries."""
    summary = re.split(r"^### ", text.split("\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0].strip()
    if "\n- " not in text[text.find("\n### "):]:
        return []
    if not summary:
        return [f"'{section}' has no summary: expected up to {SUMMARY} lines before its first part"]
    lines = len(summary.splitlines())
    return [f"the summary of '{section}' has {lines} lines: expected up to {SUMMARY}"] if lines > SUMMARY else []


def check_twice(text):
    seen, twice = set(), []
    for entry in re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE):
        if entry in seen:
            twice.append(f"an entry is there twice: {entry.splitlines()[0]}")
        seen.add(entry)
    return twice


def is_date(text):
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def check_order(releases, version, is_empty):
    """Compares the sections of releases (version, date, title) with each other and with the version under development."""
    problems = []
    if releases and (releases[0][0] > version or (releases[0][0] == version and not is_empty)):
        problems.append(f"'{releases[0][2]}' is not older than the version of {VERSION_HEADER}")
    for newer, older in zip(releases, releases[1:]):
        if older[0] >= newer[0] or older[1] > newer[1]:
            problems.append(f"'{older[2]}' is not older than '{newer[2]}' above it")
    return problems


def check(root):
    with open(os.path.join(root, CHANGELOG), encoding="utf-8") as f:
        text = f.read()
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    with open(os.path.join(root, VERSION_HEADER), encoding="utf-8") as f:
        version = tuple(int(n) for n in re.search(r'IROPT_VERSION "(\d+)\.(\d+)\.(\d+)"', f.read()).groups())
    titles = [section.split("\n", 1)[0] for section in sections]
    problems = check_twice(text)
    if titles[:1] != ["Unreleased"]:
        problems.append("the first section is not 'Unreleased'")
    releases = []
    for title, section in zip(titles, sections):
        problems += check_parts(title, re.findall(r"^### (.*)$", section, re.MULTILINE)) + check_summary(title, section)
        release = RELEASE.fullmatch(title)
        if release and is_date(release.group(4)):
            releases.append((tuple(int(n) for n in release.groups()[:3]), release.group(4), title))
        elif title != "Unreleased":
            problems.append(f"invalid section '{title}': expected 'X.Y.Z - YYYY-MM-DD'")
    problems += check_order(releases, version, is_empty="\n- " not in "".join(sections[:1]))
    return [f"{CHANGELOG}: {problem}" for problem in problems]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems = check(root)
    print("\n".join(problems) if problems else "changelog: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
