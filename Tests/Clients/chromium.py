"""Controls Chromium without a window through its debugging protocol."""
import base64, json, re, subprocess, time, urllib.request

import websocket


class Page:
    """A page in a separate browser process. `events` has the events of the enabled domains."""

    def __init__(self, folder, *options):
        self.browser = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", f"--user-data-dir={folder}", "--remote-debugging-port=0", *options,
             "about:blank"],
            stderr=subprocess.PIPE, text=True)
        for line in self.browser.stderr:
            if found := re.search(r"DevTools listening on ws://([^/]+)/", line):
                break
        pages = json.load(urllib.request.urlopen(f"http://{found[1]}/json", timeout=10))
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self.socket = websocket.create_connection(address, suppress_origin=True, timeout=20)
        self.last = 0
        self.events = []

    def ask(self, method, **params):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": params}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.last:
            self.events.append(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def take(self, *methods):
        """Removes the events with some names, and returns their parameters."""
        self.run("0")
        taken = [event["params"] for event in self.events if event["method"] in methods]
        self.events = [event for event in self.events if event["method"] not in methods]
        return taken

    def open(self, url, arrives=None):
        """Opens a page. `arrives` is the final address if the server redirects."""
        self.ask("Page.enable")
        self.ask("Page.navigate", url=url)
        self.until(f"location.href + document.readyState == {json.dumps((arrives or url) + 'complete')}")

    def run(self, script):
        """Runs a script and returns its value. If the value is a promise, waits for its result."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script, seconds=10):
        """Waits until the value of a script is true in JavaScript, and returns the value."""
        end = time.monotonic() + seconds
        # The value of an element is an empty dictionary here, which would be false in Python.
        while (value := self.run(script)) in (None, False, 0, ""):
            assert time.monotonic() < end, f"not within {seconds} s: {script}"
            time.sleep(0.02)
        return value

    def press(self, key):
        """Presses and releases a key: a character, or a name such as `Enter`."""
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9}
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        event = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())), **text}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **event)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **event)

    def show(self, width, height, theme):
        """Sets the size of the page, and its theme: `light` or `dark`."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def picture(self):
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def close(self):
        self.socket.close()
        self.browser.terminate()
        self.browser.wait(timeout=10)
