"""Drives a page in headless Chromium through the DevTools protocol, over a pipe."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from browser import chromium


class Page:
    """A tab.

    Attributes:
        requests: URLs of all requests so far.
    """

    def __init__(self, to: int, out: int) -> None:
        self._to, self._out, self._buffer, self._id = to, out, b"", 0
        self._session: dict[str, str] = {}
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self.call("Network.enable")
        self.call("Page.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Runs a command and returns its result."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": parameters, **self._session}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                piece = os.read(self._out, 1 << 16)
                assert piece, "Chromium ended"
                self._buffer += piece
            line, _, self._buffer = self._buffer.partition(b"\0")
            answer = json.loads(line)
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("id") == self._id:
                assert "error" not in answer, answer
                return answer["result"]

    def evaluate(self, script: str) -> Any:
        """Returns the value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, script: str, seconds: float = 20) -> Any:
        """Returns the value of an expression once it is true."""
        deadline = time.monotonic() + seconds
        while not (value := self.evaluate(script)):
            assert time.monotonic() < deadline, script
            time.sleep(0.05)
        return value

    def set_screen(self, width: int, height: int, scheme: str) -> None:
        """Sets the size of the screen, and the preferred colours: "light" or "dark"."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def take_screenshot(self, file: Path) -> None:
        """Writes the entire page as a PNG file."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))

    def open(self, url: str) -> None:
        """Opens a URL and waits until the page is loaded."""
        self.call("Page.navigate", url=url)
        self.wait(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")


@contextlib.contextmanager
def page(folder: Path) -> Iterator[Page]:
    """Starts Chromium, whose profile is in a folder, with every other host unreachable."""
    inward, to = os.pipe()
    out, outward = os.pipe()
    command = [
        *(chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--disable-background-networking", "--no-first-run", "--remote-debugging-pipe"),
        *(
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={folder / 'profile'}",
        ),
    ]
    # Chromium reads commands from descriptor 3 and writes answers to 4.
    shell = ["bash", "-c", f'exec "$@" 3<&{inward} 4>&{outward}', "bash", *command]
    process = subprocess.Popen(
        shell, pass_fds=(inward, outward), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(inward)
    os.close(outward)
    try:
        yield Page(to, out)
    finally:
        process.terminate()
        process.wait(20)
        os.close(to)
        os.close(out)
