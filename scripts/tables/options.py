"""Typed options: of instruments and the configuration of a PassContext, and what those of passes have in common with them.

  instrument_options/ID.h  of each row of instruments.def
  configs/KEY.h            of each row of configs.def, and one of all keys

An option that is one of several words becomes an enum: IROPT_CHOICE(order, "depth-first", ..., "depth-first", "") the enum
Order with kDepthFirst and kUnset. One that is one of several dtypes, IROPT_DTYPE_CHOICE, becomes a DataType.

A source includes the headers of what it reads, so that a change of a row recompiles few sources.
"""
import re

from files import header

TYPES = {"Bool": "bool", "Int": "int64_t", "Float": "double", "String": "std::string",
         "StringList": "std::vector<std::string>", "Json": "OptionValue", "Phases": "OptionValue"}
INSTRUMENT_TYPES = {**TYPES, "StringList": "std::vector<LocatedName>"}
OPTION_MACROS = ("IROPT_OPTION", "IROPT_PATH_OPTION", "IROPT_CHOICE", "IROPT_DTYPE_CHOICE", "IROPT_FIELD")


def camel_case(text):
    return "".join(word[0].upper() + word[1:] for word in re.split(r"\W|_", text) if word)


class Option:
    """An option as `IROPT_OPTION(name, Type, default, "meaning")` and its like declare it."""

    def __init__(self, macro, name, args, types):
        self.name = name
        kind, _, summary = ["String", *args[:2]] if macro.endswith("_CHOICE") else [args[0].text, *args[1:3]]
        self.type, self.summary = types[kind], summary.value
        self.words = [word.value for word in args[2:]] if macro == "IROPT_CHOICE" else []
        if self.words:
            self.type = camel_case(self.name)
        if macro == "IROPT_DTYPE_CHOICE":
            self.type = "std::optional<DataType>" if any(word.value == "" for word in args[2:]) else "DataType"

    def enum(self):
        """The declaration of the type of a choice."""
        names = ", ".join("k" + (camel_case(word) or "Unset") for word in self.words)
        return f"  enum class {self.type} : uint8_t {{ {names} }};\n" if self.words else ""

    def member(self):
        return f"  TypedOption<{self.type}> {self.name}{{\"{self.name}\"}};  // {self.summary}\n"

    def call(self, function, option=None):
        """A statement that reads or writes the option."""
        words = ", {" + ", ".join(f'"{word}"' for word in self.words) + "}" if self.words else ""
        return f"    {function}({option or self.name}{words});\n"


def options(items, types):
    """The options among the properties of a row."""
    return [Option(item.name, item.args[0].text, item.args[1:], types) for item in items if item.name in OPTION_MACROS]


def declarations(fields):
    return "".join(field.enum() for field in fields) + "".join(field.member() for field in fields)


def constructor(identifier, argument, fields):
    reads = "".join(field.call("options.Read") for field in fields)
    return f"  explicit {identifier}(const {argument}& options) {{\n{reads}  }}\n"


def instrument_headers(rows):
    for _, (identifier, name, given, *_) in rows:
        identifier, fields = identifier.text, options(given.args, INSTRUMENT_TYPES)
        members = declarations(fields)
        if fields:
            writes = "".join(field.call("writer.Write") for field in fields)
            members += (f"\n  {identifier}() = default;\n{constructor(identifier, 'CheckedOptions', fields)}"
                        "  // The options that Set gave a value, as a pipeline file has them.\n"
                        f"  OptionValue::Dict Given() const {{\n    OptionWriter writer;\n{writes}    return writer.Take();\n  }}\n")
        body = f"struct {identifier} {{\n  static constexpr std::string_view kName = {name.text};\n{members}}};\n"
        yield f"instrument_options/{identifier}.h", header(f"The options of the instrument {name.value}.",
                                                           ["iropt/pass/option_writer.h"], "iropt::instrument_options", body)


def config_headers(rows):
    yield "configs/keys.h", keys_header(rows)
    for macro, (key, *args) in rows:
        key = key.value
        *folders, name = key.split(".")
        space = "::".join(["iropt::config", *folders])
        if macro == "IROPT_CONFIG_RECORD":
            body = record(key, name, options(args[1:], TYPES))
        else:
            option = Option(macro, key, args, TYPES)
            body = f"// {option.summary}\ninline constexpr ConfigKey<{option.type}> {name}{{\"{key}\"}};\n"
        yield f"configs/{key}.h", header(f"The configuration option {key}.", ["iropt/pass/context.h"], space, body)


def keys_header(rows):
    keys = []
    for macro, (key, *args) in rows:
        keys.append(key.value)
        keys += [f"{key.value}.{field.name}" for field in (options(args[1:], TYPES) if macro == "IROPT_CONFIG_RECORD" else [])]
    lines = "".join(f"    \"{key}\",\n" for key in keys)
    return (f"// The keys of all configuration options and of their fields.\n#pragma once\n\n#include <string_view>\n\n"
            f"namespace iropt::config {{\n\ninline constexpr std::string_view kKeys[] = {{\n{lines}}};\n\n"
            f"}}  // namespace iropt::config\n")


def record(key, name, fields):
    members = "".join(f"  {f.type} {f.name} = {{}};  // {f.summary}\n" for f in fields)
    reads = "".join(f"    {f.name} = PassContext::ConfigField(record, ConfigKey<{f.type}>{{\"{f.name}\"}});\n" for f in fields)
    return (f"struct {name} {{\n{members}\n"
            f"  explicit {name}(const PassContext& context) {{\n    const OptionValue& record = context.Config(\"{key}\");\n{reads}  }}\n}};\n")
