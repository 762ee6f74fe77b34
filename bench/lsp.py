#!/usr/bin/env python3
"""Times ir-lsp: from a change to its diagnostics, hover, completion, opening, and memory over many edits.

  bench/lsp.py [--ir-lsp=build/bin/ir-lsp] [--bindings=10000] [--functions=50] [--edits=300] [--open=1000000]
"""
import argparse
import os
import random
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "tools"))
from lsp_client import LspClient  # noqa: E402

HEADER = "from tvm.script import ir as I\nfrom tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n"


def module(bindings, functions):
    """A module of that many bindings, in functions of equal size."""
    lines = [HEADER]
    for f in range(functions):
        lines.append(f'    @R.function\n    def f{f}(x: R.Tensor((16, 64), "float32"), w: R.Tensor((64, 64), "float32")) -> R.Tensor((16, 64), "float32"):\n')
        last = "x"
        for i in range(bindings // functions):
            op = ("R.add({0}, x)", "R.matmul({0}, w)", "R.nn.relu({0})", "R.multiply({0}, x)")[i % 4].format(last)
            last = f"lv{i}"
            lines.append(f'        {last}: R.Tensor((16, 64), dtype="float32") = {op}\n')
        lines.append(f"        return {last}\n\n")
    return "".join(lines)


class PositionedClient(LspClient):
    """Finds positions in big ASCII texts quickly."""

    def line_change(self, uri, line, column, end_column, text):
        self.versions[uri] += 1
        edit = {"range": {"start": {"line": line, "character": column}, "end": {"line": line, "character": end_column}}, "text": text}
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": self.versions[uri]}, "contentChanges": [edit]})


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1000


def timed(action):
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def report(name, times):
    print(f"{name:34} median {percentile(times, 0.5):8.2f} ms   95% {percentile(times, 0.95):8.2f} ms   worst {max(times) * 1000:8.2f} ms")


def measure(client, uri, text, edits):
    """Types into the names of operands, so that the text is broken and whole by turns; asks at the same places."""
    lines = text.split("\n")
    chooser = random.Random(5)
    places = [i for i, line in enumerate(lines) if " = R." in line]
    changes, hovers, completions = [], [], []
    for _ in range(edits // 2):
        line = chooser.choice(places)
        column = lines[line].index("(", lines[line].index(" = R.")) + 1
        for begin, end, inserted in ((column, column, "q"), (column, column + 1, "")):
            def change():
                client.line_change(uri, line, begin, end, inserted)
                client.wait_for_diagnostics(uri)
            changes.append(timed(change))
            place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column + 1}}
            hovers.append(timed(lambda: client.request("textDocument/hover", place)))
            completions.append(timed(lambda: client.request("textDocument/completion", place)))
    report("change to diagnostics", changes)
    report("hover", hovers)
    report("completion", completions)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ir-lsp", default="build/bin/ir-lsp")
    parser.add_argument("--bindings", type=int, default=10_000)
    parser.add_argument("--functions", type=int, default=50)
    parser.add_argument("--edits", type=int, default=300)
    parser.add_argument("--open", type=int, default=1_000_000, help="bindings of a big file; 0: none")
    args = parser.parse_args()
    client = PositionedClient([args.ir_lsp])
    client.initialize()
    text = module(args.bindings, args.functions)
    uri = "file:///m.ir"

    def open_it():
        client.open(uri, text)
        client.wait_for_diagnostics(uri)
    print(f"{args.bindings} bindings in {args.functions} functions: opened in {timed(open_it) * 1000:.0f} ms")
    measure(client, uri, text, args.edits)
    for functions in (5000, 1) if args.open else ():
        big = module(args.open, functions)
        big_uri = f"file:///big{functions}.ir"

        def open_big():
            client.open(big_uri, big)
            client.wait_for_diagnostics(big_uri, 300)
        print(f"{args.open} bindings in {functions} functions, {len(big) / 1e6:.0f} MB: opened in {timed(open_big):.2f} s")
        measure(client, big_uri, big, 20)
        client.notify("textDocument/didClose", {"textDocument": {"uri": big_uri}})
    client.close()


if __name__ == "__main__":
    main()
