#!/usr/bin/env python3
"""Checks that check_format.py finds what it looks for, on small trees made for each case."""
import os
import unittest

from script_test import ScriptTest


class FormatTest(ScriptTest):
    script = "check_format.py"
    good = {".clang-format": "BasedOnStyle: Google\n", "lib/ir/a.cpp": "int a;\n\nint b;\n", "include/iropt/b.h": ""}

    def test_good(self):
        self.expect_good({})

    def test_source(self):
        self.expect({"lib/ir/a.cpp": "int a;\nint  b;\n"}, "lib/ir/a.cpp:2:4: not formatted")

    def test_header(self):
        self.expect({"include/iropt/b.h": "struct B { int a ; };\n"}, "include/iropt/b.h:1:")

    def test_other_folder(self):
        self.expect_good({"build/a.cpp": "int  b;\n", "docs/a.cpp": "int  b;\n"})


if __name__ == "__main__":
    unittest.main()
