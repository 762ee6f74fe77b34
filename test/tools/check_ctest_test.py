#!/usr/bin/env python3
"""Tests of scripts/check_ctest.py."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import check_ctest  # noqa: E402


class CheckCtest(unittest.TestCase):
    def faults(self, text):
        return list(check_ctest.faults_of(text, {"lit_text", "unit_ir"}, {"lit"}))

    def test_patterns_that_match(self):
        self.assertEqual(self.faults("    LIT_FILTER=a ctest --preset release -R '^lit_text$' -V\n"), [])
        self.assertEqual(self.faults("`ctest -L lit` and `ctest\n-R unit`, `-R NAME`"), [])

    def test_patterns_that_match_nothing(self):
        self.assertEqual(self.faults("    LIT_FILTER=a ctest --preset release -R '^lit$' -V\n"),
                         ["`ctest -R '^lit$'` matches no test"])
        self.assertEqual(self.faults("`X=1 ctest -L\nunit`"), ["`ctest -L 'unit'` matches no label"])
        self.assertEqual(self.faults("$ ctest -R parser\n"), ["`ctest -R 'parser'` matches no test"])


if __name__ == "__main__":
    unittest.main()
