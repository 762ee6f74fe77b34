#!/usr/bin/env python3
"""Tests the page of build-wasm/site in headless Chromium or Firefox, with clicks and keys.

  page.py [--firefox] [--screenshots FOLDER] [--model FILE.onnx]

Prints a line for each thing that works; the exit code is 1 at the first one that does not.
"""
import argparse
import functools
import http.server
import json
import os
import re
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "tools"))
from browser import Browser  # noqa: E402
from firefox import Firefox  # noqa: E402

SITE = os.path.join(ROOT, "build-wasm", "site")
# The page is ready, and nothing runs.
DONE = "!document.querySelector('#run').disabled && !['', 'loading', 'running'].includes(document.querySelector('#status').textContent)"
RESULT = "document.querySelector('#result textarea').value"
INPUT = "document.querySelector('#editor textarea')"
MISTAKE = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return y\n'
RIGHT = MISTAKE.replace("return y", "return x")
# Takes seconds: products of large matrices.
LONG = "\n".join(["@R.function", 'def main(x: R.Tensor((2000, 2000), "float32")):',
                  *(f"    x{i} = R.matmul({f'x{i - 1}' if i else 'x'}, x)" for i in range(40)), "    return x39", ""])
DEEP = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return ' + "R.negative(" * 20000 + "x" + ")" * 20000 + "\n"
DOUBLE = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.add(x, x)\n    return R.nn.rel(y)\n'


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm", ".js": "text/javascript"}

    def log_message(self, *_):
        pass


class Tests:
    def __init__(self, browser, address, screenshots):
        self.browser = browser
        self.address = address
        self.screenshots = screenshots
        self.count = 0

    def check(self, what, condition, detail=""):
        if not condition:
            raise SystemExit(f"page: failed: {what} {detail}")
        self.count += 1
        print(what)

    def shot(self, page, name):
        if self.screenshots:
            time.sleep(1)  # frames of another process are drawn later
            page.screenshot(os.path.join(self.screenshots, f"{name}.png"))

    def set_text(self, page, text):
        """Replaces the text as somebody who selects all and pastes."""
        page.click("#editor textarea")
        page.press("a", modifiers=2)
        page.insert_text(text)

    def set_passes(self, page, text):
        page.click("#passes")
        page.press("a", modifiers=2)
        page.press("Backspace")
        page.type(text)
        page.press("Escape")

    def wait(self, page, condition):
        try:
            page.wait(condition)
        except RuntimeError as error:
            raise SystemExit(f"page: failed: {error}\n{page.text('#status')} {page.eval('location.href')} {page.problems}") from error

    def open(self, fragment="", **options):
        page = self.browser.open(self.address + fragment, **options)
        self.wait(page, f"{INPUT} && {DONE}")
        return page

    def choose_example(self, page, number):
        page.eval("document.querySelector('#status').textContent = ''")
        page.select("#examples", str(number))
        self.wait(page, DONE)

    def example(self):
        page = self.open()
        text = page.eval(RESULT)
        self.check("the first example runs", "R.multiply" in text and "R.add" not in text, text)
        self.check("with its operators before and after", "2 → 1 operators" in page.text("#status"), page.text("#status"))
        self.check("it has no messages of the browser", page.problems == [], page.problems)
        self.check("nothing is asked of other hosts", all(url.startswith(self.address) or url.startswith(("blob:", "data:", "about:"))
                                                          for url in page.requests), page.requests)
        self.check("all examples run", all(self.example_runs(page, number) for number in range(page.count("#examples option") - 1)))
        self.choose_example(page, 0)
        self.shot(page, "example")
        return page

    def example_runs(self, page, number):
        self.choose_example(page, number)
        title = page.eval("document.querySelector('#examples').selectedOptions[0].textContent")
        status = page.text("#status")
        if ("failed" in status) != title.startswith("Mistakes"):
            print(f"  {title}: {status} {page.texts('#diagnostics li')}")
            return False
        return True

    def mistake(self, page):
        self.set_text(page, MISTAKE)
        self.wait(page, "document.querySelectorAll('#diagnostics .error').length > 0")
        self.check("a mistake is shown below the text", "3:12: error: unknown name 'y'" in page.texts("#diagnostics li")[0],
                   page.texts("#diagnostics li"))
        self.check("and marked in it", page.text(".marked") == "y")
        page.click("#diagnostics button")
        self.check("a click leads to it", page.eval(f"{INPUT}.selectionStart") == MISTAKE.rindex("y"))
        self.shot(page, "mistake")
        self.set_text(page, DOUBLE)
        self.wait(page, "document.querySelector('#diagnostics .fix')")
        page.click("#diagnostics .fix")
        self.check("a click corrects it", "R.nn.relu(y)" in page.eval(f"{INPUT}.value"))
        self.wait(page, f"{RESULT}.includes('R.nn.relu')")
        self.check("the result follows what is typed", True)

    def completion(self, page):
        self.set_passes(page, "Fold")
        page.press("Backspace")
        self.wait(page, "document.querySelectorAll('#completions li').length > 2")
        self.check("names of passes are completed", any(item.startswith("FoldConstant") for item in page.texts("#completions li")))
        self.shot(page, "completion")
        while not page.eval("document.querySelector('#completions [aria-selected=true]').textContent.startsWith('FoldConstant')"):
            page.press("ArrowDown")
        page.press("Enter")
        self.check("by keys", page.eval("document.querySelector('#passes').value") == "FoldConstant")
        page.type("<fold_q")
        page.press("Enter")
        self.check("and so are options", page.texts("#completions li") == ["false", "true"], page.texts("#completions li"))
        page.press("Enter")
        page.type(">")
        self.check("and their values", page.eval("document.querySelector('#passes').value") == "FoldConstant<fold_qnn=false>")
        page.press("Enter")
        self.wait(page, DONE)
        self.check("Enter runs the pipeline", "failed" not in page.text("#status"), page.text("#status"))
        page.click("#flags")
        page.type("-stats -disable='FuseOps'")
        page.press("Enter")
        self.wait(page, f"document.querySelector('#diagnostics .output') && {DONE}")
        self.check("what flags print is shown", "R.nn.relu" in page.text("#diagnostics .output"), page.texts("#diagnostics li"))
        page.click("#tab-command")
        self.check("with quotes as a shell has them", "-stats -disable=FuseOps input.ir" in page.text("#commands code"), page.text("#commands code"))
        self.shot(page, "flags")
        page.click("#tab-result")
        page.click("#flags")
        page.press("a", modifiers=2)
        page.press("Backspace")

    def deep(self, page):
        """A text that is nested deeper than the stack of a worker."""
        self.set_text(page, DEEP)
        page.click("#run")
        self.wait(page, DONE)
        self.check("a text that is nested too deeply is refused", "nested" in " ".join(page.texts("#diagnostics li")), page.texts("#diagnostics li"))

    def link(self, page):
        self.set_text(page, RIGHT)
        page.click("#share")
        self.wait(page, "location.hash.length > 10")
        other = self.open(page.eval("location.hash"))
        self.check("a link holds the text", other.eval(f"{INPUT}.value") == RIGHT)
        self.check("and the pipeline", other.eval("document.querySelector('#passes').value") == "FoldConstant<fold_qnn=false>")
        self.check("and has run", "return x" in other.eval(RESULT), other.eval(RESULT))
        other.click("#editor textarea")  # of a page that nobody has touched, no history is kept
        other.eval("location.hash = '#1.broken'")
        self.choose_example(other, 0)
        self.check("a damaged link changes nothing", "R.multiply" in other.eval(RESULT))
        visited = other.history()
        back = [i for i, address in enumerate(visited[:-1]) if "#1." in address]
        self.check("the link is in the history", len(back) > 0, visited)
        other.go_to_entry(back[-1])
        self.wait(other, f"{INPUT}.value === {json.dumps(RIGHT)}")
        self.check("the browser goes back to it", True)
        other.close()
        page.bring_to_front()

    def report(self, page):
        self.choose_example(page, 1)
        page.click("#tab-report")
        frame = page.frame("#report")
        frame.wait("document.querySelectorAll('[data-group=passes] .name').length > 3")
        self.check("the report is shown", frame.eval("document.querySelector('h1').textContent") == "Overview")
        frame.settle()
        self.shot(page, "report")
        frame.eval("document.querySelector('#only-changed').click()")
        changed = frame.eval("[...document.querySelectorAll('[data-group=passes] .name')].map((name) => name.textContent)")
        self.check("with the passes that changed it", "FoldConstant" in changed, changed)
        frame.eval("[...document.querySelectorAll('[data-group=passes] .name')].find((name) => name.textContent === 'FoldConstant').click()")
        frame.wait("!document.querySelector('#detail').textContent.startsWith('Overview')")
        self.check("and what one of them did", "R.multiply" in frame.eval("document.querySelector('#detail').textContent"))
        frame.settle()
        self.shot(page, "difference")
        page.click("#tab-command")
        self.check("the command line is shown", page.text("#commands code") == "ir-opt -O3 input.ir -o output.ir", page.text("#commands code"))
        self.shot(page, "command")

    def values(self, page):
        page.click("#tab-values")
        self.wait(page, "document.querySelector('#compared').textContent.startsWith('After all')")
        self.wait(page, DONE)
        self.check("values are compared", page.text("#compared") == "After all passes, the results are the same.", page.text("#compared"))
        rows = page.texts("#stages tbody tr td:first-child")
        self.check("between the passes", len(rows) > 2 and rows[-1] == "all passes", rows)
        page.click("#stages tbody tr button")
        self.check("and shown for each", "out0" in page.text("#values"))
        self.shot(page, "values")
        page.click("#tab-result")

    def cancel(self, page):
        page.select("#level", "")
        self.wait(page, DONE)
        self.set_text(page, LONG)
        page.click("#tab-values")
        self.wait(page, "!document.querySelector('#cancel').hidden")
        time.sleep(1)
        page.click("#cancel")
        self.wait(page, "document.querySelector('#status').textContent === 'cancelled'")
        self.check("a long run is cancelled", True)
        page.click("#values-form button")
        self.wait(page, "!document.querySelector('#cancel').hidden")
        page.press("Escape")
        self.wait(page, "document.querySelector('#status').textContent === 'cancelled'")
        self.check("by a key as well", True)
        page.click("#tab-result")
        self.choose_example(page, 0)
        self.check("and the next one runs", "R.multiply" in page.eval(RESULT))

    def model(self, page, path):
        name = os.path.basename(path)
        page.choose_file("#file", path)
        self.wait(page, f"{INPUT}.value.includes({json.dumps(name)}) && {DONE} && document.querySelector('#status').textContent.includes('→')")
        self.check("an ONNX model is optimized", "→" in page.text("#status"), f"{page.text('#status')} {page.texts('#diagnostics li')}")
        print(f"  {name}: {page.text('#status')}")
        self.check("with its nodes before and after", re.search(r"(\d+) → (?!\1)\d+ nodes", page.text("#status")), page.text("#status"))
        self.check("by the default pipeline", page.eval("document.querySelector('#level').value + document.querySelector('#passes').value") == "3")
        self.check("its result is to be downloaded", not page.eval("document.querySelector('#download').disabled"))
        with tempfile.TemporaryDirectory() as folder:
            page.save_downloads_in(folder)
            page.click("#download")
            saved = os.path.join(folder, f"small-{name}")
            end = time.monotonic() + 20
            while not os.path.exists(saved) and time.monotonic() < end:
                time.sleep(0.05)
            self.check("and is saved", os.path.exists(saved) and os.path.getsize(saved) > 1000, os.listdir(folder))
        self.shot(page, "onnx")
        page.click("#share")
        self.check("a link to it is refused", "too large" in page.text("#status"), page.text("#status"))
        page.drop_file("#editor textarea", os.path.join(ROOT, "examples", "relay", "sequential.relay"))
        self.wait(page, f"{INPUT}.value.startsWith('#[version') || {INPUT}.value.includes('def @main')")
        self.wait(page, DONE)
        self.check("a Relay file that is dropped is read", "def @main" in page.eval(RESULT), page.eval(RESULT))
        page.select("#format", "tvmscript")
        self.wait(page, DONE)
        self.check("and written as TVMScript", "@R.function" in page.eval(RESULT), page.eval(RESULT))

    def views(self):
        dark = self.open(dark=True)
        self.choose_example(dark, 1)
        self.shot(dark, "dark")
        dark.click("#tab-report")
        frame = dark.frame("#report")
        frame.wait("document.querySelectorAll('[data-group=passes] .name').length > 3")
        frame.settle()
        self.shot(dark, "dark-report")
        dark.click("#theme")
        self.check("the theme changes", dark.eval("document.documentElement.dataset.theme") == "light")
        other = self.open(dark=True)
        self.check("and stays", other.eval("document.documentElement.dataset.theme") == "light")
        other.eval("localStorage.clear()")
        narrow = self.open(width=390, height=844)
        self.check("a narrow page has no scrolling to the side", narrow.eval("document.documentElement.scrollWidth <= innerWidth"),
                   narrow.eval("document.documentElement.scrollWidth"))
        self.shot(narrow, "narrow")
        narrow.click("#tab-report")
        frame = narrow.frame("#report")
        frame.wait("document.querySelectorAll('[data-group=passes] .name').length > 0")
        frame.settle()
        self.check("nor has the report", narrow.eval("document.documentElement.scrollWidth <= innerWidth"))
        self.shot(narrow, "narrow-report")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firefox", action="store_true")
    parser.add_argument("--screenshots", metavar="FOLDER")
    parser.add_argument("--model", metavar="FILE", default=os.path.join(ROOT, "examples", "cnn.onnx"))
    args = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with (Firefox if args.firefox else Browser)(seconds=120) as browser:
        tests = Tests(browser, f"http://127.0.0.1:{server.server_port}/", args.screenshots)
        page = tests.example()
        tests.mistake(page)
        tests.completion(page)
        tests.deep(page)
        tests.link(page)
        tests.report(page)
        tests.values(page)
        tests.cancel(page)
        tests.model(page, args.model)
        tests.views()
    print(f"{tests.count} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
