#!/usr/bin/env python3
"""Checks that the generators write modules that are what they say, and that the scripts run: scripts_test.py IR_OPT"""
import os
import subprocess
import sys
import tempfile
import unittest

import gen_prim_func
import gen_program

HERE = os.path.dirname(os.path.abspath(__file__))
IR_OPT = sys.argv.pop(1)
PASSES = "FoldConstant,EliminateCommonSubexpr,CanonicalizeBindings,DeadCodeElimination"


def run(script, *arguments):
    command = [sys.executable, os.path.join(HERE, script), *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def optimize(path):
    return subprocess.run([IR_OPT, "-O3", f"-passes={PASSES}", "-verify-each", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


class GeneratorTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "module.ir")

    def tearDown(self):
        self.folder.cleanup()

    def test_programs_are_well_formed(self):
        for kind in gen_program.KINDS:
            with self.subTest(kind):
                run("gen_program.py", "--kind", kind, "--size", "40", "--funcs", "2", "-o", self.path)
                self.assertEqual(optimize(self.path).count(" def f"), 2)

    def test_prim_funcs_are_well_formed(self):
        for kind in gen_prim_func.KINDS:
            with self.subTest(kind):
                run("gen_prim_func.py", "--kind", kind, "--size", "5", "--funcs", "2", "-o", self.path)
                out = subprocess.run([IR_OPT, "-verify-only", self.path], stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual((out.returncode, out.stderr), (0, ""))

    def test_workload_has_work(self):
        run("gen_workload.py", "--ops", "2000", "--funcs", "4", "--tvmscript", self.path)
        with open(self.path, encoding="utf-8") as f:
            before = f.read()
        after = optimize(self.path)
        self.assertEqual(after.count("@R.function"), 4)
        # Values that repeat, are dead or constant: half of the operations, give or take a few.
        self.assertLess(after.count(" = R."), 0.7 * before.count(" = R."))

    def test_workload_has_two_spellings(self):
        mlir = os.path.join(self.folder.name, "module.mlir")
        run("gen_workload.py", "--ops", "1000", "--seed", "3", "--tvmscript", self.path, "--mlir", mlir)
        with open(self.path, encoding="utf-8") as f:
            text = f.read()
        with open(mlir, encoding="utf-8") as f:
            peer = f.read()
        for ours, theirs in (("R.add(", "tosa.add "), ("R.multiply(", "tosa.mul "), ("R.full(", "dense<")):
            # MLIR has one more constant, the shift of its multiplications.
            self.assertIn(peer.count(theirs) - text.count(ours), (0, 1))


class CompareTest(unittest.TestCase):
    def test_compare(self):
        out = run("compare.py", "--ir-opt", IR_OPT, "--mlir-opt", "no-such-program", "--ops", "1000", "--funcs", "2", "--runs", "1",
                  "--scaling", "--max-ops", "10000")
        self.assertIn("two threads against one", out)
        self.assertIn("no comparison", out)
        self.assertIn("ratio 1.00 1.00", out)


class PassesTest(unittest.TestCase):
    def test_passes(self):
        out = run("passes.py", "--ir-opt", IR_OPT, "--small", "200", "--big", "400", "--runs", "1", "FoldConstant",
                  "RemoveUnusedOutputs")
        self.assertRegex(out, r"\nFoldConstant +workload +[0-9.]+ +[0-9.]+ +[0-9.]+  yes\n")
        self.assertRegex(out, r"\nRemoveUnusedOutputs +calls +[0-9.]+ +[0-9.]+ +[0-9.]+  yes\n")


class TirPassesTest(unittest.TestCase):
    def test_passes(self):
        out = run("tir_passes.py", "--ir-opt", IR_OPT, "--sizes", "5,20", "--runs", "1", "--kinds", "loops,unrolled,vectorized", "--each",
                  "tir.UnrollLoop", "tir.StorageRewrite")
        self.assertRegex(out, r"\ntir.UnrollLoop +unrolled +[0-9.]+ +[0-9.]+ +[0-9.]+\n")
        self.assertRegex(out, r"\ntir.StorageRewrite +loops +[0-9.]+ +[0-9.]+ +[0-9.]+\n")


class GrowthTest(unittest.TestCase):
    def test_growth(self):
        names = ["LegalizeOps", "VMShapeLower", "tir.HoistExpression", "tir.Simplify"]
        out = run("growth.py", "--ir-opt", IR_OPT, "--size", "8", "--slack", "100", *names)
        self.assertRegex(out, r"^[0-9]{2,} passes on a kind of module, of which 0 grow too fast\n$")

    def test_bad_growth(self):
        # No time grows so little.
        command = [sys.executable, os.path.join(HERE, "growth.py"), "--ir-opt", IR_OPT, "--size", "8", "--exponent", "-100", "--slack", "0",
                   "--runs", "1", "--kinds", "conjuncts", "tir.Simplify"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^tir.Simplify +conjuncts +[0-9.]+ ms +[0-9.]+ ms +n\^[-0-9.]+ FAILED\n1 passes")


# Writes a table of one row into a copy of a document.
WRITE_TABLE = """
import sys
sys.path.insert(0, sys.argv[1])
import web
web.DOCUMENT = sys.argv[2]
row = ("recurrent", 615, [904, 36, 4.9], [942, 747, 3.2])
web.write_in_document([web.HEADER, "| --- |", web.row_in_node(*row), "", web.ratios_in_node([row])])
"""


class OnnxTest(unittest.TestCase):
    def setUp(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import onnx"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("Python's onnx is not installed")

    def test_models(self):
        out = run("onnx_reading.py", "--ir-opt", IR_OPT, "--layers", "1", "--repeat", "1")
        # The shapes of the heads are known, and nothing of the weights is read; the batch norms are gone.
        self.assertRegex(out, r"decoder +ir-opt -O3 +[0-9.]+ s +[0-9]+ MB   nodes 63 -> 44\n")
        self.assertRegex(out, r"resnet50 +ir-opt -O3 +[0-9.]+ s +[0-9]+ MB   nodes 175 -> 121\n")

    def test_table_of_packages(self):
        document = os.path.join(os.path.dirname(HERE), "docs", "web.md")
        with open(document, encoding="utf-8") as file:
            before = file.read()
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "web.md")
            with open(copy, "w", encoding="utf-8") as file:
                file.write(before)
            subprocess.run(["/usr/bin/python3", "-B", "-c", WRITE_TABLE, HERE, copy], check=True)
            with open(copy, encoding="utf-8") as file:
                after = file.read()
        row = "| recurrent | 615 ms | 904 ms | 36 ms | 4.9 ms | 942 ms | 747 ms | 3.2 ms | 1.0, 20.8, 0.7 |\n\nSo the first call is 21 to 21 times"
        self.assertIn(row, after)
        # All before and below the table is as it was.
        begin = after.index("| model | command |")
        self.assertEqual(after[:begin], before[:begin])
        end = after.index(" times.\n", begin)
        self.assertEqual(after[end:], before[before.index(" times.\n", begin):])

    def test_transformers(self):
        out = run("run_transformers.py", "--ir-opt", IR_OPT, "--ir-run", os.path.join(os.path.dirname(IR_OPT), "ir-run"), "--small",
                  "--models", "bert,bert_int8,mobilenet_qdq,mobilenet_bytes", "--repeat", "1", "--rounds", "1")
        for name in ("bert", "bert_int8", "mobilenet_qdq", "mobilenet_bytes"):
            self.assertRegex(out, rf"\| {name} \| 1 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \|\n")

    def test_peers(self):
        out = run("onnx_peers.py", "--ir-opt", IR_OPT, "--repeat", "1", "--only", "mobile,encoder")
        self.assertRegex(out, r"mobile +25 \| +17 +[0-9.]+ s")
        self.assertRegex(out, r"encoder +289 \| +124 +[0-9.]+ s")


if __name__ == "__main__":
    unittest.main()
