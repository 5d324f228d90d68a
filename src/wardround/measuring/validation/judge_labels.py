"""What people said about diagnoses: labels to validate a judge with, from CSV or JSONL."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from wardround.core.errors import BadInput
from wardround.marking.judges.judge import shown

SAME = {"true": True, "1": True, "yes": True, "same": True, "t": True, "y": True}
NOT_SAME = {"false": False, "0": False, "no": False, "not same": False, "different": False, "f": False, "n": False}


class Label(NamedTuple):
    """Whether a person holds a diagnosis for the same disease as the gold of a question, or as a gold named here."""

    line: int
    case: str | None
    question: str | None
    gold: str | None
    diagnosis: str
    same: bool
    weight: float

    @property
    def about(self) -> tuple[str | None, ...]:
        return self.case, self.question, self.gold, self.diagnosis

    def __str__(self) -> str:
        place = f"{self.case}/{self.question or '*'}" if self.case is not None else f"gold {self.gold!r}"
        return f"line {self.line}: {place}: {self.diagnosis!r}"


def read_labels(file: Path) -> list[Label]:
    """Every label once; two that contradict each other are refused."""
    kept: dict[tuple[str | None, ...], Label] = {}
    for number, told in label_rows(file):
        label = _label(told, file, number)
        other = kept.setdefault(label.about, label)
        if other.same != label.same:
            raise BadInput(file, f"contradicts line {other.line}; settle the dispute first", line=number, field="same")
    if not kept:
        raise BadInput(file, "there are no labels in it")
    return list(kept.values())


def write_labels(file: Path, labels: Sequence[Label]) -> None:
    """Keeps labels with a run, so that its marks can carry them."""
    told = [{key: value for key, value in label._asdict().items() if key != "line"} for label in labels]
    file.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in told))


def label_rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a file of labels, each with its line."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(file, "there is no such file of labels") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(file, f"cannot be read: {error}") from None
    if file.suffix.lower() in (".jsonl", ".ndjson"):
        yield from _json_rows(text, file)
        return
    rows = csv.DictReader(text.splitlines())
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        raise BadInput(file, f"is not CSV: {error}", line=rows.line_num) from None


def _json_rows(text: str, file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            told = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(file, f"is not JSON: {error}", line=number) from None
        if not isinstance(told, dict):
            raise BadInput(file, "expected an object", line=number)
        yield number, told


def _label(told: Mapping[str, Any], file: Path, line: int) -> Label:
    given = {key: str(value).strip() for key, value in told.items() if key and value is not None}
    if not given.get("case") and not given.get("gold"):
        raise BadInput(file, "expected case (with question) or gold", line=line)
    diagnosis = shown(given.get("diagnosis", ""))
    if not diagnosis:
        raise BadInput(file, "is required", line=line, field="diagnosis")
    same = (SAME | NOT_SAME).get(given.get("same", "").lower())
    if same is None:
        raise BadInput(file, f"expected true or false, not {given.get('same', '')!r}", line=line, field="same")
    case = given.get("case") or None
    gold = None if case else shown(given["gold"])
    return Label(
        line, case, given.get("question") or None if case else None, gold, diagnosis, same, _weight(given, file, line)
    )


def _weight(given: Mapping[str, str], file: Path, line: int) -> float:
    """How many a label stands for, where the sample was stratified."""
    try:
        weight = float(given.get("weight") or 1.0)
    except ValueError:
        weight = -1.0
    if not 0 < weight < 1e12:
        raise BadInput(file, f"expected a positive number, not {given['weight']!r}", line=line, field="weight")
    return weight
