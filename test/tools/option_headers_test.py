#!/usr/bin/env python3
"""Checks the headers that option_headers.py makes of small tables."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "option_headers.py")
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


class OptionHeadersTest(unittest.TestCase):
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
        self.make("passes", PASSES)
        self.assertEqual(os.listdir(self.path("pass_options")), ["AddIt.h"])
        header = self.read("pass_options/AddIt.h")
        self.assertIn('  TypedOption<std::vector<std::string>> names{"names"};  // the names\n', header)
        self.assertIn('  enum class HowFast : uint8_t { kUnset, kFromInputs, kCOrder };\n', header)
        self.assertIn('  TypedOption<HowFast> how_fast{"how_fast"};  // the way\n', header)
        self.assertIn('    options.Read(how_fast, {"", "from-inputs", "c_order"});\n', header)
        self.assertIn('  TypedOption<DataType> wide{"wide"};  // the wide dtype\n', header)
        self.assertIn('  TypedOption<std::optional<DataType>> narrow{"narrow"};  // the narrow dtype\n', header)

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

    def test_only_changed_headers_are_written(self):
        self.make("passes", PASSES)
        os.utime(self.path("pass_options/AddIt.h"), (1, 1))
        self.make("passes", PASSES.replace("nothing", "not a thing"))
        self.assertEqual(os.stat(self.path("pass_options/AddIt.h")).st_mtime, 1)
        self.make("passes", PASSES.replace('"", "the way"', '"c_order", "the way"'))  # headers do not have defaults
        self.assertEqual(os.stat(self.path("pass_options/AddIt.h")).st_mtime, 1)
        self.make("passes", PASSES.replace("(how_fast,", "(manner,"))
        self.assertNotEqual(os.stat(self.path("pass_options/AddIt.h")).st_mtime, 1)

    def test_headers_of_removed_rows_are_removed(self):
        self.make("passes", PASSES)
        self.make("passes", PASSES.replace("AddIt", "TakeIt"))
        self.assertEqual(os.listdir(self.path("pass_options")), ["TakeIt.h"])


if __name__ == "__main__":
    sys.exit(unittest.main())
