#!/usr/bin/env python3
"""Checks that check_pass.py finds each of the faults that it is there for, with small scripts in place of ir-opt."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_pass.py")

# Replaces "b" by "a" where -passes is given; a line of FAULT, if any, spoils that.
TOOL = """#!{python}
import sys
flags, path = sys.argv[1:-1], sys.argv[-1]
text = open(path).read()
run = any(f.startswith("-passes") for f in flags)
if run:
    text = text.replace("b", "a")
{fault}
sys.stdout.write(text)
"""


class CheckPassTest(unittest.TestCase):
    def run_with(self, fault, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            tool = os.path.join(folder, "tool")
            source = os.path.join(folder, "in.ir")
            with open(tool, "w", encoding="utf-8") as f:
                f.write(TOOL.format(python=sys.executable, fault=fault))
            os.chmod(tool, 0o755)
            with open(source, "w", encoding="utf-8") as f:
                f.write("abc\n")
            command = [sys.executable, SCRIPT, f"--ir-opt={tool}", *arguments, "-passes=P", source]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def expect_fault(self, fault, message):
        done = self.run_with(fault)
        self.assertEqual(done.returncode, 1)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_good_pass(self):
        done = self.run_with("")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "aac\n", ""))

    def test_failing_run(self):
        self.expect_fault("if run: sys.exit(4)", "exit code 4")

    def test_result_does_not_verify(self):
        self.expect_fault("if '-verify-only' in flags: sys.exit(3)", "does not verify")

    def test_pass_breaks_module(self):
        self.expect_fault("if '-verify-each' in flags: sys.exit(5)", "a pass breaks the module")

    def test_reads_back_differently(self):
        self.expect_fault("if not run: text = text + ' '", "reads back differently")

    def test_threads_differ(self):
        self.expect_fault("if '-threads=4' in flags: text = text + ' '", "four threads")

    def test_second_run_changes(self):
        fault = "if run: text = text.replace('c', 'cc')"
        self.expect_fault(fault, "a second run changes")
        done = self.run_with(fault, "--not-idempotent=it doubles each c")
        self.assertEqual((done.returncode, done.stdout), (0, "aacc\n"))


if __name__ == "__main__":
    unittest.main()
