#!/usr/bin/env python3
"""Opens programs in Python in ir-lsp: the scripts in them are checked and explained, and the Python around them is left alone.

  lsp_python_test.py IR-LSP
"""
import sys
import unittest

from lsp_client import LspClient

URI = "file:///program.py"
PROGRAM = '''"""A program. @T.prim_func is not a decorator here."""
import numpy as np
from tvm.script import ir as I, relax as rx
from tvm.script import (
    tir as tir_script,
)

SIZE = 16
broken = [np.float32(1


def undefined(x):
    return nothing_known + x


@tir_script.prim_func
def double(A: tir_script.Buffer((8,), "float32"), B: tir_script.Buffer((8,), "float32")):
    for i in range(8):
        with tir_script.block("double"):
            vi = tir_script.axis.spatial(8, i)
            B[vi] = tir_script.exp(A[vi])


class Test:
    def test_module(self):
        @I.ir_module
        class Module:
            # a comment at another column
            @rx.function
            def main(x: rx.Tensor((8,), "float32")) -> rx.Tensor((8,), "float32"):
                with rx.dataflow():
                    y = rx.nn.relu(x)
                    z = rx.add(y, y)
                    rx.output(z)
                return z

        assert Module is not None

    @tir_script.prim_func
    def captured(A: tir_script.Buffer((SIZE,), "float32")):
        for i in range(SIZE):
            A[i] = tir_script.float32(0)
'''


class PythonTest(unittest.TestCase):
    command = []

    def setUp(self):
        self.client = LspClient(self.command)
        self.client.initialize()

    def tearDown(self):
        self.assertEqual(self.client.close(), 0)

    def open(self, text=PROGRAM):
        self.client.open(URI, text, "python")
        return [(self.client.text_of(URI, diagnostic["range"]), diagnostic["message"])
                for diagnostic in self.client.wait_for_diagnostics(URI)]

    def ask(self, method, needle, shift=0, **params):
        return self.client.request(f"textDocument/{method}", {**self.client.at(URI, needle, 0, shift), **params})

    def hover(self, needle, shift=0):
        answer = self.ask("hover", needle, shift)
        return answer["contents"]["value"] if answer else None

    def test_python_is_left_alone(self):
        self.assertEqual(self.open(), [])
        for needle in ("np.float32", "nothing_known", "assert Module"):
            self.assertIsNone(self.hover(needle))
            self.assertEqual(self.ask("completion", needle)["items"], [])
        arguments = {"textDocument": {"uri": URI}, "options": {}}
        self.assertEqual(self.client.request("textDocument/formatting", arguments), [])
        self.assertEqual(self.client.request("textDocument/foldingRange", {"textDocument": {"uri": URI}}), [])

    def test_problems_in_scripts(self):
        self.assertEqual(self.open(PROGRAM.replace("rx.add(y, y)", "rx.add(y, yy)").replace("script.exp(", "script.epx(")),
                         [("tir_script.epx", "unknown name 'T.epx'; did you mean 'T.exp'?"),
                          ("yy", "unknown name 'yy'; did you mean 'y'?")])
        # Shapes are checked.
        found = self.open(PROGRAM.replace("rx.add(y, y)", 'rx.add(y, rx.zeros((3,), "float32"))'))
        self.assertEqual([text for text, _ in found], ['rx.add(y, rx.zeros((3,), "float32"))'])

    def test_values_of_the_program(self):
        typo = PROGRAM.replace("range(SIZE)", "range(SIZ)")
        self.assertEqual(self.open(typo), [("SIZ", "unknown name 'SIZ'; did you mean 'SIZE'?")])
        # A value that is known only when the program runs.
        self.assertEqual(self.open(PROGRAM.replace("SIZE = 16", "SIZE = len(sys.argv)")), [])

    def test_information(self):
        self.open()
        self.assertIn('y: R.Tensor((8,), dtype="float32")', self.hover("y = rx"))
        self.assertIn("R.nn.relu(", self.hover("rx.nn.relu", 8))
        self.assertIn("0 <= i < 8", self.hover("for i in range(8)", 4))
        self.assertEqual(self.ask("definition", "rx.add(y", 7)[0]["range"]["start"], self.client.at(URI, "y = rx")["position"])
        labels = {item["label"] for item in self.ask("completion", "rx.nn.relu", 3)["items"]}
        self.assertIn("nn.relu", labels)
        self.assertIn("add", labels)
        symbols = self.client.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
        self.assertEqual([symbol["name"] for symbol in symbols], ["double", "main", "captured"])

    def test_changes(self):
        self.open()
        begin = PROGRAM.index("SIZE = 16")
        self.client.change(URI, begin, begin, "OTHER = (\n")
        self.client.wait_for_diagnostics(URI)
        self.assertIn('y: R.Tensor((8,), dtype="float32")', self.hover("y = rx"))


if __name__ == "__main__":
    PythonTest.command = [sys.argv.pop(1)]
    unittest.main()
