#!/usr/bin/env python3
"""Checks that classes stay small: at most METHODS methods and MEMBERS members in a class of the sources, nested classes
apart and inherited ones not counted. A class with at most RECORD methods is a table and may have any members.

  check_classes.py [--list] [ROOT]

Prints one line per violation and exits with 1 if there is any. With --list, prints the counts of all classes, the
largest first.
"""
import os
import re
import sys

METHODS = 40
MEMBERS = 20
RECORD = 2
FOLDERS = ("include", "lib", "tools")
BLANKED = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|(?<!\w)'(?:[^'\\\n]|\\.)+'|"""
                     r"""^[ \t]*\#(?:[^\n\\]|\\.)*""", re.DOTALL | re.MULTILINE)
HEAD = re.compile(r"(?<!enum )\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(?:IROPT_\w+\s+)?(?P<name>[A-Z]\w*(?:<[^<>;{}]*>)?)\s*"
                  r"(?:final\s*)?(?::(?!:)[^;{}()]*)?\{")
LABEL = re.compile(r"^\s*(?:(?:public|protected|private)\s*:(?!:)\s*)+")
NO_MEMBER = re.compile(r"^(?:using|typedef|friend|enum|class|struct|union|static_assert|static constexpr|IROPT_\w+)\b")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group()) if match.group()[0] in "/#" or match.group().lstrip().startswith("#") else '""'


def closing(text, begin):
    """The position after the brace that closes the one before `begin`."""
    depth = 1
    while depth:
        match = re.compile(r"[{}]").search(text, begin)
        if not match:
            return len(text)
        depth += 1 if match.group() == "{" else -1
        begin = match.end()
    return begin


def declarations(body):
    """Yields the declarations of the body of a class, without what braces hold."""
    start = position = 0
    parts = []
    for match in re.compile(r"[{;]").finditer(body):
        if match.start() < position:
            continue
        parts.append(body[start:match.start()])
        start = position = match.end()
        if match.group() == "{":
            start = position = closing(body, match.end())
            rest = body[position:].lstrip()
            # The braces of a member, an initializer list or a nested type are followed by more of the declaration.
            if rest.startswith((";", ",", "{")) or NO_MEMBER.match(LABEL.sub("", "".join(parts)).strip()) \
                    or "(" not in "".join(parts):
                parts.append("{}")
                continue
        yield LABEL.sub("", "".join(parts)).strip()
        parts = []


def is_method(declaration):
    plain = re.sub(r"^template\s*<[^;]*?>\s*(?=[\w\[~])", "", declaration)
    plain = re.sub(r"=(?!=).*", "", plain.replace("operator==", "operator").replace("operator=", "operator"), flags=re.DOTALL)
    while True:  # a type such as std::function<void(int)> is not a list of parameters
        shorter = re.sub(r"<[^<>]*>", "", plain)
        if shorter == plain:
            break
        plain = shorter
    return "(" in plain


def classes(text):
    """Yields the name of each class with the numbers of its methods and members."""
    text = BLANKED.sub(blank, text)
    for head in HEAD.finditer(text):
        body = text[head.end():closing(text, head.end()) - 1]
        methods = members = 0
        for declaration in declarations(body):
            if not declaration or NO_MEMBER.match(declaration):
                continue
            if is_method(declaration):
                methods += 1
            else:
                members += 1 + declaration.count(",") - sum(part.count(",") for part in re.findall(r"<[^;]*>", declaration))
        yield head.group("name"), methods, members


def count(root):
    found = {}
    for folder in FOLDERS:
        for base, dirs, names in os.walk(os.path.join(root, folder)):
            dirs.sort()
            for path in (os.path.join(base, name) for name in sorted(names) if name.endswith((".h", ".cpp"))):
                with open(path, encoding="utf-8") as f:
                    for name, methods, members in classes(f.read()):
                        found[f"{os.path.relpath(path, root)}: {name}"] = (methods, members)
    return found


def check(root):
    return [f"{name} has {methods} methods and {members} members: at most {METHODS} and {MEMBERS} are allowed"
            for name, (methods, members) in count(root).items()
            if methods > METHODS or (members > MEMBERS and methods > RECORD)]


def main():
    roots = [argument for argument in sys.argv[1:] if argument != "--list"]
    root = roots[0] if roots else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if "--list" in sys.argv:
        for name, counts in sorted(count(root).items(), key=lambda item: item[1], reverse=True):
            print(*counts, name)
        return 0
    violations = check(root)
    for violation in violations:
        print(violation)
    print("classes:", f"{len(violations)} violations" if violations else "no violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
