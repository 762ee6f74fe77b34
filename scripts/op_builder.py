#!/usr/bin/env python3
"""Writes the member functions of OpBuilder, one for each operator of a table such as ops.def.

  op_builder.py COMPILER TABLE HEADER SOURCE

The compiler expands the macros of the table, which includes others from the folder "include" above it. HEADER gets
declarations for the class, SOURCE their definitions. A file that has not changed is not written again.
"""
import os
import re
import subprocess
import sys

from option_headers import WORDS, arguments, literal, write_file

ROW = re.compile(r"\bROW_(OP|ATTRS)\s*\(")
CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
# Parameters that are no operands.
RESERVED = ("attrs", "type_args")
NOTE = "// Made by scripts/op_builder.py of {table}.\n"


def preprocessed(compiler, table):
    """The table with its macros expanded: its rows are ROW_OP(...) and ROW_ATTRS(...)."""
    include = os.path.dirname(table)
    while os.path.basename(include) != "include" and include != os.path.dirname(include):
        include = os.path.dirname(include)
    rows = [f"-DIROPT_{kind}(...)=ROW_{kind}(__VA_ARGS__)" for kind in ("OP", "ATTRS")]
    command = [compiler, "-E", "-P", "-x", "c++", "-std=c++20", "-I", include, *rows, table]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def rows(text):
    """The kind and the arguments of each row."""
    for row in ROW.finditer(text):
        depth, at = 1, row.end()
        while depth:
            string = WORDS.match(text, at)
            depth += 0 if string else {"(": 1, ")": -1}.get(text[at], 0)
            at = string.end() if string else at + 1
        yield row[1], arguments(text[row.end():at - 1])


def calls(items):
    """The name and the arguments of each item; the arguments of a bare name are empty."""
    for item in items:
        call = CALL.fullmatch(item)
        yield (call[1], arguments(call[2])) if call else (item, [])


class Operand:
    """An operand as Args(...) declares it: a kind with a name, and properties behind it."""

    def __init__(self, text):
        kind, self.name = re.match(r'(\w+)\s*\(\s*"(\w+)"', text).groups()
        properties = set(re.findall(r"\.\s*(\w+)\s*\(", text))
        self.repeats = kind == "Rest"
        self.is_void = "OrVoid" in properties
        self.is_optional = bool(properties & {"Optional", "OrVoid", "Since"})
        if self.name in RESERVED:
            sys.exit(f"an operand has the name '{self.name}'")


class Operator:
    def __init__(self, args, required_fields):
        self.id, self.name = args[:2]
        columns = list(calls(args[7:]))
        self.operands = [Operand(text) for text in dict(columns)["Args"] if text]
        self.record, self.needs_record = None, False
        self.has_types, self.needs_types = False, False
        for name, values in columns:
            if name == "Attrs":
                self.set_record(values, required_fields)
            elif name in ("Types", "OutTypes"):
                self.has_types, self.needs_types = True, "None" not in values

    def set_record(self, values, required_fields):
        self.record = values[0]
        required = set(required_fields[self.record])
        for name, (field, *_) in calls(values[1:]):
            if name == "Required":
                required.add(literal(field))
            elif name == "With":
                required.discard(literal(field))
        self.needs_record = bool(required)

    def parameters(self):
        """The type, the name and the default of each: what a call must have stands before what it may have."""
        result = []
        for operand in self.operands:
            kind = "std::span<const Expr* const>" if operand.repeats else "const Expr*"
            result.append((kind, operand.name, "nullptr" if operand.is_optional else None))
        if self.has_types:
            result.append(("const TupleType*", "type_args", None if self.needs_types else "nullptr"))
        if self.record:
            result.append((f"const {self.record}::Values&", "attrs", None if self.needs_record else "{}"))
        return sorted(result, key=lambda parameter: parameter[2] is not None)

    def declaration(self):
        parameters = [f"{kind} {name}" + (f" = {default}" if default else "") for kind, name, default in self.parameters()]
        return f"  // R.{self.name}\n  const Call* {self.id}({', '.join(parameters)});\n"

    def definition(self):
        parameters = ", ".join(f"{kind} {name}" for kind, name, _ in self.parameters())
        names = [f"OrVoid({o.name})" if o.is_void else o.name for o in self.operands if not o.repeats]
        repeated = [o.name for o in self.operands if o.repeats]
        attrs = f"MakeOpAttrs(OpId::k{self.id}, attrs)" if self.record else "nullptr"
        values = [f"OpId::k{self.id}", f"{{{', '.join(names)}}}", *repeated, attrs]
        if self.has_types:
            values.append("type_args")
        may_lack = any(o.is_optional and not o.is_void for o in self.operands)
        make = "MakeRest" if repeated else "MakeGiven" if may_lack else "Make"
        return f"const Call* OpBuilder::{self.id}({parameters}) {{\n  return {make}({', '.join(values)});\n}}\n"


def operators(text):
    table = list(rows(text))
    required_fields = {}
    for kind, (record, *fields) in table:
        if kind == "ATTRS":
            fields = [arguments(field[1:-1]) for field in fields]
            required_fields[record] = [field[1] for field in fields if len(field) == 2]
    return [Operator(args, required_fields) for kind, args in table if kind == "OP"]


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    compiler, table, header, source = sys.argv[1:]
    found = operators(preprocessed(compiler, os.path.abspath(table)))
    note = NOTE.format(table=os.path.basename(table))
    write_file(header, note + "".join(op.declaration() for op in found))
    write_file(source, f"{note}#include \"iropt/infer/op_builder.h\"\n\nnamespace iropt {{\n\n"
               + "\n".join(op.definition() for op in found) + "\n}  // namespace iropt\n")


if __name__ == "__main__":
    main()
