"""Articles as rows: JSONL, and CSV with a header.

A line of a case set's cases.jsonl yields the articles that the case cites, if it has their abstracts.
"""

import ast
import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from wardround.core.dates import parse_partial_date
from wardround.core.errors import Problem
from wardround.core.text import single_line
from wardround.literature.ingest.record import ArticleRecord

PMID = ("pmid", "doc_id", "_id", "id")  # a row's first of these
WANTED_HEADER = "expected a header line with a column pmid, doc_id or id"
ABSTRACT = ("abstract", "text")
STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
PRINTED = re.compile(rf"\s*\[\s*(?:(?:{STRING.pattern})[\s,]*)+\]\s*", re.DOTALL)
MAX_CELL_LENGTH = 16_000_000  # characters of one CSV cell


def read_jsonl(file: Path, lines: Iterable[bytes]) -> Iterator[ArticleRecord | Problem]:
    """Every line as a record, or as a problem with the line's number."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
            if not isinstance(row, dict):
                raise ValueError("is not an object")
            yield from map(row_to_record, _cited(row) if "questions" in row else [row])
        except orjson.JSONDecodeError as error:
            yield Problem(file, number, None, f"is not JSON: {error}")
        except ValueError as error:
            yield Problem(file, number, None, str(error))


def _cited(case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The references of a case that have an abstract."""
    references = case.get("references")
    return (
        [reference for reference in references if isinstance(reference, Mapping) and "abstract" in reference]
        if isinstance(references, list)
        else []
    )


def read_csv(file: Path, lines: Iterable[bytes]) -> Iterator[ArticleRecord | Problem]:
    """Every row as a record. A cell may hold a printed list of sentences, with commas or, as numpy prints, without."""
    csv.field_size_limit(MAX_CELL_LENGTH)
    rows = csv.reader(line.decode("utf-8", "surrogateescape") for line in lines)
    names: list[str] | None = None
    while True:
        first_line = rows.line_num + 1
        try:
            row = next(rows)
            if not row:
                continue
            if names is None:
                names = row
                if not set(PMID).intersection(names):
                    yield Problem(file, first_line, None, f"{WANTED_HEADER}, not {', '.join(names)}"[:300])
                    return
                continue
            if len(row) != len(names):
                raise ValueError(f"has {len(row)} cells; the header names {len(names)}")
            "".join(row).encode()
            yield row_to_record({name: _sentences(cell) for name, cell in zip(names, row, strict=True) if cell.strip()})
        except StopIteration:
            if names is None:
                yield Problem(file, None, None, f"is empty; {WANTED_HEADER}")
            return
        except UnicodeEncodeError:
            yield Problem(file, first_line, None, "is not UTF-8")
        except (csv.Error, ValueError) as error:
            yield Problem(file, first_line, None, str(error))


def row_to_record(row: Mapping[str, Any]) -> ArticleRecord:
    """The record of a row. Fields without a column of their own, or of another type, are kept in `more`."""
    rest = {name: value for name, value in row.items() if value is not None}
    pmid = _pop_first(rest, PMID)
    if isinstance(pmid, bool) or not isinstance(pmid, str | int) or not (pmid := str(pmid).strip()):
        raise ValueError("has no pmid")
    title, abstract = single_line(_pop_text(rest, ("title",))), _pop_text(rest, ABSTRACT)
    lines = [line for line in map(single_line, abstract.split("\n")) if line]
    if not title and not lines:
        raise ValueError(f"pmid {pmid} has neither title nor abstract")
    fields: dict[str, Any] = {}
    for name, parse in FIELD_PARSERS.items():
        if (value := parse(rest.get(name))) is not None:
            fields[name] = value
            del rest[name]
    if "published" in fields:
        fields["year"] = int(fields["published"][:4])
    elif "year" in fields and fields["year"] <= 9999:
        fields["published"] = f"{fields['year']:04}"
    labels = _texts(rest.get("labels"))
    if labels is not None and len(labels) in (0, len(lines)):
        del rest["labels"]
        fields["labels"] = labels if any(labels) else []
    more = orjson.dumps(rest).decode() if rest else None
    return ArticleRecord(pmid=pmid, title=title, abstract="\n".join(lines), more=more, **fields)


def _pop_first(row: dict[str, Any], names: Iterable[str]) -> Any:
    return next((row.pop(name) for name in names if name in row), None)


def _pop_text(row: dict[str, Any], names: Iterable[str]) -> str:
    """A text, or its sentences joined."""
    value = _pop_first(row, names)
    if (sentences := _texts(value)) is not None:
        return " ".join(sentences)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{' or '.join(names)} is not text")
    return value or ""


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1_000_000 else None


def _partial_date(value: Any) -> str | None:
    try:
        return parse_partial_date(value)
    except ValueError:
        return None


def _line(value: Any) -> str | None:
    return single_line(value) or None if isinstance(value, str) else None


def _texts(value: Any) -> list[str] | None:
    is_text_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return list(map(single_line, value)) if is_text_list else None


def _names(value: Any) -> list[str] | None:
    return list(filter(None, texts)) if (texts := _texts(value)) is not None else None


FIELD_PARSERS = {
    "version": _number,
    "year": _number,
    "published": _partial_date,
    "journal": _line,
    "mesh": _names,
    "publication_types": _names,
    "languages": _names,
    "doi": _line,
}


def _sentences(cell: str) -> str | list[str]:
    if not PRINTED.fullmatch(cell):
        return cell
    try:
        return [ast.literal_eval(literal) for literal in STRING.findall(cell)]
    except SyntaxError:  # it only looks like a list
        return cell
