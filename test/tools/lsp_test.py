#!/usr/bin/env python3
"""Speaks with ir-lsp as editors do, and checks what it answers.

  lsp_test.py IR-LSP
"""
import sys
import unittest
import warnings

from lsp_client import LspClient, LspError

URI = "file:///a.ir"
# With characters of one, two and four bytes, whose positions differ in UTF-16.
MODULE = '''# RUN: ir-opt -passes=FoldConstant,DeadCodeElimination %s | FileCheck %s
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def scale(A: T.Buffer((16, 8), "float32"), B: T.Buffer((16, 8), "float32")):
        for i, j in T.grid(16, 8):
            with T.block("scale"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor((16, 8), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((16, 8), "float32"):
        # a comment 😀 with ä
        cls = Module
        y = R.add(x, x)  # 😀
        z = R.nn.relu(y)
        e = R.call_dps_packed("😀", (z,), out_sinfo=R.Tensor((16, 8), dtype="float32"))
        w = R.call_tir(cls.scale, (z,), out_sinfo=R.Tensor((16, 8), dtype="float32"))
        return w
'''
CALL = next(line for line in MODULE.split("\n") if "call_dps_packed" in line) + "\n"


class LspTest(unittest.TestCase):
    command = []

    def setUp(self):
        self.client = LspClient(self.command)
        self.capabilities = self.client.initialize()["capabilities"]

    def tearDown(self):
        self.assertEqual(self.client.close(), 0)

    def open(self, text=MODULE, uri=URI):
        self.client.open(uri, text)
        return self.client.wait_for_diagnostics(uri)

    def at(self, needle, occurrence=0, shift=0):
        return self.client.at(URI, needle, occurrence, shift)

    def texts(self, locations):
        return [(location["range"]["start"]["line"], self.client.text_of(URI, location["range"])) for location in locations]

    def line_of(self, needle):
        return self.client.texts[URI][:self.client.texts[URI].index(needle)].count("\n")

    def test_clean(self):
        self.assertEqual(self.open(), [])

    def test_diagnostics_with_fix(self):
        diagnostics = self.open(MODULE.replace("R.nn.relu(y)", "R.nn.rleu(y)"))
        self.assertEqual(len(diagnostics), 1)
        self.assertEqual(self.client.text_of(URI, diagnostics[0]["range"]), "R.nn.rleu")
        self.assertIn("did you mean 'R.nn.relu'", diagnostics[0]["message"])
        actions = self.client.request("textDocument/codeAction", {
            "textDocument": {"uri": URI}, "range": diagnostics[0]["range"], "context": {"diagnostics": diagnostics}})
        self.client.apply(URI, actions[0]["edit"]["changes"][URI])
        self.assertEqual(self.client.texts[URI], MODULE)
        self.assertEqual(self.client.wait_for_diagnostics(URI), [])

    def test_unknown_variable_has_fix(self):
        diagnostics = self.open(MODULE.replace("w = R.call_tir", "result = R.call_tir").replace("return w", "return resutl"))
        actions = self.client.request("textDocument/codeAction", {
            "textDocument": {"uri": URI}, "range": diagnostics[0]["range"], "context": {"diagnostics": diagnostics}})
        self.assertEqual(actions[0]["title"], "Replace by 'result'")

    def test_related_places(self):
        text = MODULE.replace("    @R.function\n", "    @T.prim_func\n    def scale():\n        T.evaluate(0)\n\n    @R.function\n")
        diagnostics = self.open(text)
        related = diagnostics[0]["relatedInformation"][0]
        self.assertEqual(related["message"], "defined here")
        self.assertEqual(self.client.text_of(URI, related["location"]["range"]), "scale")

    def test_ill_formed(self):
        diagnostics = self.open(MODULE.replace("scale, (z,)", "scale, (z, z)"))
        self.assertEqual([d["severity"] for d in diagnostics], [1])

    def test_crlf(self):
        text = MODULE.replace("return w", "return v").replace("\n", "\r\n")
        diagnostics = self.open(text)
        self.assertEqual(self.client.text_of(URI, diagnostics[0]["range"]), "v")

    def test_pipeline_of_run_line(self):
        diagnostics = self.open(MODULE.replace("FoldConstant,", "FoldConstants,"))
        self.assertEqual(self.client.text_of(URI, diagnostics[0]["range"]), "FoldConstants")

    def test_quoted_pipelines(self):
        for flag in ("'-passes=FoldConstant,Nothing'", '"--passes=FoldConstant,Nothing"', "-passes='FoldConstant,Nothing'", "-passes=FoldConstant,Nothing"):
            diagnostics = self.open(MODULE.replace("-passes=FoldConstant,DeadCodeElimination", flag))
            self.assertEqual([self.client.text_of(URI, d["range"]) for d in diagnostics], ["Nothing"])

    def test_expected_diagnostics(self):
        text = MODULE.replace("FoldConstant,DeadCodeElimination", "").replace("-passes=", "-verify-diagnostics").replace(
            "return w", "return v  # expected-error {{unknown name 'v'}}")
        self.assertEqual([d["severity"] for d in self.open(text)], [3])
        missing = self.open(text.replace("return v", "return w"), "file:///b.ir")
        self.assertIn("has no such error", missing[0]["message"])

    def test_several_modules(self):
        second = MODULE.replace("return w", "return v")
        diagnostics = self.open(MODULE + "\n# -----\n" + second)
        self.assertEqual(len(diagnostics), 1)
        self.assertGreater(diagnostics[0]["range"]["start"]["line"], MODULE.count("\n"))

    def test_hover(self):
        self.open()
        hover = lambda *at: self.client.request("textDocument/hover", self.at(*at))["contents"]["value"]
        self.assertIn('y: R.Tensor((16, 8), dtype="float32")', hover("relu(y", 0, 5))
        self.assertIn("R.nn.relu(data)", hover("nn.relu"))
        self.assertIn('A: T.Buffer((16, 8), "float32")', hover("A[vi", 1))
        self.assertIn("0 <= i < 16", hover("[i, j]", 0, 1))
        self.assertIn("def scale(A:", hover("cls.scale", 0, 5))
        self.assertIn("FoldConstant", hover("FoldConstant"))
        self.assertIn("out_sinfo", hover("out_sinfo"))
        self.assertIsNone(self.client.request("textDocument/hover", self.at("# a comment")))

    def test_definition_and_references(self):
        self.open()
        request = lambda method, at, **more: self.texts(self.client.request(f"textDocument/{method}", {**at, **more}))
        z = self.line_of("z = R.nn")
        self.assertEqual(request("definition", self.at("(z,)", 0, 1)), [(z, "z")])
        self.assertEqual(request("definition", self.at("cls.scale", 0, 5)), [(self.line_of("def scale"), "scale")])
        self.assertEqual(request("references", self.at("z = R"), context={"includeDeclaration": True}),
                         [(z, "z"), (z + 1, "z"), (z + 2, "z")])
        self.assertEqual(request("references", self.at("z = R"), context={"includeDeclaration": False}), [(z + 1, "z"), (z + 2, "z")])
        self.assertEqual(request("references", self.at("def scale", 0, 4), context={"includeDeclaration": True}),
                         [(self.line_of("def scale"), "scale"), (z + 2, "scale")])
        highlights = self.client.request("textDocument/documentHighlight", self.at("vi, vj ="))
        self.assertEqual([h["kind"] for h in highlights], [3, 2, 2, 2, 2])

    def test_rename(self):
        self.open()
        prepared = self.client.request("textDocument/prepareRename", self.at("z = R"))
        self.assertEqual(prepared["placeholder"], "z")
        for needle, shift, old, new in (("z = R", 0, "z", "value"), ("def scale", 4, "scale", "twice"), ("vi, vj", 0, "vi", "row"),
                                        ('T.block("scale', 9, "scale", "copy")):
            edit = self.client.request("textDocument/rename", {**self.at(needle, 0, shift), "newName": new})
            for change in edit["changes"][URI]:
                self.assertEqual(self.client.text_of(URI, change["range"]), old)
            self.client.apply(URI, edit["changes"][URI])
            self.assertEqual(self.client.wait_for_diagnostics(URI), [])
        self.assertIn("cls.twice, (value,)", self.client.texts[URI])
        with self.assertRaisesRegex(LspError, "already"):
            self.client.request("textDocument/rename", {**self.at("value = R"), "newName": "y"})
        with self.assertRaisesRegex(LspError, "invalid name"):
            self.client.request("textDocument/rename", {**self.at("value = R"), "newName": "a b"})

    def test_symbols_and_folding(self):
        self.open()
        symbols = self.client.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
        self.assertEqual([s["name"] for s in symbols], ["Module"])
        functions = symbols[0]["children"]
        self.assertEqual([f["name"] for f in functions], ["scale", "main"])
        self.assertEqual([c["name"] for c in functions[0]["children"]], ["scale"])
        found = self.client.request("workspace/symbol", {"query": "mn"})
        self.assertEqual([s["name"] for s in found], ["main"])
        matches = self.client.request("workspace/symbol", {"query": "relu(add(a, a))"})
        self.assertEqual([self.client.text_of(URI, m["location"]["range"]) for m in matches], ["R.nn.relu(y)"])
        ranges = self.client.request("textDocument/foldingRange", {"textDocument": {"uri": URI}})
        self.assertIn({"startLine": self.line_of("def main"), "endLine": self.line_of("return w")}, ranges)

    def test_semantic_tokens(self):
        self.open()
        legend = self.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
        data = self.client.request("textDocument/semanticTokens/full", {"textDocument": {"uri": URI}})["data"]
        tokens = set()
        line = character = 0
        for delta_line, delta, length, kind, _ in zip(*[iter(data)] * 5):
            line += delta_line
            character = delta if delta_line else character + delta
            start = {"line": line, "character": character}
            end = {"line": line, "character": character + length}
            tokens.add((self.client.text_of(URI, {"start": start, "end": end}), legend[kind]))
        for token in (("nn.relu", "function"), ("z", "variable"), ("x", "parameter"), ("scale", "function"), ("out_sinfo", "property"),
                      ("R", "namespace")):
            self.assertIn(token, tokens)

    def labels(self, at):
        return [item["label"] for item in self.client.request("textDocument/completion", at)["items"]]

    def test_completion(self):
        self.open()
        self.assertIn("nn.relu", self.labels(self.at("R.nn.relu", 0, 2)))
        self.assertIn("axis.remap", self.labels(self.at("T.axis", 0, 2)))
        self.assertEqual(self.labels(self.at("cls.scale", 0, 4)), ["scale", "main"])
        names = self.labels(self.at("relu(y", 0, 5))
        for name in ("x", "y", "data="):
            self.assertIn(name, names)
        self.assertNotIn("vi", names)
        self.assertNotIn("w", names)
        self.assertIn("float32", self.labels(self.at('dtype="float32', 0, 8)))
        self.assertIn("DeadCodeElimination", self.labels(self.at("FoldConstant,", 0, 13)))
        self.assertIn("function", self.labels(self.at("@R.function", 0, 3)))
        self.client.change(URI, 0, 0, "")

    def test_completion_while_typing(self):
        text = MODULE.replace("        return w\n", "        v = R.nn.conv2d(w, \n        return w\n")
        self.open(text)
        names = self.labels(self.at("conv2d(w, ", 0, 10))
        for name in ("strides=", "w", "y"):
            self.assertIn(name, names)
        help = self.client.request("textDocument/signatureHelp", self.at("conv2d(w, ", 0, 10))
        self.assertTrue(help["signatures"][0]["label"].startswith("R.nn.conv2d(data, weight"))
        self.assertEqual(help["activeParameter"], 1)

    def test_inlay_hints(self):
        self.open()
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        hints = self.client.request("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": everything})
        self.assertEqual(len(hints), 4)
        self.assertEqual(hints[0]["label"], ': R.Tensor((16, 8), dtype="float32")')
        self.client.apply(URI, [edit for hint in hints for edit in hint["textEdits"]])
        self.assertEqual(self.client.wait_for_diagnostics(URI), [])

    def test_formatting(self):
        self.open(MODULE.replace("R.add(x, x)", "R.add( x,x )"))
        edits = self.client.request("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {}})
        self.client.apply(URI, edits)
        text = self.client.texts[URI]
        self.assertEqual(self.client.wait_for_diagnostics(URI), [])
        self.assertTrue(text.startswith("# RUN: "))
        self.assertIn("        # a comment 😀 with ä\n", text)
        self.assertIn("R.add(x, x)  # 😀\n", text)
        again = self.client.request("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {}})
        self.assertEqual(again, [])

    def content(self, uri):
        return self.client.request("ir/content", {"uri": uri}, timeout=120)["text"]

    def test_virtual_documents(self):
        self.open(MODULE.replace("        z = R.nn", "        dead = R.exp(x)\n        z = R.nn").replace(CALL, ""))
        lenses = self.client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
        shown = {}
        for lens in lenses:
            self.assertEqual(lens["command"]["command"], "ir.show")
            shown.setdefault(lens["command"]["title"], lens["command"]["arguments"][0])
        self.assertIn("\n-", self.content(shown["Show what the passes change"]))
        after = self.content(shown["Show the module after the passes"])
        self.assertIn("R.nn.relu(y)", after)
        self.assertNotIn("R.exp(", after)
        run = next(lens["command"]["arguments"][0] for lens in lenses if "function=main" in lens["command"]["arguments"][0])
        self.assertIn("16", self.content(run))
        steps = self.client.request("ir/passes", {"textDocument": {"uri": URI}})["steps"]
        self.assertEqual([s["name"] for s in steps], ["FoldConstant", "DeadCodeElimination"])
        self.assertTrue(any(s["changed"] for s in steps))
        self.assertNotIn("R.exp(", self.content(steps[1]["uri"]))
        with self.assertRaisesRegex(LspError, "not a virtual document"):
            self.content("file:///x")

    def test_regenerated_checks(self):
        self.open(MODULE.replace("from tvm.script import ir", "# CHECK: old\nfrom tvm.script import ir"))
        line = {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 3}}
        actions = self.client.request("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": line, "context": {"diagnostics": []}})
        action = next(a for a in actions if "CHECK" in a["title"])
        edits = self.client.request("codeAction/resolve", action)["edit"]["changes"][URI]
        self.client.apply(URI, edits)
        self.assertNotIn("# CHECK: old", self.client.texts[URI])
        self.assertIn("R.nn.relu(y)", [line for line in self.client.texts[URI].split("\n") if "CHECK" in line and "relu" in line][0])

    def test_pipeline_file(self):
        uri = "file:///p.json"
        text = '{"opt_level": 3, "passes": ["FoldConstants", {"name": "FuseOps", "options": {"max_depth": 3, "x": 1}}], "config": {"": 1}}'
        self.client.open(uri, text, "json")
        messages = [d["message"] for d in self.client.wait_for_diagnostics(uri)]
        self.assertTrue(any("FoldConstants" in m for m in messages))
        labels = lambda *at: [i["label"] for i in self.client.request("textDocument/completion", self.client.at(uri, *at))["items"]]
        self.assertIn("FoldConstant", labels("FoldConstants", 0, 2))
        self.assertIn("opt_level", labels("opt_level", 0, 1))
        self.assertIn("FuseOps", labels("FuseOps", 0, 1))
        self.assertIn("fuse_opt_level", labels('"x"', 0, 1))
        self.assertIn("tir.UnrollLoop", labels('{""', 0, 2))

    def test_virtual_documents_of_wrong_source(self):
        self.open(MODULE.replace("return w", "return v"))
        steps = self.client.request("ir/passes", {"textDocument": {"uri": URI}})
        self.assertIn("unknown name 'v'", steps["error"])

    def test_protocol_errors(self):
        with self.assertRaisesRegex(LspError, "unknown method"):
            self.client.request("textDocument/unknown")
        with self.assertRaisesRegex(LspError, "is not open"):
            self.client.request("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})
        with self.assertRaisesRegex(LspError, "malformed parameters"):
            self.client.request("textDocument/hover", {"textDocument": 3})

    def test_close(self):
        self.open(MODULE.replace("return w", "return v"))
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        self.client.wait(lambda: self.client.diagnostics[URI]["diagnostics"] == [])


if __name__ == "__main__":
    warnings.simplefilter("ignore", ResourceWarning)
    LspTest.command = [sys.argv.pop(1)]
    unittest.main()
