"""The answers of a run as one flat table: what was asked, replied and marked, a row per answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from wardround.core.ask import ImagePart
from wardround.core.condition import DEFAULTS
from wardround.core.files import replacement
from wardround.exporting.destination import require_new_file
from wardround.reporting.answer_records import axis_values
from wardround.reporting.case_pages import PromptPart
from wardround.reporting.case_views import CaseViews
from wardround.running.parquet import open_table
from wardround.running.run_folder import require_run
from wardround.running.stored_run import ANSWER_PLACE, StoredRun
from wardround.running.used_answers import read_used

AXIS = "axis_"  # before the names of axes: `confidence` is an axis and a column of the marks
SHOWN: dict[str, Any] = {
    "prompt": pl.String,  # the text as sent; [image] where an image was
    "options_shown": pl.List(pl.String),  # in the order of their letters
    "gold_shown": pl.Int16,  # place of the right option in that order
    "gold_text": pl.String,
    "reply": pl.String,
    "reasoning": pl.String,
    "finish": pl.String,
}


class ImagePlaces:
    """Shows where an image stood in a prompt, without rendering it."""

    def part(self, image: ImagePart) -> PromptPart:
        return PromptPart("[image]")


def export_run(folder: Path, out: Path) -> list[Path]:
    """Writes the table as Parquet."""
    require_new_file(out)
    table = read_answers(folder)
    with replacement(out) as draft:
        table.write_parquet(draft)
    return [out]


def read_answers(folder: Path) -> pl.DataFrame:
    """All columns of the marks, a column for each axis, and what was shown and replied. Probes are left out."""
    require_run(folder)
    marks = open_table(folder / "marks.parquet", "write the marks by `wardround mark RUN`").collect()
    with StoredRun.open(folder) as stored:
        stored.verify_inputs(accept=False, as_marked=True)
        turns = read_used(folder).select(*ANSWER_PLACE, "turn")
        turned = marks.join(turns, on=ANSWER_PLACE, how="left", maintain_order="left")
        rows = list(_rows(stored, turned))
    axes: dict[str, Any] = {AXIS + axis: pl.String for axis in DEFAULTS}
    schema: dict[str, Any] = {name: dtype for name, dtype in turned.schema.items() if name != "turn"} | axes | SHOWN
    return pl.DataFrame(rows, schema=schema)


def _rows(stored: StoredRun, marks: pl.DataFrame) -> Iterator[dict[str, Any]]:
    views = CaseViews(stored, ImagePlaces())
    groups = marks.partition_by("case", as_dict=True, maintain_order=True)
    for case in stored.cases:
        of_case = groups.get((case.id,))
        if of_case is None:
            continue
        for row in of_case.filter(pl.col("outcome").is_not_null()).iter_slices(1):
            view = views.make_ask_view(case, row, of_case)  # one by one: the order of options may differ by trial
            trial, order = view.trials[0], [own for _, own, _ in view.lettered_options]
            mark = row.drop("turn").row(0, named=True)
            gold = view.gold
            yield mark | {
                **{AXIS + axis: value for axis, value in axis_values(mark["condition"]).items()},
                "prompt": "\n".join(part.text for part in view.prompt),
                "options_shown": [text for _, _, text in view.lettered_options] or None,
                "gold_shown": order.index(gold) if isinstance(gold, int) else None,
                "gold_text": view.options[gold] if isinstance(gold, int) else gold,
                "reply": trial.text,
                "reasoning": trial.reasoning,
                "finish": trial.finish,
            }
