"""How far a judge of errors can be trusted: the classes that it named against those that people did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
import polars as pl

from wardround.core.canonical import blake
from wardround.core.errors import BadInput
from wardround.marking.judges.error_classes import CLASSES, class_named
from wardround.measuring.validation.agreement_intervals import Floats, figure, kappa, ratio
from wardround.measuring.validation.judge_labels import label_rows

FILE = "error_judge.json"
PLACE = ("candidate", "case", "question", "trial")


class ErrorLabel(NamedTuple):
    """The kind of error that a person holds for the cause of a wrong answer."""

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
    """Compares the kinds of error that a run's judge named with labels by people, and keeps what was found."""
    if not (folder / "marks.parquet").exists():
        raise BadInput(folder, "is not a run folder: there is no marks.parquet in it")
    marks = pl.read_parquet(folder / "marks.parquet", columns=[*PLACE, "condition", "cluster", "error_class"])
    judged = marks.filter(pl.col("error_class").is_not_null())
    if judged.is_empty():
        raise BadInput(folder, "no judge has named the errors of its wrong answers: wardround mark RUN --errors")
    named: dict[tuple[str, str, str, int], dict[str, tuple[str, str]]] = {}
    for row in judged.select(*PLACE, "condition", "cluster", "error_class").iter_rows():
        named.setdefault(row[:4], {})[row[4]] = row[5:]
    told = read_error_labels(labels)
    found = [(label, _named(label, named.get(label.place, {}), labels)) for label in told]
    matched = [(label, *said) for label, said in found if said is not None]
    pairs = [(cluster, label.kind, kind) for label, cluster, kind in matched if kind in CLASSES]
    if not pairs:
        raise BadInput(labels, f"none of {len(told)} labels is about a wrong answer whose error was named in {folder}")
    tables, seed = confusions(pairs), int.from_bytes(blake(["validate errors"])[:8], "big")
    flat = tables.reshape(len(tables), -1)
    validated = {
        "labels": len(told),
        "items": len(pairs),
        "unscored": len(matched) - len(pairs),
        "unmatched": [str(label) for label, said in found if said is None],
        "kappa": figure(kappa_of_all, flat, seed),
        "agreement": figure(lambda sums: ratio(_diagonal(sums), sums.sum(axis=-1)), flat, seed),
        "classes": {
            name: {
                "labelled": int(tables[:, place, :].sum()),
                "named": int(tables[:, :, place].sum()),
                **figure(kappa, against_the_rest(tables, place), seed),
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


def _named(label: ErrorLabel, conditions: Mapping[str, tuple[str, str]], file: Path) -> tuple[str, str] | None:
    """Cluster and class of the answer that a label is about; one that names no condition needs a run with one."""
    if label.condition is not None:
        return conditions.get(label.condition)
    if len(conditions) > 1:
        raise BadInput(file, "is needed: the run has this answer wrong in several", line=label.line, field="condition")
    return next(iter(conditions.values()), None)


def error_judge_note(folder: Path) -> str:
    """What stands beside every named error: the judge's kappa, or that it is not validated."""
    file = folder / FILE
    if not file.exists():
        return "The judge of errors is not validated: wardround judge errors RUN --labels FILE compares it with people."
    told = orjson.loads(file.read_bytes())
    found = told["kappa"]
    value = "undefined" if found["value"] is None else f"{found['value']:.2f}"
    interval = "" if found["low"] is None else f" ({found['low']:.2f} to {found['high']:.2f})"
    return f"The judge of errors agrees with people by kappa {value}{interval} on {told['items']} wrong answers."


def confusions(pairs: list[tuple[str, str, str]]) -> Floats:
    """Per cluster who said what: people in rows, the judge in columns."""
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


def kappa_of_all(sums: Floats) -> Floats:
    """Cohen's kappa of all classes together, from flattened tables; nan where agreement by chance would be complete."""
    size = len(CLASSES)
    tables = np.asarray(sums, float).reshape(*np.shape(sums)[:-1], size, size)
    n = tables.sum(axis=(-2, -1))
    chance = ratio((tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1), n * n)
    observed = ratio(np.trace(tables, axis1=-2, axis2=-1), n)
    return ratio(observed - chance, np.where(chance < 1, 1 - chance, 0.0))


def _diagonal(sums: Floats) -> Floats:
    size = len(CLASSES)
    return np.asarray(sums[..., :: size + 1].sum(axis=-1))


def read_error_labels(file: Path) -> list[ErrorLabel]:
    """CSV or JSONL: candidate, case, question, trial (0), condition, class. Two labels of one answer must agree."""
    kept: dict[tuple[Any, ...], ErrorLabel] = {}
    for number, told in label_rows(file):
        label = _label(told, file, number)
        other = kept.setdefault((*label.place, label.condition), label)
        if other.kind != label.kind:
            raise BadInput(file, f"contradicts line {other.line}; settle the dispute first", line=number, field="class")
    if not kept:
        raise BadInput(file, "there are no labels in it")
    return list(kept.values())


def _label(told: Mapping[str, Any], file: Path, line: int) -> ErrorLabel:
    given = {key: str(value).strip() for key, value in told.items() if key and value is not None}
    for name in ("candidate", "case", "question"):
        if not given.get(name):
            raise BadInput(file, "is required", line=line, field=name)
    trial = given.get("trial") or "0"
    if not trial.isdecimal():
        raise BadInput(file, f"expected a number from 0, not {trial!r}", line=line, field="trial")
    kind = class_named(given.get("class", ""))
    if kind is None:
        known = ", ".join(name.replace("_", " ") for name in CLASSES)
        raise BadInput(file, f"expected one of {known}, not {given.get('class', '')!r}", line=line, field="class")
    condition = given.get("condition") or None
    return ErrorLabel(line, given["candidate"], given["case"], given["question"], int(trial), condition, kind)
