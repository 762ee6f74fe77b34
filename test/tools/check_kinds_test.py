#!/usr/bin/env python3
"""Tests check_kinds.py on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest


class KindsTest(ScriptTest):
    script = "check_kinds.py"
    good = {"include/iropt/diag/kinds.def": 'IROPT_DIAGNOSTIC_KIND("bad-thing", Error, "it is bad")\n',
            "lib/ir/a.cpp": 'd.Error(span, "bad-thing", "no");\n', "test/a.ir": "# bad-thing\n"}

    def test_good(self):
        self.expect_good({})

    def test_unused_kind(self):
        self.expect({"lib/ir/a.cpp": ""}, "'bad-thing' is reported nowhere")

    def test_untested_kind(self):
        self.expect({"test/a.ir": "# bad-things\n"}, "'bad-thing' is named by no test")


if __name__ == "__main__":
    sys.exit(unittest.main())
