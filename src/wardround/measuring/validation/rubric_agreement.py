"""Agreement of a judge with people on the criteria of rubrics, overall and criterion by criterion.

Labels are a CSV file with candidate, case, question, criterion and met; trial (default 0) and condition are optional.
Each label is compared with the judge's verdict in marks.parquet; without condition, with that of every condition.
Several people may label the same criterion.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wardround.core.errors import BadInput, describe_unreadable
from wardround.marking.marks import MARKS_FILE
from wardround.measuring.engine.exact import Floats
from wardround.measuring.measures.formulas import ratio
from wardround.measuring.validation.agreement import agreement, confusion_cells, estimate_statistic, kappa

COLUMNS = ("candidate", "case", "question", "criterion", "met")
TEXTS = COLUMNS[:-1]
PLACE = ("candidate", "case", "question", "trial", "criterion")
MEANINGS = dict.fromkeys(("met", "true", "yes", "1"), True) | dict.fromkeys(("not met", "false", "no", "0"), False)


def f1_macro(cells: Floats) -> Floats:
    """The mean of F1 for met and F1 for not met, as HealthBench compares its judge with physicians."""
    both, people_only, judge_only, neither = (cells[..., place] for place in range(4))
    wrong = people_only + judge_only
    return (ratio(2 * both, 2 * both + wrong) + ratio(2 * neither, 2 * neither + wrong)) / 2


STATISTICS = {"agreement": agreement, "kappa": kappa, "f1_macro": f1_macro}


def rubric_agreement(folder: Path, labels: Path, seed: int = 0) -> dict[str, Any]:
    """Agreement, kappa and macro F1 of a run's judge with labels by people, with intervals over clusters."""
    rows = _read_labels(labels)
    places = [*PLACE, "condition"] if "condition" in rows[0] else [*PLACE]
    verdicts = _verdicts(folder, places)
    joined = pl.DataFrame(rows, schema_overrides={"trial": pl.Int32}).join(
        verdicts, on=places, how="left", maintain_order="left"
    )
    unknown = joined.filter(pl.col("cluster").is_null())
    if len(unknown):
        row = unknown.row(0, named=True)
        place = " / ".join(str(row[name]) for name in places)
        raise BadInput(labels, f"no rubric answer of the run has {place}", line=row["line"], field="criterion")
    judged = joined.drop_nulls("same").with_columns(weight=pl.lit(1.0))
    by_criterion = judged.partition_by("case", "question", "criterion", maintain_order=True)
    return {
        "judge": "+".join(verdicts["judge"].drop_nulls().unique().sort()),
        "labels": len(joined),
        "unjudged": len(joined) - len(judged),
        "overall": _estimates(judged, seed),
        "criteria": [
            {name: part[name][0] for name in ("case", "question", "criterion")} | _estimates(part, seed)
            for part in by_criterion
        ],
    }


def _estimates(items: pl.DataFrame, seed: int) -> dict[str, Any]:
    if items.is_empty():
        return {"n": 0}
    cells = confusion_cells(items, items["cluster"].unique().sort().to_list())
    return {"n": len(items)} | {
        name: estimate_statistic(statistic, cells, seed) for name, statistic in STATISTICS.items()
    }


def _verdicts(folder: Path, places: Sequence[str]) -> pl.DataFrame:
    """The judge's verdict on every criterion of every rubric answer."""
    file = folder / MARKS_FILE
    if not file.is_file():
        raise BadInput(file, "there are no marks; mark the run by `wardround mark RUN`")
    marks = pl.scan_parquet(file)
    if "criteria" not in marks.collect_schema().names():
        raise BadInput(file, "has no column criteria: mark the run again by `wardround mark RUN`")
    columns = marks.filter(pl.col("criteria").is_not_null()).select(
        *(name for name in places if name != "criterion"), "cluster", "judge", "criteria"
    )
    listed = columns.explode("criteria").collect()
    return listed.with_columns(
        pl.col("criteria").struct.field("id").alias("criterion"), pl.col("criteria").struct.field("met").alias("same")
    ).drop("criteria")


def _read_labels(file: Path) -> list[dict[str, Any]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise BadInput(file, f"lacks the column {missing[0]}; expected {', '.join(COLUMNS)}", line=1)
            rows = [_label(file, reader.line_num, cells) for cells in reader]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(file, describe_unreadable(error)) from None
    if not rows:
        raise BadInput(file, "has no labels")
    return rows


def _label(file: Path, line: int, cells: dict[str, Any]) -> dict[str, Any]:
    met = MEANINGS.get((cells["met"] or "").strip().casefold())
    if met is None:
        raise BadInput(file, f"{cells['met']!r} is not a verdict; expected met or not met", line=line, field="met")
    trial = (cells.get("trial") or "0").strip()
    if not trial.isdecimal():
        raise BadInput(file, f"{trial!r} is not a number from 0", line=line, field="trial")
    names = {name: cells[name] or "" for name in (*TEXTS, *({"condition"} & set(cells)))}
    return names | {"trial": int(trial), "label": met, "line": line}
