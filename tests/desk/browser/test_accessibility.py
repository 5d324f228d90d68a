"""Every page through axe-core at four widths, light and dark: nobody is kept out by how a page is made."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

import pytest
from chromium import CHROMIUM, needs_chromium
from desk_process import DeskProcess
from playwright.sync_api import sync_playwright

from wardround.desk.desk import Desk

pytestmark = [pytest.mark.slow, needs_chromium]
GRAVE = ("serious", "critical")
SIZES = ((390, 844), (820, 1180), (1440, 900), (2560, 1440))


def test_no_page_has_a_serious_violation_at_any_width(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[3] / "docs" / "screenshots")])
    from take_desk import furnish, pages

    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    furnished = furnish(tmp_path / "desk")
    desk, violations, looked = Desk(tmp_path / "desk"), [], 0
    with DeskProcess(tmp_path / "desk") as served, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, who, address in pages(furnished):
            # the page's own policy would refuse the checker, as it refuses every other script
            context = browser.new_context(bypass_csp=True)
            if who is not None:
                cookie = desk.visits.sign(desk.accounts.open_session(furnished["people"][who]))
                context.add_cookies([{"name": desk.visits.cookie, "value": cookie, "url": served.url}])
            page = context.new_page()
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                page.goto(served.url + address, wait_until="load")
                page.evaluate(axe)
                for theme in ("light", "dark"):
                    if page.locator("html").get_attribute("data-theme") != theme:
                        page.locator("[data-theme-switch]").click()
                    checked = page.evaluate("axe.run()")
                    looked += len(checked["passes"])
                    violations += [
                        (name, width, theme, violation["id"], [node["target"] for node in violation["nodes"]][:3])
                        for violation in checked["violations"]
                        if violation["impact"] in GRAVE
                    ]
                    if page.evaluate("document.documentElement.scrollWidth") > width:
                        violations.append((name, width, theme, "is wider than the screen", []))
            context.close()
        browser.close()
    desk.close()
    assert violations == []
    assert looked > 2_000
