"""Items to review: questions whose answer key may be wrong, on the page and as a CSV file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from wardround.core.text import option_letter
from wardround.marking.review_notes import wrong_keys
from wardround.measuring.engine.tables import write_table
from wardround.measuring.validation.item_review import AGAINST, MISSED
from wardround.measuring.validation.judge_validation import judge_note
from wardround.reporting.case_pages import page_name
from wardround.reporting.numbers import number
from wardround.reporting.reference_condition import reference_values
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

FILE = "items_to_review.csv"
FLAGGED = "a reader says that the key is wrong"
MAX_SHOWN = 20  # items per reason; the file has them all


def review_table(run: RunFiles) -> pl.DataFrame:
    """The table of items_to_review.csv, in the reference condition, with the key of each question.

    Questions whose key a reader of `wardround view` called wrong come first.
    """
    marks = run.reference_marks
    items = pl.concat([_flagged(run), run.items_to_review], how="diagonal")
    if items.is_empty() or "gold" not in marks.collect_schema():
        return items.with_columns(gold=pl.lit(None, pl.Int16))
    own = marks.join(items.lazy().select("case", "question"), on=["case", "question"], how="semi")
    keys = own.select("case", "question", "gold").unique(["case", "question"]).collect(engine="streaming")
    return items.join(keys, on=("case", "question"), how="left", maintain_order="left")


def _flagged(run: RunFiles) -> pl.DataFrame:
    """The questions that readers flagged, each once, with the reason and what they wrote."""
    texts: dict[tuple[str, str], list[str]] = {}
    for note in wrong_keys(run.folder):
        texts.setdefault((note.case, note.question), []).extend([note.text] if note.text else [])
    rows = [(*place, ": ".join([FLAGGED, *(["; ".join(said)] if said else [])])) for place, said in texts.items()]
    return pl.DataFrame(rows, schema=dict.fromkeys(("case", "question", "reason"), pl.String), orient="row")


def write_review(run: RunFiles, folder: Path) -> None:
    """Writes the file even if it is empty: an old one would mislead."""
    write_table(folder / FILE, review_table(run))


def review(run: RunFiles) -> Section | None:
    table = review_table(run)
    if table.is_empty():
        return None
    questions = run.reference_marks.select("case", "question").unique()
    question_count = questions.select(pl.len()).collect(engine="streaming").item()
    missed, against = (table.filter(reason=reason) for reason in (MISSED, AGAINST))
    context = {
        "flagged": list(_items(run, table.filter(pl.col("reason").str.starts_with(FLAGGED)))),
        "missed": list(_items(run, missed)),
        "missed_count": len(missed),
        "against": list(_items(run, against)),
        "against_count": len(against),
        "question_count": question_count,
        "candidate_count": len(run.candidates),
        "file": FILE if run.condition is None else None,
        "fixed": reference_values(run),
        "judged": judge_note(run.folder) if table["gold"].null_count() and run.manifest.get("judge") else "",
    }
    return Section("review", "Items to review", render("sections/review.html", **context))


def _items(run: RunFiles, table: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows with the case page's address; options as letters."""
    for row in table.head(MAX_SHOWN).iter_rows(named=True):
        address = None if run.case_list is None else f"{Path(run.case_list).parent.as_posix()}/{page_name(row['case'])}"
        correlation = "–" if row["item_total"] is None else number(row["item_total"], 2)
        letters = {"key": _letter(row["gold"]), "favourite": _letter(row["favourite"])}
        yield {**row, "address": address, **letters, "item_total": correlation}


def _letter(option: int | None) -> str:
    """An option as a letter, in the case's own order; open questions have none."""
    return "–" if option is None else option_letter(option)
