"""A table of 100,000 questions in a real Chromium: few rows are drawn at a time, and the last one is reached."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from chromium import needs_chromium
from playwright.sync_api import expect
from view_browser import chromium, open_page, serving_view

from wardround.core.condition import Condition
from wardround.marking.marks import MARKS_SCHEMA

ROWS = 100_000
MAX_DRAWN = 60  # rows of about 50 px or more in a window of 900 px, with spare ones above and below


def write_marks_alone(folder: Path, count: int) -> Path:
    """A run folder with a manifest and marks, every third right; without cases and answers."""
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"status": "complete", "candidates": [{"name": "model"}]}))
    marks = pl.select(number=pl.int_range(count)).select(
        case=pl.format("case-{}", pl.col("number").cast(pl.String).str.zfill(6)),
        cluster=pl.format("cluster-{}", "number"),
        question=pl.lit("mcq"),
        candidate=pl.lit("model"),
        condition=pl.lit(Condition().json),
        trial=pl.lit(0),
        outcome=pl.when(pl.col("number") % 3 == 0).then(pl.lit("right")).otherwise(pl.lit("wrong")),
        kind=pl.lit("choice"),
    )
    missing = [pl.lit(None, type).alias(name) for name, type in MARKS_SCHEMA.items() if name not in marks.columns]
    marks.with_columns(missing).select(pl.col(name).cast(type) for name, type in MARKS_SCHEMA.items()).write_parquet(
        folder / "marks.parquet"
    )
    return folder


@needs_chromium
def test_a_table_of_100_000_rows_draws_few_and_reaches_the_last(tmp_path: Path) -> None:
    run = write_marks_alone(tmp_path / "runs" / "large", ROWS)
    with serving_view(run) as link, chromium() as browser:
        page, errors = open_page(browser, link)
        expect(page.locator(".count")).to_contain_text("100,000 questions")
        scroller, rows = page.locator(".scroller"), page.locator(".space .row")
        rows.first.wait_for()
        for share in (0.1, 0.25, 0.5, 0.75, 1):
            scroller.evaluate("(view, share) => { view.scrollTop = share * view.scrollHeight; }", share)
            place = min(round(share * ROWS), ROWS - 1)
            near = page.locator(f'.space .row[aria-rowindex="{place + 2}"]')  # the head is row 1
            expect(near).to_contain_text(f"case-{place:06}")
            assert rows.count() <= MAX_DRAWN
        expect(near).to_be_in_viewport()
        assert errors == []
