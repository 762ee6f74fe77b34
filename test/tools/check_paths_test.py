#!/usr/bin/env python3
"""Checks that check_paths.py finds what it looks for, on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest


class PathsTest(ScriptTest):
    script = "check_paths.py"
    good = {"include/iropt/ir/tir/stmt.h": "// See tir/expr.h and ir/tir/stmt.h.\n", "include/iropt/ir/tir/expr.h": "",
            "README.md": "Sources are in `include/iropt/ir`, see [stmt.h](include/iropt/ir/tir/stmt.h).\n"}

    def test_good(self):
        self.expect_good({})

    def test_installed_packages_of_node(self):
        self.expect_good({"editors/vscode/node_modules/a/README.md": "See docs/old.md.\n"})

    def test_comment(self):
        self.expect({"lib/ir/a.cpp": "int a;\n// as in old.h\n"}, "lib/ir/a.cpp:2: there is no 'old.h'")
        self.expect({"CMakeLists.txt": "#" + " see lib/old.cpp\n"}, "CMakeLists.txt:1: there is no 'lib/old.cpp'")
        self.expect({"scripts/a.py": '"""Reads\nlib/old.def.\n"""\n'}, "there is no 'lib/old.def'")

    def test_headers_of_operators(self):
        table = {"include/iropt/op/ops/nn.def": ""}
        self.expect_good({**table, "docs/a.md": "Include iropt/op/ops/nn.h, iropt/infer/ops/nn.h or iropt/op/ops/all.h.\n"})
        self.expect({**table, "docs/a.md": "\nInclude iropt/op/ops/old.h.\n"}, "docs/a.md:2: there is no 'iropt/op/ops/old.h'")

    def test_code(self):
        self.expect_good({"lib/ir/a.cpp": '#include "old.h"\n', "scripts/a.py": 'NAME = "old.h"\n'})

    def test_document(self):
        self.expect({"docs/a.md": "\n```\nolder.h\n```\nSee `old.h`.\n"}, "docs/a.md:5: there is no 'old.h'")

    def test_folder(self):
        self.expect({"docs/a.md": "Look into `lib/old`.\n"}, "docs/a.md:1: there is no 'lib/old'")
        self.expect_good({"docs/a.md": "Look into `lib/*/old` and lib/<name>.\n"})

    def test_files_of_a_document(self):
        self.expect_good({"docs/a.md": "Write lib/new/b.cpp, in lib/new:\n\n```cpp lib/new/b.cpp\nint b;\n```\n"})

    def test_changelog(self):
        self.expect_good({"CHANGELOG.md": "Removes lib/old.cpp.\n"})

    def test_sources_of_tvm(self):
        self.expect_good({"lib/ir/a.cpp": "// Source: TVM's src/arith/const_fold.h.\n"})

    def test_empty_file(self):
        self.expect({"b.json": ""}, "b.json: is empty")
        self.expect_good({"test/b.json": ""})

    def test_placeholder(self):
        self.expect_good({"scripts/a.py": '"""a.py FILE.md"""\n'})


if __name__ == "__main__":
    sys.exit(unittest.main())
