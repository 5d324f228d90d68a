"""The leaderboard in a real Chromium, from a file address: filters, sorting, keyboard, themes; axe finds nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from chromium import CHROMIUM, needs_chromium

from wardround.exporting.site.build import build_site

pytestmark = needs_chromium
PATIENCE = 120_000  # milliseconds, for a machine that does other things
VISIBLE = "rows => rows.filter(row => !row.hidden).map(row => row.querySelector('a').textContent)"


@pytest.fixture(scope="module")
def site(lab_runs_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("browsed") / "site"
    build_site([lab_runs_folder], site)
    return site


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Any]:  # after the site: Playwright's event loop would stop its runs
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_page(browser: Any, address: str, width: int = 1440, **options: Any) -> tuple[Any, list[str]]:
    """A page, and everything that it complains about or loads from elsewhere."""
    page = browser.new_context(viewport={"width": width, "height": 900}, **options).new_page()
    page.set_default_timeout(PATIENCE)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda sent: None if sent.url.startswith(("file:", "data:")) else problems.append(sent.url))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.goto(address)
    return page, problems


def case_set_page(site: Path) -> str:
    return next(site.glob("case-sets/cases-*.html")).as_uri()


def test_figures_are_filtered_by_measure_slice_group_and_words(browser: Any, site: Path) -> None:
    page, problems = open_page(browser, case_set_page(site))
    rows = page.locator("#figures tbody tr")
    assert sorted(rows.evaluate_all(VISIBLE)) == ["best", "best", "best", "middle", "reads only", "worst"]
    page.select_option("select[name=slice]", '{"specialty":"neuro"}')
    page.select_option("select[name=group]", "closed")
    assert rows.evaluate_all(VISIBLE) == ["worst"]
    assert "1 of" in page.locator("form.filters [role=status]").inner_text()
    kept, _ = open_page(browser, page.url)
    assert kept.locator("#figures tbody tr").evaluate_all(VISIBLE) == ["worst"]
    page.select_option("select[name=slice]", '{"images":"swapped"}')
    page.select_option("select[name=group]", "")
    page.fill("input[name=find]", "reads")
    assert rows.evaluate_all(VISIBLE) == ["reads only"]
    shown = page.locator("#figures tbody tr:not([hidden]) .value").inner_text()
    assert shown.strip() == "text only"
    assert problems == []


def test_a_board_is_sorted_with_the_keyboard(browser: Any, site: Path) -> None:
    page, problems = open_page(browser, case_set_page(site))
    board = page.locator(".board").first
    names = "rows => rows.map(row => row.querySelector('.label a').textContent)"
    before = board.locator("tbody tr").evaluate_all(names)
    assert before[0] == "best"
    board.get_by_role("button", name="candidate").focus()
    page.keyboard.press("Enter")
    assert board.locator("tbody tr").evaluate_all(names) == sorted(before)
    board.locator("thead .value button").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert board.locator("tbody tr").evaluate_all(names)[0] == "worst"
    assert board.locator("thead .value").get_attribute("aria-sort") == "ascending"
    assert problems == []


def test_the_first_key_leads_to_the_content_and_the_theme_is_switched(browser: Any, site: Path) -> None:
    page, problems = open_page(browser, (site / "index.html").as_uri(), color_scheme="light")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    assert problems == []


def test_without_scripts_every_figure_is_readable(browser: Any, site: Path) -> None:
    page, _ = open_page(browser, case_set_page(site), java_script_enabled=False)
    assert page.locator("#figures tbody tr").count() > 60
    assert page.locator("#figures tbody tr").last.is_visible()
    assert not page.locator("form.filters").is_visible()


FEW = ("index.html", "candidates/nnnn*")
ALL = (*FEW, "changes.html", "methods.html", "case-sets/cases-*", "candidates/best-*")


def violations(browser: Any, site: Path, width: int, scheme: str, patterns: Sequence[str] = ALL) -> list[Any]:
    """What axe finds on these pages, and pages that are wider than the screen."""
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    violations: list[Any] = []
    for name in (str(next(site.glob(pattern)).relative_to(site)) for pattern in patterns):
        # the page's own policy would refuse the checker, as it refuses every other script
        page, problems = open_page(browser, (site / name).as_uri(), width, color_scheme=scheme, bypass_csp=True)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            violations.append((name, "wider than the screen"))
        page.evaluate(axe)
        checked = page.evaluate("axe.run(document, {preload: false})")
        assert len(checked["passes"]) > 15
        violations += [(name, issue["id"], issue["nodes"][0]["html"][:150]) for issue in checked["violations"]]
        violations += problems
        page.context.close()
    return violations


def test_axe_finds_nothing_on_a_phone_in_the_dark(browser: Any, site: Path) -> None:
    assert violations(browser, site, 390, "dark", FEW) == []


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (820, "dark"), (1440, "light"), (1440, "dark")])
def test_axe_finds_nothing_at_any_width(browser: Any, site: Path, width: int, scheme: str) -> None:
    assert violations(browser, site, width, scheme) == []


@pytest.mark.slow
def test_print_shows_what_was_filtered_and_clips_nothing(browser: Any, site: Path) -> None:
    page, _ = open_page(browser, case_set_page(site), 688)  # A4 without margins, at 96 px per inch
    page.emulate_media(media="print")
    assert page.locator("#figures tbody tr:visible").count() == 6
    assert page.evaluate("document.documentElement.scrollWidth") <= 688
