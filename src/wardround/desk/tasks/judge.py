"""Judge validation: gold and predicted diagnosis, the same or not, blind to what the judge says."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wardround.core.errors import BadInput, WardroundError
from wardround.desk.auth.people import PHYSICIANS, STUDENT
from wardround.desk.desk import Desk
from wardround.desk.pages import render
from wardround.desk.records import NewItem, Task
from wardround.desk.results.consensus import consensus
from wardround.desk.results.export import jsonl
from wardround.desk.sampling import balanced
from wardround.desk.tasks.one_choice import OneChoice
from wardround.desk.tasks.task_kind import Export, Part, Setting
from wardround.marking.judges.judge import FILE, read_verdicts, shown
from wardround.measuring.validation.agreement_intervals import agreement, cells, figure, kappa, sensitivity, specificity
from wardround.measuring.validation.judge_labels import NOT_SAME, SAME

YES, NO, UNSURE = "same", "not same", "cannot tell"
FIGURES = {"Cohen's kappa": kappa, "Agreement": agreement, "Sensitivity": sensitivity, "Specificity": specificity}


class JudgeValidation(OneChoice):
    name = "judge"
    title = "Judge validation"
    what = "Is a predicted diagnosis the same disease as the right one? For wardround judge validate."
    source = "A run with a judge (verdicts.parquet), or pairs as CSV or JSONL: case, question, gold, diagnosis"
    roles = (STUDENT, *PHYSICIANS)
    settings = (
        Setting("readers", "Readers of each pair", 2),
        Setting("many", "Pairs to draw", 0, "Half judged the same, half not, weighted in the export. 0: all."),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "judge.html"
    field, choices, unsure = "same", (YES, NO), UNSURE
    arbitrates = True

    def items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if settings["readers"] < 1:
            raise WardroundError("each pair needs a reader")
        rows = _of_run(source) if source.is_dir() else _of_file(source)
        distinct = {(row["case"], row["question"], row["gold"], row["diagnosis"]): row for row in rows}
        drawn = balanced(list(distinct.values()), lambda row: str(row["same"]), settings["many"], settings["seed"])
        return [_new(row, weight, settings["readers"]) for row, weight in drawn]

    def parts(self, desk: Desk, task: Task) -> list[Part]:
        return [Part("People and the judge", render("judge_figures.html", **against_the_judge(desk, task)))]

    def exports(self) -> Sequence[Export]:
        return (
            Export(
                "labels.jsonl",
                "for wardround judge validate RUN --labels; pairs without a majority are left out",
                _labels,
            ),
        )


def against_the_judge(desk: Desk, task: Task) -> dict[str, Any]:
    """What the majority of readers says against what the judge says, over cases."""
    rows = [
        {"cluster": item.shown["case"] or item.name, "same": item.hidden["same"], "label": label == YES}
        | {"weight": item.hidden["weight"]}
        for item, label in consensus(desk, task)
        if item.hidden["same"] is not None
    ]
    frame = pl.DataFrame(
        rows, schema={"cluster": pl.String, "same": pl.Boolean, "label": pl.Boolean, "weight": pl.Float64}
    )
    sums = cells(frame, sorted(set(frame["cluster"])))
    found = {name: figure(value, sums, 0) for name, value in FIGURES.items()} if rows else {}
    counts = np.round(sums.sum(axis=0), 1).tolist() if rows else [0, 0, 0, 0]
    return {"items": len(rows), "figures": found, "counts": counts}


def _new(row: Mapping[str, Any], weight: float, readers: int) -> NewItem:
    named = f"{row['case']}/{row['question']}" if row["case"] else row["gold"]
    told = {name: row[name] for name in ("case", "question", "gold", "accept", "diagnosis")}
    hidden = {"same": row["same"], "judge": row["judge"], "weight": weight}
    return NewItem(f"{named}: {row['diagnosis']}", "pairs", told, {"reader": readers}, hidden)


def _of_run(folder: Path) -> list[dict[str, Any]]:
    """The diagnoses that a run's judge has judged; of several judges the last."""
    table = read_verdicts(folder)
    if table.is_empty():
        raise BadInput(folder / FILE, "no judge has judged anything in this run")
    table = table.filter(pl.col("judge") == table["judge"][-1])
    columns = ("case", "question", "gold", "accept", "diagnosis", "same", "judge")
    return list(table.select(columns).unique(maintain_order=True).iter_rows(named=True))


def _of_file(file: Path) -> list[dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
        if file.suffix == ".csv":
            rows = list(csv.DictReader(StringIO(text)))
        else:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, csv.Error) as error:
        raise BadInput(file, f"cannot be read: {error}") from None
    return [_pair(row, file, number) for number, row in enumerate(rows, 1)]


def _pair(row: Any, file: Path, number: int) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise BadInput(file, "expected an object", line=number)
    given = {key: str(value).strip() for key, value in row.items() if isinstance(key, str) and value is not None}
    gold, diagnosis = shown(given.get("gold", "")), shown(given.get("diagnosis", ""))
    if not gold or not diagnosis:
        raise BadInput(file, "expected gold and diagnosis", line=number)
    same = (SAME | NOT_SAME).get(given.get("same", "").lower())
    names = [shown(name) for name in given.get("accept", "").split("|") if name.strip()]
    told = {"case": given.get("case") or None, "question": given.get("question") or None, "gold": gold}
    return told | {"accept": names, "diagnosis": diagnosis, "same": same, "judge": given.get("judge") or None}


def _labels(desk: Desk, task: Task) -> bytes:
    lines = []
    for item, label in consensus(desk, task):
        told = item.shown
        about = {"case": told["case"], "question": told["question"]} if told["case"] else {"gold": told["gold"]}
        lines.append(about | {"diagnosis": told["diagnosis"], "same": label == YES, "weight": item.hidden["weight"]})
    return jsonl(lines)
