#!/usr/bin/env python3
"""Checks that check_alone.py finds what it looks for, on small trees made for each case."""
import unittest

from script_test import ScriptTest, write_unity_build

COMMAND = ("cmake -E env A=b ccache g++ -O3 -Winvalid-pch -fpch-preprocess -include none.hxx -Iinclude -std=c++20 "
           "-MD -MF a.d -o a.o -c unity_0_cxx.cxx")


class AloneTest(ScriptTest):
    """CMake compiles both sources together, and a precompiled header includes <string>."""

    script = "check_alone.py"
    good = {"include/a.h": "#pragma once\n#include <string>\nstd::string A();\n",
            "lib/a.cpp": '#include "a.h"\nstd::string A() { return "a"; }\n',
            "lib/b.cpp": '#include "a.h"\nint B() { return static_cast<int>(A().size()); }\n'}

    def prepare(self, root):
        write_unity_build(root, COMMAND, ["lib/a.cpp", "lib/b.cpp"])

    def test_good(self):
        self.expect_good({})

    def test_source_that_uses_what_the_one_before_it_includes(self):
        self.expect({"lib/b.cpp": "int B() { return static_cast<int>(A().size()); }\n"}, "lib/b.cpp does not compile alone")

    def test_source_that_uses_what_is_precompiled(self):
        self.expect({"lib/b.cpp": "int B(const std::string& b) { return static_cast<int>(b.size()); }\n"},
                    "lib/b.cpp does not compile alone")

    def test_header(self):
        self.expect({"include/a.h": "#pragma once\nstd::string A();\n", "lib/a.cpp": '#include <string>\n#include "a.h"\n',
                     "lib/b.cpp": '#include <string>\n#include "a.h"\n'}, "include/a.h does not compile alone")

    def test_file_that_is_not_compiled(self):
        self.expect_good({"lib/c.cpp": "int C() { return B(); }\n"})


if __name__ == "__main__":
    unittest.main()
