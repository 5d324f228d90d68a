"""The evidence section: every measured figure, what it rests on, and the sentences in counts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from chromium import needs_chromium
from planted_library import SHARES, planted_study
from test_browser import take
from test_sections import has, hundredfold, section

from wardround.measuring.validation.support_error import support_note
from wardround.pipeline import run_study
from wardround.reporting import compare, read_run
from wardround.reporting.judge_note import support_test_note
from wardround.reporting.tables.measured import ColumnSpec, measured_table


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("believer")
    return run_study(planted_study(folder), runs=folder / "runs", quiet=True, note=lambda line: None).folder


@pytest.fixture(scope="module")
def page(ran) -> str:
    return section((ran / "report.html").read_text(), "evidence")


def block(page: str, value: str) -> str:
    match = re.search(rf"<h3>{value} .*?(?=<h3>|\Z)", page, re.DOTALL)
    assert match is not None, f"nothing about {value}"
    return match[0]


@pytest.mark.parametrize("value", SHARES)
def test_every_measured_figure_is_printed(ran, page, value):
    printed = dict(re.findall(r'<dd data-measure="([^"]+)"><b>([^<]+)</b>', block(page, value)))
    slice = json.dumps({"evidence": value}, separators=(",", ":"))
    measures = dict(
        pl.read_csv(ran / "measures.csv").filter(pl.col("slice") == slice).select("measure", "value").iter_rows()
    )
    expected = {*SHARES[value], *([] if value == "reference" else ["recall@10", "mrr"])}
    assert printed == {name: hundredfold(measures[name]) for name in expected}


def test_the_sentence_counts_the_answers(page):
    assert (
        "Of 40 answers, 24 were right and supported by a document, 4 right without support, 6 wrong but supported by a "
        "document, and 6 wrong without support. The documents contained the true diagnosis in 24 of 40."
    ) in page  # two questions of 20 cases, with references


def test_the_bar_has_the_four_shares(page):
    widths = re.findall(r'<rect class="evidence (\w+)" x="[^"]+" width="([\d.]+)%"', block(page, "rag"))
    assert {name: float(width) / 100 for name, width in widths} == {
        name: pytest.approx(SHARES["rag"][name], abs=1e-3)
        for name in ("evidence_based_correct", "knowledge_based_correct", "evidence_misled", "hallucination")
    }


def test_the_support_test_and_the_judge_are_named(page):
    assert support_note() in page
    assert "judge lexical-4: not validated" in page
    assert "own index" in page
    assert "live web" in page


def test_documents_searches_and_ends_are_counted(page):
    rows = re.findall(
        r"<tr><th scope=\"row\">believer</th>(.*?)</tr>", page.partition("Documents and searches")[2], re.DOTALL
    )
    texts = [[re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row)] for row in rows]
    assert texts == [
        ["reference", "40", "1.0", "0", "0", "–", "–"],
        ["rag", "40", "1.0", "0", "0", "1.0", "–"],
        ["agent", "40", "1.0", "0", "0", "1.0", "finished 40"],
    ]


def test_evidence_figures_are_not_repeated_in_other_measures(ran):
    html = (ran / "report.html").read_text()
    others = section(html, "measures") if has(html, "measures") else ""
    assert 'data-measure="grounded"' not in others
    assert 'data-measure="map"' not in others


def test_a_run_without_literature_has_no_evidence_section(rich):
    assert not has(rich.page, "evidence")


def test_tables_and_comparisons_name_the_error_of_the_support_test(ran, tmp_path):
    run = read_run(ran)
    table, _ = measured_table(run, "", ("candidate", "evidence"), [ColumnSpec("Grounded", "grounded")])
    assert f"{support_note()}." in table.notes
    table, _ = measured_table(run, "", ("candidate", "evidence"), [ColumnSpec("Accuracy", "accuracy")])
    assert f"{support_note()}." not in table.notes
    assert support_note() in compare([ran, ran], tmp_path / "both.html").read_text()


def test_a_judge_of_support_is_named_with_its_counts(ran):
    run = read_run(ran)
    support = {"pairs": 1200, "unreadable": 2, "unanswered": 3}
    run.manifest["judge"].update(name="j", support=support)
    assert support_test_note(run, ["grounded"]) == (
        "Support judged by j, not validated against people: 1,200 pairs of diagnosis and documents, "
        "5 without a verdict."
    )
    assert support_test_note(run, ["accuracy"]) == ""


@needs_chromium
@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
def test_the_evidence_section_fits_the_screen(ran, width):
    browser = take.Browser()
    try:
        browser.open((ran / "report.html").as_uri(), width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        wider = "[...document.querySelectorAll('#evidence figure *')].filter(e => e.getBoundingClientRect().right > %d)"
        assert browser.evaluate(f"{wider % width}.length") == 0
    finally:
        browser.close()
