"""Takes the screenshots of a report: python docs/screenshots/take.py runs/NAME/report.html [OUT_DIR]

390 and 1440 px wide, light and dark, and print. Needs Chromium, and pdftoppm (poppler) for the print ones.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from base64 import b64decode
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# Chromium reads commands from descriptor 3 and writes to 4, whatever numbers the pipes have here
START = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """A headless Chromium with one page, spoken to over its debugging pipe."""

    def __init__(self) -> None:
        program = chromium()
        if program is None:
            raise SystemExit("there is no Chromium on this machine")
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()
        started = [program, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, str(to_browser), str(from_browser), *started],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.held, self.count, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.count += 1
        asked: dict[str, Any] = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.out, json.dumps(asked).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == asked["id"]:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']['message']}")
                return told["result"]
            self.events.append(told)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.held:
            read = os.read(self.into, 1 << 20)
            if not read:
                raise RuntimeError("Chromium ended")
            self.held += read
        first, self.held = self.held.split(b"\0", 1)
        return json.loads(first)

    def open(self, address: str, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Shows a page and waits until it is loaded; `events` then holds only what that page caused."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._load("about:blank")  # so that an address that differs after # loads again
        self._load(address)
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _load(self, address: str) -> None:
        self.events = []
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events[-50:]):
            self.events.append(self._next())

    def evaluate(self, script: str) -> Any:
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise RuntimeError(told["exceptionDetails"]["text"])
        return told["result"].get("value")

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(b64decode(shot["data"]))

    def pdf(self, path: Path) -> None:
        path.write_bytes(b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]))

    def close(self) -> None:
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self.out)
        os.close(self.into)
        self.profile.cleanup()


def take(report: Path, out: Path, name: str = "report") -> list[Path]:
    """All the pictures of one page."""
    out.mkdir(parents=True, exist_ok=True)
    browser, taken = Browser(), []
    try:
        for width in (390, 1440):
            for dark in (False, True):
                browser.open(report.resolve().as_uri(), width, dark=dark)
                taken.append(out / f"{name}-{width}-{'dark' if dark else 'light'}.png")
                browser.call(
                    "Emulation.setDeviceMetricsOverride",
                    width=width,
                    height=browser.evaluate("document.documentElement.scrollHeight"),
                    deviceScaleFactor=1,
                    mobile=width < 600,
                )
                browser.screenshot(taken[-1])
        browser.pdf(out / f"{name}-print.pdf")
    finally:
        browser.close()
    for old in out.glob(f"{name}-print-*.png"):
        old.unlink()
    pdf = out / f"{name}-print.pdf"
    subprocess.run(["pdftoppm", "-png", "-r", "70", str(pdf), str(out / f"{name}-print")], check=True)
    pdf.unlink()
    return [*taken, *sorted(out.glob(f"{name}-print-*.png"))]


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    for path in take(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).parent):
        print(path)
