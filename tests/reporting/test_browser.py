"""The pages in a real browser: no errors, nothing fetched, nothing wider than the screen."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rich_run import Rich
from simulated_run import views, write_run

from wardround.reporting import compare, report

HOSTILE = "<script>document.title = 'owned'</script>"


def screenshots() -> ModuleType:
    """docs/screenshots/take.py, which knows how to speak to Chromium."""
    path = Path(__file__).parents[2] / "docs" / "screenshots" / "take.py"
    spec = importlib.util.spec_from_file_location("take", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


take = screenshots()
pytestmark = pytest.mark.skipif(take.chromium() is None, reason="there is no Chromium on this machine")


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
        "rich": rich.run.folder / "linked" / "report.html",
        "incomplete": report(folder / "b"),
        "list": folder / "a" / "cases" / "index.html",
        "case": folder / "a" / "cases" / "case-03.html",
        "compare": compare([folder / "a", folder / "b"], folder / "both.html"),
    }


def complaints(browser: Any) -> list[dict[str, Any]]:
    told = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    return [event for event in browser.events if event.get("method") in told]


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", ["report", "rich", "incomplete", "list", "case", "compare"])
def test_a_page_is_quiet_and_fits(browser: Any, pages: dict[str, Path], name: str, width: int) -> None:
    browser.open(pages[name].as_uri(), width, dark=width == 390)
    assert complaints(browser) == []
    asked = [e["params"]["request"]["url"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
    assert {url for url in asked if not url.startswith("data:")} == {pages[name].as_uri()}
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert "owned" not in browser.evaluate("document.title")
    wider = "[...document.querySelectorAll('table.forest *')].filter(e => e.getBoundingClientRect().right > %d).length"
    assert browser.evaluate(wider % width) == 0


def test_light_and_dark_follow_the_system_and_the_button(browser: Any, pages: dict[str, Path]) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    browser.open(pages["report"].as_uri(), 1440)
    light = browser.evaluate(back)
    browser.open(pages["report"].as_uri(), 1440, dark=True)
    dark = browser.evaluate(back)
    assert light != dark
    browser.evaluate("document.querySelector('button.theme').click()")
    assert browser.evaluate(back) == light
    browser.evaluate("document.querySelector('button.theme').click(); localStorage.clear()")
    assert browser.evaluate(back) == dark
    browser.open(pages["report"].as_uri() + "?theme=dark", 1440)
    assert browser.evaluate(back) == dark


def test_text_is_readable_on_its_ground(browser: Any, pages: dict[str, Path]) -> None:
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
    browser.evaluate("document.getElementById('clear').click()")
    browser.evaluate("new Promise(done => setTimeout(done, 50))")
    assert browser.evaluate("document.querySelectorAll('#cases tbody tr:not([hidden])').length") == 40
    assert complaints(browser) == []


def test_nothing_in_a_table_lies_over_its_neighbour(browser: Any, pages: dict[str, Path]) -> None:
    script = """(() => {
      document.querySelectorAll('details').forEach(each => { each.open = true; });
      const said = cell => { const range = document.createRange(); range.selectNodeContents(cell);
                             return range.getBoundingClientRect(); };
      return [...document.querySelectorAll('main tr')].flatMap(row => [...row.cells].slice(1).flatMap((cell, place) => {
        const left = said(row.cells[place]), right = said(cell);
        const level = left.bottom > right.top + 1 && right.bottom > left.top + 1;
        return level && left.right > right.left + 1 && right.right > left.left + 1
          ? [row.cells[place].textContent + ' | ' + cell.textContent] : [];
      }));
    })()"""
    for name, width in product(("report", "rich"), (390, 768, 1440)):
        browser.open(pages[name].as_uri(), width)
        assert browser.evaluate(script) == [], (name, width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_print_shows_the_gist_of_closed_parts_and_says_where_the_figures_are(
    browser: Any, pages: dict[str, Path]
) -> None:
    seen = "[...document.querySelectorAll('%s')].filter(e => e.checkVisibility()).length"
    browser.open(pages["report"].as_uri(), 1440)
    assert browser.evaluate(seen % ".on-paper") == 0
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate(seen % ".on-paper") > 0
    assert browser.evaluate(seen % ".gist") == browser.evaluate("document.querySelectorAll('.gist').length") >= 3
    assert browser.evaluate(seen % "details table") == 0
    browser.call("Emulation.setEmulatedMedia", media="")


def test_a_printed_report_is_a4_and_cuts_no_column(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    browser.open(pages["rich"].as_uri(), 1440, dark=True)
    browser.pdf(tmp_path / "report.pdf")
    pdf = (tmp_path / "report.pdf").read_bytes()
    boxes = {tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([^]]+)\]", pdf)}
    assert boxes
    assert all(box == pytest.approx((0, 0, 595.28, 841.89), abs=1) for box in boxes)
    browser.call("Emulation.setEmulatedMedia", media="print")
    # 210 mm less the margins, at 96 px to the inch
    browser.call("Emulation.setDeviceMetricsOverride", width=688, height=1000, deviceScaleFactor=1, mobile=False)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 688
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.call("Emulation.setEmulatedMedia", media="")
