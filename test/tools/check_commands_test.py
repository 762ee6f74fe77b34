#!/usr/bin/env python3
"""Tests of scripts/check_commands.py."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import check_commands  # noqa: E402

PROJECT = check_commands.Project("build", ["release", "tsan"], ["ir-opt", "unit_ir"], ["lit_text", "unit_ir"], ["lit"],
                                 {"ir-opt": {"-o", "-O3", "-passes"}})


class CheckCommands(unittest.TestCase):
    def expect(self, text, *problems):
        self.assertEqual(list(check_commands.problems_of(text, PROJECT)), list(problems))

    def test_ctest(self):
        self.expect("    LIT_FILTER=text/ ctest --preset release -R '^lit_text$' -V\n")
        self.expect("`ctest -L lit` and `ctest\n-R unit`, `-R NAME`")
        self.expect("    ctest -R '^lit$' -V\n", "`ctest -R '^lit$'` matches no test")
        self.expect("`X=1 ctest -L\nunit`", "`ctest -L 'unit'` matches no label")
        self.expect("    ctest --preset fast\n", "there is no preset 'fast'")
        self.expect("    LIT_FILTER=no/such ctest -R lit\n", "LIT_FILTER=no/such matches no test")

    def test_builds(self):
        self.expect("    scripts/build.sh release ir-opt unit_ir\n    scripts/test.sh tsan -L lit\n")
        self.expect("    scripts/test.sh [PRESET [ARGUMENT...]]\n")
        self.expect("    scripts/build.sh release no-tool\n", "there is no target 'no-tool'")
        self.expect("    scripts/test.sh quick\n", "there is no preset 'quick'")

    def test_programs(self):
        self.expect("    build/bin/unit_ir && build-tsan/bin/unit_ir\n")
        self.expect("    build/bin/unit_no\n", "there is no program 'unit_no'")
        tagged = "    build/bin/unit_ir '[no_such_tag]'\n"
        self.expect(tagged, "no test has the tag '[no_such_tag]'")
        self.expect(tagged + "```cpp test/unit/ir/a_test.cpp\nTEST_CASE(\"a\", \"[no_such_tag]\") {}\n```\n")
        self.expect("    LIT_FILTER=no_such ctest -R lit\n```python test/no_such/a.ir\n```\n")

    def test_tools(self):
        self.expect("`ir-opt -O3 --passes='A<x=-1>,B' in.ir -o -`, `ir-opt -pass=1`", "ir-opt has no flag '-pass'")
        self.expect("    build/bin/ir-opt -passes=A \\\n        -output=x in.ir\n", "ir-opt has no flag '-output'")
        self.expect("    cat in.ir | ir-opt -no | ir-opt\n", "ir-opt has no flag '-no'")

    def test_scripts(self):
        self.expect("    python3 scripts/check_docs.py --kind x build/bin\n")
        self.expect("    scripts/check_docs.py --kinds=x\n", "scripts/check_docs.py has no flag '--kinds'")
        self.expect("    bench/no.py\n", "there is no file bench/no.py")

    def test_unnamed_flags(self):
        named = "| `-o FILE`, `-O3` | `-passes=` |"
        self.assertEqual(list(check_commands.unnamed_flags(named, {"-o", "-O3", "-passes"})), [])
        self.assertEqual(list(check_commands.unnamed_flags(named, {"-pass", "-x"})), ["flag '-pass' is not named", "flag '-x' is not named"])

    def test_console_blocks_are_left_to_check_docs(self):
        self.expect("```console\n$ ir-opt -no\n    ir-opt -no\n```\n")


if __name__ == "__main__":
    unittest.main()
