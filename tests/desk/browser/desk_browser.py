"""People with a real Chromium: they join by a link, work, close the browser and open it again.

Nothing here waits for a fixed time: a page is used when it has loaded, with its scripts, however long that takes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from chromium import CHROMIUM
from playwright.sync_api import Page, Playwright, expect, sync_playwright

from wardround.core.sockets import open_socket, socket_url

PASSWORD = "correct horse battery"
PATIENCE = 120_000  # milliseconds, for a machine that does other things
expect.set_options(timeout=PATIENCE)


class BrowserUser:
    """A person with a browser of their own. `errors` collects what a page writes to the console as errors."""

    def __init__(self, playwright: Playwright, url: str, name: str) -> None:
        self._playwright, self._url, self.name = playwright, url, name
        self.errors: list[str] = []
        self.open()

    def open(self) -> Page:
        """Starts a browser without cookies and storage."""
        self._browser = self._playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        self.page = self._browser.new_page(viewport={"width": 1280, "height": 900})
        watch(self.page, self.errors)
        return self.page

    def close(self) -> None:
        self._browser.close()

    def join(self, link: str) -> Page:
        """Accepts an invitation."""
        self.page.goto(link)
        self.page.get_by_label("Name").fill(self.name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_label("The same again").fill(PASSWORD)
        self.click_button("Come in")
        return self.page

    def come_back(self) -> Page:
        """Closes the browser, opens it again and logs in."""
        self.close()
        self.open()
        self.page.goto(self._url)
        self.page.get_by_label("Name").fill(self.name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.click_button("Log in")
        return self.page

    def click_link(self, name: str) -> None:
        """Follows a link and waits for its page."""
        with self.page.expect_navigation():
            self.page.get_by_role("link", name=name).click()

    def click_button(self, name: str) -> None:
        """Sends a form and waits for the next page."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=name).click()

    def press_to_submit(self, key: str = "Control+Enter") -> None:
        """Sends a form by a key and waits for the next page."""
        with self.page.expect_navigation():
            self.page.keyboard.press(key)

    # for the administrator

    def invite(self, role: str) -> str:
        """The link that invites one person."""
        self.page.goto(f"{self._url}/admin/people")
        self.page.get_by_role("combobox", name="Role", exact=True).select_option(role)
        self.click_button("Make a link")
        return self.page.get_by_label("Link").input_value()

    def make_task(self, title: str, name: str, source: str, roles: list[str], **settings: str) -> str:
        """Makes a task and assigns it; returns the address of its page."""
        self.page.goto(f"{self._url}/admin")
        with self.page.expect_navigation():
            self.page.get_by_role("link", name=title, exact=True).click()
        self.page.get_by_label("Project").fill("Ward")
        self.page.get_by_label("Name", exact=True).fill(name)
        self.page.get_by_label("In the desk's folder").fill(source)
        for setting, value in settings.items():
            self.page.locator(f"[name={setting}]").fill(value)
        self.click_button("Make the task")
        for role in roles:
            self.page.get_by_role("checkbox", name=role, exact=True).check()
        self.click_button("Give the task to them")
        return self.page.url

    def download(self, task: str, file: str, target: Path) -> Path:
        """A file of a task, by its link."""
        self.page.goto(task)
        with self.page.expect_download() as download:
            self.page.get_by_role("link", name=file, exact=True).click()
        download.value.save_as(target)
        return target


def watch(page: Page, errors: list[str]) -> None:
    """Collects the errors of a page, and makes it wait long enough."""
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))


@contextmanager
def browser_users(url: str) -> Iterator[Callable[[str], BrowserUser]]:
    """`new_user(name)` gives a BrowserUser; all browsers are closed at the end."""
    users: list[BrowserUser] = []
    with sync_playwright() as playwright:

        def new_user(name: str) -> BrowserUser:
            users.append(BrowserUser(playwright, url, name))
            return users[-1]

        try:
            yield new_user
        finally:
            for user in users:
                user.close()


@contextmanager
def serving(app: object) -> Iterator[str]:
    """Serves an app from a thread; gives its address."""
    listening = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield socket_url("127.0.0.1", listening)
    finally:
        server.should_exit = True
        thread.join()
