#!/usr/bin/env python3
"""Tests check_classes.py on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest


def source(methods, members):
    lines = [f"  std::function<bool(int)> Get{i}(int a = 1) const {{ return {{}}; }}" for i in range(methods)]
    lines += [f"  std::vector<int> member{i}_{{1, 2}};  // a(b)" for i in range(members)]
    return "class A : public B {\n public:\n" + "\n".join(lines) + "\n};\n"


class ClassesTest(ScriptTest):
    script = "check_classes.py"

    def violations(self, methods, members):
        return self.check({"lib/a/a.h": source(methods, members)})

    def test_good(self):
        self.assertEqual(self.violations(40, 20), [])

    def test_methods(self):
        self.assertIn("has 41 methods and 3 members", self.violations(41, 3)[0])

    def test_members(self):
        self.assertIn("has 3 methods and 21 members", self.violations(3, 21)[0])

    def test_tables(self):
        self.assertEqual(self.violations(2, 50), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
