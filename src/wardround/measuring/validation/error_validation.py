"""Validation of an error judge: its error classes compared with those of people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
import polars as pl

from wardround.core.canonical import blake
from wardround.core.errors import BadInput
from wardround.marking.judges.error_classes import CLASSES, PERCEPTION, parse_class_name
from wardround.marking.judges.model_judge import fold_words
from wardround.measuring.engine.exact import Floats
from wardround.measuring.measures.formulas import ratio
from wardround.measuring.validation.agreement import cohen_kappa, estimate_statistic, format_estimate, kappa
from wardround.measuring.validation.judge_labels import cleaned_fields, label_rows

FILE = "error_judge.json"
PLACE = ("candidate", "case", "question", "trial")


class ErrorLabel(NamedTuple):
    """The error class that a person gives a wrong answer."""

    line: int
    candidate: str
    case: str
    question: str
    trial: int
    condition: str | None
    kind: str

    @property
    def place(self) -> tuple[str, str, str, int]:
        return self.candidate, self.case, self.question, self.trial

    def __str__(self) -> str:
        return f"line {self.line}: {self.candidate}, {self.case}/{self.question}, trial {self.trial}"


def validate_errors(folder: Path, labels: Path) -> dict[str, Any]:
    """Compares the error classes of a run's judge with labels by people, and writes error_judge.json."""
    if not (folder / "marks.parquet").exists():
        raise BadInput(folder, "is not a run folder: it has no marks.parquet")
    marks = pl.read_parquet(folder / "marks.parquet", columns=[*PLACE, "condition", "cluster", "error_class"])
    judged = marks.filter(pl.col("error_class").is_not_null())
    if judged.is_empty():
        raise BadInput(folder, "has no error classes; run wardround mark RUN --errors first")
    named: dict[tuple[str, str, str, int], dict[str, tuple[str, str]]] = {}
    for row in judged.select(*PLACE, "condition", "cluster", "error_class").iter_rows():
        named.setdefault(row[:4], {})[row[4]] = row[5:]
    error_labels = read_error_labels(labels)
    verdicts = [(label, _verdict_on(label, named.get(label.place, {}), labels)) for label in error_labels]
    matched = [(label, *verdict) for label, verdict in verdicts if verdict is not None]
    perception = [label for label, *_ in matched if label.kind == PERCEPTION]
    matched = [verdict for verdict in matched if verdict[0].kind != PERCEPTION]
    pairs = [(cluster, label.kind, kind) for label, cluster, kind in matched if kind in CLASSES]
    if not pairs:
        raise BadInput(labels, f"none of {len(error_labels)} labels matches a classified wrong answer of {folder}")
    tables, seed = confusions(pairs), int.from_bytes(blake(["validate errors"])[:8], "big")
    validated = {
        "labels": len(error_labels),
        "items": len(pairs),
        "unscored": len(matched) - len(pairs),
        "perception": len(perception),
        "unmatched": [str(label) for label, verdict in verdicts if verdict is None],
        "kappa": estimate_statistic(cohen_kappa, tables, seed),
        "agreement": estimate_statistic(_agreement, tables, seed),
        "classes": {
            name: {
                "labelled": int(tables[:, place, :].sum()),
                "named": int(tables[:, :, place].sum()),
                **estimate_statistic(kappa, against_the_rest(tables, place), seed),
            }
            for place, name in enumerate(CLASSES)
        },
        "confusion": {
            name: dict(zip(CLASSES, map(int, row), strict=True))
            for name, row in zip(CLASSES, tables.sum(axis=0), strict=True)
        },
    }
    (folder / FILE).write_bytes(orjson.dumps(validated, option=orjson.OPT_INDENT_2) + b"\n")
    return validated


def _verdict_on(label: ErrorLabel, conditions: Mapping[str, tuple[str, str]], file: Path) -> tuple[str, str] | None:
    """Cluster and class of the labelled answer; a label without a condition needs a run with one condition."""
    if label.condition is not None:
        return conditions.get(label.condition)
    if len(conditions) > 1:
        raise BadInput(
            file,
            "is required: the run has this answer wrong under several conditions",
            line=label.line,
            field="condition",
        )
    return next(iter(conditions.values()), None)


def error_judge_note(folder: Path) -> str:
    """The note printed with error classes: the judge's kappa, or that it is not validated."""
    file = folder / FILE
    if not file.exists():
        return "The judge of errors is not validated: wardround judge errors RUN --labels FILE compares it with people."
    validated = orjson.loads(file.read_bytes())
    kappa = format_estimate(validated["kappa"])
    return f"The judge of errors agrees with people by kappa {kappa} on {validated['items']} wrong answers."


def confusions(pairs: list[tuple[str, str, str]]) -> Floats:
    """The confusion table of each cluster: people in rows, the judge in columns."""
    clusters = {cluster: place for place, cluster in enumerate(sorted({cluster for cluster, _, _ in pairs}))}
    tables = np.zeros((len(clusters), len(CLASSES), len(CLASSES)))
    for cluster, label, kind in pairs:
        tables[clusters[cluster], CLASSES.index(label), CLASSES.index(kind)] += 1
    return tables


def against_the_rest(tables: Floats, place: int) -> Floats:
    """One class against all others, as the four cells that kappa takes."""
    both = tables[:, place, place]
    labelled, named = tables[:, place, :].sum(axis=1), tables[:, :, place].sum(axis=1)
    whole = tables.sum(axis=(1, 2))
    return np.stack([both, labelled - both, named - both, whole - labelled - named + both], axis=1)


def _agreement(tables: Floats) -> Floats:
    return ratio(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def read_error_labels(file: Path) -> list[ErrorLabel]:
    """CSV or JSONL: candidate, case, question, trial (0), condition, class. Two labels of one answer must agree."""
    labels: dict[tuple[Any, ...], ErrorLabel] = {}
    for number, row in label_rows(file):
        label = _label(row, file, number)
        other = labels.setdefault((*label.place, label.condition), label)
        if other.kind != label.kind:
            raise BadInput(file, f"contradicts line {other.line}; settle the dispute first", line=number, field="class")
    if not labels:
        raise BadInput(file, "contains no labels")
    return list(labels.values())


def _label(row: Mapping[str, Any], file: Path, line: int) -> ErrorLabel:
    fields = cleaned_fields(row)
    for name in ("candidate", "case", "question"):
        if not fields.get(name):
            raise BadInput(file, "is required", line=line, field=name)
    trial = fields.get("trial") or "0"
    if not trial.isdecimal():
        raise BadInput(file, f"expected a number from 0, not {trial!r}", line=line, field="trial")
    kind = parse_class_name(fields.get("class", ""))
    if fold_words(fields.get("class", "")) == fold_words(PERCEPTION):
        kind = PERCEPTION
    if kind is None:
        known = ", ".join(name.replace("_", " ") for name in (*CLASSES, PERCEPTION))
        raise BadInput(file, f"expected one of {known}, not {fields.get('class', '')!r}", line=line, field="class")
    condition = fields.get("condition") or None
    return ErrorLabel(line, fields["candidate"], fields["case"], fields["question"], int(trial), condition, kind)
