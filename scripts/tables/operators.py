"""What C++ knows of the operators of a table such as ops.def, in files for each family of operators.

The compiler expands the macros of the table, which includes others from the folder "include" above it, or from another
folder if they are there. For each row IROPT_OP_FAMILY(name, ...):

  public/iropt/op/ops/NAME.h       the ids of the operators, and a view of each attribute record
  public/iropt/infer/ops/NAME.h    a function for each operator, which makes a call
  op_builder/NAME.cpp              the definitions of these functions

and a source of the rows of the table at run time (operator_rows.py), public/iropt/op/ops/all.h, which includes the first of all families, and table_hash.h there, with a number that tells
tables with other ids or attributes apart. A source includes the families that it uses, so that a new operator compiles few
sources: the ids of a family do not depend on others.
"""
import hashlib
import os
import subprocess
import sys

import grammar
import operator_rows

# Parameters that are not operands.
RESERVED = ("attrs", "type_args", "ops")
NOTE = "// Made by scripts/tables of the operators' table: {summary}.\n"
# An id is a number of this many bits in the family, behind that of the family, which is at least 1.
ROW_BITS, MOST_FAMILIES = 8, 127


def preprocessed(compiler, table, changed):
    """The table with its macros expanded: its rows are ROW_OP(...) and ROW_ATTRS(...)."""
    include = os.path.dirname(table)
    while os.path.basename(include) != "include" and include != os.path.dirname(include):
        include = os.path.dirname(include)
    rows = [f"-DIROPT_{kind}(...)=ROW_{kind}(__VA_ARGS__)" for kind in ("OP", "ATTRS", "OP_FAMILY")]
    folders = [f"-I{folder}" for folder in (*changed, include)]
    command = [compiler, "-E", "-P", "-x", "c++", "-std=c++20", *folders, *rows, table]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


class Operand:
    """An operand as Args(...) declares it: a kind with a name, and properties behind it."""

    def __init__(self, item):
        (kind, (name, *_)), *properties = item.calls
        self.name, properties = name.value, {name for name, _ in properties}
        self.repeats = kind == "Rest"
        self.is_void = "OrVoid" in properties
        self.is_optional = bool(properties & {"Optional", "OrVoid", "Since"})
        if self.name in RESERVED:
            sys.exit(f"an operand has the name '{self.name}'")


class Record:
    """An attribute record: IROPT_ATTRS(name, (kind, field, default, properties...)...)."""

    def __init__(self, args):
        self.name, self.items = args[0].text, args[1:]
        self.fields = [(field.items[0].text, field.items[1].text) for field in args[1:]]
        self.required = [field.items[1].text for field in args[1:] if len(field.items) == 2]

    def view(self):
        """The class that reads it, as op_attrs.h documents it."""
        names = [name for _, name in self.fields]
        reads = "".join(f"  op_attrs::Field<AttrKind::{kind}>::Type {name}() const {{ return Read<AttrKind::{kind}>(Field::{name}); }}\n"
                        for kind, name in self.fields)
        values = "".join(f"    op_attrs::Value<AttrKind::{kind}> {name}{{}};\n" for kind, name in self.fields)
        return (f"class {self.name} : public op_attrs::View {{\n public:\n"
                f"  struct Field {{\n    enum : uint32_t {{ {', '.join(names)}, kNumber }};\n  }};\n"
                f"  explicit {self.name}(const Attr* attrs) : View(attrs, Field::kNumber) {{}}\n"
                f"  explicit {self.name}(const Call& call) : {self.name}(call.attrs) {{}}\n{reads}"
                f"  struct Values {{\n{values}    std::array<const Attr*, Field::kNumber> list() const {{ return {{"
                f"{', '.join(name + '.attr' for name in names)}}}; }}\n  }};\n}};\n\n")


class Operator:
    def __init__(self, args, number, records):
        self.args, self.id, self.name, self.number = args, args[0].text, args[1].text, number
        columns = {item.name or item.text: item.args for item in args[7:]}
        self.operands = [Operand(item) for item in columns["Args"]]
        self.record, self.needs_record = None, False
        self.has_types, self.needs_types = False, False
        for name, values in columns.items():
            if name == "Attrs":
                self.set_record(values, records)
            elif name in ("Types", "OutTypes"):
                self.has_types, self.needs_types = True, "None" not in [value.text for value in values]

    def set_record(self, values, records):
        self.record = values[0].text
        required = set(records[self.record].required)
        for item in values[1:]:
            if item.name == "Required":
                required.add(item.args[0].value)
            elif item.name == "With":
                required.discard(item.args[0].value)
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
        return f"// R.{self.name}\nconst Call* {self.id}({', '.join(['OpBuilder ops', *parameters])});\n"

    def definition(self):
        parameters = ["OpBuilder ops", *(f"{kind} {name}" for kind, name, _ in self.parameters())]
        given = [o for o in self.operands if not o.repeats]
        names = [f"ops.OrVoid({o.name})" if o.is_void else o.name for o in given]
        repeated = [o.name for o in self.operands if o.repeats]
        attrs = f"MakeOpAttrs(op::k{self.id}, attrs)" if self.record else "nullptr"
        # Operands from the first that a call may lack on.
        may_lack = next((i for i, o in enumerate(given) if o.is_optional and not o.is_void), None)
        groups = [names] if may_lack is None else [names[:may_lack], names[may_lack:]]
        values = [f"op::k{self.id}", *(f"{{{', '.join(group)}}}" for group in groups), *repeated, attrs]
        if self.has_types:
            values.append("type_args")
        make = "MakeRest" if repeated else "Make" if may_lack is None else "MakeGiven"
        return f"const Call* {self.id}({', '.join(parameters)}) {{\n  return ops.{make}({', '.join(values)});\n}}\n"


class Family:
    def __init__(self, name, number):
        self.name, self.number, self.records, self.operators = name, number, [], []

    def ids(self):
        body = "".join(record.view() for record in self.records)
        ids = "".join(f"inline constexpr OpId k{op.id}{{{op.number}}};\n" for op in self.operators)
        includes = ["iropt/op/op_attrs.h"] * bool(self.records) + ["iropt/op/op_id.h"]
        return text(f"ids and attributes of the family {self.name}", includes, f"{body}namespace op {{\n{ids}}}  // namespace op\n")

    def builder(self, families):
        used = {op.record for op in self.operators if op.record}
        includes = ["iropt/infer/op_builder.h"]
        includes += [f"iropt/op/ops/{family.name}.h" for family in families if used & {record.name for record in family.records}]
        body = "".join(op.declaration() for op in self.operators)
        return text(f"calls of the family {self.name}, see op_builder.h", includes, f"namespace op {{\n{body}}}  // namespace op\n")

    def definitions(self):
        includes = [f"iropt/infer/ops/{self.name}.h", f"iropt/op/ops/{self.name}.h"]
        body = "\n".join(op.definition() for op in self.operators)
        return text(f"calls of the family {self.name}", includes, f"namespace op {{\n{body}}}  // namespace op\n", guard="")


def text(summary, includes, body="", guard="#pragma once\n"):
    """The text of a file; the body is in the namespace iropt."""
    included = "".join(f"#include \"{name}\"\n" if "/" in name else f"#include <{name}>\n" for name in includes)
    body = f"\nnamespace iropt {{\n\n{body}\n}}  // namespace iropt\n" if body else ""
    return f"{NOTE.format(summary=summary)}{guard}\n{included}{body}"


def families(table):
    """The families in the order of the table. Records may be used by operators of other families."""
    found, records, operators = [], {}, []
    for kind, args in table:
        if kind == "ROW_OP_FAMILY":
            found.append(Family(args[0].text, len(found) + 1))
        elif kind == "ROW_ATTRS":
            records[args[0].text] = Record(args)
            found[-1].records.append(records[args[0].text])
        else:
            operators.append((found[-1], args))
    for family, args in operators:
        family.operators.append(Operator(args, family.number << ROW_BITS | len(family.operators), records))
        if len(family.operators) > 1 << ROW_BITS or family.number > MOST_FAMILIES:
            sys.exit(f"there is no number for the operator {args[0].text}")
    return found


def headers(compiler, table, changed):
    found = families(grammar.parse(preprocessed(compiler, os.path.abspath(table), changed)))
    for family in found:
        yield f"public/iropt/op/ops/{family.name}.h", family.ids()
        yield f"public/iropt/infer/ops/{family.name}.h", family.builder(found)
        yield f"op_builder/{family.name}.cpp", family.definitions()
    records = {record.name: record.items for family in found for record in family.records}
    rows = ((op.args, op.number, records) for family in found for op in family.operators)
    yield "op/op_rows.cpp", text("the rows at run time", ["op/op_rows.h"], operator_rows.source(rows), guard="")
    known = "".join(family.ids() for family in found)
    number = hashlib.sha256(known.encode()).hexdigest()[:16]
    yield "public/iropt/op/ops/table_hash.h", text(
        "a number that changes with the ids and attributes of operators", ["cstdint"],
        f"inline constexpr uint64_t kOperatorTableHash = 0x{number};\n")
    yield "public/iropt/op/ops/all.h", text("all families", [f"iropt/op/ops/{family.name}.h" for family in found])
