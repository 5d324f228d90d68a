"""The explorer in a real Chromium: served from a thread, opened by its link."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from chromium import CHROMIUM
from playwright.sync_api import Browser, Page, expect, sync_playwright

from wardround.core.sockets import open_socket, socket_url
from wardround.view.app import LOOPBACK, Entrance, view_app
from wardround.view.explorer import Explorer

PATIENCE = 120_000  # milliseconds, for a machine that does other things
expect.set_options(timeout=PATIENCE)


@contextmanager
def serving_view(*paths: Path) -> Iterator[str]:
    """Serves the explorer of these runs; gives its one-time link."""
    explorer, entrance = Explorer(paths), Entrance()
    listening = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(view_app(explorer, entrance, LOOPBACK), log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield socket_url("127.0.0.1", listening) + entrance.path
    finally:
        server.should_exit = True
        thread.join()
        explorer.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_page(browser: Browser, address: str, width: int = 1440, **options: object) -> tuple[Page, list[str]]:
    """A page in a context of its own, and what it writes to the console as errors."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)  # type: ignore[arg-type]
    page, errors = context.new_page(), []  # type: ignore[var-annotated]
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    page.locator(".count, .run, .replies").first.wait_for()
    return page, errors


def shown_cases(page: Page) -> list[str]:
    """The cases and questions of the rows that are drawn, from the top."""
    rows = page.locator(".space .row")
    rows.first.wait_for()
    placed = sorted(
        (int(row.get_attribute("aria-rowindex") or 0), row.locator(".name").inner_text()) for row in rows.all()
    )
    return [name for _, name in placed]


def settle(page: Page) -> None:
    """Waits until the page of the present address is drawn."""
    expect(page.locator("main")).to_have_attribute("data-drawn", page.evaluate("location.hash"))


def at(page: Page, hash: str) -> None:
    """Goes to an address and waits until its page is drawn."""
    page.evaluate("hash => { location.hash = hash; }", hash)
    settle(page)
