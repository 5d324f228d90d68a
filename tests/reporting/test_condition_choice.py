"""The choice of a condition: the sections that follow it show its figures; the oracle is measures.csv by axis."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import CHROMIUM, needs_chromium
from report_page import Page, lines, printed
from rich_run import Rich
from summary_worlds import planted_run

from wardround.reporting import report
from wardround.reporting.other_conditions import MAX_CONDITIONS, at_condition, chosen_conditions

STUDY = {
    "conditions": {"degradation": ["none", "gaussian_noise@L2"], "images": ["as-is", "swapped"]},
    "comparisons": {"pairs": {"measure": "accuracy", "between": "candidate"}},
}
CANDIDATES = {
    "fragile": {"accuracy": 0.85, "by": [{"when": {"severity": "L2"}, "accuracy": 0.3}]},
    "steady": {"accuracy": 0.6, "seed": 1},
    "looks": {"accuracy": 0.7, "seed": 2, "by": [{"when": {"images": "swapped"}, "accuracy": 0.2}]},
}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted_run(tmp_path_factory.mktemp("world"), CANDIDATES, **STUDY).folder


def packed_sections(page: str, number: int) -> dict[str, str]:
    found = re.search(rf'<script type="text/plain" id="condition-{number}">([^<]+)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(b64decode(found[1])))


def test_the_packed_scores_are_those_of_the_condition(run_folder: Path) -> None:
    """measures.csv has the same figures by the axis: another way through the measuring code."""
    sections = packed_sections((run_folder / "report.html").read_text(encoding="utf-8"), 1)

    cells = Page(f"<table>{sections['scores']}</table>").find("td", "value")

    shown = {attributes["data-candidate"]: text for attributes, text in cells}
    expected = {
        row["candidate"]: printed(row)
        for row in lines(run_folder / "measures.csv")
        if row["measure"] == "accuracy" and row["slice"] == '{"degradation":"gaussian_noise@L2"}'
    }
    assert shown == expected
    assert len(shown) == 3


def test_a_control_stays_with_its_condition(run_folder: Path) -> None:
    sections = packed_sections((run_folder / "report.html").read_text(encoding="utf-8"), 1)

    cells = Page(f"<table>{sections['controls']}</table>").find("td", "value")

    shown = {(a["data-candidate"], a["data-slice"]): text for a, text in cells}
    both = {"degradation": "gaussian_noise@L2", "images": "swapped"}
    expected = {
        row["candidate"]: printed(row)
        for row in lines(run_folder / "measures.csv")
        if row["measure"] == "accuracy" and json.loads(row["slice"]) == both
    }
    assert len(expected) == 3
    assert all(figure in shown[name, '{"images": "swapped"}'] for name, figure in expected.items())


def test_controls_are_not_conditions_to_choose(run_folder: Path) -> None:
    page = Page((run_folder / "report.html").read_text(encoding="utf-8"))

    titles = [text for _, text in page.find("option")]

    assert titles == ["degradation none (reference)", "degradation gaussian_noise@L2"]


def test_one_condition_has_no_selector(tmp_path: Path) -> None:
    run = planted_run(tmp_path, {"good": {"accuracy": 0.8}}, conditions={"images": ["as-is", "swapped"]})

    page = Page((run.folder / "report.html").read_text(encoding="utf-8"))

    assert page.find("select") == []


def test_many_conditions_are_counted(rich: Rich, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("wardround.reporting.other_conditions.MAX_CONDITIONS", 1)
    assert MAX_CONDITIONS > 1

    chosen = chosen_conditions(rich.run)

    assert (len(chosen.conditions), chosen.total) == (1, 2)
    assert at_condition(rich.run, {"prompt": "short"}).condition == {"prompt": "short"}


@pytest.fixture(scope="module")
def page(run_folder: Path) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(report(run_folder).as_uri())
        yield page
        browser.close()


@needs_chromium
def test_every_following_section_obeys_the_selector(page: Any, run_folder: Path) -> None:
    sections = packed_sections((run_folder / "report.html").read_text(encoding="utf-8"), 1)
    without_tools = """id => { const copy = document.querySelector(`#${id} .body`).cloneNode(true);
      copy.querySelectorAll('.tools').forEach(tool => tool.remove()); return copy.textContent; }"""
    before = {name: page.evaluate(without_tools, name) for name in sections}

    page.select_option("#condition", index=1)
    page.wait_for_selector("#scores .at-condition")

    text_of_html = "html => { const d = document.createElement('div'); d.innerHTML = html; return d.textContent; }"
    for name, html in sections.items():
        assert page.evaluate(without_tools, name) == page.evaluate(text_of_html, html)
    assert page.inner_text("#condition-status").startswith("All figures are now at: degradation gaussian_noise@L2")
    assert "Does not follow" in page.inner_text("#asked")
    page.select_option("#condition", index=0)
    page.wait_for_selector("#scores .at-condition", state="detached")
    assert {name: page.evaluate(without_tools, name) for name in sections} == before


@needs_chromium
def test_the_contents_mark_where_one_is(page: Any) -> None:
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    page.evaluate("document.querySelector('#comparisons').scrollIntoView()")
    page.wait_for_selector("nav a[href='#comparisons'][aria-current=location]")
    assert page.locator("nav a[aria-current]").count() == 1
