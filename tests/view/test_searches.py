"""What the explorer shows of evidence: an agent's searches step by step, and the passage that supports its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from chromium import needs_chromium
from playwright.sync_api import expect
from searched_run import write_searched_run
from view_browser import at, chromium, open_page, serving_view

from wardround.view.explorer import Explorer

IMAGING = {"pmid": "1000", "title": "Imaging of hilar nodes"}


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_searched_run(tmp_path_factory.mktemp("searched"))


@pytest.fixture(scope="module")
def evidence(searched: Path) -> dict[str, Any]:
    explorer = Explorer([searched])
    [trial] = explorer.question_document(0)["runs"][0]["asks"][0]["trials"]
    explorer.close()
    shown: dict[str, Any] = trial["evidence"]
    return shown


def test_the_steps_are_the_turns_in_their_order(evidence: dict[str, Any]) -> None:
    steps = evidence["steps"]
    assert [step["text"] for step in steps] == [f"Turn {turn}." for turn in range(5)]
    assert [(call["tool"], call["argument"]) for step in steps for call in step["calls"]] == [
        ("search", "hilar nodes"),
        ("search", "beds of ward 7"),
        ("read", "1000"),
        ("search", "one too many"),
        ("finish", ""),
    ]


def test_each_search_has_its_own_hits(evidence: dict[str, Any]) -> None:
    first, second, read, refused, _ = (step["calls"][0] for step in evidence["steps"])
    assert first["hits"][0] == IMAGING
    assert all(hit["pmid"].startswith("5") for hit in second["hits"])
    assert second["hits"]
    assert read["hits"] == [IMAGING]
    assert refused["hits"] == []
    assert refused["result"].startswith("No searches are left")


def test_without_a_stored_result_the_queries_are_shown(searched: Path, evidence: dict[str, Any]) -> None:
    """Without the fingerprint of the index no result is found."""
    explorer = Explorer([searched])
    page = explorer.pages[0]
    stored = page.open()
    assert stored is not None
    stored.manifest["literature"]["fingerprint"] = "another"
    [trial] = explorer.question_document(0)["runs"][0]["asks"][0]["trials"]
    explorer.close()
    assert trial["evidence"]["steps"] is None
    assert trial["evidence"]["queries"] == ["hilar nodes", "beds of ward 7"]


def test_the_supporting_sentence_is_marked(evidence: dict[str, Any]) -> None:
    marked = [s["text"] for d in evidence["documents"] for s in d["sentences"] if s["supports"]]
    assert marked == ["Patients with hilar nodes often have sarcoidosis."]


@needs_chromium
def test_the_page_shows_steps_and_marks_the_passage(searched: Path) -> None:
    [case] = pl.read_parquet(searched / "marks.parquet")["case"].unique()
    with serving_view(searched) as link, chromium() as browser:
        page, errors = open_page(browser, link)
        at(page, f"page=question&case={case}&question=open")
        page.locator("details.evidence > summary").click()
        turns = page.locator(".turns > li")
        expect(turns).to_have_count(6)  # five turns, and how it ended
        expect(turns.nth(0).locator("q")).to_have_text("hilar nodes")
        expect(turns.nth(0).locator(".hits li").first).to_have_text("Imaging of hilar nodes PMID 1000")
        expect(turns.nth(2)).to_contain_text("read PMID 1000: Imaging of hilar nodes")
        expect(turns.nth(5)).to_contain_text("ended: finished")
        expect(page.locator(".document mark")).to_have_text("Patients with hilar nodes often have sarcoidosis.")
        assert errors == []
