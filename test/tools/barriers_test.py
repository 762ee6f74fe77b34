#!/usr/bin/env python3
"""Checks that barriers.py fails if it has tried nothing, with programs that stand for ir-opt and ir-run."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "barriers.py")
KERNEL = """class Module:
    @T.prim_func
    def main(A: T.Buffer((64,), "float32")):
        tx = T.launch_thread("threadIdx.x", 64)
        T.tvm_storage_sync("shared")
        A[tx] = T.float32(0)
"""
# Gives the kernel, and finds a race where the barrier is missing.
OPT = """import sys
text = sys.stdin.read()
if "-verify-races" not in sys.argv:
    print(text, end="")
elif "tvm_storage_sync" not in text:
    sys.exit(sys.stderr.write("error: race") and 5)
"""
RACE = 'import sys\nsys.exit("race on A")\n'
REFUSES = 'import sys\nsys.exit("error: no")\n'


class BarriersTest(unittest.TestCase):
    def run_tool(self, opt, run, *flags):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "cases"))
            with gzip.open(os.path.join(folder, "cases", "schedule.jsonl.gz"), "wt", encoding="utf-8") as file:
                file.write(json.dumps({"id": "a", "after": KERNEL}) + "\n")
            arguments = []
            for name, text in (("ir-opt", opt), ("ir-run", run)):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"#!{sys.executable}\n{text}")
                os.chmod(path, 0o755)
                arguments += [f"--{name}", path]
            return subprocess.run([sys.executable, TOOL, *arguments, *flags, folder], capture_output=True, text=True, check=False)

    def test_barrier_that_is_needed(self):
        done = self.run_tool(OPT, RACE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("needed: race: 1\n", done.stdout)

    def test_mbarrier_that_is_needed(self):
        opt = OPT.replace('"tvm_storage_sync" not', '"init_barrier_thread_count(0, 64)" in text and "wait_barrier(0)" not')
        done = self.run_tool(opt, RACE, "--mbarriers")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("complete: none: 1\n", done.stdout)
        self.assertIn("needed: race: 1\n", done.stdout)

    def test_mbarrier_that_is_not_missed(self):
        done = self.run_tool(OPT, RACE, "--mbarriers")
        self.assertEqual(done.returncode, 1)
        self.assertIn("needed: none: 1\n", done.stdout)

    def test_nothing_is_needed(self):
        self.assertEqual(self.run_tool(OPT, "").returncode, 1)

    def test_nothing_is_run(self):
        done = self.run_tool(OPT, REFUSES)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not run: 1\n", done.stdout)

    def test_sources_are_refused(self):
        done = self.run_tool(REFUSES, RACE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("refused: 1\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
