"""Articles told as rows: JSONL, and CSV with a line of names.

A line of a case set's cases.jsonl tells the articles that the case cites, where it holds their abstracts.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from wardround.core.errors import Problem
from wardround.literature.ingest.record import Record, plain

PMID = ("pmid", "doc_id", "_id", "id")  # the first of them that a row has
ABSTRACT = ("abstract", "text")
STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
PRINTED = re.compile(rf"\s*\[\s*(?:(?:{STRING.pattern})[\s,]*)+\]\s*", re.DOTALL)
LONGEST = 16_000_000  # characters of one CSV cell


def read_jsonl(file: Path, lines: Iterable[bytes]) -> Iterator[Record | Problem]:
    """Every line as a record; one that is none is a problem with its number."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
            if not isinstance(row, dict):
                raise ValueError("is not an object")
            yield from map(record_of, _cited(row) if "questions" in row else [row])
        except orjson.JSONDecodeError as error:
            yield Problem(file, number, None, f"is not JSON: {error}")
        except ValueError as error:
            yield Problem(file, number, None, str(error))


def _cited(case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The references of a case that can be read without looking them up."""
    told = case.get("references")
    return [each for each in told if isinstance(each, Mapping) and "abstract" in each] if isinstance(told, list) else []


def read_csv(file: Path, lines: Iterable[bytes]) -> Iterator[Record | Problem]:
    """Every row as a record. A list of sentences may be printed: with commas, or as numpy does without."""
    csv.field_size_limit(LONGEST)
    rows = csv.reader(line.decode("utf-8", "surrogateescape") for line in lines)
    names: list[str] | None = None
    while True:
        begun = rows.line_num + 1
        try:
            row = next(rows)
            if not row:
                continue
            if names is None:
                names = row
                continue
            if len(row) != len(names):
                raise ValueError(f"has {len(row)} cells where {len(names)} are named")
            "".join(row).encode()
            yield record_of({name: _sentences(cell) for name, cell in zip(names, row, strict=True) if cell.strip()})
        except StopIteration:
            return
        except UnicodeEncodeError:
            yield Problem(file, begun, None, "is not UTF-8")
        except (csv.Error, ValueError) as error:
            yield Problem(file, begun, None, str(error))


def record_of(row: Mapping[str, Any]) -> Record:
    """The record that a row tells. What has no place of its own, or does not fit it, is kept in `more`."""
    left = {name: value for name, value in row.items() if value is not None}
    pmid = _taken(left, PMID)
    if isinstance(pmid, bool) or not isinstance(pmid, str | int) or not (pmid := str(pmid).strip()):
        raise ValueError("has no pmid")
    title, abstract = plain(_told(left, ("title",))), _told(left, ABSTRACT)
    lines = [line for line in map(plain, abstract.split("\n")) if line]
    if not title and not lines:
        raise ValueError(f"pmid {pmid} has neither title nor abstract")
    fitting: dict[str, Any] = {}
    for name, fit in FITTING.items():
        if (value := fit(left.get(name))) is not None:
            fitting[name] = value
            del left[name]
    labels = _texts(left.get("labels"))
    if labels is not None and len(labels) in (0, len(lines)):
        del left["labels"]
        fitting["labels"] = labels if any(labels) else []
    more = orjson.dumps(left).decode() if left else None
    return Record(pmid=pmid, title=title, abstract="\n".join(lines), more=more, **fitting)


def _taken(row: dict[str, Any], names: Iterable[str]) -> Any:
    return next((row.pop(name) for name in names if name in row), None)


def _told(row: dict[str, Any], names: Iterable[str]) -> str:
    """A text, or its sentences."""
    value = _taken(row, names)
    if (sentences := _texts(value)) is not None:
        return " ".join(sentences)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{' or '.join(names)} is no text")
    return value or ""


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1_000_000 else None


def _line(value: Any) -> str | None:
    return plain(value) or None if isinstance(value, str) else None


def _texts(value: Any) -> list[str] | None:
    told = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return list(map(plain, value)) if told else None


def _names(value: Any) -> list[str] | None:
    return list(filter(None, texts)) if (texts := _texts(value)) is not None else None


FITTING = {
    "version": _number,
    "year": _number,
    "journal": _line,
    "mesh": _names,
    "publication_types": _names,
    "doi": _line,
}


def _sentences(cell: str) -> str | list[str]:
    if not PRINTED.fullmatch(cell):
        return cell
    try:
        return [ast.literal_eval(each) for each in STRING.findall(cell)]
    except SyntaxError:  # it only looks like one
        return cell
