"""A person at a real Chromium: comes in by a link, works, closes the browser, opens it again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, Playwright, sync_playwright

PASSWORD = "correct horse battery"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


class Human:
    """Somebody with a browser of their own. `wrong` collects what a page complains of to the console."""

    def __init__(self, player: Playwright, url: str, name: str) -> None:
        self._player, self._url, self.name = player, url, name
        self.wrong: list[str] = []
        self.open()

    def open(self) -> Page:
        """Starts the browser: nothing is left in it of the last time."""
        self._browser = self._player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        self.page = self._browser.new_page(viewport={"width": 1280, "height": 900})
        self.page.set_default_timeout(30_000)
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        return self.page

    def close(self) -> None:
        self._browser.close()

    def join(self, link: str) -> Page:
        """Comes in by an invitation."""
        self.page.goto(link)
        self.page.get_by_label("Name").fill(self.name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_label("The same again").fill(PASSWORD)
        self.page.get_by_role("button", name="Come in").click()
        return self.page

    def come_back(self) -> Page:
        """Closes the browser, opens it again and logs in."""
        self.close()
        self.open()
        self.page.goto(self._url)
        self.page.get_by_label("Name").fill(self.name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Log in").click()
        return self.page

    # what the administrator does

    def invite(self, role: str) -> str:
        """The link that invites one person."""
        self.page.goto(f"{self._url}/admin/people")
        self.page.get_by_label("Role").select_option(role)
        self.page.get_by_role("button", name="Make a link").click()
        return self.page.get_by_label("Link").input_value()

    def make_task(self, title: str, name: str, source: str, roles: list[str], **settings: str) -> str:
        """Makes a task and hands it out; gives the address of its page."""
        self.page.goto(f"{self._url}/admin")
        self.page.get_by_role("link", name=title, exact=True).click()
        self.page.get_by_label("Project").fill("Ward")
        self.page.get_by_label("Name", exact=True).fill(name)
        self.page.get_by_label("In the desk's folder").fill(source)
        for setting, value in settings.items():
            self.page.locator(f"[name={setting}]").fill(value)
        self.page.get_by_role("button", name="Make the task").click()
        for role in roles:
            self.page.get_by_role("checkbox", name=role, exact=True).check()
        self.page.get_by_role("button", name="Give the task to them").click()
        return self.page.url

    def download(self, task: str, file: str, there: Path) -> Path:
        """A file of a task, by its link."""
        self.page.goto(task)
        with self.page.expect_download() as waiting:
            self.page.get_by_role("link", name=file, exact=True).click()
        waiting.value.save_as(there)
        return there


@contextmanager
def humans(url: str) -> Iterator[Callable[[str], Human]]:
    """`meet(name)` gives a Human; all browsers are closed at the end."""
    met: list[Human] = []
    with sync_playwright() as player:

        def meet(name: str) -> Human:
            met.append(Human(player, url, name))
            return met[-1]

        try:
            yield meet
        finally:
            for human in met:
                human.close()
