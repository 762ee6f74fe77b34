#!/usr/bin/env python3
"""Checks what scripts/tables makes of small tables."""
import os
import subprocess
import sys
import tempfile
import unittest

OPTIONS = "public/iropt/transform/options"
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "tables")
sys.path.insert(0, SCRIPT)
import grammar  # noqa: E402
PASSES = '''// IROPT_PASS(Kind, Id, ...)
IROPT_PASS(Module, Plain, "Plain", 0, "nothing, without options")
IROPT_PASS(Module, AddIt, "tir.AddIt", 0, "adds, as it says (\\"it\\")",
           IROPT_CHANGES(Precision),
           IROPT_OPTION(names, StringList, OptionValue::List{"a, b"}, "the "
                        "names"),
           IROPT_CHOICE(how_fast, "", "the way", "", "from-inputs", "c_order"),
           IROPT_DTYPE_CHOICE(wide, "float32", "the wide dtype", "float32", "float16"),
           IROPT_DTYPE_CHOICE(narrow, "", "the narrow dtype", "", "int8"))

#undef IROPT_PASS
'''
INSTRUMENTS = '''IROPT_INSTRUMENT(Plain, "plain", IROPT_OPTIONS(), "-plain", "watches, without options")
IROPT_INSTRUMENT(PrintIt, "print-it",
                 IROPT_OPTIONS(IROPT_OPTION(passes, StringList, OptionValue::List{}, "which passes"),
                               IROPT_CHOICE(format, "text", "the form", "text", "json")),
                 "-print-it", "prints it")

#undef IROPT_INSTRUMENT
'''
CONFIGS = '''IROPT_CONFIG("a.limit", Int, 1 << 4, "the limit")
IROPT_CONFIG_RECORD("a.Loop", "loops", IROPT_FIELD(split, Bool, true, "split them"))
IROPT_CONFIG_CHOICE("mode", "x", "the mode", "x", "y")

#undef IROPT_CONFIG
'''
PIPELINES = '''IROPT_PIPELINE("p", 0, 4, "A,B", "both", IROPT_RUN_IF("a.b", "A"), IROPT_SET_IF("a.c", "B", fast, true))
IROPT_TARGET_PIPELINE("cuda", "p", 0, 4, "C", "more")
IROPT_FIRST_TARGET_PIPELINE("cuda", "p", 0, 4, "D", "before")
'''
NAMES = '''IROPT_PASS_NAME("A", "Plain")
IROPT_PASS_NAME("tirx.AddIt", "tir.AddIt", "wide=int8")
IROPT_CONFIG_NAME("b.limit", "a.limit")
IROPT_PASS_HINT("cse", "Plain")
'''
PRIMITIVES = '''IROPT_PRIMITIVE(Stop, "stop", None, Change, "stop")
IROPT_PRIMITIVE(Join, "join", Loop, Change, "join loops",
                IROPT_PARAM(loops, Loops, Input, ""),
                IROPT_PARAM(keep, Bool, Attr, "True"),
                IROPT_PARAM(name, String, Attr, "'main'"))
'''


class GrammarTest(unittest.TestCase):
    def row(self, args):
        ((_, items),) = grammar.parse(f"IROPT_ROW({args})")
        return items

    def test_rows(self):
        rows = grammar.parse('// A(comment)\n#define X(a, \\\n b) Y(a)\nA(1) B(2, 3)\n#undef A\nC()')
        self.assertEqual([(name, [item.text for item in items]) for name, items in rows],
                         [("A", ["1"]), ("B", ["2", "3"]), ("C", [])])

    def test_strings(self):
        a, b = self.row('"a, (b" "\\"c\\" // d"  // e\n, x /* , */')
        self.assertEqual((a.value, b.value, b.text), ('a, (b"c" // d', None, "x"))

    def test_calls(self):
        (chain,) = self.row('Tensor("x").Or(SameAs("y")).Optional()')
        self.assertEqual([(name, [item.text for item in args]) for name, args in chain.calls],
                         [("Tensor", ['"x"']), ("Or", ['SameAs("y")']), ("Optional", [])])

    def test_groups_and_expressions(self):
        group, braces, expression = self.row('(a, 1), {{"k", F{}}}, 1 << N::kMany - f(2)')
        self.assertEqual([item.text for item in group.items], ["a", "1"])
        self.assertEqual([item.text for item in braces.items], ['{"k",F{}}'])
        self.assertEqual((expression.text, expression.calls, expression.items), ("1<<N::kMany-f(2)", None, None))

    def test_errors_have_lines(self):
        for text, message in (("A(1\n\n", "line 3: expected ')', not ''"), ("A(1))", "line 1: expected the name of a row, not ')'"),
                              ("\nA[1]", "line 2: expected '(' after the name of a row, not '['"),
                              ("A((1]))", "line 1: expected ')', not ']'"), ("A(\"b)", "line 1: '\"' begins no token")):
            with self.assertRaises(SyntaxError) as caught:
                grammar.parse(text)
            self.assertEqual(str(caught.exception), message)


class TablesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def make(self, kind, table):
        path = os.path.join(self.folder, "table.def")
        with open(path, "w", encoding="utf-8") as f:
            f.write(table)
        subprocess.run([sys.executable, SCRIPT, kind, path, os.path.join(self.folder, "out")], check=True)

    def path(self, name):
        return os.path.join(self.folder, "out", name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def test_passes(self):
        self.make("passes_rows", PASSES)
        self.assertEqual(os.listdir(self.path(OPTIONS)), ["AddIt.h"])
        header = self.read(OPTIONS + "/AddIt.h")
        self.assertIn('  TypedOption<std::vector<std::string>> names{"names"};  // the names\n', header)
        self.assertIn('  enum class HowFast : uint8_t { kUnset, kFromInputs, kCOrder };\n', header)
        self.assertIn('  TypedOption<HowFast> how_fast{"how_fast"};  // the way\n', header)
        self.assertIn('    options.Read(how_fast, {"", "from-inputs", "c_order"});\n', header)
        self.assertIn('  TypedOption<DataType> wide{"wide"};  // the wide dtype\n', header)
        self.assertIn('  TypedOption<std::optional<DataType>> narrow{"narrow"};  // the narrow dtype\n', header)

    def test_calls_of_passes(self):
        self.make("passes_rows", PASSES)
        calls = self.read("public/iropt/transform/pass_calls.h")
        self.assertIn("Pass Plain();\n", calls)
        self.assertIn("Pass AddIt(const pass_options::AddIt::Values& options = {});\n", calls)
        header = self.read(OPTIONS + "/AddIt.h")
        self.assertIn("    std::optional<HowFast> how_fast = {};\n", header)
        definitions = self.read("transform/passes/calls.cpp")
        self.assertIn('  return MakePass("Plain");\n', definitions)
        self.assertIn('  writer.Write("how_fast", options.how_fast, {"", "from-inputs", "c_order"});\n', definitions)

    def test_rows_of_passes(self):
        self.make("passes_rows", PASSES)
        rows = self.read("transform/passes/rows.cpp")
        self.assertIn('.changes = {PassChange::Precision}, ', rows)
        self.assertIn('{"names", OptionType::StringList, OptionValue::List{"a, b"}, "the " "names"}', rows)
        self.assertIn('{"narrow", OptionType::String, "", "the narrow dtype", {}, {"", "int8"}}', rows)

    def test_rows_of_configs_and_pipelines(self):
        self.make("configs_rows", CONFIGS)
        rows = self.read("transform/configs/rows.cpp")
        self.assertIn('{"a.limit", OptionType::Int, 1<<4, "the limit"}', rows)
        self.assertIn('{"a.Loop", OptionType::Record, {}, "loops", {{"split", OptionType::Bool, true, "split them"}}}', rows)
        self.assertIn('{"mode", OptionType::String, "x", "the mode", {}, {"x", "y"}}', rows)
        self.make("pipelines_rows", PIPELINES)
        rows = self.read("transform/pipelines/rows.cpp")
        self.assertIn('{"p", 0, 4, "A,B", "both", {}, {}, {{PipelineRule::Kind::RunIf, ConfigOf("a.b"), "A"}, '
                      '{PipelineRule::Kind::SetIf, ConfigOf("a.c"), "B", {{"fast", true, {}}}}}}', rows)
        self.assertIn('{"p", 0, 4, "C", "more", {}, "cuda", {}, false}', rows)
        self.assertIn('{"p", 0, 4, "D", "before", {}, "cuda", {}, true}', rows)

    def test_names(self):
        self.make("names_rows", NAMES)
        text = self.read("transform/names/rows.cpp")
        for row in ('{"A", "Plain"},', '{"tirx.AddIt", "tir.AddIt", "wide=int8"},', '{"b.limit", "a.limit"},', '{"cse", "Plain"},'):
            self.assertIn(row, text)
        for name, kind in (("PassNames", "OtherName"), ("ConfigNames", "OtherName"), ("PassHints", "PassAlias")):
            self.assertIn(f"std::span<const {kind}> {name}() {{", text)

    def test_names_are_in_order(self):
        with self.assertRaises(subprocess.CalledProcessError):
            self.make("names_rows", NAMES + 'IROPT_PASS_NAME("B", "Plain")\n')
        with self.assertRaises(subprocess.CalledProcessError):
            self.make("names_rows", 'IROPT_NAME("B", "Plain")\n')

    def test_instruments(self):
        self.make("instruments", INSTRUMENTS)
        self.assertIn('struct Plain {\n  static constexpr std::string_view kName = "plain";\n};\n',
                      self.read("instrument_options/Plain.h"))
        header = self.read("instrument_options/PrintIt.h")
        self.assertIn('  enum class Format : uint8_t { kText, kJson };\n', header)
        self.assertIn('  TypedOption<std::vector<LocatedName>> passes{"passes"};  // which passes\n', header)
        self.assertIn('    options.Read(format, {"text", "json"});\n', header)
        self.assertIn('    writer.Write(passes);\n    writer.Write(format, {"text", "json"});\n', header)

    def test_configs(self):
        self.make("configs", CONFIGS)
        self.assertIn('namespace iropt::config::a {', self.read("configs/a.limit.h"))
        self.assertIn('inline constexpr ConfigKey<int64_t> limit{"a.limit"};', self.read("configs/a.limit.h"))
        self.assertIn("  bool split = {};  // split them\n", self.read("configs/a.Loop.h"))
        self.assertIn('ConfigKey<std::string> mode{"mode"}', self.read("configs/mode.h"))
        keys = self.read("configs/keys.h")
        self.assertTrue(all(f'"{key}",' in keys for key in ("a.limit", "a.Loop", "a.Loop.split", "mode")))

    def test_primitives(self):
        self.make("primitives", PRIMITIVES)
        args = self.read("public/iropt/schedule/args.h")
        self.assertIn("  Arg<Form, ParamKind::kLoops> loops;\n  Arg<Form, ParamKind::kBool> keep = true;\n"
                      "  Arg<Form, ParamKind::kString> name = \"main\";\n", args)
        self.assertIn("  static constexpr size_t kIndex = 1;\n", args)
        self.assertIn("    return std::tie(self.loops, self.keep, self.name);\n", args)
        calls = self.read("public/iropt/schedule/typed_calls.h")
        self.assertIn("  void Stop(const args::Stop<Named>& args) { Run(args); }\n", calls)
        self.assertIn("  Name Join(const args::Join<Named>& args) { return First(Run(args)); }\n", calls)

    def test_only_changed_headers_are_written(self):
        self.make("passes_rows", PASSES)
        os.utime(self.path(OPTIONS + "/AddIt.h"), (1, 1))
        self.make("passes_rows", PASSES.replace("nothing", "not a thing"))
        self.assertEqual(os.stat(self.path(OPTIONS + "/AddIt.h")).st_mtime, 1)
        self.make("passes_rows", PASSES.replace('"", "the way"', '"c_order", "the way"'))  # headers do not have defaults
        self.assertEqual(os.stat(self.path(OPTIONS + "/AddIt.h")).st_mtime, 1)
        self.make("passes_rows", PASSES.replace("(how_fast,", "(manner,"))
        self.assertNotEqual(os.stat(self.path(OPTIONS + "/AddIt.h")).st_mtime, 1)

    def test_headers_of_removed_rows_are_removed(self):
        self.make("passes_rows", PASSES)
        self.make("passes_rows", PASSES.replace("AddIt", "TakeIt"))
        self.assertEqual(os.listdir(self.path(OPTIONS)), ["TakeIt.h"])


if __name__ == "__main__":
    sys.exit(unittest.main())
