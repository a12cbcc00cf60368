"""Drives the system's Chromium without a window, over its DevTools protocol by a pair of pipes: no port, no driver program."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
# WebGL is computed on the CPU: what Neuroglancer needs, and the same picture on every machine.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--force-device-scale-factor=1",
         "--force-prefers-reduced-motion")


class Browser:
    """One page. `requests` has every address that it asked for, `problems` what it wrote to its console as an error."""

    def __init__(self, profile, width=1280, height=800):
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        self._next, self._rest = 0, b""
        self.requests, self.problems, self._loading = [], [], set()

        def wire():  # Chromium reads descriptor 3 and writes 4; the copies first, so that neither lies on the other
            a, b = os.dup(to_child), os.dup(from_child)
            a, b = (os.dup(a) if a in (3, 4) else a), (os.dup(b) if b in (3, 4) else b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self._session = None
        target = next(t for t in self.wait(lambda: self.call("Target.getTargets")["targetInfos"]) if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(timeout=20)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(timeout=20)
        os.close(self._write)
        os.close(self._read)

    def call(self, method, timeout=120, **parameters):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters} | ({"sessionId": self._session} if self._session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            reply = self._message(until - time.monotonic())
            if reply and reply.get("id") == message["id"]:
                assert "error" not in reply, f"{method}: {reply['error']}"
                return reply["result"]
        raise TimeoutError(f"{method}: no answer after {timeout} s")

    def _message(self, seconds):
        """The next message within so many seconds, or None; events are kept."""
        while b"\0" not in self._rest:
            if not select.select([self._read], [], [], max(0, seconds))[0]:
                return None
            part = os.read(self._read, 1 << 20)
            if not part:
                raise OSError("Chromium ended")
            self._rest += part
        line, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(line)
        kind, values = message.get("method"), message.get("params", {})
        if kind == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
            if values.get("type") in ("Image", "Fetch", "XHR"):  # the end of others, as of a worker's program, is told to others
                self._loading.add(values["requestId"])
        elif kind in ("Network.loadingFinished", "Network.loadingFailed"):
            self._loading.discard(values["requestId"])
        elif kind == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif kind == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.problems.append(f"{values['entry']['text']} {values['entry'].get('url', '')}")
        return message

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, f"{expression}: {done['exceptionDetails']}"
        return done["result"].get("value")

    def wait(self, ready, seconds=120):
        """Waits for this JavaScript to be true, or gives what ready() does once that is."""
        until = time.monotonic() + seconds
        while True:
            value = self.evaluate(f"Boolean({ready})") if isinstance(ready, str) else ready()
            if value:
                return value
            assert time.monotonic() < until, f"not so after {seconds} s: {ready}\n{self.problems}"
            time.sleep(0.1)

    def pending(self):
        """How many pictures and data the page waits for, once it drew what it had; those of its workers are not counted."""
        self.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => 0)")
        return len(self._loading)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def click(self, x, y, times=1):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def drag(self, start, end, steps=8):
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], button="left", clickCount=1)
        for i in range(1, steps + 1):
            x, y = (a + (b - a) * i / steps for a, b in zip(start, end))
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left", buttons=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], button="left", clickCount=1)

    def wheel(self, x, y, delta):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)

    def box(self, selector):
        """[x, y, width, height] of an element on the screen."""
        return self.evaluate(f"(({{x, y, width, height}}) => [x, y, width, height])(document.querySelector({json.dumps(selector)})"
                             ".getBoundingClientRect())")

    def click_on(self, selector):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'nearest'}})")
        x, y, width, height = self.box(selector)
        self.click(x + width / 2, y + height / 2)

    def screenshot(self, box=None):
        """PNG bytes of the page, or of a box of it."""
        clip = {"clip": dict(zip(("x", "y", "width", "height"), box), scale=1)} if box else {}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **clip)["data"])
