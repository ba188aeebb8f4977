"""A headless Chromium, driven through its pipes by the DevTools protocol: what tests of pages need of it, and no more.

    with Browser(folder) as browser:
        with browser.tab(width=390, height=844, touch=True) as tab:
            tab.open("file:///...")
            tab.evaluate("document.title")

Each tab keeps what the browser reported about it: messages of the console, exceptions, requests."""
import base64
import contextlib
import json
import os
import select
import subprocess
import time

LIMIT = 120  # seconds for what hangs


class Browser:
    def __init__(self, folder):
        self.folder, self.number, self.tabs, self.rest = folder, 0, {}, b""

    def __enter__(self):
        read, browser_write = os.pipe()
        browser_read, write = os.pipe()
        # What the browser calls 3 and 4: the shell moves them there.
        command = f'exec 3<&{browser_read} 4>&{browser_write}; exec "$@"'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe",
                   f"--user-data-dir={self.folder}/profile", f"--log-net-log={self.folder}/requests"]
        self.said = open(f"{self.folder}/browser.log", "wb")
        self.process = subprocess.Popen(["bash", "-c", command, "bash", "chromium", *options, "about:blank"],
                                        pass_fds=(browser_read, browser_write), stdin=subprocess.DEVNULL,
                                        stdout=self.said, stderr=self.said)
        os.close(browser_read)
        os.close(browser_write)
        self.read, self.write = read, write
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.call("Browser.close")
            self.process.wait(20)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        os.close(self.write)
        self.said.close()

    def receive(self, seconds=LIMIT):
        """The next message, which is also given to its tab; None: none came."""
        while b"\0" not in self.rest:
            if not select.select([self.read], [], [], seconds)[0]:
                return None
            more = os.read(self.read, 1 << 16)
            if not more:
                raise EOFError(f"the browser ended: {open(f'{self.folder}/browser.log').read()[-2000:]}")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        tab = self.tabs.get(message.get("sessionId"))
        if tab and "method" in message:
            tab.note(message["method"], message["params"])
        return message

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer is None:
                raise TimeoutError(f"no answer to {method}")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    @contextlib.contextmanager
    def tab(self, width=1280, height=900, touch=False, dark=False):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self.tabs[session] = Tab(self, session, touch)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        tab.resize(width, height)
        tab.dark(dark)
        if touch:
            tab.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
        yield tab
        self.call("Target.closeTarget", targetId=target)
        del self.tabs[session]


class Tab:
    def __init__(self, browser, session, touch):
        self.browser, self.session, self.touch = browser, session, touch
        self.messages, self.requests, self.loaded = [], [], False

    def note(self, method, params):
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.messages.append(params)
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, mobile=self.touch,
                  deviceScaleFactor=2 if self.touch else 1,
                  screenOrientation={"type": "portraitPrimary" if height > width else "landscapePrimary",
                                     "angle": 0 if height > width else 90})

    def dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def open(self, url):
        self.loaded = False
        self.call("Page.navigate", url=url)
        end = time.monotonic() + LIMIT
        while not self.loaded:
            if time.monotonic() > end:
                raise TimeoutError(f"{url} was not loaded")
            self.browser.receive(1)

    def evaluate(self, expression):
        """The value of an expression, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression[:500]}: {answer['exceptionDetails']}"[:2000])
        return answer["result"].get("value")

    def settle(self):
        """Waits until what was asked for has been drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def key(self, key, shift=False):
        code = {"Tab": 9, "Enter": 13}.get(key, 0)
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      text=text if kind == "keyDown" else "", modifiers=8 if shift else 0)
        self.settle()

    def mouse(self, *steps, shift=False):
        """The left button goes down at the first place, moves to each of the others, and comes up at the last."""
        places = [steps[0], *steps, steps[-1]]
        for i, (x, y) in enumerate(places):
            kind = "mousePressed" if i == 1 else "mouseReleased" if i == len(places) - 1 else "mouseMoved"
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if i else "none", buttons=1 if i else 0,
                      clickCount=1, modifiers=8 if shift else 0)
        self.settle()

    def fingers(self, *steps):
        """Each step has the places of all fingers that are down; then they go up."""
        for i, places in enumerate(steps):
            self.call("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart",
                      touchPoints=[{"x": x, "y": y, "id": j} for j, (x, y) in enumerate(places)])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def picture(self, path, whole=False):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))


def asked(path):
    """What pages asked of the network, by the browser's own log; its own requests have other initiators."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["events"]
    return {str(event["params"]["url"]) for event in events if isinstance(event.get("params"), dict) and
            "url" in event["params"] and event["params"].get("initiator", "not an origin") not in ("not an origin", "chrome://")}
