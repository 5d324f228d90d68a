"""Items to review: questions whose key is likely wrong, on the page and as a file for those who check them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from wardround.measuring import items_to_review
from wardround.measuring.engine.tables import write_table
from wardround.measuring.validation.item_review import AGAINST, MISSED
from wardround.measuring.validation.judge_validation import judge_note
from wardround.reporting.case_pages import page_name
from wardround.reporting.numbers import number, percent
from wardround.reporting.reference_condition import marks_at_reference, reference
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

FILE = "items_to_review.csv"
SHOWN = 20  # of each reason; the file has them all
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Item:
    """One question: its key, what was chosen instead, and how candidates did."""

    case: str
    question: str
    address: str | None  # of the case page
    key: str
    favourite: str
    favourite_share: str
    right: str
    strong: str
    item_total: str


def review_table(run: RunFolder) -> pl.DataFrame:
    """The table of items_to_review.csv, in the reference condition, with the key of each question."""
    marks = marks_at_reference(run)
    found = items_to_review(marks)
    if found.is_empty() or "gold" not in marks.collect_schema():
        return found.with_columns(gold=pl.lit(None, pl.Int16))
    keys = marks.select("case", "question", "gold").unique(["case", "question"]).collect()
    return found.join(keys, on=("case", "question"), how="left", maintain_order="left")


def write_review(run: RunFolder, folder: Path) -> Path:
    """Writes the file, also where nothing is to be reviewed: an old one would mislead."""
    path = folder / FILE
    write_table(path, review_table(run))
    return path


def review(run: RunFolder) -> Section | None:
    found = review_table(run)
    if found.is_empty():
        return None
    asked = marks_at_reference(run).select(pl.struct("case", "question").n_unique()).collect().item()
    missed, against = (found.filter(reason=reason) for reason in (MISSED, AGAINST))
    told = {
        "missed": list(_items(run, missed.head(SHOWN))),
        "missed_many": len(missed),
        "against": list(_items(run, against.head(SHOWN))),
        "against_many": len(against),
        "asked": asked,
        "candidates": len(run.candidates),
        "file": FILE,
        "held": reference(run),
        "judged": judge_note(run.folder) if found["gold"].null_count() and run.manifest.get("judge") else "",
    }
    return Section("review", "Items to review", render("review.html", **told))


def _items(run: RunFolder, found: pl.DataFrame) -> Iterable[Item]:
    for row in found.iter_rows(named=True):
        address = None if run.case_list is None else f"{Path(run.case_list).parent.as_posix()}/{page_name(row['case'])}"
        total = row["item_total"]
        yield Item(
            case=row["case"],
            question=row["question"],
            address=address,
            key=_letter(row["gold"]),
            favourite=_letter(row["favourite"]),
            favourite_share=percent(row["favourite_share"]),
            right=percent(row["right"]),
            strong=percent(row["strong_right"]),
            item_total="–" if total is None else number(total, 2),
        )


def _letter(option: int | None) -> str:
    """An option as a letter, in the case's own order; open questions have none."""
    return "–" if option is None else LETTERS[option] if option < len(LETTERS) else str(option + 1)
