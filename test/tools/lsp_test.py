#!/usr/bin/env python3
"""Speaks with ir-lsp as editors do, and checks what it answers.

  lsp_test.py IR-LSP
"""
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import warnings

from lsp_client import LspClient, LspError

URI = "file:///a.ir"
TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
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
SYMBOLIC = '''from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def scale(a: T.handle, B: T.Buffer((16, 8), "float32")):
        n = T.int64()
        A = T.match_buffer(a, (16, n), "float32")
        C = T.alloc_buffer((16, 8))
        for i, j in T.grid(16, 8):
            with T.block("one"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(16, 8):
            with T.block("two"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = C[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("m", 8), "float32")) -> R.Tensor(("m", 8), "float32"):
        m = T.int64()
        y = R.add(x, x)
        z: R.Tensor((m, 8), "float32") = R.nn.relu(y)  # 😀
        @R.function
        def local(q: R.Tensor(("m", 8), "float32")) -> R.Tensor(("m", 8), "float32"):
            return R.exp(q)
        r = local(z)
        return r
'''
RELU = '''@R.function
def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
    y = R.nn.relu(x)
    return y
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

    def test_undefined_variable(self):
        diagnostics = self.open(
            "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n    t = T.int32()\n    A[t] = T.float32(0)\n")
        self.assertEqual([diagnostic["message"] for diagnostic in diagnostics], ["variable 't' is not defined"])

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
        self.assertEqual(request("definition", self.at('T.block("scale"', 0, 10)), [(self.line_of("T.block"), "scale")])
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

    def rename(self, at, name):
        """The places that a rename changes, as lines and columns from 1, after it was applied without errors."""
        edits = self.client.request("textDocument/rename", {**at, "newName": name})["changes"][URI]
        old = {self.client.text_of(URI, edit["range"]) for edit in edits}
        self.assertEqual(len(old), 1)
        places = sorted((edit["range"]["start"]["line"], edit["range"]["start"]["character"]) for edit in edits)
        self.client.apply(URI, edits)
        self.assertEqual(self.client.wait_for_diagnostics(URI), [])
        return len(places)

    def test_rename_of_buffers_and_symbolic_variables(self):
        self.open(SYMBOLIC)
        self.assertEqual(self.rename(self.at("A = T.match"), "source"), 2)
        self.assertEqual(self.rename(self.at("C[vi, vj] *"), "between"), 3)
        self.assertEqual(self.rename(self.at("(16, n)", 0, 5), "length"), 2)
        self.assertEqual(self.rename(self.at("a: T.handle"), "handle"), 2)
        self.assertEqual(self.rename(self.at("vi, vj] = between"), "row"), 3)
        # In strings, and in a nested function.
        self.assertEqual(self.rename(self.at('"m"', 0, 1), "size"), 6)
        self.assertEqual(self.rename(self.at("local(z)"), "inner"), 2)
        self.assertEqual(self.rename(self.at('T.block("two"', 0, 9), "second"), 1)
        for word in ("for", "None", "R", "1a", ""):
            with self.assertRaisesRegex(LspError, "invalid name"):
                self.client.request("textDocument/rename", {**self.at("z: R"), "newName": word})

    def test_definition_of_nested_function(self):
        self.open(SYMBOLIC)
        self.assertEqual(self.texts(self.client.request("textDocument/definition", self.at("local(z)"))),
                         [(self.line_of("def local"), "local")])

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

    FORMATTING = {"textDocument": {"uri": URI}, "options": {}}

    def rewrite(self):
        """Applies the action that gives the canonical text; returns whether it changes anything."""
        actions = self.client.request("textDocument/codeAction", {
            "textDocument": {"uri": URI}, "range": {"start": {"line": 8, "character": 0}, "end": {"line": 8, "character": 0}},
            "context": {"diagnostics": []}})
        action = next(action for action in actions if action["title"] == "Write the text as ir-opt prints it")
        edits = self.client.request("codeAction/resolve", action)["edit"]["changes"][URI]
        self.client.apply(URI, edits)
        return bool(edits)

    def test_formatting_changes_blanks_only(self):
        untidy = [("R.add(x, x)", "R.add( x,x )"), ("  # 😀\n", "# 😀\n"), ("        # a comment", "     # a comment"),
                  (" = R.", "=R."), ("main(x: R", "main( x:R"), (", c: R", ",c :R"), ("-> R", "->R"), ("range(16)", "range( 16 )  ")]
        text = MODULE
        for tidy, other in untidy:
            text = text.replace(tidy, other)
        for end in ("\n", "\r\n"):
            self.open(text.replace("\n", end))
            self.client.apply(URI, self.client.request("textDocument/formatting", self.FORMATTING))
            self.assertEqual(self.client.texts[URI], MODULE.replace("\n", end))
            self.assertEqual(self.client.request("textDocument/formatting", self.FORMATTING), [])

    def test_formatting_of_expressions(self):
        for text in ("@T.prim_func\ndef f(A: T.Buffer((8,), \"float32\"), n: T.int32 = 3):\n"
                     "    for i in T.serial(-n + 8, annotations={\"a\": -1}):\n"
                     "        A[i] = A[0:i * 2][-1] + T.float32(-2) if not (i < n) else f(*[i], lambda x, y: (y, -x))\n        A[i] //= 2\n        n += -1\n",
                     "@R.function\ndef f(x):\n    y: R.Tensor((2,), dtype=\"float32\") = R.add(\n           x, x)  # kept\n    return y\n"):
            self.open(text)
            self.assertEqual(self.client.request("textDocument/formatting", self.FORMATTING), [])

    def test_canonical_text(self):
        self.open(MODULE.replace("R.add(x, x)", "R.add( x,x )"))
        self.rewrite()
        text = self.client.texts[URI]
        self.assertEqual(self.client.wait_for_diagnostics(URI), [])
        self.assertTrue(text.startswith("# RUN: "))
        self.assertIn("        # a comment 😀 with ä\n", text)
        self.assertIn("R.add(x, x)  # 😀\n", text)
        self.assertFalse(self.rewrite())

    def test_canonical_text_keeps_line_breaks_and_imports(self):
        text = MODULE.replace("R.add(x, x)", "R.add( x,x )") + "\n# -----\n" + MODULE.replace("R.add(x, x)", "R.add( x,x )")
        for end in ("\n", "\r\n"):
            self.open(text.replace("\n", end))
            self.rewrite()
            lines = self.client.texts[URI].split(end)
            self.assertNotIn("\n", "".join(lines))
            self.assertEqual(lines[1:6], MODULE.split("\n")[1:6])
            self.assertEqual(sum("R.add(x, x)  # 😀" in line for line in lines), 2)
            self.assertEqual(lines.count("# -----"), 1)
            self.assertFalse(self.rewrite())

    def test_canonical_text_adds_missing_imports_as_comments(self):
        self.open("\n".join(MODULE.split("\n")[5:]))
        self.rewrite()
        self.assertTrue(self.client.texts[URI].startswith("# from tvm.script import ir as I\n"))

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
        self.assertIn("R.nn.relu([[y]])", [line for line in self.client.texts[URI].split("\n") if "CHECK" in line and "relu" in line][0])

    def actions(self, at):
        span = {"start": at["position"], "end": at["position"]}
        actions = self.client.request("textDocument/codeAction", {"textDocument": at["textDocument"], "range": span, "context": {"diagnostics": []}})
        return {action["title"]: action for action in actions}

    def test_checks_of_several_modules(self):
        text = MODULE.replace("-passes", "-split-input-file -passes").replace(CALL, "")
        second = text[text.index("from"):].replace("R.nn.relu", "R.nn.gelu")
        self.open((text + "\n# -----\n" + second).replace("\n", "\r\n"))
        action = self.client.request("codeAction/resolve", self.actions(self.at("RUN:"))["Regenerate the CHECK lines"])
        self.client.apply(URI, action["edit"]["changes"][URI])
        lines = self.client.texts[URI].split("\r\n")
        checks = [line for line in lines if line.startswith("# CHECK")]
        self.assertNotIn("\n", "".join(lines))
        self.assertEqual(sum("class Module" in line for line in checks), 2)
        self.assertTrue(any("R.nn.gelu([[y]])" in line for line in checks))

    def test_fix_in_run_line(self):
        self.open(MODULE.replace("FoldConstant,", "FoldConstants,"))
        fix = self.actions(self.at("FoldConstants"))["Replace by 'FoldConstant'"]
        self.client.apply(URI, fix["edit"]["changes"][URI])
        self.assertEqual(self.client.texts[URI], MODULE)

    def test_expecting_an_error(self):
        text = MODULE.replace("-passes=FoldConstant,DeadCodeElimination", "-verify-diagnostics").replace("return w", "return v")
        self.assertEqual([d["severity"] for d in self.open(text)], [1])
        self.client.apply(URI, self.actions(self.at("return v", 0, 7))["Expect this error"]["edit"]["changes"][URI])
        self.assertEqual([d["severity"] for d in self.client.wait_for_diagnostics(URI)], [3])
        self.open(MODULE.replace("return w", "return v"))
        self.assertNotIn("Expect this error", self.actions(self.at("return v", 0, 7)))

    def test_workspace_symbols_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "a b", ".hidden"))
            for name in ("a b/one.ir", "a b/.hidden/two.ir", "three.txt"):
                with open(os.path.join(folder, name), "w") as f:
                    f.write(MODULE)
            client = LspClient(self.command)
            client.request("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": [{"uri": "file://" + folder, "name": "x"}]})
            ask = lambda query: [(s["name"], s["location"]["uri"]) for s in client.request("workspace/symbol", {"query": query})]
            uri = f"file://{folder}/a%20b/one.ir"
            self.assertEqual(ask("scale"), [("scale", uri)])
            self.assertEqual(ask("relu(add(a, a))"), [("z", uri)])
            self.assertEqual(ask("relu("), [])
            path = os.path.join(folder, "a b", "one.ir")
            with open(path, "w") as f:
                f.write(MODULE.replace("main", "renamed"))
            os.utime(path, (1, 1))
            self.assertEqual(ask("renamed"), [("renamed", uri)])
            # What is open is not looked for twice.
            client.open(uri, MODULE)
            self.assertEqual(ask("scale"), [("scale", uri)])
            self.assertEqual(client.close(), 0)

    def virtual(self, kind, title, **parameters):
        return f"ir-opt:/{kind}/{title}?" + "&".join(f"{name}={urllib.parse.quote(value)}" for name, value in parameters.items())

    def test_other_formats(self):
        relay = "file://" + os.path.abspath(os.path.join(TESTS, "text", "relay", "module.relay"))
        text = self.content(self.virtual("module", "m.ir", source=relay))
        self.assertIn("@I.ir_module", text)
        self.open(text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            source = os.path.join(folder, "m.ir")
            with open(source, "w") as f:
                f.write(RELU)
            subprocess.run([os.path.join(os.path.dirname(self.command[0]), "ir-opt"), source, "-o", path], check=True)
            onnx = self.virtual("module", "m.ir", source="file://" + path)
            self.assertIn("R.nn.relu(x)", self.content(onnx))
            # The server says when the file has changed.
            changed = []
            self.client.on_notification = lambda method, params: changed.append((method, params))
            self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": "file://" + path, "type": 2}]})
            self.client.wait(lambda: ("ir/contentChanged", {"uri": onnx}) in changed)
        self.assertIn("no such file", self.content(self.virtual("module", "m.ir", source="file:///nothing.onnx")))
        with self.assertRaisesRegex(LspError, "not a virtual document"):
            self.content("ir-opt:/nothing/m.ir?source=file:///a.ir")

    def test_difference_of_any_two(self):
        self.open(MODULE)
        other = "file:///b.ir"
        self.open(MODULE.replace("R.nn.relu", "R.nn.gelu"), other)
        difference = self.content(self.virtual("diff", "a.diff", left=URI, right=other))
        self.assertEqual([line[0] for line in difference.split("\n") if "elu(y)" in line], ["-", "+"])
        after = self.virtual("after", "a.ir", source=URI, passes="LegalizeOps")
        self.assertIn("R.call_tir", self.content(self.virtual("diff", "a.diff", left=URI, right=after)))
        self.assertEqual(self.content(self.virtual("diff", "a.diff", left=URI, right=URI)), "# no difference\n")

    def test_code_lenses_of_several_modules(self):
        text = MODULE.replace(CALL, "")
        self.open(text + "\n# -----\n" + text.replace("R.nn.relu", "R.nn.gelu"))
        lenses = self.client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
        after = [lens["command"]["arguments"][0] for lens in lenses if "the module after" in lens["command"]["title"]]
        self.assertEqual(["relu" in self.content(uri) for uri in after], [True, True, False, False])
        steps = self.client.request("ir/passes", {"textDocument": {"uri": URI}, "part": 1})["steps"]
        self.assertIn("R.nn.gelu", self.content(steps[-1]["uri"]))

    def test_run_with_symbolic_sizes(self):
        self.open(SYMBOLIC)
        uris = [lens["command"]["arguments"][0] for lens in self.client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})]
        run = self.content(next(uri for uri in uris if "/run/" in uri and "function=main" in uri))
        self.assertIn("(4, 8)", run)
        self.open(SYMBOLIC.replace("R.exp(q)", "R.exp(missing)"))
        failed = self.content(next(uri for uri in uris if "/run/" in uri))
        self.assertIn("/a.ir:", failed)
        self.assertNotIn("/proc/", failed)

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
        hover = self.client.request("textDocument/hover", self.client.at(uri, "FuseOps"))["contents"]["value"]
        self.assertIn("fuse_opt_level", hover)

    def test_virtual_documents_of_wrong_source(self):
        self.open(MODULE.replace("return w", "return v"))
        steps = self.client.request("ir/passes", {"textDocument": {"uri": URI}})
        self.assertIn("unknown name 'v'", steps["error"])

    def test_protocol_errors(self):
        with self.assertRaisesRegex(LspError, "unknown method"):
            self.client.request("textDocument/unknown")
        with self.assertRaisesRegex(LspError, f"the document '{URI}' is not open"):
            self.client.request("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})
        with self.assertRaisesRegex(LspError, "malformed parameters"):
            self.client.request("textDocument/hover", {"textDocument": 3})

    def test_unused_bindings(self):
        self.open("@R.function\ndef main(x: R.Tensor((2,), \"float32\"), unused: R.Object):\n    y = R.exp(x)\n    z = R.exp(x)\n"
                  "    _ = R.exp(y)\n    return x\n")
        hints = self.client.wait_for_diagnostics(URI, hints=True)
        self.assertEqual([(hint["message"], hint["severity"], hint["tags"]) for hint in hints], [("'z' is not used", 4, [1])])

    def test_call_hierarchy(self):
        self.open()
        items = self.client.request("textDocument/prepareCallHierarchy", self.at("def scale", 0, 4))
        self.assertEqual([item["name"] for item in items], ["scale"])
        calls = self.client.request("callHierarchy/incomingCalls", {"item": items[0]})
        self.assertEqual([call["from"]["name"] for call in calls], ["main"])
        self.assertEqual(self.client.text_of(URI, calls[0]["fromRanges"][0]), "scale")
        calls = self.client.request("callHierarchy/outgoingCalls", {"item": calls[0]["from"]})
        self.assertEqual([call["to"]["name"] for call in calls], ["scale"])
        self.assertIsNone(self.client.request("textDocument/prepareCallHierarchy", self.at("z = R")))

    def test_hover_of_an_operator(self):
        self.open()
        hover = self.client.request("textDocument/hover", self.at("R.nn.relu", 0, 6))
        self.assertIn("\n\nmax(x, 0)\n\n`relax.nn.relu`, pure", hover["contents"]["value"])

    def test_close(self):
        self.open(MODULE.replace("return w", "return v"))
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        self.client.wait(lambda: self.client.diagnostics[URI]["diagnostics"] == [])


if __name__ == "__main__":
    warnings.simplefilter("ignore", ResourceWarning)
    LspTest.command = [sys.argv.pop(1)]
    unittest.main()
