#!/usr/bin/env python3
"""Tests check_layering.py on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest


class LayeringTest(ScriptTest):
    script = "check_layering.py"

    def test_downwards(self):
        self.expect_good({"lib/pass/a.cpp": '#include "iropt/ir/node.h"\n#include <fmt/format.h>\n',
                          "lib/eval/a.cpp": '#include "iropt/arith/a.h"\n'})

    def test_upwards(self):
        self.expect({"lib/ir/a.cpp": '\n#include "iropt/op/op.h"\n'}, "lib/ir/a.cpp:2: ir must not include op")

    def test_text_and_pass(self):
        self.expect({"include/iropt/pass/a.h": '#include "iropt/text/script/parser.h"\n'}, "do not know each other")
        self.expect({"lib/text/a.cpp": '#include "iropt/pass/pass.h"\n'}, "text must not include pass")

        self.expect({"lib/transform/a.cpp": '#include "iropt/text/script/parser.h"\n'}, "transform must not include text")

    def test_arithmetic_uses_operators(self):
        self.expect({"lib/op/a.cpp": '#include "iropt/arith/analyzer.h"\n'}, "op must not include arith, which lies above it")
        self.expect_good({"lib/arith/a.cpp": '#include "iropt/op/op.h"\n'})

    def test_private_headers(self):
        self.expect({"lib/eval/a.cpp": '#include "infer/type_util.h"\n'}, "is a private header of another area")
        self.expect_good({"lib/eval/a.cpp": '#include "eval/kernels/a.h"\n#include "a.h"\n'})

    def test_programs(self):
        for folder in ("tools/t", "examples", "examples/plugin"):
            self.expect({f"{folder}/a.cpp": '#include "driver/session.h"\n'}, "is a private header; programs include")
            self.expect_good({f"{folder}/a.cpp": '#include "a.h"\n#include "iropt/ir/a.h"\n'})
        self.expect({"examples/a.cpp": "#include <nlohmann/json.hpp>\n"}, "stays in data, diag")

    def test_documents(self):
        areas = {"CMakeLists.txt": "iropt_add_area(support)\niropt_add_area(ir DEPS support)\n",
                 "lib/ir/a.cpp": '#include "iropt/support/a.h"\n', "lib/support/a.cpp": ""}
        table = "| area | contents |\n| --- | --- |\n| `support` | arenas, `Result` |\n| `ir` | nodes |\n"
        self.expect_good({**areas, "docs/architecture.md": table})
        expected = "expected the areas of lib: support, ir"
        self.expect({**areas, "docs/architecture.md": table.replace("`ir`", "`op`")}, f"docs/architecture.md:3: {expected}")
        self.expect({**areas, "docs/architecture.md": "none\n"}, f"docs/architecture.md:1: {expected}")

    def test_edges_of_cmake(self):
        areas = "iropt_add_area(support DEPS fmt::fmt LIBRARIES ZLIB::ZLIB)\niropt_add_area(ir DEPS support)\n"
        sources = {"lib/ir/a.cpp": '#include "iropt/support/a.h"\n', "lib/op/a.cpp": '#include "iropt/ir/a.h"\n'}
        self.expect({**sources, "CMakeLists.txt": areas + "iropt_add_area(op)\n"},
                    "CMakeLists.txt:3: op does not name ir, which lib/op/a.cpp:1 includes")
        self.expect({**sources, "CMakeLists.txt": areas + "iropt_add_area(op DEPS ir\n               support)\n"},
                    "CMakeLists.txt:3: op names support, of which it includes nothing")
        self.expect_good({**sources, "CMakeLists.txt": areas + "iropt_add_area(op DEPS ir)\n"})

    def test_formats(self):
        areas = "iropt_add_area(support)\niropt_add_area(ir DEPS support)\niropt_add_area(exchange)\n"
        sources = {"include/iropt/ir/a.h": "#include \"iropt/support/b.h\"\n", "lib/exchange/toy/row.cpp": "",
                   "lib/exchange/toy/reader.cpp": "#include \"iropt/ir/a.h\"\n"}
        self.expect({**sources, "CMakeLists.txt": areas + "iropt_add_format(toy)\n"},
                    "CMakeLists.txt:4: exchange/toy does not name ir, which lib/exchange/toy/reader.cpp:1 includes")
        self.expect_good({**sources, "CMakeLists.txt": areas + "iropt_add_format(toy DEPS ir)\n"})
        self.expect({"lib/exchange/toy/a.cpp": "#include \"iropt/pass/pass.h\"\n"},
                    "lib/exchange/toy/a.cpp:1: exchange must not include pass, which lies above it")
        self.expect({"lib/exchange/toy/a.cpp": "#include \"exchange/relay/lexer.h\"\n"},
                    "lib/exchange/toy/a.cpp:1: 'exchange/relay/lexer.h' is a private header of another format")

    def test_python(self):
        modules = {"python/iropt/__init__.py": "from . import a\n", "python/iropt/a.py": "from .b import f\n",
                   "python/iropt/b/__init__.py": "from .. import a\n"}
        self.expect(modules, "python/iropt/b/__init__.py:1: these need each other: iropt.a, iropt.b, iropt.a")
        self.expect_good({**modules, "python/iropt/b/__init__.py": "def f():\n    from .. import a\n"})

    def test_headers_that_include_each_other(self):
        headers = {"lib/ir/a.h": '// A.\n#pragma once\n#include "ir/b.h"\n', "lib/ir/b.h": '// B.\n#pragma once\n#include "a.h"\n'}
        self.expect(headers, "lib/ir/b.h:3: these need each other: lib/ir/a.h, lib/ir/b.h, lib/ir/a.h")

    def test_operators_by_name(self):
        table = {"include/iropt/op/ops/nn.def": "IROPT_ACTIVATION(Relu, relu, InferUnaryArith)\nIROPT_OP(NnPad, nn.pad, InferPad)\n",
                 "include/iropt/op/intrinsics.def": "IROPT_INTRINSIC(Exp, exp, 1)\n"}
        for line in ('if (op->name == "relax.nn.relu") {', 'GetOp("relax.nn.pad");', '{"tir.exp", 1},', 'starts_with("relax.nn.")'):
            self.expect({**table, "lib/eval/a.cpp": "\n" + line + "\n"}, "lib/eval/a.cpp:2: operator '")
        fine = {"lib/text/a.cpp": 'GetOp("tir.exp");\n', "lib/eval/a.cpp": 'Find("relax.force_pure");  // not "tir.exp"\n',
                "lib/op/a.cpp": 'GetOp("tir.exp");\n'}
        self.expect_good({**table, **fine})

    def test_tables_of_all_operators(self):
        for target in ("iropt/op/ops.def", "iropt/op/ops/all.h"):
            self.expect_good({"lib/infer/type_rules.cpp": f'#include "{target}"\n'})
            for path in ("include/iropt/infer/type_rules.h", "lib/transform/relax/fold.cpp", "tools/ir-opt/main.cpp"):
                self.expect({path: f'#include "{target}"\n'}, f"{path}:1: '{target}' makes it depend on all operators")
        self.expect_good({"lib/transform/relax/fold.cpp": '#include "iropt/op/ops/nn.h"\n'})

    def test_other_folders(self):
        self.expect({"lib/ir/a.cpp": '#include "../diag/b.h"\n'}, "reaches into another folder")

    def test_libraries(self):
        self.expect({"lib/ir/a.cpp": "#include <CLI/CLI.hpp>\n"}, "stays in tools")
        self.expect({"include/iropt/diag/a.h": "#include <nlohmann/json.hpp>\n"}, "in a public header")

    def test_unknown_area(self):
        self.expect({"lib/misc/a.cpp": ""}, "is not an area")

    def test_comments(self):
        for comment in ("// Whether it is empty.", "// The same for a text.", "  // What it holds.", "// ---- Parts\n// How it is read."):
            header = f"int a;\n{comment}\nbool f();\n"
            self.expect({"include/iropt/ir/a.h": header}, f"include/iropt/ir/a.h:{1 + len(comment.splitlines())}: the comment begins with")
            self.expect_good({"lib/ir/a.h": header})
        fine = "// Returns whether it is empty.\nbool f();\n// Finds a name. Nothing if it is unknown.\n// The same for each.\nint g();  // Whether it is\n"
        self.expect_good({"include/iropt/ir/a.h": fine + "// Whatever is last.\nint h();\n"})

    def test_words(self):
        for text, word in (("// Files beside it.", "beside"), ("Result<int> FileBeside();", "beside"), ("// The pass at fault.", "fault"),
                           ("int OldFault();", "fault"), ("int num_faults;", "fault"), ("// A faulty plugin.", "fault"),
                           ("// Computed anew.", "anew"), ("// It waits for ever.", "for ever"), ("// TVM has it: it is no more.", "no more"),
                           ("// A limit is none.", "is none"), ("// What\n// is no list.", "is no"), ("// Shapes are no values.", "is no"),
                           ("// Products of matrices.", "products of matrices"), ("// Off for now.", "for now"),
                           ("// A loop in the place of another.", "in the place of"), ("// To end the run.", "end the run"),
                           ("// By variables and names of variables alone.", "names alone")):
            self.expect({"lib/ir/a.cpp": "\n" + text + "\n"}, f"lib/ir/a.cpp:{2 + text.count(chr(10))}: '{word}': write")
        for text in ("besides", "a page fault", "default", "SetDefault()", "DEFAULT", "no more than two", "is no longer here", "there is none", "'There is no list'",
                     "there\n// is no list", "There are no files", "for every", "It is no more than a copy", "ViewColumn.Beside", "x is None", "in place of it", "until now", "this alone"):
            self.expect_good({"lib/ir/a.cpp": f"// {text}\n"})
        self.expect({"passes.def": "// Files beside it.\n"}, "passes.def:1: 'beside'")
        self.expect({"CHANGELOG.md": "Files beside it.\n"}, "CHANGELOG.md:1: 'beside'")
        self.expect({"docs/a.md": "Files beside it.\n", "test/a/b.ir": "# Files beside it.\n"}, "test/a/b.ir:1: 'beside'")

    def test_long_file(self):
        self.expect({"lib/ir/a.cpp": "\n" * 601}, "601 lines")
        self.expect_good({"include/iropt/op/a.def": "\n" * 601})


if __name__ == "__main__":
    sys.exit(unittest.main())
