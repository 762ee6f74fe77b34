#!/usr/bin/env python3
"""Tests that check_pass.py finds each kind of problem, with small scripts instead of ir-opt."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_pass.py")

# Replaces "b" by "a"; a line of PROBLEM, if any, breaks that.
TOOL = """#!{python}
import sys
flags, path = sys.argv[1:-1], sys.argv[-1]
text = open(path).read().replace("b", "a")
{problem}
sys.stdout.write(text)
"""


class CheckPassTest(unittest.TestCase):
    def run_with(self, problem, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            tool = os.path.join(folder, "tool")
            source = os.path.join(folder, "in.ir")
            with open(tool, "w", encoding="utf-8") as f:
                f.write(TOOL.format(python=sys.executable, problem=problem))
            os.chmod(tool, 0o755)
            with open(source, "w", encoding="utf-8") as f:
                f.write("abc\n")
            command = [sys.executable, SCRIPT, f"--ir-opt={tool}", *arguments, "-passes=P", source]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def expect_problem(self, problem, message):
        done = self.run_with(problem)
        self.assertEqual(done.returncode, 1)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_installed_tool(self):
        with tempfile.TemporaryDirectory() as prefix:
            script = os.path.join(prefix, "share", "ir-opt", "check_pass.py")
            tool = os.path.join(prefix, "bin", "ir-opt")
            source = os.path.join(prefix, "in.ir")
            for path in (script, tool):
                os.makedirs(os.path.dirname(path))
            with open(source, "w", encoding="utf-8") as f:
                f.write("abc\n")
            shutil.copy(SCRIPT, script)
            command = [sys.executable, script, "-passes=P", source]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": prefix})
            self.assertEqual((done.returncode, done.stderr), (1, "check_pass: cannot run ir-opt: No such file or directory; --ir-opt=BINARY names it\n"))
            with open(tool, "w", encoding="utf-8") as f:
                f.write(TOOL.format(python=sys.executable, problem=""))
            os.chmod(tool, 0o755)
            done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": prefix})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "aac\n", ""))

    def test_good_pass(self):
        done = self.run_with("")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "aac\n", ""))

    def test_failing_run(self):
        self.expect_problem("sys.exit(4)", "exit code 4")

    def test_checks_of_the_tool(self):
        for flag in ("-verify-each", "-verify-roundtrip", "-verify-idempotent"):
            self.expect_problem(f"if '{flag}' in flags: sys.exit(5)", "the run with all checks: exit code 5")

    def test_threads_differ(self):
        self.expect_problem("if '-threads=4' in flags: text = text + ' '", "four threads")

    def test_not_idempotent(self):
        done = self.run_with("if '-verify-idempotent' in flags: sys.exit(5)", "--not-idempotent=it doubles each c")
        self.assertEqual((done.returncode, done.stdout), (0, "aac\n"))


if __name__ == "__main__":
    unittest.main()
