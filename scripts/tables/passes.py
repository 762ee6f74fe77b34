"""The passes of passes.def:

  public/iropt/transform/options/ID.h   the options of each that has any, to be read and to be given
  public/iropt/transform/pass_calls.h   a function for each that makes it: transform::ID

and sources with the definitions of these functions, and with the rows for the registry.

A source includes the options of what it reads, so that a change of a row recompiles few sources.
"""
import sys

from files import header, source
from options import TYPES, Option, declarations, constructor

OPTIONS = ("IROPT_OPTION", "IROPT_PATH_OPTION", "IROPT_CHOICE", "IROPT_DTYPE_CHOICE")
ANALYSES = {"called_functions": "CalledFunctions", "normal_form": "NormalFormInfo"}
FOLDER = "iropt/transform/options"


class Pass:
    def __init__(self, args):
        kind, identifier, name, level, summary, *self.properties = args
        self.kind, self.id, self.name, self.level, self.summary = kind.text, identifier.text, name, level.text, summary
        self.rows = [item for item in self.properties if item.name in OPTIONS]
        self.options = [Option(item.name, item.args[0].text, item.args[1:], TYPES) for item in self.rows]

    def header(self):
        """The struct that reads the options, and the one that has those that a call gives."""
        values = "".join(f"    std::optional<{option.type}> {option.name} = {{}};\n" for option in self.options)
        body = (f"struct {self.id} {{\n{declarations(self.options)}\n{constructor(self.id, 'PassOptions', self.options)}\n"
                f"  // Those that transform::{self.id} is given; the others have their defaults.\n"
                f"  struct Values {{\n{values}  }};\n}};\n")
        return header(f"The options of {self.name.value}.", ["iropt/pass/pass_options.h"], "iropt::pass_options", body)

    def signature(self, default=""):
        given = f"const pass_options::{self.id}::Values& options{default}" if self.options else ""
        return f"Pass {self.id}({given})"

    def definition(self):
        if not self.options:
            return f"{self.signature()} {{\n  return MakePass({self.name.text});\n}}\n"
        writes = "".join(option.call("writer.Write", f'"{option.name}", options.{option.name}') for option in self.options)
        return (f"{self.signature()} {{\n  OptionWriter writer;\n{writes.replace('    ', '  ')}"
                f"  return MakePass({self.name.text}, writer.Take());\n}}\n")

    def row(self):
        """The row for the registry."""
        values = {}
        for item in self.properties:
            values.setdefault(item.name, []).append([arg.text for arg in item.args])

        def joined(macro, pattern="{}"):
            return ", ".join(pattern.format(arg) for arg in values.get(macro, [[]])[0])

        established = [f"{{&properties::k{made}, {{}}, nullptr}}" for args in values.get("IROPT_ESTABLISHES", []) for made in args]
        established += [f"{{&properties::k{made}, ConfigOf({config}), &properties::k{given}}}"
                        for config, given, *rest in values.get("IROPT_ESTABLISHES_IF", []) for made in rest]
        info = {"name": self.name.text, "opt_level": self.level, "required": joined("IROPT_REQUIRES"),
                "preserved_analyses": ", ".join(f"&KindOf<{ANALYSES[arg]}>()" for arg in values.get("IROPT_PRESERVES", [[]])[0]),
                "changes": joined("IROPT_CHANGES", "PassChange::{}"), "required_properties": joined("IROPT_NEEDS", "&properties::k{}"),
                "established_properties": ", ".join(established), "broken_properties": joined("IROPT_BREAKS", "&properties::k{}"),
                "is_mandatory": "true" if "IROPT_MANDATORY" in values else "",
                "counts_rewrites": "true" if "IROPT_COUNTS_REWRITES" in values else "", "assumes_no_overflow": "true",
                "kind": f"PassKind::{self.kind}"}
        plain = ("name", "opt_level", "is_mandatory", "counts_rewrites", "assumes_no_overflow", "kind")
        members = ", ".join(f".{key} = {value if key in plain else '{' + value + '}'}" for key, value in info.items() if value)
        options = ",\n        ".join(spec(item) for item in self.rows)
        return (f"{{.info = {{{members}}},\n          .options = {{{options}}},\n          .summary = {self.summary.text},\n"
                f"          .create = &Create{self.id}}}")


def spec(item):
    """The OptionSpec of an option, a field or a configuration option, by the names of these macros' arguments."""
    name, *rest = item.args
    choices, path = "", ""
    if item.name.endswith("_CHOICE"):
        default, summary, *words = rest
        kind, choices = "String", ", {}, {" + ", ".join(word.text for word in words) + "}"
    else:
        kind, default, summary = rest[0].text, rest[1], rest[2]
        path = ", {}, {}, /*is_path=*/true" if item.name == "IROPT_PATH_OPTION" else ""
    quoted = name.text if name.value is not None else f'"{name.text}"'
    return f"{{{quoted}, OptionType::{kind}, {default.text}, {summary.text}{choices}{path}}}"


def list_function(name, entry, rows):
    """The definition of the function that lists the rows. Each is made by a function of its own, which compiles faster, and which a
    table keeps from becoming a part of one large function."""
    single = name.removesuffix("s")
    functions = "\n".join(f"{entry} {single}{i}() {{\n  return {row};\n}}\n" for i, row in enumerate(rows))
    made = "".join(f"    &{single}{i},\n" for i in range(len(rows)))
    return (f"namespace {{\n\n{functions}\n}}  // namespace\n\nstd::vector<{entry}> {name}() {{\n"
            f"  static constexpr {entry} (*kRows[])() = {{\n{made}  }};\n  std::vector<{entry}> rows;\n"
            f"  rows.reserve(std::size(kRows));\n  for (const auto make : kRows) rows.push_back(make());\n  return rows;\n}}\n")


def headers(rows):
    passes = [Pass(args) for _, args in rows]
    with_options = [row for row in passes if row.options]
    for row in with_options:
        yield f"public/{FOLDER}/{row.id}.h", row.header()
    calls = "".join(f"// {row.summary.value}\n{row.signature(' = {}')};\n" for row in passes)
    yield "public/iropt/transform/pass_calls.h", header(
        "Functions that make the passes of passes.def.", ["iropt/pass/pass.h", *(f"{FOLDER}/{row.id}.h" for row in with_options)],
        "iropt::transform", calls)
    yield "transform/passes/calls.cpp", source(
        ["iropt/transform/pass_calls.h", "iropt/pass/option_writer.h", "transform/make_pass.h"], "iropt::transform",
        "\n".join(row.definition() for row in passes))
    declarations_ = "".join(f"Pass Create{row.id}(const PassOptions& options);\n" for row in passes)
    yield "transform/passes/rows.cpp", source(
        ["iropt/analysis/relax/called_functions.h", "iropt/analysis/relax/normal_form.h", "transform/rows.h",
         "transform/tir/properties.h"], "iropt",
        f"{declarations_}\n" + list_function("PassRows", "PassEntry", [row.row() for row in passes]))


def config_row(macro, args):
    if macro != "IROPT_CONFIG_RECORD":
        return spec(Row(macro, args))
    fields = ", ".join(spec(item) for item in args[2:])
    return f"{{{args[0].text}, OptionType::Record, {{}}, {args[1].text}, {{{fields}}}}}"


def config_rows(rows):
    """The configuration options for the registry."""
    yield "transform/configs/rows.cpp", source(
        ["transform/rows.h"], "iropt", list_function("ConfigRows", "OptionSpec", [config_row(*row) for row in rows]))


class Row:
    """A row as an item."""

    def __init__(self, name, args):
        self.name, self.args = name, args


def pipeline_rule(item):
    kind = {"IROPT_RUN_IF": "RunIf", "IROPT_SKIP_IF": "SkipIf", "IROPT_SET_IF": "SetIf", "IROPT_PHASE": "Phase"}[item.name]
    config, *rest = [arg.text for arg in item.args]
    head = f"PipelineRule::Kind::{kind}, ConfigOf({config})"
    if kind == "SetIf":
        name, option, value = rest
        return f"{{{head}, {name}, {{{{\"{option}\", {value}, {{}}}}}}}}"
    return f"{{{head}, {rest[1]}, {{}}, {rest[0]}}}" if kind == "Phase" else f"{{{head}, {rest[0]}}}"


def pipeline_row(macro, args):
    if macro in ("IROPT_TARGET_PIPELINE", "IROPT_FIRST_TARGET_PIPELINE"):
        target, *columns = [arg.text for arg in args]
        first = "true" if macro == "IROPT_FIRST_TARGET_PIPELINE" else "false"
        return f"{{{', '.join(columns)}, {{}}, {target}, {{}}, {first}}}"
    columns = [arg.text for arg in args[:5]]
    return f"{{{', '.join(columns)}, {{}}, {{}}, {{{', '.join(pipeline_rule(item) for item in args[5:])}}}}}"


NAMES = {"IROPT_PASS_NAME": ("PassNames", "OtherName"), "IROPT_CONFIG_NAME": ("ConfigNames", "OtherName"),
         "IROPT_PASS_HINT": ("PassHints", "PassAlias")}


def name_rows(rows):
    """The other names of passes and configuration options for the registry."""
    body = ""
    for macro, (function, kind) in NAMES.items():
        found = [args for name, args in rows if name == macro]
        names = [args[0].value for args in found]
        for name, following in zip(names, names[1:]):
            if name >= following:
                sys.exit(f"the name '{following}' stands after '{name}'")
        values = "".join(f"    {{{', '.join(arg.text for arg in args)}}},\n" for args in found)
        body += (f"std::span<const {kind}> {function}() {{\n  static constexpr {kind} kRows[] = {{\n{values}  }};\n  return kRows;\n}}\n")
    unknown = [name for name, _ in rows if name not in NAMES]
    if unknown:
        sys.exit(f"there are no rows {unknown[0]} of names")
    yield "transform/names/rows.cpp", source(["transform/rows.h"], "iropt", body)


def pipeline_rows(rows):
    """The pipelines for the registry."""
    yield "transform/pipelines/rows.cpp", source(
        ["transform/rows.h"], "iropt", list_function("PipelineRows", "PipelineEntry", [pipeline_row(*row) for row in rows]))
