#!/usr/bin/env python3
"""Checks that ir-lsp answers while passes and functions run, that these can be cancelled and end with the server, and that the
server keeps to the life cycle of the protocol.

  lsp_life_test.py IR-LSP
"""
import os
import signal
import subprocess
import sys
import time
import unittest

from lsp_client import LspClient, LspError

URI = "file:///slow.ir"
# Takes minutes where loops are interpreted.
SLOW = '''@T.prim_func
def main(A: T.Buffer((4096, 4096), "float32"), C: T.Buffer((4096, 4096), "float32")):
    for i, j, k in T.grid(4096, 4096, 4096):
        with T.block("c"):
            a, b, c = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[a, b] = T.float32(0)
            C[a, b] = C[a, b] + A[a, c] * A[c, b]
'''
# Its arguments need 8 GiB.
BIG = '''@T.prim_func
def main(A: T.Buffer((1073741824,), "float32"), B: T.Buffer((1073741824,), "float32")):
    B[0] = A[0]
'''
RELU = '''@R.function
def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
    y = R.nn.relu(x)
    return y
'''
CANCELLED, INVALID_REQUEST, METHOD_NOT_FOUND, FAILED = -32800, -32600, -32601, -32803


def children_of(pid):
    """The processes that the main thread of a process has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(child) for child in f.read().split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class LspLifeTest(unittest.TestCase):
    command = []

    def setUp(self):
        self.client = None

    def tearDown(self):
        self.stop()

    def stop(self):
        if self.client:
            self.client.process.kill()
            self.client.process.wait()
            self.client.reader.join()
            for stream in (self.client.process.stdin, self.client.process.stdout):
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        self.client = None

    def start(self, *flags, process=None, capabilities=None):
        self.stop()
        self.client = LspClient([*self.command, *flags])
        self.client.request("initialize", {"processId": process, "rootUri": None, "capabilities": capabilities or {}})
        return self.client

    def run_slowly(self, text=SLOW, **more):
        """Starts a run of the function of a document."""
        self.client.open(URI, text)
        self.client.wait_for_diagnostics(URI)
        request = self.client.start_request("ir/content", {"uri": f"ir-opt:/run/main.txt?source={URI}&function=main", **more})
        self.assertTrue(wait_until(lambda: children_of(self.client.process.pid)))
        return request

    def error_of(self, request, timeout=60):
        self.client.wait(lambda: request in self.client.answers, timeout)
        return self.client.answers.pop(request)["error"]

    def failure_of(self, method, params=None):
        """The code and the message of the error that a request gives."""
        return tuple(self.error_of(self.client.start_request(method, params)).values())

    def code_of(self, method, params=None):
        return self.failure_of(method, params)[0]

    def hover(self):
        return self.client.request("textDocument/hover", self.client.at(URI, "A["), timeout=5)

    def end_of_children(self, end):
        """Ends the server while a function runs, and returns whether the run ends with it."""
        children = children_of(self.client.process.pid)
        end()
        self.client.process.wait(20)
        return wait_until(lambda: not any(map(is_running, children)))

    # ---- While a function runs

    def test_answers_while_a_function_runs(self):
        self.start()
        request = self.run_slowly()
        begin = time.monotonic()
        self.assertIn("4096", self.hover()["contents"]["value"])
        self.client.change(URI, 0, 0, "# a comment\n")
        self.assertEqual(self.client.wait_for_diagnostics(URI, 5), [])
        self.assertLess(time.monotonic() - begin, 5)
        self.assertNotIn(request, self.client.answers)
        self.assertEqual(self.client.close(), 0)

    def test_short_runs_need_not_wait_for_long_ones(self):
        self.start()
        self.run_slowly()
        self.client.open("file:///relu.ir", RELU)
        text = self.client.request("ir/content", {"uri": "ir-opt:/after/a.ir?source=file:///relu.ir&passes=LegalizeOps"})["text"]
        self.assertIn("R.call_tir", text)

    def test_cancelling(self):
        self.start()
        # The third one waits for the others.
        requests = [self.run_slowly() for _ in range(3)]
        children = children_of(self.client.process.pid)
        for request in requests:
            self.client.notify("$/cancelRequest", {"id": request})
            self.assertEqual(self.error_of(request), {"code": CANCELLED, "message": "the request was cancelled"})
        self.assertTrue(wait_until(lambda: not any(map(is_running, children))))
        self.assertEqual(children_of(self.client.process.pid), [])

    def test_cancelling_as_a_request(self):
        self.start()
        self.assertEqual(self.code_of("$/cancelRequest", {"id": 77}), METHOD_NOT_FOUND)

    def test_limit_of_time(self):
        self.start("-run-timeout=300ms")
        error = self.error_of(self.run_slowly())
        self.assertEqual(error["code"], FAILED)
        self.assertIn("stopped after 0.3 seconds, the limit of ir-lsp -run-timeout", error["message"])

    def test_limit_of_memory(self):
        self.start("-run-memory=1G")
        self.client.open(URI, BIG)
        try:
            answer = self.client.request("ir/content", {"uri": f"ir-opt:/run/main.txt?source={URI}&function=main"})["text"]
        except LspError as error:
            answer = str(error)
        self.assertIn("out of memory", answer)

    def test_progress(self):
        self.start(capabilities={"window": {"workDoneProgress": True}})
        shown = []
        self.client.on_notification = lambda method, params: shown.append(params) if method == "$/progress" else None
        request = self.run_slowly()
        self.client.wait(lambda: self.client.requests)
        asked = self.client.requests.pop()
        self.assertEqual(asked["method"], "window/workDoneProgress/create")
        self.client.send({"id": asked["id"], "result": None})
        self.client.wait(lambda: shown)
        self.assertEqual(shown[0]["value"], {"kind": "begin", "title": "run main.txt", "cancellable": True})
        self.client.notify("window/workDoneProgress/cancel", {"token": shown[0]["token"]})
        self.assertEqual(self.error_of(request)["code"], CANCELLED)
        self.assertEqual(shown[-1]["value"], {"kind": "end"})

    def test_progress_by_the_token_of_the_client(self):
        self.start()
        shown = []
        self.client.on_notification = lambda method, params: shown.append(params) if method == "$/progress" else None
        self.run_slowly(workDoneToken="mine")
        self.client.wait(lambda: shown)
        self.assertEqual(shown[0]["token"], "mine")

    def test_checks_of_text_that_changed(self):
        self.start()
        # As long as it is undecided, what was computed of the old text must not replace the new one.
        text = "# RUN: ir-opt -passes='repeat<1000000>(tir.Simplify)' %s | FileCheck %s\n" + SLOW
        self.client.open(URI, text)
        action = {"title": "Regenerate the CHECK lines", "data": {"uri": URI, "action": "checks"}}
        request = self.client.start_request("codeAction/resolve", action)
        self.assertTrue(wait_until(lambda: children_of(self.client.process.pid)))
        self.client.change(URI, 0, 0, "\n")
        self.assertEqual(self.error_of(request), {"code": -32801, "message": "the document has changed"})

    # ---- The end of the server

    def test_shutdown_ends_runs(self):
        self.start()
        request = self.run_slowly()
        self.assertTrue(self.end_of_children(self.client.close))
        self.assertEqual(self.client.answers[request]["error"]["code"], CANCELLED)
        self.assertEqual(self.client.process.returncode, 0)

    def test_end_of_input_ends_runs(self):
        self.start()
        self.run_slowly()
        self.assertTrue(self.end_of_children(self.client.process.stdin.close))
        self.assertEqual(self.client.process.returncode, 1)

    def test_signals_end_runs(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.start()
            self.run_slowly()
            self.assertTrue(self.end_of_children(lambda: self.client.process.send_signal(number)))

    def test_end_of_the_client(self):
        editor = subprocess.Popen(["sleep", "1000"])
        self.start(process=editor.pid)
        self.run_slowly()
        editor.kill()
        editor.wait()
        # The input is still open.
        self.assertTrue(self.end_of_children(lambda: None))
        self.assertEqual(self.client.process.returncode, 1)

    def test_client_that_is_dead_already(self):
        editor = subprocess.Popen(["true"])
        editor.wait()
        self.start(process=editor.pid)
        self.client.process.wait(20)

    def test_client_that_lives(self):
        self.start(process=os.getpid())
        self.assertEqual(self.code_of("textDocument/unknown"), METHOD_NOT_FOUND)
        self.assertEqual(self.client.close(), 0)

    # ---- Messages

    def test_life_cycle(self):
        self.start()
        again = self.failure_of("initialize", {"processId": None, "capabilities": {}})
        self.assertEqual(again, (INVALID_REQUEST, "the server was initialized before"))
        self.client.request("shutdown")
        for method in ("workspace/symbol", "shutdown", "textDocument/unknown", "initialize"):
            self.assertEqual(self.failure_of(method, {"query": ""}), (INVALID_REQUEST, "the server was shut down"))
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(20), 0)

    def test_requests_before_the_first_one(self):
        self.stop()
        self.client = LspClient(self.command)
        failure = self.failure_of("workspace/symbol", {"query": ""})
        self.assertEqual(failure, (-32002, "the first request must be 'initialize'"))
        self.client.send({"jsonrpc": "2.0", "id": 900, "method": 3})
        self.assertEqual(self.error_of(900), {"code": INVALID_REQUEST, "message": "the method is not a string"})

    def test_half_a_document_is_none(self):
        self.start()
        for item in ({"uri": URI, "version": {"start": 1}, "text": "x"}, {"uri": URI, "version": 1, "text": {"line": "a"}},
                     {"uri": URI, "version": 1}, {"uri": URI, "version": 1, "languageId": 3, "text": "x"}):
            self.client.notify("textDocument/didOpen", {"textDocument": item})
            self.assertEqual(self.client.request("workspace/symbol", {"query": ""}), [])
        # A change with a wrong part changes nothing.
        self.client.open(URI, RELU)
        changes = [{"text": ""}, {"range": {"start": 3, "end": None}, "text": "x"}]
        self.client.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": 7}, "contentChanges": changes})
        self.assertEqual([s["name"] for s in self.client.request("workspace/symbol", {"query": ""})], ["main"])

    def test_headers_in_any_case(self):
        self.start()
        body = b'{"jsonrpc": "2.0", "id": 900, "method": "workspace/symbol", "params": {"query": ""}}'
        self.client.process.stdin.write(b"content-type: x\r\ncontent-LENGTH:%d\r\n\r\n" % len(body) + body)
        self.client.process.stdin.flush()
        self.client.wait(lambda: 900 in self.client.answers, 5)

    def test_wrong_messages(self):
        self.start()
        deep = '{"jsonrpc": "2.0", "id": 901, "method": "codeAction/resolve", "params": {"title": ' + "[" * 200000 + "]" * 200000 + "}}"
        for body in (deep, '{"id": [1], "method": "shutdown"}', '{"id": {}, "method": "shutdown"}', "[]", "3", "{", '{"id": true, "result": 1}'):
            self.client.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body.encode())
        self.client.process.stdin.flush()
        nested = f"ir-opt:/after/a?source={URI}"
        for _ in range(5000):
            nested = f"ir-opt:/diff/a?left={nested}"
        self.assertEqual(self.code_of("ir/content", {"uri": nested}), -32602)
        self.assertEqual(self.code_of("textDocument/unknown"), METHOD_NOT_FOUND)
        self.assertEqual(self.client.close(), 0)


if __name__ == "__main__":
    LspLifeTest.command = [sys.argv.pop(1)]
    unittest.main()
