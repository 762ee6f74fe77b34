#!/usr/bin/env python3
"""Writes a header for each pass that has options, for each instrument, and for each configuration option.

  option_headers.py passes FILE FOLDER     FOLDER/pass_options/ID.h of each row of FILE, which is like passes.def
  option_headers.py instruments FILE FOLDER
                                           FOLDER/instrument_options/ID.h of each row of FILE, which is like
                                           instruments.def
  option_headers.py configs FILE FOLDER    FOLDER/configs/KEY.h of each row of FILE, which is like configs.def, and
                                           a header of all keys

An option that is one of several words becomes an enum: IROPT_CHOICE(order, "depth-first", ..., "depth-first", "") the enum
Order with kDepthFirst and kUnset. One that is one of several dtypes, IROPT_DTYPE_CHOICE, becomes a DataType.

A source includes the headers of what it reads, so that a change of a row compiles few sources anew: a header that has not
changed is not written again. Headers of rows that are gone are removed.
"""
import os
import re
import sys

WORDS = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*')
ROW = re.compile(r"^(IROPT_\w+)\(", re.MULTILINE)
CALL = re.compile(r"(IROPT_\w+)\((.*)\)", re.DOTALL)
TYPES = {"Bool": "bool", "Int": "int64_t", "Float": "double", "String": "std::string",
         "StringList": "std::vector<std::string>", "Json": "OptionValue", "Phases": "OptionValue"}
INSTRUMENT_TYPES = {**TYPES, "StringList": "std::vector<LocatedName>"}


def arguments(text):
    """The arguments of a macro, split at the commas that are in no brackets and in no string."""
    result, begin, depth, at = [], 0, 0, 0
    while at < len(text):
        string = WORDS.match(text, at)
        if string:
            at = string.end()
            continue
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at], 0)
        if text[at] == "," and depth == 0:
            result.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return result + [text[begin:].strip()]


def rows(path):
    """The macro and the arguments of each row of a table."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = WORDS.sub(lambda word: "" if word[0].startswith("//") else word[0], text)
    for row in ROW.finditer(text):
        end = text.find("\nIROPT_", row.end())
        end = text.rindex(")", row.end(), text.find("\n#", row.end()) if end < 0 else end)
        yield row[1], arguments(text[row.end():end])


def literal(text):
    """The value of a string literal, which may be in several parts."""
    return "".join(word[1:-1] for word in WORDS.findall(text)).replace('\\"', '"')


def camel_case(text):
    return "".join(word[0].upper() + word[1:] for word in re.split(r"\W|_", text) if word)


class Option:
    """An option as `IROPT_OPTION(name, Type, default, "meaning")` and its like declare it."""

    def __init__(self, macro, args, types):
        is_choice = macro.endswith("_CHOICE")
        self.name, kind, _, summary = [args[0], "String", *args[1:3]] if is_choice else args[:4]
        self.type, self.summary = types[kind], literal(summary)
        self.words = [literal(word) for word in args[3:]] if macro == "IROPT_CHOICE" else []
        if self.words:
            self.type = camel_case(self.name)
        if macro == "IROPT_DTYPE_CHOICE":
            self.type = "std::optional<DataType>" if '""' in args[3:] else "DataType"

    def enum(self):
        """The declaration of the type of a choice."""
        names = ", ".join("k" + (camel_case(word) or "Unset") for word in self.words)
        return f"  enum class {self.type} : uint8_t {{ {names} }};\n" if self.words else ""

    def member(self):
        return f"  TypedOption<{self.type}> {self.name}{{\"{self.name}\"}};  // {self.summary}\n"

    def call(self, function):
        """A statement that reads or writes the option."""
        words = ", {" + ", ".join(f'"{word}"' for word in self.words) + "}" if self.words else ""
        return f"    {function}({self.name}{words});\n"


def options(properties, types):
    calls = (CALL.fullmatch(prop) for prop in properties)
    return [Option(call[1], arguments(call[2]), types) for call in calls
            if call and call[1] in ("IROPT_OPTION", "IROPT_PATH_OPTION", "IROPT_CHOICE", "IROPT_DTYPE_CHOICE", "IROPT_FIELD")]


def pass_headers(path):
    for _, (_, identifier, name, _, _, *properties) in rows(path):
        fields = options(properties, TYPES)
        if fields:
            yield f"pass_options/{identifier}.h", pass_header(identifier, literal(name), fields)


def pass_header(identifier, name, fields):
    return header(f"The options of {name}.", "pass_options.h", "iropt::pass_options",
                  f"struct {identifier} {{\n{declarations(fields)}\n{constructor(identifier, 'PassOptions', fields)}}};\n")


def declarations(fields):
    return "".join(field.enum() for field in fields) + "".join(field.member() for field in fields)


def constructor(identifier, argument, fields):
    reads = "".join(field.call("options.Read") for field in fields)
    return f"  explicit {identifier}(const {argument}& options) {{\n{reads}  }}\n"


def header(summary, included, space, body):
    return (f"// {summary}\n#pragma once\n\n#include \"iropt/pass/{included}\"\n\n"
            f"namespace {space} {{\n\n{body}\n}}  // namespace {space}\n")


def instrument_headers(path):
    for _, (identifier, name, given, *_) in rows(path):
        fields = options(arguments(CALL.fullmatch(given)[2]), INSTRUMENT_TYPES)
        members = declarations(fields)
        if fields:
            writes = "".join(field.call("writer.Write") for field in fields)
            members += (f"\n  {identifier}() = default;\n{constructor(identifier, 'CheckedOptions', fields)}"
                        "  // The options that Set gave a value, as a pipeline file has them.\n"
                        f"  OptionValue::Dict Given() const {{\n    OptionWriter writer;\n{writes}    return writer.Take();\n  }}\n")
        body = f"struct {identifier} {{\n  static constexpr std::string_view kName = {name};\n{members}}};\n"
        yield (f"instrument_options/{identifier}.h",
               header(f"The options of the instrument {literal(name)}.", "option_writer.h", "iropt::instrument_options", body))


def config_headers(path):
    yield "configs/keys.h", keys_header(path)
    for macro, (key, *args) in rows(path):
        key = literal(key)
        *folders, name = key.split(".")
        space = "::".join(["iropt::config", *folders])
        if macro == "IROPT_CONFIG_RECORD":
            body = record(key, name, options(args[1:], TYPES))
        else:
            option = Option(macro, [key, *args], TYPES)
            body = f"// {option.summary}\ninline constexpr ConfigKey<{option.type}> {name}{{\"{key}\"}};\n"
        yield f"configs/{key}.h", header(f"The configuration option {key}.", "context.h", space, body)


def keys_header(path):
    keys = []
    for macro, (key, *args) in rows(path):
        keys.append(literal(key))
        keys += [f"{literal(key)}.{field.name}" for field in (options(args[1:], TYPES) if macro == "IROPT_CONFIG_RECORD" else [])]
    lines = "".join(f"    \"{key}\",\n" for key in keys)
    return (f"// The keys of all configuration options and of their fields.\n#pragma once\n\n#include <string_view>\n\n"
            f"namespace iropt::config {{\n\ninline constexpr std::string_view kKeys[] = {{\n{lines}}};\n\n"
            f"}}  // namespace iropt::config\n")


def record(key, name, fields):
    members = "".join(f"  {f.type} {f.name} = {{}};  // {f.summary}\n" for f in fields)
    reads = "".join(f"    {f.name} = PassContext::ConfigField(record, ConfigKey<{f.type}>{{\"{f.name}\"}});\n" for f in fields)
    return (f"struct {name} {{\n{members}\n"
            f"  explicit {name}(const PassContext& context) {{\n    const OptionValue& record = context.Config(\"{key}\");\n{reads}  }}\n}};\n")


def write_file(path, text):
    """Writes the file, unless it has this text."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def write(folder, headers):
    known = set()
    for name, text in headers:
        path = os.path.join(folder, name)
        known.add(path)
        write_file(path, text)
    for base in {os.path.dirname(path) for path in known}:
        for name in os.listdir(base):
            if os.path.join(base, name) not in known:
                os.remove(os.path.join(base, name))


HEADERS = {"passes": pass_headers, "instruments": instrument_headers, "configs": config_headers}


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in HEADERS:
        sys.exit(__doc__)
    kind, path, folder = sys.argv[1:]
    write(folder, list(HEADERS[kind](path)))


if __name__ == "__main__":
    main()
