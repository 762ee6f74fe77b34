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
    """Files that are committed, and four days later `later`; of the last day, only these are checked."""

    later = {"README.md": "A text.\n"}

    def commit(self, root, day):
        date = f"2026-01-0{day}T12:00:00Z"
        environment = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_CONFIG_GLOBAL": os.devnull}
        user = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        for command in (["init", "-q"], ["add", "."], [*user, "commit", "-q", "-m", "Change"]):
            subprocess.run(["git", *command], cwd=root, env=environment, check=True)

    def prepare(self, root):
        self.commit(root, 1)
        for path, text in self.later.items():
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(text)
        self.commit(root, 5)
        super().prepare(root)

    def test_other_files(self):
        source = {"lib/a.cpp": "int* b = 0;\n"}
        self.assertEqual(self.check(source, hours=24), [])
        self.assertNotEqual(self.check(source, hours=24 * 6), [])

    def test_changed_source(self):
        self.later = {"lib/a.cpp": "int* b = 0;\n"}
        self.assertNotEqual(self.check({}, hours=24), [])

    def test_changed_header(self):
        self.later = {"include/a.h": "inline int* A() { return 0; }\n"}
        self.assertNotEqual(self.check({}, hours=24), [])


class UnityBuildTest(TidyTest):
    """The same where CMake compiles the sources of a folder together."""

    good = {**TidyTest.good, "lib/c.cpp": "inline int* C() { return nullptr; }\n"}

    def prepare(self, root):
        write_unity_build(root, COMMAND, ["lib/a.cpp", "lib/c.cpp"])

    def test_second_source(self):
        self.expect({"lib/c.cpp": "int* c = 0;\n"}, "c.cpp:1:10: error: use nullptr")


if __name__ == "__main__":
    unittest.main()
