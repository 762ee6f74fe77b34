#!/usr/bin/env python3
"""Checks that check_tidy.py finds what it looks for, on small trees made for each case."""
import json
import os
import sys
import unittest

from script_test import SCRIPTS, ScriptTest

sys.path.insert(0, SCRIPTS)

COMMAND = "g++ -O3 -Winvalid-pch -fpch-preprocess -include none.hxx -Iinclude -std=c++20 -o a.o -c lib/a.cpp"


class TidyTest(ScriptTest):
    script = "check_tidy.py"
    good = {".clang-tidy": "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\nHeaderFilterRegex: '.*'\n",
            "include/a.h": "inline int* A() { return nullptr; }\n", "lib/a.cpp": '#include "a.h"\n'}

    def prepare(self, root):
        """A build folder names files by their whole paths."""
        os.mkdir(os.path.join(root, "build"))
        with open(os.path.join(root, "build", "compile_commands.json"), "w", encoding="utf-8") as f:
            json.dump([{"file": os.path.join(root, "lib/a.cpp"), "command": COMMAND.replace("-I", f"-I{root}/")}], f)

    def test_good(self):
        self.expect_good({})

    def test_source(self):
        self.expect({"lib/a.cpp": "int* b = 0;\n"}, "a.cpp:1:10: error: use nullptr")

    def test_header(self):
        self.expect({"include/a.h": "inline int* A() { return 0; }\n"}, "a.h:1:26: error: use nullptr")

    def test_file_that_is_not_compiled(self):
        self.expect_good({"lib/b.cpp": "int* b = 0;\n"})

    def test_end_of_the_time(self):
        self.assertEqual(self.check({"lib/a.cpp": "int* b = 0;\n"}, minutes=-1), [])
        self.assertNotEqual(self.check({"lib/a.cpp": "int* b = 0;\n"}, minutes=1), [])


class UnityBuildTest(TidyTest):
    """The same where CMake compiles the sources of a folder together."""

    def prepare(self, root):
        os.makedirs(os.path.join(root, "build", "Unity"))
        source = os.path.join(root, "build", "Unity", "unity_0_cxx.cxx")
        with open(source, "w", encoding="utf-8") as f:
            f.write(f'#include "{root}/lib/a.cpp"\n')
        with open(os.path.join(root, "build", "compile_commands.json"), "w", encoding="utf-8") as f:
            json.dump([{"file": source, "command": COMMAND.replace("-I", f"-I{root}/")}], f)


if __name__ == "__main__":
    unittest.main()
