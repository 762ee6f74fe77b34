"""A headless Chromium for tests of pages, driven over a pipe with the DevTools protocol.

  with Browser() as browser:
      page = browser.open("/path/of/page.html")  # or an address, http://...
      page.click("#button")
      assert page.text("h1") == "Title"
      assert page.problems == []

`problems` are uncaught exceptions, messages of console.error and console.warn, and blocked or failed loads.
Protocol: https://chromedevtools.github.io/devtools-protocol/
"""
import base64
import json
import os
import pathlib
import select
import subprocess
import tempfile
import time

FLAGS = ("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--mute-audio", "--hide-scrollbars")
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "ArrowDown": ("ArrowDown", 40, ""),
        "ArrowUp": ("ArrowUp", 38, ""), "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowRight": ("ArrowRight", 39, ""),
        "Backspace": ("Backspace", 8, ""), "Tab": ("Tab", 9, "")}


class Browser:
    def __init__(self, seconds=60):
        self.seconds = seconds
        self.number = 0
        self.buffer = b""
        self.pages = {}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        to_browser, self.sends = os.pipe()
        self.receives, from_browser = os.pipe()
        # Chromium reads from descriptor 3 and writes to descriptor 4.
        high = [os.dup2(to_browser, 103), os.dup2(from_browser, 104)]
        command = f'exec "$@" 3<&{high[0]} 4>&{high[1]} {high[0]}<&- {high[1]}>&-'
        self.process = subprocess.Popen(
            ["bash", "-c", command, "bash", "chromium", *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=high)
        for descriptor in (to_browser, from_browser, *high):
            os.close(descriptor)
        return self

    def __exit__(self, *_):
        try:
            os.write(self.sends, b'{"id": 0, "method": "Browser.close"}\0')
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.sends)
        os.close(self.receives)
        self.folder.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            if not select.select([self.receives], [], [], self.seconds)[0]:
                raise RuntimeError("the browser does not answer")
            read = os.read(self.receives, 1 << 16)
            if not read:
                raise RuntimeError("the browser has ended")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        page = self.pages.get(message.get("sessionId"))
        if page and "method" in message:
            page.on_event(message["method"], message["params"])
        return message

    def call(self, method, parameters=None, session=None):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters or {}}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.sends, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, path, width=1280, height=900, dark=False):
        """Loads the file or the address and waits until it has run."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.prefer(dark)
        address = path if "://" in path else pathlib.Path(path).resolve().as_uri()
        page.call("Page.navigate", {"url": address})
        page.wait("document.readyState === 'complete' && location.href !== 'about:blank'")
        return page


class Page:
    def __init__(self, browser, session):
        self.browser = browser
        self.session = session
        self.problems = []
        self.requests = []

    def call(self, method, parameters=None):
        return self.browser.call(method, parameters, self.session)

    def on_event(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(value.get("value", value.get("description"))) for value in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def close(self):
        self.call("Page.close")

    def bring_to_front(self):
        """Pages that are behind another one do not draw."""
        self.call("Page.bringToFront")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def prefer(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def eval(self, expression):
        answer = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, condition):
        end = time.monotonic() + self.browser.seconds
        while not self.eval(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise RuntimeError(f"after {self.browser.seconds} s, this does not hold: {condition}")
            time.sleep(0.02)

    def frame(self, selector):
        """The document in an <iframe>, as a page whose expressions are evaluated there. It is not clicked on."""
        found = self.call("Runtime.evaluate", {"expression": f"document.querySelector({json.dumps(selector)})"})["result"]
        described = self.call("DOM.describeNode", {"objectId": found["objectId"]})["node"]
        return Frame(self, described["frameId"])

    def settle(self):
        """Waits until the events so far are handled and drawn."""
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))")

    def count(self, selector):
        return self.eval(f"document.querySelectorAll({json.dumps(selector)}).length")

    def text(self, selector):
        return self.eval(f"document.querySelector({json.dumps(selector)})?.textContent")

    def texts(self, selector):
        return self.eval(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def click(self, selector):
        """Clicks with the mouse in the middle of the first such element."""
        place = self.eval(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            if (!element) return null;
            element.scrollIntoView({{block: 'center'}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        if not place:
            raise RuntimeError(f"the page has no {selector}")
        self.click_at(*place)

    def click_at(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})
        self.settle()

    def choose_file(self, selector, path):
        """Chooses the file in an <input type=file>, as its dialog does."""
        found = self.call("Runtime.evaluate", {"expression": f"document.querySelector({json.dumps(selector)})"})["result"]
        if "objectId" not in found:
            raise RuntimeError(f"the page has no {selector}")
        self.call("DOM.setFileInputFiles", {"files": [os.path.realpath(path)], "objectId": found["objectId"]})
        self.settle()

    def drop_file(self, selector, path):
        """Drags a file over the middle of an element, and drops it."""
        place = self.eval(f"""(() => {{
            const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        data = {"items": [], "files": [os.path.realpath(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", {"type": kind, "x": place[0], "y": place[1], "data": data})
        self.settle()

    def select(self, selector, value):
        """Chooses an option of a <select>."""
        self.eval(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.value = {json.dumps(value)};
            element.dispatchEvent(new Event('change', {{bubbles: true}}));
        }})()""")
        self.settle()

    def press(self, key, modifiers=0):
        """Presses a key; the modifiers are 1 for Alt, 2 for Control, 4 for Meta and 8 for Shift."""
        name, code, text = KEYS[key] if key in KEYS else (key, ord(key.upper()), key)
        text = "" if modifiers & 6 else text
        parameters = {"key": name, "windowsVirtualKeyCode": code, "text": text, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", {"type": "keyDown" if text else "rawKeyDown", **parameters})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **parameters})
        self.settle()

    def type(self, text):
        for character in text:
            self.press(character)

    def insert_text(self, text):
        """Inserts a text where the cursor is, as pasting does."""
        self.call("Input.insertText", {"text": text})
        self.settle()

    def history(self):
        """The addresses that were visited, up to the current one."""
        found = self.call("Page.getNavigationHistory")
        return [entry["url"] for entry in found["entries"][:found["currentIndex"] + 1]]

    def go_to_entry(self, index):
        """Goes to an entry of the history, as the button of the browser does."""
        found = self.call("Page.getNavigationHistory")
        self.call("Page.navigateToHistoryEntry", {"entryId": found["entries"][index]["id"]})

    def save_downloads_in(self, folder):
        self.call("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})

    def screenshot(self, path):
        self.settle()
        picture = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))


class Frame:
    """A frame of a page, in a process of its own, which the browser starts, and may replace, after the frame is there."""

    def __init__(self, page, frame_id):
        self.page = page
        self.browser = page.browser
        self.frame_id = frame_id

    def attach(self):
        end = time.monotonic() + self.browser.seconds
        while time.monotonic() < end:
            targets = self.browser.call("Target.getTargets", {"filter": [{"type": "iframe"}]})["targetInfos"]
            if any(target["targetId"] == self.frame_id for target in targets):
                return self.browser.call("Target.attachToTarget", {"targetId": self.frame_id, "flatten": True})["sessionId"]
            time.sleep(0.02)
        raise RuntimeError(f"after {self.browser.seconds} s, the frame has no process")

    def eval(self, expression):
        parameters = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        session = self.attach()
        answer = self.browser.call("Runtime.evaluate", parameters, session)
        self.browser.call("Target.detachFromTarget", {"sessionId": session})
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['exception']['description']}")
        return answer["result"].get("value")

    wait = Page.wait
    settle = Page.settle
