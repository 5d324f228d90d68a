"""Tables and figures of the report in a real browser: sorted, searched, copied, saved; axe finds nothing serious."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import CHROMIUM, needs_chromium
from rich_run import Rich
from summary_worlds import planted_run

pytestmark = needs_chromium
WIDTHS = (390, 820, 1440, 2560)
CLIPPED = """[...document.querySelectorAll('main td, main th, main dd')]
  .filter(cell => cell.checkVisibility() && cell.getBoundingClientRect().right > 689)
  .map(cell => cell.textContent.slice(0, 60))"""


@pytest.fixture(scope="module")
def browser(many: Path) -> Iterator[Any]:
    """`many` first: a study cannot be run while Playwright's event loop is open."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def rich_page(browser: Any, rich: Rich) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(rich.file.as_uri())
    yield page
    context.close()


def first_column(page: Any, table: str) -> list[str]:
    return page.locator(f"{table} tbody tr th").all_inner_texts()


def test_a_column_is_sorted_by_click_and_by_key(rich_page: Any) -> None:
    heads = rich_page.locator("#scores table").first.locator("thead th")
    head = heads.filter(has_text="when parsed")
    figures = "rows => rows.map(row => parseFloat(row.querySelector('.beside').textContent))"

    head.locator("button").click()
    rising = rich_page.locator("#scores table").first.locator("tbody tr").evaluate_all(figures)
    head.locator("button").press("Enter")
    falling = rich_page.locator("#scores table").first.locator("tbody tr").evaluate_all(figures)

    assert rising == sorted(rising)
    assert falling == sorted(rising, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    assert rich_page.locator("#scores table").first.locator("[aria-sort]").count() == 1


@pytest.mark.parametrize("name", ["CSV", "Markdown", "LaTeX"])
def test_a_table_is_copied(rich_page: Any, rich: Rich, name: str) -> None:
    tool = rich_page.locator("#scores .card").first.get_by_role("button", name=name)
    tool.click()
    rich_page.locator("#scores .card").first.get_by_text("copied").wait_for()

    text = rich_page.evaluate("navigator.clipboard.readText()")

    line = rich.run.find_line("accuracy", "steady", {})
    assert line is not None
    score = f"{100 * line.value:.1f} ({100 * line.low:.1f} to {100 * line.high:.1f})"  # type: ignore[operator]
    if name == "CSV":
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1
        assert [row[1] for row in rows if row[0].startswith("steady")] == [score]
    else:
        assert score in text
        assert text.count("\n") == {"Markdown": 7, "LaTeX": 11}[name]


@pytest.mark.parametrize("name", ["SVG", "PNG"])
def test_a_figure_is_saved_with_its_colours(rich_page: Any, name: str) -> None:
    with rich_page.expect_download() as saved:
        rich_page.locator("#confidence .calibration").first.get_by_role("button", name=name).first.click()

    data = Path(saved.value.path()).read_bytes()

    if name == "PNG":
        from PIL import Image

        image = Image.open(io.BytesIO(data))
        assert image.width == 1200
        assert len(image.convert("RGB").getcolors(1 << 24) or []) > 10
    else:
        assert data.startswith(b"<svg")
        assert b"stroke: rgb(" in data


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    candidates = {f"model-{n:02}": {"accuracy": 0.4 + 0.04 * n, "seed": n} for n in range(12)}
    return planted_run(tmp_path_factory.mktemp("many"), candidates).folder


def test_no_pair_of_twelve_candidates_is_lost(browser: Any, many: Path) -> None:
    page = browser.new_page()
    page.goto((many / "report.html").as_uri())
    said = page.locator("#comparisons p", has_text="Shown:").inner_text()
    page.locator("#comparisons details summary").click()
    rows = page.locator("#comparisons tbody tr").count()
    assert rows == 66
    assert said.startswith(f"Shown: {page.locator('#comparisons table').first.locator('tbody tr').count()} of 66 pairs")

    finder = page.locator("#ranks input[type=search]")
    finder.fill("model-03")

    assert page.locator("#ranks tbody tr:visible").count() == 1
    assert "1 of 12 rows" in page.locator("#ranks .tools").inner_text()
    page.close()


def serious(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{issue['id']}: {issue['nodes'][0]['html'][:150]}"
        for issue in found
        if issue["impact"] in ("serious", "critical")
    ]


def check_page(browser: Any, address: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
    context.close()


def test_axe_finds_nothing_serious_on_a_phone(browser: Any, rich: Rich) -> None:
    check_page(browser, rich.file.as_uri(), 390, "light")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_serious_at_any_width(browser: Any, rich: Rich, many: Path, width: int, scheme: str) -> None:
    check_page(browser, rich.file.as_uri(), width, scheme)
    check_page(browser, (many / "report.html").as_uri(), width, scheme)


@pytest.mark.slow
def test_print_clips_no_figure(browser: Any, rich: Rich, many: Path) -> None:
    for address in (rich.file.as_uri(), (many / "report.html").as_uri()):
        page = browser.new_page(viewport={"width": 688, "height": 1000})  # A4 without margins, at 96 px per inch
        page.emulate_media(media="print")
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        assert page.evaluate(CLIPPED) == []
        page.close()
