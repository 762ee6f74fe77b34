#!/usr/bin/env python3
"""Edits files at random in one session of ir-lsp, and asks for everything on the way. The server must not crash, must answer
every request, and must say of the last text what it says when it is opened.

  lsp_fuzz.py IR-LSP FILE... [--edits=N] [--seed=N] [--memory]

--memory: fails if the server has much more memory at the end than after a tenth of the edits.
"""
import argparse
import random
import sys

from lsp_client import LspClient, LspError

INSERTED = ["x", "n", "(", ")", "[", "]", ",", ":", "=", " ", "\n", "    ", '"', "'", "#", "😀", "ä", "\r\n", "\t", "R.", "T.", "cls.", "R.add(", "@R.function\n",
            "def f(", "# -----\n", "# RUN: ir-opt -passes=FoldConstant %s\n", "# expected-error {{x}}\n", "with R.dataflow():\n", "T.block(", "return ", "1e9", "\\",
            "metadata = ", '"""', "True", "-", "**", "/"]
AT_PLACE = ["hover", "definition", "references", "documentHighlight", "prepareRename", "completion", "signatureHelp"]


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024


class Fuzzer:
    def __init__(self, client, texts, seed):
        self.client = client
        self.texts = texts
        self.random = random.Random(seed)
        self.count = 0

    def open(self):
        self.count += 1
        self.uri = f"file:///fuzz{self.count}.ir"
        text = self.random.choice(self.texts)
        if self.random.random() < 0.2:
            text += "\n# -----\n" + self.random.choice(self.texts)
        if self.random.random() < 0.25:
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        self.client.open(self.uri, text)

    def close(self):
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri}})
        del self.client.texts[self.uri]

    def edit(self):
        text = self.client.texts[self.uri]
        begin = self.random.randrange(len(text) + 1)
        choice = self.random.random()
        if choice < 0.5:
            self.client.change(self.uri, begin, begin, self.random.choice(INSERTED))
        elif choice < 0.8:
            self.client.change(self.uri, begin, min(len(text), begin + self.random.randrange(1, 4)), "")
        elif choice < 0.9:
            # Lines are moved about.
            line = text.rfind("\n", 0, begin) + 1
            end = text.find("\n", begin) + 1 or len(text)
            moved = text[line:end]
            self.client.change(self.uri, line, end, "")
            at = self.client.texts[self.uri].rfind("\n", 0, self.random.randrange(len(text))) + 1
            self.client.change(self.uri, at, at, moved)
        else:
            other = self.random.choice(self.texts)
            at = self.random.randrange(len(other))
            self.client.change(self.uri, begin, begin, other[at:at + self.random.randrange(60)])

    def ask(self):
        text = self.client.texts[self.uri]
        place = {"textDocument": {"uri": self.uri}, "position": self.client.position(self.uri, self.random.randrange(len(text) + 1))}
        everything = {"textDocument": {"uri": self.uri}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 999999, "character": 0}}}
        choice = self.random.randrange(len(AT_PLACE) + 10)
        try:
            if choice < len(AT_PLACE):
                self.client.request("textDocument/" + AT_PLACE[choice], place)
            elif choice == len(AT_PLACE):
                edit = self.client.request("textDocument/rename", {**place, "newName": "renamed"})
                self.client.apply(self.uri, edit["changes"][self.uri])
            elif choice == len(AT_PLACE) + 1:
                self.client.apply(self.uri, self.client.request("textDocument/formatting", {**everything, "options": {}}))
            else:
                if choice == len(AT_PLACE) + 8:
                    self.client.request("workspace/symbol", {"query": self.random.choice(["", "ma", "add(_, _)", "relu(", "exp(a) | tanh(_)"])})
                    return
                method = ["documentSymbol", "foldingRange", "semanticTokens/full", "inlayHint", "codeAction", "codeLens", None, "semanticTokens/range"][choice - len(AT_PLACE) - 2]
                self.client.request("textDocument/" + method, {**everything, "context": {"diagnostics": []}})
        except LspError:
            pass

    def check(self):
        found = self.client.wait_for_diagnostics(self.uri)
        uri = self.uri + ".new"
        self.client.open(uri, self.client.texts[self.uri])
        expected = self.client.wait_for_diagnostics(uri)
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        for diagnostic in expected + found:
            diagnostic.pop("relatedInformation", None)
        if found != expected:
            sys.exit(f"stale diagnostics: {found}\nexpected: {expected}\nof the text:\n{self.client.texts[self.uri]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ir_lsp")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--edits", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", action="store_true")
    args = parser.parse_args()
    texts = []
    for file in args.files:
        with open(file, newline="") as f:
            texts.append(f.read())
    client = LspClient([args.ir_lsp])
    client.initialize()
    fuzzer = Fuzzer(client, texts, args.seed)
    fuzzer.open()
    early = None
    for i in range(args.edits):
        fuzzer.edit()
        if i % 7 == 0:
            fuzzer.ask()
        if i % 50 == 49:
            fuzzer.check()
        if i % 400 == 399:
            fuzzer.close()
            fuzzer.open()
        if i == args.edits // 10:
            early = resident(client.process.pid)
    fuzzer.check()
    late = resident(client.process.pid)
    code = client.close()
    print(f"{args.edits} edits; {early:.0f} MB after a tenth, {late:.0f} MB at the end; exit code {code}")
    if args.memory and late > 1.3 * early + 20:
        sys.exit("the memory grows")
    sys.exit(code)


if __name__ == "__main__":
    main()
