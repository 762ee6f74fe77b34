"""A client of the language server protocol, for tests and benchmarks of ir-lsp."""
import bisect
import json
import re
import subprocess
import threading


def line_starts(text):
    return [0] + [line_break.end() for line_break in re.finditer("\r\n|\r|\n", text)]


class LspError(Exception):
    """The answer to a request is an error."""


class LspClient:
    """Starts a server and speaks with it. Keeps the text of each document as the server must have it."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next_id = 1
        self.diagnostics = {}  # by URI: the last notification
        self.answers = {}
        self.requests = []  # of the server
        self.changed = threading.Condition()
        self.on_notification = lambda method, params: None
        self.ended = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.texts = {}
        self.versions = {}

    def _read(self):
        out = self.process.stdout
        while True:
            length = None
            while True:
                line = out.readline()
                if not line or line == b"\r\n":
                    break
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length is None:
                break
            message = json.loads(out.read(length))
            with self.changed:
                if "method" in message and "id" not in message:
                    self.on_notification(message["method"], message["params"])
                    if message["method"] == "textDocument/publishDiagnostics":
                        self.diagnostics[message["params"]["uri"]] = message["params"]
                elif "method" in message:
                    self.requests.append(message)
                else:
                    self.answers[message["id"]] = message
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method, params=None):
        self.send({"method": method, "params": params if params is not None else {}})

    def start_request(self, method, params=None):
        request = self.next_id
        self.next_id += 1
        self.send({"id": request, "method": method, "params": params if params is not None else {}})
        return request

    def wait(self, ready, timeout=60):
        with self.changed:
            if not self.changed.wait_for(lambda: ready() or self.ended, timeout):
                raise TimeoutError("the server does not answer")
            if not ready():
                raise EOFError(f"the server ended with exit code {self.process.wait()}")

    def request(self, method, params=None, timeout=60):
        request = self.start_request(method, params)
        self.wait(lambda: request in self.answers, timeout)
        answer = self.answers.pop(request)
        if "error" in answer:
            raise LspError(answer["error"])
        return answer["result"]

    def initialize(self):
        result = self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.notify("initialized")
        return result

    def open(self, uri, text, language="tvmscript"):
        """Opens a document, or opens it again. A version is never used twice, so that diagnostics tell which text they are of."""
        self.texts[uri] = text
        self.versions[uri] = self.versions.get(uri, 0) + 1
        self.notify("textDocument/didOpen",
                    {"textDocument": {"uri": uri, "languageId": language, "version": self.versions[uri], "text": text}})

    def change(self, uri, begin, end, text):
        """Replaces the characters [begin, end) of the text, which are code points of Python. No position is between the two
        characters of a line break: what begins or ends there does so before both."""
        old = self.texts[uri]
        begin, end = (at - 1 if old[at - 1:at + 1] == "\r\n" else at for at in (begin, end))
        self.versions[uri] += 1
        edit = {"range": {"start": self.position(uri, begin), "end": self.position(uri, end)}, "text": text}
        self.texts[uri] = old[:begin] + text + old[end:]
        self.notify("textDocument/didChange",
                    {"textDocument": {"uri": uri, "version": self.versions[uri]}, "contentChanges": [edit]})

    def wait_for_diagnostics(self, uri, timeout=60, hints=False):
        version = self.versions[uri]
        self.wait(lambda: self.diagnostics.get(uri, {}).get("version") == version, timeout)
        found = self.diagnostics[uri]["diagnostics"]
        return found if hints else [diagnostic for diagnostic in found if diagnostic["severity"] < 4]

    def position(self, uri, offset):
        """The position of a code point, in UTF-16 code units."""
        text = self.texts[uri]
        starts = line_starts(text)
        line = bisect.bisect_right(starts, offset) - 1
        return {"line": line, "character": len(text[starts[line]:offset].encode("utf-16-le")) // 2}

    def offset(self, uri, position):
        """The code point of a position."""
        text = self.texts[uri]
        starts = line_starts(text)
        begin = starts[position["line"]]
        end = starts[position["line"] + 1] if position["line"] + 1 < len(starts) else len(text)
        line = text[begin:end].encode("utf-16-le")
        return begin + len(line[:2 * position["character"]].decode("utf-16-le"))

    def text_of(self, uri, span):
        return self.texts[uri][self.offset(uri, span["start"]):self.offset(uri, span["end"])]

    def at(self, uri, needle, occurrence=0, shift=0):
        """The parameters of a request at a place of the text."""
        offset = -1
        for _ in range(occurrence + 1):
            offset = self.texts[uri].index(needle, offset + 1)
        return {"textDocument": {"uri": uri}, "position": self.position(uri, offset + shift)}

    def apply(self, uri, edits):
        """Applies text edits, as an editor does, and tells the server."""
        spans = sorted(((self.offset(uri, e["range"]["start"]), self.offset(uri, e["range"]["end"]), e["newText"])
                        for e in edits), reverse=True)
        for begin, end, text in spans:
            self.change(uri, begin, end, text)

    def close(self):
        """Ends the session, and returns the exit code of the server."""
        self.request("shutdown", timeout=120)
        self.notify("exit")
        self.process.stdin.close()
        code = self.process.wait(60)
        self.reader.join(60)
        self.process.stdout.close()
        return code
