#!/usr/bin/env python3
"""Tests refusals.py on a command that fails with the text of the module, or of the case."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refusals.py")
MODULE = "# A comment.\n[title]\nerror: a wrong $case\ngiven x\n"


def run(text, *options, code=1, show="module"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        command = [sys.executable, TOOL, *options, path, "sh", "-c", f"cat {{{show}}}; exit {code}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class RefusalsTest(unittest.TestCase):
    def test_good(self):
        self.assertEqual(run(MODULE + "y !! a wrong x; y\nz !! wrong x; z\n"), (0, ""))
        self.assertEqual(run("[title]\n\nerror: bad !! bad\n", show="case"), (0, ""))

    def test_other_message(self):
        code, output = run(MODULE + "y !! a wrong z\n")
        self.assertEqual(code, 1)
        self.assertIn("cases:5: x; y\nexpected: a wrong z\ngot: error: a wrong x; y", output)

    def test_exit_codes(self):
        for code in (0, 70, 139):
            self.assertIn(f"exit code {code}", run(MODULE + "y !! a wrong x\n", code=code)[1])

    def test_marks(self):
        cases = MODULE + "y !one! a wrong x\ny !two! a wrong z\n"
        self.assertEqual(run(cases, "--mark=one")[0], 0)
        self.assertEqual(run(cases, "--mark=two")[0], 1)
        self.assertIn("no cases", run(cases)[1])

    def test_neither_case_nor_title(self):
        self.assertIn("line 6 is neither a case nor a title", run(MODULE + "y !! a wrong x\nz\n")[1])


if __name__ == "__main__":
    sys.exit(unittest.main())
