"""The pages in a real browser: no errors, nothing fetched, nothing wider than the screen.

The report at three widths is tried in every test run; the other tests are slow.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from chromium import needs_chromium
from rich_run import Rich
from simulated_run import views, write_run

from wardround.reporting import compare, report

HOSTILE = "<script>document.title = 'owned'</script>"


def screenshots() -> ModuleType:
    """docs/screenshots/take.py, which drives Chromium."""
    path = Path(__file__).parents[2] / "docs" / "screenshots" / "take.py"
    spec = importlib.util.spec_from_file_location("take", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


take = screenshots()
pytestmark = needs_chromium

WIDTHS = {"phone": 390, "tablet": 768, "desktop": 1440}
OVERLAPS = """(() => {
  document.querySelectorAll('details').forEach(details => { details.open = true; });
  const box = cell => { const range = document.createRange(); range.selectNodeContents(cell);
                        return range.getBoundingClientRect(); };
  return [...document.querySelectorAll('main tr')].flatMap(row => [...row.cells].slice(1).flatMap((cell, index) => {
    const left = box(row.cells[index]), right = box(cell);
    const level = left.bottom > right.top + 1 && right.bottom > left.top + 1;
    return level && left.right > right.left + 1 && right.right > left.left + 1
      ? [row.cells[index].textContent + ' | ' + cell.textContent] : [];
  }));
})()"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    opened = take.Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, rich: Rich) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    rows = write_run(folder / "a", rename={"random": HOSTILE})
    write_run(folder / "b", cases=24, status="incomplete", why="x" * 300)
    report(folder / "a", cases=views(rows))
    return {
        "report": folder / "a" / "report.html",
        "rich": rich.linked_file,
        "incomplete": report(folder / "b"),
        "list": folder / "a" / "cases" / "index.html",
        "case": folder / "a" / "cases" / "case-03.html",
        "compare": compare([folder / "a", folder / "b"], folder / "both.html"),
    }


def console_messages(browser: Any) -> list[dict[str, Any]]:
    methods = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    return [event for event in browser.events if event.get("method") in methods]


def assert_quiet_and_fitting(browser: Any, page: Path, width: int) -> None:
    """No console message, no request but for the page itself, nothing wider than the screen."""
    browser.open(page.as_uri(), width, dark=width == WIDTHS["phone"])
    assert console_messages(browser) == []
    events = [event for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
    urls = {event["params"]["request"]["url"] for event in events}
    images = (page.parent / "images").as_uri()  # a case page's own, and nothing else
    assert {url for url in urls if not url.startswith(("data:", f"{images}/"))} == {page.as_uri()}
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert "owned" not in browser.evaluate("document.title")
    wider = "[...document.querySelectorAll('table.forest *')].filter(e => e.getBoundingClientRect().right > %d).length"
    assert browser.evaluate(wider % width) == 0


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_report_fits_the_screen_without_overlaps(browser: Any, rich: Rich, width: int) -> None:
    assert_quiet_and_fitting(browser, rich.linked_file, width)
    assert browser.evaluate(OVERLAPS) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", ["report", "incomplete", "list", "case", "compare"])
def test_a_page_is_quiet_and_fits(browser: Any, pages: dict[str, Path], name: str, width: int) -> None:
    assert_quiet_and_fitting(browser, pages[name], width)


@pytest.mark.slow
def test_light_and_dark_follow_the_system_and_the_button(browser: Any, pages: dict[str, Path]) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(pages["report"].as_uri(), 1440)
    light = browser.evaluate(background)
    browser.open(pages["report"].as_uri(), 1440, dark=True)
    dark = browser.evaluate(background)
    assert light != dark
    browser.evaluate("document.querySelector('button.theme').click()")
    assert browser.evaluate(background) == light
    browser.evaluate("document.querySelector('button.theme').click(); localStorage.clear()")
    assert browser.evaluate(background) == dark
    browser.open(pages["report"].as_uri() + "?theme=dark", 1440)
    assert browser.evaluate(background) == dark


@pytest.mark.slow
def test_text_contrasts_with_its_background(browser: Any, pages: dict[str, Path]) -> None:
    """WCAG AA: a contrast of 4.5 for every colour that text has."""
    script = """(() => {
      const style = getComputedStyle(document.documentElement);
      const light = name => {
        const channels = style.getPropertyValue(name).trim().slice(1).match(/../g).map(h => parseInt(h, 16) / 255);
        const [r, g, b] = channels.map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
      };
      const contrast = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
      const pairs = ['ink', 'soft', 'link', 'alert'].flatMap(t => [[t, 'paper'], [t, 'card']]);
      pairs.push(['ink', 'alert-back'], ['alert', 'alert-back'], ['ink', 'stop-back'], ['stop', 'stop-back']);
      return pairs.map(([a, b]) => [a + ' on ' + b, contrast('--' + a, '--' + b)]);
    })()"""
    for dark in (False, True):
        browser.open(pages["report"].as_uri(), 1440, dark=dark)
        assert [pair for pair in browser.evaluate(script) if pair[1] < 4.5] == []


@pytest.mark.slow
def test_the_case_list_shows_the_marks_behind_a_cell(browser: Any, pages: dict[str, Path]) -> None:
    rows = [
        row
        for row in write_run(pages["report"].parent, rename={"random": HOSTILE})
        if row["candidate"] == "small-model" and row["specialty"] == "chest" and "swapped" in row["condition"]
    ]
    browser.open(pages["list"].as_uri() + "#candidate=small-model&specialty=chest&images=swapped", 1440)
    shown = browser.evaluate(
        "[...document.querySelectorAll('#cases tbody tr:not([hidden])')]"
        ".map(row => [...row.cells].filter(cell => !cell.hidden).map(cell => cell.textContent))"
    )
    expected = [
        [case, f"{sum(r['outcome'] == 'right' for r in mine)} of {len(mine)}"]
        for case in dict.fromkeys(row["case"] for row in rows)
        if (mine := [row for row in rows if row["case"] == case])
    ]
    assert shown == expected
    cleared = "new Promise(done => { addEventListener('hashchange', done); document.getElementById('clear').click(); })"
    browser.evaluate(cleared)
    assert browser.evaluate("document.querySelectorAll('#cases tbody tr:not([hidden])').length") == 40
    assert console_messages(browser) == []


@pytest.mark.slow
def test_table_cells_do_not_overlap(browser: Any, pages: dict[str, Path]) -> None:
    for width in WIDTHS.values():
        browser.open(pages["report"].as_uri(), width)
        assert browser.evaluate(OVERLAPS) == [], width
        assert browser.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_print_shows_the_gist_of_closed_parts_and_says_where_the_figures_are(
    browser: Any, pages: dict[str, Path]
) -> None:
    visible_count = "[...document.querySelectorAll('%s')].filter(e => e.checkVisibility()).length"
    browser.open(pages["report"].as_uri(), 1440)
    assert browser.evaluate(visible_count % ".on-paper") == 0
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate(visible_count % ".on-paper") > 0
    assert (
        browser.evaluate(visible_count % ".gist") == browser.evaluate("document.querySelectorAll('.gist').length") >= 3
    )
    assert browser.evaluate(visible_count % "details table") == 0
    browser.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.slow
def test_a_printed_report_is_a4_and_cuts_no_column(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    browser.open(pages["rich"].as_uri(), 1440, dark=True)
    browser.pdf(tmp_path / "report.pdf")
    pdf = (tmp_path / "report.pdf").read_bytes()
    boxes = {tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([^]]+)\]", pdf)}
    assert boxes
    assert all(box == pytest.approx((0, 0, 595.28, 841.89), abs=1) for box in boxes)
    browser.call("Emulation.setEmulatedMedia", media="print")
    # 210 mm minus the margins, at 96 px per inch
    browser.call("Emulation.setDeviceMetricsOverride", width=688, height=1000, deviceScaleFactor=1, mobile=False)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 688
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.call("Emulation.setEmulatedMedia", media="")
