"""Labels of diagnoses by people, from CSV or JSONL, to validate a judge with."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from wardround.core.errors import BadInput, describe_unreadable
from wardround.marking.judges.judge import normalize_name

SAME = {"true": True, "1": True, "yes": True, "same": True, "t": True, "y": True}
NOT_SAME = {"false": False, "0": False, "no": False, "not same": False, "different": False, "f": False, "n": False}


class Label(NamedTuple):
    """Whether a diagnosis is the same disease as the gold of a question, or as the gold fields here, by a person."""

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
    """Every label once; contradictions are an error."""
    labels: dict[tuple[str | None, ...], Label] = {}
    for number, row in label_rows(file):
        label = _label(row, file, number)
        other = labels.setdefault(label.about, label)
        if other.same != label.same:
            raise BadInput(file, f"contradicts line {other.line}; settle the dispute first", line=number, field="same")
    if not labels:
        raise BadInput(file, "contains no labels")
    return list(labels.values())


def write_labels(file: Path, labels: Sequence[Label]) -> None:
    """Writes labels to the run folder, so that its marks can include them."""
    records = [{key: value for key, value in label._asdict().items() if key != "line"} for label in labels]
    file.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))


def label_rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a label file, each with its line number."""
    if file.suffix.lower() in (".jsonl", ".ndjson"):
        yield from json_rows(file)
        return
    rows = csv.DictReader(_read_lines(file))
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        raise BadInput(file, f"is not CSV: {error}", line=rows.line_num) from None


def json_rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a JSONL file, each with its line number."""
    for number, line in enumerate(_read_lines(file), 1):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(file, f"is not JSON: {error}", line=number) from None
        if not isinstance(record, dict):
            raise BadInput(file, "expected an object", line=number)
        yield number, record


def _read_lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise BadInput(file, "does not exist; expected a file of labels") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(file, describe_unreadable(error)) from None


def cleaned_fields(row: Mapping[str, Any]) -> dict[str, str]:
    """The non-empty fields of a row as stripped text."""
    return {key: str(value).strip() for key, value in row.items() if key and value is not None}


def _label(row: Mapping[str, Any], file: Path, line: int) -> Label:
    fields = cleaned_fields(row)
    if not fields.get("case") and not fields.get("gold"):
        raise BadInput(file, "expected case (with question) or gold", line=line)
    diagnosis = normalize_name(fields.get("diagnosis", ""))
    if not diagnosis:
        raise BadInput(file, "is required", line=line, field="diagnosis")
    same = (SAME | NOT_SAME).get(fields.get("same", "").lower())
    if same is None:
        raise BadInput(file, f"expected true or false, not {fields.get('same', '')!r}", line=line, field="same")
    case = fields.get("case") or None
    gold = None if case else normalize_name(fields["gold"])
    return Label(
        line, case, fields.get("question") or None if case else None, gold, diagnosis, same, _weight(fields, file, line)
    )


def _weight(fields: Mapping[str, str], file: Path, line: int) -> float:
    """The number of diagnoses that a label represents, for a stratified sample."""
    try:
        weight = float(fields.get("weight") or 1.0)
    except ValueError:
        weight = -1.0
    if not 0 < weight < 1e12:
        raise BadInput(file, f"expected a positive number, not {fields['weight']!r}", line=line, field="weight")
    return weight
