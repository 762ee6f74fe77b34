#!/usr/bin/env python3
"""Checks that check_passes.py finds what it looks for, on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest


class PassesTest(ScriptTest):
    script = "check_passes.py"
    good = {"passes.def": 'IROPT_PASS(Function, FoldIt, "FoldIt", 0)\nIROPT_PASS(PrimFunc, UnrollVLoop, "tir.UnrollVLoop", 0)\n',
            "lib/transform/relax/simplify/fold_it.cpp": "", "lib/transform/tir/unroll_vloop.cpp": "",
            "docs/passes/FoldIt.ir": "", "docs/passes/tir.UnrollVLoop.ir": "",
            "test/transform/fold_it/a.ir": "# RUN: %check-pass -passes=FoldIt %s\n",
            "test/transform/tir/unroll_vloop/a.test": "# RUN: %check-pass '-passes=tir.UnrollVLoop<a=1>' %S/Inputs/a.ir\n"}

    def test_good(self):
        self.expect_good({})

    def test_missing(self):
        for path, message in (("lib/transform/relax/simplify/fold_it.cpp", "FoldIt: no source"),
                              ("docs/passes/tir.UnrollVLoop.ir", "tir.UnrollVLoop: there is no example"),
                              ("test/transform/fold_it/a.ir", "FoldIt: no folder below test/transform")):
            self.expect({path: None}, message)

    def test_unchecked(self):
        self.expect({"test/transform/fold_it/a.ir": "# RUN: %check-pass -passes=FoldItAll %s\n"}, "FoldIt: no test runs it")
        self.expect({"test/transform/fold_it/a.ir": "# RUN: %ir-opt -passes=FoldIt %s\n"}, "FoldIt: no test runs it")

    def test_left_over(self):
        self.expect({"test/transform/old/a.ir": ""}, "test/transform/old/a.ir: a test of no pass")
        self.expect({"docs/passes/Old.ir": ""}, "docs/passes/Old.ir: an example of no pass")

    def test_no_rows(self):
        self.expect({"passes.def": ""}, "there is no row")


if __name__ == "__main__":
    sys.exit(unittest.main())
