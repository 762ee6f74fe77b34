"""Tests scripts/mutation.py: where it finds what to change, and the record."""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import mutation  # noqa: E402

SOURCE = """\
void Log(int x);
bool Check(int a, int b) {
  if (a < b && a != 3) {
    Log(a);
    return true;
  }
  return a + b == 10;
}
"""


class MutationTest(unittest.TestCase):
    def test_copy(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder) / "source"
            mutation.copy_sources(tree)
            changed = tree / "include/iropt/ir/relax/builder.h"
            kept = tree / "CMakeLists.txt"
            time = kept.stat().st_mtime_ns
            text = changed.read_text()
            changed.write_text("mutated")
            mutation.copy_sources(tree)
            self.assertEqual(changed.read_text(), text)
            self.assertEqual(kept.stat().st_mtime_ns, time)
            self.assertTrue((tree / "lib/driver/build/build_step.cpp").exists())

    def texts(self, folder):
        file = pathlib.Path(folder) / "sample.cpp"
        file.write_text(SOURCE)
        commands = [{"directory": folder, "command": f"clang++ -c {file}", "file": str(file)}]
        (pathlib.Path(folder) / "compile_commands.json").write_text(json.dumps(commands))
        query = shutil.which("clang-query-14") or shutil.which("clang-query")
        mutants = mutation.find_mutants(query, folder, str(file))
        return [mutant.describe(SOURCE).removeprefix(str(file)) for mutant in mutants]

    @unittest.skipUnless(shutil.which("clang-query-14") or shutil.which("clang-query"), "clang-query was not found")
    def test_places(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = self.texts(folder)
        for expected in [":3: `<` -> `<=`", ":3: `&&` -> `||`", ":3: `!=` -> `==`", ":3: `3` -> `4`", ":4: `Log(a);` -> `;`",
                         ":5: `true` -> `false`", ":7: `+` -> `-`", ":7: `==` -> `!=`", ":7: `10` -> `11`",
                         ":3: `a < b && a != 3` -> `true`", ":3: `a < b && a != 3` -> `false`"]:
            self.assertIn(expected, texts)
        self.assertEqual(len(texts), len(set(texts)))

    def test_mutants_are_applied(self):
        mutant = mutation.Mutant("f.cpp", 2, 3, "-")
        self.assertEqual(mutant.apply("a + b"), "a - b")

    def test_record_keeps_reasons(self):
        mutants = [mutation.Mutant("f.cpp", 2, 3, "-"), mutation.Mutant("f.cpp", 4, 5, "c")]
        results = [(mutants[0], "f.cpp:1: `+` -> `-`", "alive"), (mutants[1], "f.cpp:9: `b` -> `c`", "dead")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "record.md"
            path.write_text("- f.cpp:7: `+` -> `-` -- equivalent: the sign does not matter\n")
            text = mutation.render(results, mutation.read_record(path))
        self.assertIn("| f.cpp | 2 | 1 | 0 | 1 | 100% |", text)
        self.assertIn("- f.cpp:1: `+` -> `-` -- equivalent: the sign does not matter", text)


if __name__ == "__main__":
    unittest.main()
