"""Judge validation: are gold and predicted diagnosis the same? Blind to the judge's verdict."""

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wardround.core.errors import BadInput, WardroundError, describe_unreadable
from wardround.desk.auth.accounts import PHYSICIANS, STUDENT
from wardround.desk.desk import Desk
from wardround.desk.records import NewItem, Task
from wardround.desk.results.agreement import KAPPA, majority_labels
from wardround.desk.results.export import to_jsonl
from wardround.desk.tasks.one_choice import ChoiceTask, balanced_sample
from wardround.desk.tasks.task_kind import Export, PageSection, Setting
from wardround.marking.judges.judge import VERDICTS_FILE, normalize_name, read_verdicts
from wardround.measuring.engine.exact import Floats
from wardround.measuring.validation.agreement import (
    agreement_interval,
    cohen_kappa,
    confusion_cells,
    estimate_rate,
    finite,
)
from wardround.measuring.validation.judge_labels import NOT_SAME, SAME

YES, NO, UNSURE = "same", "not same", "cannot tell"


class JudgeValidation(ChoiceTask):
    name = "judge"
    title = "Judge validation"
    summary = "Is a predicted diagnosis the same disease as the right one? For wardround judge validate."
    source = "A run with a judge (verdicts.parquet), or pairs as CSV or JSONL: case, question, gold, diagnosis"
    roles = (STUDENT, *PHYSICIANS)
    settings = (
        Setting("readers", "Readers of each pair", 2),
        Setting("many", "Pairs to draw", 0, "Half judged the same, half not, weighted in the export. 0: all."),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "tasks/judge.html"
    field, choices, unsure = "same", (YES, NO), UNSURE
    arbitrates = True

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if settings["readers"] < 1:
            raise WardroundError("each pair needs a reader")
        rows = _pairs_of_run(source) if source.is_dir() else _pairs_of_file(source)
        distinct = {(row["case"], row["question"], row["gold"], row["diagnosis"]): row for row in rows}
        pairs, count, seed = list(distinct.values()), settings["many"], settings["seed"]
        sample = balanced_sample(pairs, lambda row: str(row["same"]), count, seed)
        return [_new_item(row, weight, settings["readers"]) for row, weight in sample]

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        return [
            PageSection.render("People and the judge", "tasks/judge_agreement.html", **compare_with_judge(desk, task))
        ]

    def exports(self) -> Sequence[Export]:
        about = "for wardround judge validate RUN --labels; pairs without a majority are left out"
        return (Export("labels.jsonl", about, _labels),)


def compare_with_judge(desk: Desk, task: Task) -> dict[str, Any]:
    """The majority of readers compared with the judge, over cases."""
    rows = [
        {"cluster": item.shown["case"] or item.name, "same": item.hidden["same"], "label": label == YES}
        | {"weight": item.hidden["weight"]}
        for item, label in majority_labels(desk, task)
        if item.hidden["same"] is not None
    ]
    frame = pl.DataFrame(
        rows, schema={"cluster": pl.String, "same": pl.Boolean, "label": pl.Boolean, "weight": pl.Float64}
    )
    sums = confusion_cells(frame, sorted(set(frame["cluster"])))
    figures = _estimate_figures(sums) if rows else {}
    counts = np.round(sums.sum(axis=0), 1).tolist() if rows else [0, 0, 0, 0]
    return {"items": len(rows), "figures": figures, "counts": counts}


def _estimate_figures(cells: Floats) -> dict[str, dict[str, Any]]:
    """Kappa and three rates of the judge, with intervals that few pairs can carry."""
    both, only_people, only_judge, neither = np.moveaxis(cells, -1, 0)
    tables = np.stack([np.stack([both, only_people], axis=-1), np.stack([only_judge, neither], axis=-1)], axis=-2)
    value, low, high, method = agreement_interval(cohen_kappa, tables)
    rates = {
        "Agreement": (both + neither, cells.sum(axis=-1)),
        "Sensitivity": (both, both + only_people),
        "Specificity": (neither, neither + only_judge),
    }
    figures = {KAPPA: {"value": finite(value), "low": low, "high": high, "method": method}}
    return figures | {name: estimate_rate(part, whole, 0) for name, (part, whole) in rates.items()}


def _new_item(row: Mapping[str, Any], weight: float, readers: int) -> NewItem:
    name = f"{row['case']}/{row['question']}" if row["case"] else row["gold"]
    shown_row = {column: row[column] for column in ("case", "question", "gold", "accept", "diagnosis")}
    hidden = {"same": row["same"], "judge": row["judge"], "weight": weight}
    return NewItem(f"{name}: {row['diagnosis']}", "pairs", shown_row, {"reader": readers}, hidden)


def _pairs_of_run(folder: Path) -> list[dict[str, Any]]:
    """The diagnoses that a run's judge has judged; with several judges, the last one's."""
    table = read_verdicts(folder)
    if table.is_empty():
        raise BadInput(folder / VERDICTS_FILE, "no judge has judged anything in this run")
    table = table.filter(pl.col("judge") == table["judge"][-1])
    columns = ("case", "question", "gold", "accept", "diagnosis", "same", "judge")
    return list(table.select(columns).unique(maintain_order=True).iter_rows(named=True))


def _pairs_of_file(file: Path) -> list[dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
        if file.suffix == ".csv":
            rows = list(csv.DictReader(StringIO(text)))
        else:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, csv.Error) as error:
        raise BadInput(file, describe_unreadable(error)) from None
    return [_pair(row, file, number) for number, row in enumerate(rows, 1)]


def _pair(row: Any, file: Path, number: int) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise BadInput(file, "expected an object", line=number)
    fields = {key: str(value).strip() for key, value in row.items() if isinstance(key, str) and value is not None}
    gold, diagnosis = normalize_name(fields.get("gold", "")), normalize_name(fields.get("diagnosis", ""))
    if not gold or not diagnosis:
        raise BadInput(file, "expected gold and diagnosis", line=number)
    same = (SAME | NOT_SAME).get(fields.get("same", "").lower())
    names = [normalize_name(name) for name in fields.get("accept", "").split("|") if name.strip()]
    pair = {"case": fields.get("case") or None, "question": fields.get("question") or None, "gold": gold}
    return pair | {"accept": names, "diagnosis": diagnosis, "same": same, "judge": fields.get("judge") or None}


def _labels(desk: Desk, task: Task) -> bytes:
    lines = []
    for item, label in majority_labels(desk, task):
        pair = item.shown
        place = {"case": pair["case"], "question": pair["question"]} if pair["case"] else {"gold": pair["gold"]}
        lines.append(place | {"diagnosis": pair["diagnosis"], "same": label == YES, "weight": item.hidden["weight"]})
    return to_jsonl(lines)
