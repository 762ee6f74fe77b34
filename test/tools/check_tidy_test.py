#!/usr/bin/env python3
"""Checks that check_tidy.py finds what it looks for, on small trees made for each case."""
import json
import os
import subprocess
import unittest

from script_test import ScriptTest, write_unity_build

COMMAND = "g++ -O3 -Winvalid-pch -fpch-preprocess -include none.hxx -Iinclude -std=c++20 -o a.o -c lib/a.cpp"


class TidyTest(ScriptTest):
    script = "check_tidy.py"
    good = {".clang-tidy": "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\nHeaderFilterRegex: '.*'\n",
            "include/a.h": "inline int* A() { return nullptr; }\n", "lib/a.cpp": '#include "a.h"\n'}

    def prepare(self, root):
        """A build folder names files by their whole paths."""
        os.mkdir(os.path.join(root, "build"))
        with open(os.path.join(root, "build", "compile_commands.json"), "w", encoding="utf-8") as f:
            json.dump([{"file": os.path.join(root, "lib/a.cpp"), "command": COMMAND.replace("-I", f"-I{root}/")}], f)

    def test_good(self):
        self.expect_good({})

    def test_source(self):
        self.expect({"lib/a.cpp": "int* b = 0;\n"}, "a.cpp:1:10: error: use nullptr")

    def test_header(self):
        self.expect({"include/a.h": "inline int* A() { return 0; }\n"}, "a.h:1:26: error: use nullptr")

    def test_file_that_is_not_compiled(self):
        self.expect_good({"lib/b.cpp": "int* b = 0;\n"})

class ChangedTest(TidyTest):
    """Files that are committed, and `later` in the next commit: only these are checked, or all since the one that passed."""

    later = {"README.md": "A text.\n"}
    passed = None  # the revision that passed

    def git(self, root, *arguments):
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
        user = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        done = subprocess.run(["git", *user, *arguments], cwd=root, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    def commit(self, root):
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Change"]):
            self.git(root, *command)

    def prepare(self, root):
        self.commit(root)
        for path, text in self.later.items():
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(text)
        self.commit(root)
        super().prepare(root)
        if self.passed:
            with open(os.path.join(root, "build", "tidy_passed_at"), "w", encoding="utf-8") as f:
                f.write(self.git(root, "rev-parse", self.passed))

    def test_other_files(self):
        source = {"lib/a.cpp": "int* b = 0;\n"}
        self.assertEqual(self.check(source, changed=True), [])
        self.assertNotEqual(self.check(source), [])

    def test_changed_source(self):
        self.later = {"lib/a.cpp": "int* b = 0;\n"}
        self.assertNotEqual(self.check({}, changed=True), [])
        self.passed = "HEAD"
        self.assertEqual(self.check({}, changed=True), [])
        self.passed = "HEAD~1"
        self.assertNotEqual(self.check({}, changed=True), [])

    def test_changed_header(self):
        self.later = {"include/a.h": "inline int* A() { return 0; }\n"}
        self.assertNotEqual(self.check({}, changed=True), [])


class UnityBuildTest(TidyTest):
    """The same where CMake compiles the sources of a folder together."""

    good = {**TidyTest.good, "lib/c.cpp": "inline int* C() { return nullptr; }\n"}

    def prepare(self, root):
        write_unity_build(root, COMMAND, ["lib/a.cpp", "lib/c.cpp"])

    def test_second_source(self):
        self.expect({"lib/c.cpp": "int* c = 0;\n"}, "c.cpp:1:10: error: use nullptr")


if __name__ == "__main__":
    unittest.main()
