"""The primitives of schedules: their arguments as types, calls of them, and the table of docs/schedules.md."""
from files import header

RESULTS = {"None": "", "Block": "a block", "Loop": "a loop", "Blocks": "blocks", "Loops": "loops", "Ints": "numbers", "Int": "a number"}
RETURNS = {"None": "void", "Block": "Name", "Loop": "Name", "Int": "Name", "Blocks": "Names", "Loops": "Names", "Ints": "Names"}
DEFAULTS = {"True": "true", "False": "false", "None": "{}", "[]": "{}"}


class Parameter:
    def __init__(self, item):
        name, kind, _, default = item.args
        self.name, self.kind, self.default = name.text, kind.text, default.value

    def member(self):
        default = DEFAULTS.get(self.default, self.default.replace("'", '"'))
        return f"  Arg<Form, ParamKind::k{self.kind}> {self.name}{' = ' + default if default else ''};\n"

    def python(self):
        star = "*" if self.kind == "Loops" else ""
        return f"{star}{self.name}" + (f"={self.default}" if self.default and not star else "")


class Primitive:
    def __init__(self, args, index):
        name, python, results, _, summary, *parameters = args
        self.name, self.python, self.results, self.summary = name.text, python.value, results.text, summary.value
        self.parameters, self.index = [Parameter(item) for item in parameters], index

    def struct(self):
        members = "".join(parameter.member() for parameter in self.parameters)
        fields = ", ".join(f"self.{parameter.name}" for parameter in self.parameters)
        unused = "" if self.parameters else "[[maybe_unused]] "
        return (f"// sch.{self.python}: {self.summary}\ntemplate <class Form>\nstruct {self.name} {{\n{members}\n"
                f"  static constexpr size_t kIndex = {self.index};\n"
                f"  template <class Self>\n  static auto FieldsOf({unused}Self& self) {{\n    return std::tie({fields});\n  }}\n}};\n")

    def method(self):
        result = RETURNS[self.results]
        body = {"void": "Run(args)", "Name": "return First(Run(args))", "Names": "return Run(args)"}[result]
        return f"  // {self.summary}\n  {result} {self.name}(const args::{self.name}<Named>& args) {{ {body}; }}\n"

    def row(self):
        method = f"{self.python}({', '.join(parameter.python() for parameter in self.parameters)})"
        return f"| `{method}` | {self.name} | {RESULTS[self.results]} | {self.summary} |"


def primitives(rows):
    return [Primitive(args, index) for index, (_, args) in enumerate(rows)]


def headers(rows):
    found = primitives(rows)
    yield "public/iropt/schedule/args.h", header(
        "The arguments of each primitive, see iropt/schedule/arg_forms.h.", ["iropt/schedule/arg_forms.h"],
        "iropt::schedule::args", "\n".join(primitive.struct() for primitive in found))
    methods = "".join(primitive.method() for primitive in found)
    yield "public/iropt/schedule/typed_calls.h", header(
        "A method for each primitive.", ["iropt/schedule/args.h"], "iropt::schedule",
        "// What calls a primitive gives the names of its results; they are empty if it fails.\n"
        f"class TypedCalls {{\n public:\n{methods}\n protected:\n  ~TypedCalls() = default;\n"
        "  // The names of the results of the primitive of this index.\n"
        "  virtual Names Call(size_t index, std::vector<Value> args) = 0;\n"
        "  template <class Args>\n  Names Run(const Args& args) {\n    return Call(Args::kIndex, ToValues(args));\n  }\n\n private:\n"
        "  static Name First(Names names) { return names.empty() ? Name() : std::move(names[0]); }\n};\n")


def table(rows):
    lines = ["| method | in JSON | gives | |", "| --- | --- | --- | --- |"]
    return "\n".join(lines + [primitive.row() for primitive in primitives(rows)])
