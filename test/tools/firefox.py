"""A headless Firefox for tests of pages, with the functions of browser.py, driven over Marionette, which geckodriver translates to.

Files are dropped by events that a script makes; all other input is that of the browser. Windows are at least as wide as Firefox allows.
Protocol: https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html
"""
import base64
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time

from browser import KEYS, Page

# Code points of https://www.w3.org/TR/webdriver2/#keyboard-actions.
CODES = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowDown": "\ue015", "ArrowUp": "\ue013", "ArrowLeft": "\ue012", "ArrowRight": "\ue014",
         "Backspace": "\ue003", "Tab": "\ue004"}
MODIFIERS = {1: "\ue00a", 2: "\ue009", 4: "\ue03d", 8: "\ue008"}
PREFERENCES = {"marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0,
               "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False, "app.update.auto": False,
               "browser.tabs.warnOnClose": False, "network.captive-portal-service.enabled": False,
               "network.connectivity-service.enabled": False, "browser.safebrowsing.downloads.enabled": False,
               "toolkit.cosmeticAnimations.enabled": False, "devtools.console.stdout.content": True, "devtools.console.stdout.chrome": False,
               "browser.dom.window.dump.enabled": True}
# Lines of the output: errors of scripts, and texts that pages print with console.error and console.warn. Those of the browser have no quotes.
PROBLEM = re.compile(r"JavaScript (?:error|warning): https?:.*|console\.(?:error|warn|assert): \".*")


class Firefox:
    def __init__(self, seconds=60):
        self.seconds = seconds
        self.number = 0
        self.buffer = b""
        self.current = None

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True)
        profile = pathlib.Path(self.folder.name)
        (profile / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()))
        self.output = open(profile / "output", "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(["firefox-esr", "--headless", "--no-remote", "--marionette", "--remote-allow-system-access",
                                         "--profile", profile],
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output,
                                        env={**os.environ, "HOME": self.folder.name})
        self.socket = None
        try:
            self.connect(profile / "MarionetteActivePort")
        except BaseException:
            self.stop()
            raise
        return self

    def connect(self, port):
        """Begins a session at the port that Firefox writes to the file."""
        end = time.monotonic() + self.seconds
        while not port.exists() or not port.read_text():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("Firefox does not start")
            time.sleep(0.05)
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), self.seconds)
        self.receive()
        self.call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"timeouts": {"script": self.seconds * 1000}}}})

    def __exit__(self, *_):
        try:
            self.call("Marionette:Quit", {"flags": ["eForceQuit"]})
            self.process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            pass
        self.stop()

    def stop(self):
        """Ends the process if it runs, and removes its folder."""
        self.process.kill()
        self.process.wait()
        if self.socket:
            self.socket.close()
        self.output.close()
        self.folder.cleanup()

    def receive(self):
        """The next message: the number of its bytes, a colon, and JSON."""
        def read():
            part = self.socket.recv(1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.buffer += part
        while b":" not in self.buffer:
            read()
        size, self.buffer = self.buffer.split(b":", 1)
        while len(self.buffer) < int(size):
            read()
        message, self.buffer = self.buffer[:int(size)], self.buffer[int(size):]
        return json.loads(message)

    def call(self, method, parameters=None):
        self.number += 1
        data = json.dumps([0, self.number, method, parameters or {}]).encode()
        self.socket.sendall(b"%d:%s" % (len(data), data))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{method}: {error['message']}")
        return result

    def in_browser(self, script, *arguments):
        """Runs a script with the rights of the browser."""
        self.call("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.call("WebDriver:ExecuteScript", {"script": script, "args": list(arguments)})["value"]
        finally:
            self.call("Marionette:SetContext", {"value": "content"})

    def set_preference(self, name, value):
        kind = {bool: "Bool", int: "Int", str: "String"}[type(value)]
        self.in_browser(f"Services.prefs.set{kind}Pref(...arguments)", name, value)

    def open(self, path, width=1280, height=900, dark=False):
        """Loads the file or the address and waits until it has run."""
        page = FirefoxPage(self, self.call("WebDriver:NewWindow", {"type": "tab"})["handle"])
        page.prefer(dark)
        page.resize(width, height)
        page.call("WebDriver:Navigate", {"url": path if "://" in path else pathlib.Path(path).resolve().as_uri()})
        return page


class FirefoxPage(Page):
    def __init__(self, browser, handle):
        self.browser = browser
        self.handle = handle

    @property
    def problems(self):
        return PROBLEM.findall(pathlib.Path(self.browser.output.name).read_text(encoding="utf-8", errors="replace"))

    @property
    def requests(self):
        return self.eval("performance.getEntriesByType('resource').map(entry => entry.name)")

    def call(self, method, parameters=None):
        if self.browser.current != self.handle:
            self.browser.call("WebDriver:SwitchToWindow", {"handle": self.handle, "focus": True})
            self.browser.current = self.handle
        return self.browser.call(method, parameters)

    def close(self):
        self.call("WebDriver:CloseWindow")
        self.browser.current = None

    def bring_to_front(self):
        self.browser.current = None

    def resize(self, width, height):
        for _ in range(2):  # the window has borders
            inner, outer = self.eval("[[innerWidth, innerHeight], [outerWidth, outerHeight]]")
            self.call("WebDriver:SetWindowRect", {"width": width + outer[0] - inner[0], "height": height + outer[1] - inner[1]})

    def prefer(self, dark):
        self.browser.set_preference("layout.css.prefers-color-scheme.content-override", 0 if dark else 1)

    def eval(self, expression):
        script = f"""const done = arguments[0];
            Promise.resolve().then(() => ({expression})).then(value => done([true, value ?? null]), error => done([false, String(error)]));"""
        is_value, value = self.call("WebDriver:ExecuteAsyncScript", {"script": script, "args": [], "sandbox": None})["value"]
        if not is_value:
            raise RuntimeError(f"{expression}: {value}")
        return value

    def element(self, selector):
        found = self.call("WebDriver:FindElement", {"using": "css selector", "value": selector})["value"]
        return next(iter(found.items()))

    def frame(self, selector):
        return FirefoxFrame(self, selector)

    def act(self, kind, actions, **options):
        self.call("WebDriver:PerformActions", {"actions": [{"type": kind, "id": kind, "actions": actions, **options}]})
        self.settle()

    def click_at(self, x, y):
        self.act("pointer", [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0},
                             {"type": "pointerUp", "button": 0}])

    def press(self, key, modifiers=0):
        if len(key) > 1 and key not in KEYS:
            raise RuntimeError(f"unknown key {key}")
        keys = [code for bit, code in MODIFIERS.items() if modifiers & bit] + [CODES.get(key, key)]
        self.act("key", [{"type": "keyDown", "value": value} for value in keys] + [{"type": "keyUp", "value": value} for value in reversed(keys)])

    def insert_text(self, text):
        self.eval(f"document.execCommand('insertText', false, {json.dumps(text)})")
        self.settle()

    def choose_file(self, selector, path):
        self.call("WebDriver:ElementSendKeys", {"id": self.element(selector)[1], "text": os.path.realpath(path)})
        self.settle()

    def drop_file(self, selector, path):
        contents = base64.b64encode(pathlib.Path(path).read_bytes()).decode()
        self.eval(f"""(() => {{
            const data = new DataTransfer();
            const bytes = Uint8Array.from(atob({json.dumps(contents)}), (letter) => letter.charCodeAt(0));
            data.items.add(new File([bytes], {json.dumps(os.path.basename(path))}));
            for (const kind of ['dragenter', 'dragover', 'drop'])
                document.querySelector({json.dumps(selector)}).dispatchEvent(
                    new DragEvent(kind, {{bubbles: true, cancelable: true, dataTransfer: data}}));
        }})()""")
        self.settle()

    def history(self):
        self.bring_to_front()
        self.eval("0")
        return self.browser.in_browser("""
            const history = gBrowser.selectedBrowser.browsingContext.sessionHistory;
            return Array.from({length: history.index + 1}, (_, i) => history.getEntryAtIndex(i).URI.spec);""")

    def go_to_entry(self, index):
        self.browser.in_browser("gBrowser.gotoIndex(arguments[0])", index)

    def save_downloads_in(self, folder):
        for name, value in (("browser.download.folderList", 2), ("browser.download.dir", folder), ("browser.download.useDownloadDir", True),
                            ("browser.download.start_downloads_in_tmp_dir", False), ("browser.download.always_ask_before_handling_new_types", False)):
            self.browser.set_preference(name, value)

    def screenshot(self, path):
        self.settle()
        picture = self.call("WebDriver:TakeScreenshot", {"full": False})["value"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))


class FirefoxFrame:
    def __init__(self, page, selector):
        self.page = page
        self.browser = page.browser
        self.selector = selector

    def eval(self, expression):
        kind, frame = self.page.element(self.selector)
        self.page.call("WebDriver:SwitchToFrame", {"element": {kind: frame}})
        try:
            return FirefoxPage.eval(self.page, expression)
        finally:
            self.page.call("WebDriver:SwitchToFrame", {"id": None})

    wait = Page.wait
    settle = Page.settle
