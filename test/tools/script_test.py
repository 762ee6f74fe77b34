"""What the tests of the scripts that check the repository have in common."""
import contextlib
import importlib.util
import json
import os
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")
sys.path.insert(0, SCRIPTS)  # scripts import each other


def write_unity_build(root, command, sources):
    """A build folder in which CMake compiles the sources together by the command, with the whole paths of the tree."""
    os.makedirs(os.path.join(root, "build", "Unity"))
    unit = os.path.join(root, "build", "Unity", "unity_0_cxx.cxx")
    with open(unit, "w", encoding="utf-8") as f:
        f.writelines(f'#include "{root}/{source}"\n' for source in sources)
    with open(os.path.join(root, "build", "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump([{"file": unit, "command": command.replace("-I", f"-I{root}/")}], f)


class ScriptTest(unittest.TestCase):
    """Tests of one script, whose function check(root) lists the problems of a tree."""

    script = None  # its name
    good = {}  # a tree without problems: texts by path

    def prepare(self, root):
        """Adds to a tree what depends on where it lies."""

    def check(self, changes, **options):
        """The problems of the good tree with some texts changed; None takes a file away. The options are for the script."""
        spec = importlib.util.spec_from_file_location("script", os.path.join(SCRIPTS, self.script))
        module = importlib.util.module_from_spec(spec)
        with contextlib.suppress(KeyError):
            del sys.modules["script"]
        spec.loader.exec_module(module)
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**self.good, **changes}.items():
                if text is not None:
                    full = os.path.join(root, path)
                    os.makedirs(os.path.dirname(full), exist_ok=True)
                    with open(full, "w", encoding="utf-8") as f:
                        f.write(text)
            self.prepare(root)
            return module.check(root, **options)

    def expect_good(self, changes):
        self.assertEqual(self.check(changes), [])

    def expect(self, changes, message):
        self.assertIn(message, "\n".join(self.check(changes)))
