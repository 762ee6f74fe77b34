"""Tests scripts/mutation.py: where it finds what to change, and the record."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import mutants  # noqa: E402
import mutation  # noqa: E402

SOURCE = """\
#include <array>
void Log(int x);
bool IsOdd(int a);
bool Check(int a, int b) {
  if (a < b && a != 3) {
    Log(a);
    return true;
  }
  return a + b == 10;
}
bool IsEven(int a) { return !IsOdd(a); }

constexpr int kSize = 3 + 4;
static_assert(kSize == 7);
std::array<int, 5> values;
"""
# Prints other numbers for each of its mutants but that of the line 14.
PROGRAM = """\
#include <cstdio>
bool Less(int a, int b) {
  if (a < b && a != 1) return false;
  return a <= b;
}
int Sum(int a, int b) { return a + b; }
void Add(int& sum, int i) { sum += i; }
int main() {
  int sum = 0;
  const int numbers[] = {1, 2, 3};
  for (int i : numbers) Add(sum, i);
  std::printf("%d %d %d\\n", Less(1, 2), Sum(1, 2), sum);
}
int Unused(int a) { return a / 2; }
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

    def places(self, source):
        cindex = mutants.load_clang()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "sample.cpp"
            file.write_text(source)
            return mutants.find_places(cindex, file, "sample.cpp", source, ["-std=c++20"])

    @unittest.skipUnless(mutants.load_clang(), "libclang was not found")
    def test_places(self):
        texts = [mutant.describe(SOURCE).removeprefix("sample.cpp") for place in self.places(SOURCE) for mutant in place.mutants]
        for expected in [":5: `<` -> `<=`", ":5: `&&` -> `||`", ":5: `!=` -> `==`", ":5: `3` -> `4`", ":6: `Log(a)` -> `nothing`",
                         ":7: `true` -> `false`", ":9: `+` -> `-`", ":9: `==` -> `!=`", ":9: `10` -> `11`",
                         ":5: `a < b && a != 3` -> `true`", ":5: `a < b && a != 3` -> `false`", ":11: `!IsOdd(a)` -> `IsOdd(a)`"]:
            self.assertIn(expected, texts)
        self.assertEqual(len(texts), len(set(texts)))
        self.assertFalse([text for text in texts if text.startswith((":13:", ":14:", ":15:"))], "constants are not changed")

    @unittest.skipUnless(mutants.load_clang() and shutil.which("c++"), "libclang or a compiler was not found")
    def test_mutants_are_switched_on(self):
        places = self.places(PROGRAM)
        numbers, count = [], 1
        for place in places:
            numbers.append(range(count, count + len(place.mutants)))
            count += len(place.mutants)
        described = [mutant.describe(PROGRAM) for place in places for mutant in place.mutants]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "header.h").write_text(mutants.HEADER.replace("@LIMIT@", str(count)))
            (folder / "program.cpp").write_text(mutants.Schema(PROGRAM, places, numbers, "header.h").render(set()))
            subprocess.run(["c++", "-std=c++20", "-w", "program.cpp", "-o", "program"], cwd=folder, check=True)

            def run(value):
                environment = {**os.environ, mutants.VARIABLE: value}
                return subprocess.run(["./program"], cwd=folder, env=environment, capture_output=True, text=True).stdout
            self.assertEqual(run("0"), "1 3 6\n")
            outputs = {text.split(": ")[1]: run(str(number)) for number, text in enumerate(described, 1)}
            run("record:reached")
            reached = {int(line) for line in (folder / "reached").read_text().split()}
        self.assertEqual(outputs["`&&` -> `||`"], "0 3 6\n")
        self.assertEqual(outputs["`+` -> `-`"], "1 -1 6\n")
        self.assertEqual(outputs["`+=` -> `-=`"], "1 3 -6\n")
        self.assertEqual(outputs["`Add(sum, i)` -> `nothing`"], "1 3 0\n")
        self.assertEqual(outputs["`a < b && a != 1` -> `true`"], "0 3 6\n")
        # What no test reaches cannot be noticed.
        self.assertEqual({text for number, text in enumerate(described, 1) if number not in reached},
                         {text for text in described if ":14:" in text or "`false` ->" in text})

    def test_dropped_places(self):
        places = [mutants.Place(0, 1, [mutants.Mutant("f.cpp", 0, 1, "2")], [(0, 1, lambda n: "(first)")]),
                  mutants.Place(4, 5, [mutants.Mutant("f.cpp", 4, 5, "3")], [(4, 5, lambda n: "(second)")])]
        schema = mutants.Schema("1 + 2\n", places, [[1], [2]], "h.h")
        self.assertTrue(schema.render(set()).endswith("(first) + (second)\n"))
        self.assertEqual(schema.places_at(1, 3), {0})
        self.assertEqual(schema.places_at(1, 12), {1})
        self.assertEqual(schema.places_at(1, 9), {0, 1})
        self.assertTrue(schema.render({0}).endswith("1 + (second)\n"))

    def test_record_keeps_reasons(self):
        changes = [mutants.Mutant("f.cpp", 2, 3, "-"), mutants.Mutant("f.cpp", 4, 5, "c")]
        results = [(changes[0], "f.cpp:1: `+` -> `-`", "alive"), (changes[1], "f.cpp:9: `b` -> `c`", "dead")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "record.md"
            path.write_text("- f.cpp:7: `+` -> `-` -- equivalent: the sign does not matter\n"
                            "- f.cpp:8: `1` -> `2` (not reached) -- equivalent: nobody asks\n")
            text = mutation.render(results, mutation.read_record(path))
        self.assertIn("| f.cpp | 2 | 1 | 0 | 1 | 100% |", text)
        self.assertIn("- f.cpp:1: `+` -> `-` -- equivalent: the sign does not matter", text)
        self.assertIn("- f.cpp: `1` -> `2` -- equivalent: nobody asks", text)

    def test_record_of_those_that_were_alive(self):
        record = ("| file | mutants | dead | alive | equivalent | share of dead |\n| --- | --- | --- | --- | --- | --- |\n"
                  "| f.cpp | 5 | 2 | 3 | 0 | 40% |\n| g.cpp | 1 | 1 | 0 | 0 | 100% |\n| all | 6 | 3 | 3 | 0 | 50% |\n\n## Alive\n\n"
                  "- f.cpp:1: `+` -> `-` (not reached)\n- f.cpp:2: `b` -> `c`\n- f.cpp:3: `1` -> `2` -- equivalent: nobody asks\n\n"
                  "## Not tested this time\n\n"
                  "- f.cpp: `3` -> `4` -- equivalent: nobody asks\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "record.md"
            path.write_text(record)
            self.assertEqual(mutation.read_alive(path), {"f.cpp:1: `+` -> `-`", "f.cpp:2: `b` -> `c`"})
            results = [(None, "f.cpp:1: `+` -> `-`", "dead"), (None, "f.cpp:2: `b` -> `c`", "alive")]
            mutation.write_records({path: ""}, results, again=True)
            text = path.read_text()
        self.assertIn("| f.cpp | 5 | 3 | 1 | 1 | 75% |", text)
        self.assertIn("| g.cpp | 1 | 1 | 0 | 0 | 100% |", text)
        self.assertIn("| all | 6 | 4 | 1 | 1 | 80% |", text)
        self.assertNotIn("`+` -> `-`", text)
        self.assertIn("- f.cpp:2: `b` -> `c`", text)


if __name__ == "__main__":
    unittest.main()
