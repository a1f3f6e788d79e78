"""Chromium without a window, over its debugging protocol."""
import base64, json, re, subprocess, time, urllib.request

import websocket


class Page:
    """A page of a browser of its own; `events` are what it has reported, the domains that were enabled."""

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
        """The parameters of the events of some kinds, which are forgotten."""
        self.run("0")
        taken = [event["params"] for event in self.events if event["method"] in methods]
        self.events = [event for event in self.events if event["method"] not in methods]
        return taken

    def open(self, url, arrives=None):
        """Opens a page; `arrives` is its address if the server redirects."""
        self.ask("Page.enable")
        self.ask("Page.navigate", url=url)
        self.until(f"location.href + document.readyState == {json.dumps((arrives or url) + 'complete')}")

    def run(self, script):
        """What a script comes to; a promise is awaited."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script, seconds=10):
        """Waits until a script comes to something that is true in its language, and returns it."""
        end = time.monotonic() + seconds
        # An element arrives as an empty object.
        while (value := self.run(script)) in (None, False, 0, ""):
            assert time.monotonic() < end, f"not within {seconds} s: {script}"
            time.sleep(0.02)
        return value

    def press(self, key):
        """A key of the keyboard: a character, or a name such as `Enter`."""
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9}
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        event = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())), **text}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **event)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **event)

    def show(self, width, height, theme):
        """How large the page is, and whether it is `light` or `dark`."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def picture(self):
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def close(self):
        self.socket.close()
        self.browser.terminate()
        self.browser.wait(timeout=10)
