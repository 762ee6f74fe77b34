"""Tests of scripts/site_builder.py: links of documents, and the search for links that lead nowhere."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import site_builder  # noqa: E402
import try_links  # noqa: E402


class SiteTest(unittest.TestCase):
    def links(self, text, path):
        with tempfile.TemporaryDirectory() as folder:
            return site_builder.Pages(folder).with_links_of_site(text, path)

    def test_links_of_documents(self):
        self.assertEqual(self.links("[a](docs/onnx.md#operators)", "README.md"), "[a](onnx.md#operators)")
        self.assertEqual(self.links("[a](../README.md)", "docs/onnx.md"), "[a](index.md)")
        self.assertEqual(self.links("[a](../passes.def)", "docs/onnx.md"), "[a](source/passes.def.txt)")
        self.assertEqual(self.links("[all](../examples)", "docs/onnx.md"), "all")
        self.assertEqual(self.links("```cpp lib/a.cpp\nf[](const T& x)\n```\n", "docs/onnx.md"), "```cpp\nf[](const T& x)\n```\n")

    def test_names_of_documents_become_titles(self):
        self.assertEqual(self.links("[onnx.md](docs/onnx.md#operators)", "README.md"), "[ONNX files](onnx.md#operators)")
        self.assertEqual(self.links("[passes.def](../passes.def)", "docs/onnx.md"), "[passes.def](source/passes.def.txt)")

    def test_lists(self):
        def indented(text):
            return site_builder.with_indented_items(text)

        self.assertEqual(indented("- a\n  b\n- c\n"), "- a\n    b\n- c\n")
        self.assertEqual(indented("- a\n\n  b\n- c\n- d\n"), "- a\n\n    b\n\n- c\n- d\n")
        self.assertEqual(indented("- a:\n  - b\n    c\n  - d\n\n  e\n- f\n"), "- a:\n    - b\n      c\n    - d\n\n    e\n\n- f\n")
        self.assertEqual(indented("- a\n  b:\n    - c\n    - d\n"), "- a\n    b:\n\n      - c\n      - d\n")

    def test_flags_are_code(self):
        self.assertEqual(site_builder.sentences("a<b, see -passes=@FILE: -O0 to -O4."), "a&lt;b, see `-passes=@FILE`: `-O0` to `-O4`.")
        self.assertEqual(site_builder.sentences("'llvm -mcpu=x' well-known x-1"), "'llvm `-mcpu=x`' well-known x-1")

    def test_example_has_prose_and_code(self):
        shown = "  What it shows.\n\n    a = b\n\n    c = d\n\n  after -passes='A<b=1>':\n\n    c = d\n"
        self.assertEqual(site_builder.example_part(shown), "What it shows.\n\n\n```python\na = b\n\nc = d\n```\n\n"
                         "After `-passes='A<b=1>'`:\n\n\n```python\nc = d\n```\n\n")

    def test_examples_open_in_the_page(self):
        state = try_links.state_of("ir-opt -O3 -passes='A<b=1>' -stats -filter-functions=main examples/scale.ir -o /dev/null")
        self.assertEqual({name: value for name, value in state.items() if name != "text"},
                         {"level": "3", "passes": "A<b=1>", "flags": "-stats -filter-functions=main"})
        self.assertIn("def main", state["text"])
        for command in ("ir-opt -O3 examples/scale.ir | tail -1", "ir-opt -dump-dir=d examples/scale.ir", "ir-run examples/scale.ir",
                        "ir-opt -O3 model.ir", "ir-opt -passes=@file examples/scale.ir"):
            self.assertIsNone(try_links.state_of(command), command)
        self.assertEqual(try_links.state_of_pass("Example:\n  Text.\n\n    a\n\n  after -no-verify -passes='A<b=\"c\">':\n\n    b\n", "a"),
                         {"text": "a", "passes": 'A<b="c">', "flags": "-no-verify"})
        block = "```console\n$ ir-opt -O3 examples/scale.ir\nresult\n```\n"
        self.assertEqual(try_links.with_links(block + "more\n"), block + try_links.link(
            {"text": try_links.read("examples/scale.ir"), "level": "3"}) + "more\n")
        self.assertEqual(try_links.with_links("```text\na\n```\n"), "```text\na\n```\n")
        self.assertIn("# Title\n\n<a class=\"try\" href=\"try/index.html\">", try_links.with_page("# Title\n\nText\n"))

    def broken(self, pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in pages.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            return site_builder.broken_links(folder)

    def test_broken_links(self):
        other = '<h2 id="here">Here</h2>'
        self.assertEqual(self.broken({"a.html": '<a href="b.html#here">b</a><a href="#top" id="top">', "b.html": other}), [])
        self.assertEqual(self.broken({"a.html": '<a href="b.html#there">b</a>', "b.html": other}), ["a.html: b.html#there"])
        self.assertEqual(self.broken({"a.html": '<img src="c.png">'}), ["a.html: c.png"])


if __name__ == "__main__":
    unittest.main()
