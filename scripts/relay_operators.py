#!/usr/bin/env python3
"""Writes the table of Relay's operators in docs/relay.md, from the rows in lib/text/relay/ops.

  relay_operators.py            write the table
  relay_operators.py --check    exit with 1 if the document has another table
"""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DOCUMENT = os.path.join(ROOT, "docs", "relay.md")
BEGIN, END = "<!-- begin of the table -->", "<!-- end of the table -->"
STRING = r'"(?:[^"\\]|\\.)*"'
# A row is a name, the arguments, the attributes (which a macro may give), and a builder.
ROW = re.compile(rf"\{{\s*({STRING}),\s*({STRING}),\s*((?:{STRING}|[A-Z_0-9]+(?:\([^)]*\))?|\s)*),\s*(\w+)\s*\}}")
MACRO = re.compile(r"#define (\w+)\(([\w, ]+)\)((?:.*\\\n)*.*)\n")


def unquote(text):
    return "".join(re.sub(r'\\(.)', r"\1", s[1:-1]) for s in re.findall(STRING, text))


def expand(text, macros):
    """The string literals of an expression, with calls of macros replaced by their bodies."""
    call = re.search(r"([A-Z_0-9]+)\(([^)]*)\)", text)
    while call and call[1] in macros:
        names, body = macros[call[1]]
        values = dict(zip(names, re.findall(STRING + r"|\w+", call[2])))
        body = re.sub(rf"{STRING}|\w+", lambda m: values.get(m[0], m[0]), body)
        text = text[: call.start()] + body + text[call.end() :]
        call = re.search(r"([A-Z_0-9]+)\(([^)]*)\)", text)
    return unquote(text)


def rows():
    for path in sorted(glob.glob(os.path.join(ROOT, "lib", "text", "relay", "ops", "*.cpp"))):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        macros = {m[0]: ([p.strip() for p in m[1].split(",")], m[2].replace("\\\n", " ")) for m in MACRO.findall(text)}
        family = os.path.splitext(os.path.basename(path))[0]
        for name, arguments, attributes, builder in ROW.findall(text):
            yield unquote(name), unquote(arguments), expand(attributes, macros), family, builder


def table():
    lines = ["| operator | arguments | attributes | family |", "| --- | --- | --- | --- |"]
    for name, arguments, attributes, family, _ in sorted(rows()):
        cells = [f"`{name}`", f"`{arguments}`" if arguments else "", f"`{attributes}`" if attributes else "", family]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    with open(DOCUMENT, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    new = f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"
    if "--check" in sys.argv[1:]:
        if new != text:
            print("docs/relay.md: the table of operators is not that of lib/text/relay/ops; run scripts/relay_operators.py")
        return 0 if new == text else 1
    with open(DOCUMENT, "w", encoding="utf-8") as f:
        f.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
