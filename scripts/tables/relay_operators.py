"""The table of Relay's operators, from the rows in lib/exchange/relay/ops."""
import glob
import os
import re

import grammar
import operators

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
STRING = r'"(?:[^"\\]|\\.)*"'
# A row is a name, the arguments, the attributes, and a builder, once macros are expanded.
STRINGS = rf"((?:{STRING}\s*)+)"
ROW = re.compile(rf"\{{\s*{STRINGS},\s*{STRINGS},\s*{STRINGS},\s*(\w+)(<[^{{}}]*>)?\s*\}}")
MACRO = re.compile(r"^#define (\w+)(?:\(([\w, ]+)\))?((?:.*\\\n)*.*)\n", re.MULTILINE)
CALL = r"\b{}\(((?:{}|[^()\"])*)\)"


def unquote(text):
    return "".join(re.sub(r'\\(.)', r"\1", s[1:-1]) for s in re.findall(STRING, text))


def expand(text):
    """The text without its macros, which are replaced by their bodies."""
    macros = [(m[1], m[2], m[3].replace("\\\n", " ").strip()) for m in MACRO.finditer(text)]
    text = MACRO.sub("", text)
    for _ in macros:
        for name, parameters, body in macros:
            if not parameters:
                text = re.sub(rf"\b{name}\b", lambda _, body=body: body, text)
                continue
            names = [p.strip() for p in parameters.split(",")]

            def call(match, names=names, body=body):
                values = dict(zip(names, re.findall(rf"{STRING}|\w+", match[1])))
                return re.sub(rf"{STRING}|\w+", lambda word: values.get(word[0], word[0]), body)

            text = re.sub(CALL.format(name, STRING), call, text)
    return text


# The functions and classes of a file, by name: on one line, or up to the brace at the beginning of a line.
DEFINITION = re.compile(
    r"^(?:(?:const Expr\*|Value|Line|auto|std::[\w:<>]+) (\w+)\([^;{]*\) \{(?:([^\n]*\})$|(.*?)^\})|class (\w+) (?:final )?\{(.*?)^\};)",
    re.MULTILINE | re.DOTALL,
)
# Operators by their functions, by those of relay_builder.h and OpCall for frequent ones, and by their names in Relay.
NAME = re.compile(rf"\bop::(\w+)|\brelay_?\.(?!Unary)([A-Z]\w+)\(|\bcall_?\.(?!Relay)([A-Z]\w+)\(|\b(?:Relay|Unary)\(\s*({STRING}|call\.row\(\)\.name)")
NO_COUNTERPART = re.compile(rf"NoCounterpart\(\s*({STRING})")
SHORT = {"GreaterEqual": "greater_equal", "LogicalOr": "logical_or", "LeftShift": "left_shift", "RightShift": "right_shift",
         "Repeat": "repeat", "Cast": "astype", "AlongAxis": "expand_dims"}
FREQUENT = {"Reshape": "reshape", "Flat": "reshape", "Permute": "permute_dims", "ExpandDims": "expand_dims", "Concat": "concat",
            "Slice": "strided_slice", "Iota": "arange"}
MOST_NAMES = 6


def reachable(name, definitions, seen):
    """The text of a definition and of those that it uses."""
    if name in seen or name not in definitions:
        return ""
    seen.add(name)
    body = definitions[name]
    uses = re.findall(r"(?<![.:])\b[A-Z]\w+(?=[({]| \w+\()", body)
    return body + "".join(reachable(use, definitions, seen) for use in uses)


def relax_operators():
    table = os.path.join(ROOT, "include", "iropt", "op", "ops.def")
    rows = grammar.parse(operators.preprocessed(os.environ.get("CXX", "c++"), os.path.abspath(table), []))
    return {op.name for family in operators.families(rows) for op in family.operators}


def result(operator, builder, arguments, definitions, relax):
    """The operators of Relax that a builder names, or words for what it makes without naming one."""
    body = arguments + reachable(builder, definitions, set())
    ids = {re.sub(r"[._]", "", name): name for name in relax}
    names = []
    for made, short, frequent, quoted in NAME.findall(body):
        if made:
            name = ids.get(made.lower())
        elif short:
            name = SHORT.get(short, short.lower())
        else:
            name = FREQUENT.get(frequent) if frequent else unquote(quoted) or operator.removeprefix("qnn.")
        if name in relax and name not in names:
            names.append(name)
    if names:
        return ", ".join(f"`{n}`" for n in names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    if "MakeConstant" in body:
        return "a constant"
    missing = NO_COUNTERPART.search(body)
    if missing:
        return f"no counterpart for {unquote(missing[1])}"
    return "the operand" if "return call.arg(0);" in body else "an expression"


def rows():
    relax = relax_operators()
    texts, everywhere = [], {}
    for path in sorted(glob.glob(os.path.join(ROOT, "lib", "exchange", "relay", "ops", "*.cpp"))):
        with open(path, encoding="utf-8") as f:
            text = expand(f.read())
        definitions = {}
        for function, line, body, cls, members in DEFINITION.findall(text):
            definitions.setdefault(function or cls, line or body or members)
        texts.append((text, definitions))
        for name, body in definitions.items():
            everywhere.setdefault(name, body)
    for text, definitions in texts:
        for name, arguments, attributes, builder, given in ROW.findall(text):
            becomes = result(unquote(name), builder, given, {**everywhere, **definitions}, relax)
            yield unquote(name), unquote(arguments), unquote(attributes), becomes


def table():
    lines = ["| operator | arguments | attributes | becomes |", "| --- | --- | --- | --- |"]
    for name, arguments, attributes, becomes in sorted(rows()):
        cells = [f"`{name}`", f"`{arguments}`" if arguments else "", f"`{attributes}`" if attributes not in ("", "*") else "", becomes]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
