"""Which clean row a degraded row was made of. The released table does not say: the rule here is our choice.

1. What the layout tells (`of`) counts.
2. Otherwise the twin is a clean row of the same split with the same question, options, answer, modality and source.
3. Where several images have such a row (questions are often made from a template), the one counts with whose index
   or image name the degraded row's begins, followed by a sign: `17` and `17_sparse_view_L1`. Equal indices or names
   count only if all rows that rule 2 settles have them: the tables may be numbered independently.
4. Anything else has no twin: it is named, and kept without one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from wardround.cases.readers.tables.choices import plain
from wardround.core.errors import Problem

SIGNS = tuple("_-.@#:/ ")
NAMES = {"id": "index", "prompt": "question", "options": "options", "gold": "answer"}


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One published question with its images, and where it stands."""

    file: Path
    line: int | None
    place: str  # before the name of a field, where a file has no lines: `[3]`
    id: str
    prompt: str
    options: tuple[str, ...]
    gold: int
    images: tuple[str, ...]
    modality: str | None = None
    split: str | None = None
    source: str | None = None
    degradation: str | None = None
    of: str | None = None  # the id of the clean row in the same file
    more: Mapping[str, Any] = field(default_factory=dict)  # further fields of the question
    names: Mapping[str, str] = field(default_factory=lambda: NAMES)  # what the layout calls our fields

    def at(self, name: str) -> str:
        """The name of a field behind the row's place."""
        return ".".join(part for part in (self.place, name) if part)


def clean_twins(rows: Sequence[Row]) -> tuple[dict[int, Row], list[Problem]]:
    """The clean row of each degraded row, by `id()`, and the degraded rows that have none."""
    clean = [row for row in rows if not row.degradation]
    told = {(row.file, row.id): row for row in clean}
    alike: defaultdict[Any, list[Row]] = defaultdict(list)
    for row in clean:
        if all(other.images != row.images for other in alike[_sameness(row)]):
            alike[_sameness(row)].append(row)
    found: dict[int, Row] = {}
    several: list[tuple[Row, list[Row]]] = []
    names_alike: defaultdict[str | None, list[bool]] = defaultdict(list)
    for row in rows:
        if not row.degradation:
            continue
        candidates = alike.get(_sameness(row), [])
        if row.of is not None:
            found[id(row)] = told[row.file, row.of]
        elif len(candidates) == 1:
            found[id(row)] = candidates[0]
            names_alike[row.split].append(_named_alike(candidates[0], row))
        else:
            several.append((row, candidates))
    problems = []
    for row, candidates in several:
        trusted = bool(names_alike[row.split]) and all(names_alike[row.split])
        related = [each for each in candidates if _made_of(each, row) or (trusted and _named_alike(each, row))]
        if len(related) == 1:
            found[id(row)] = related[0]
        elif not (row.degradation or "").startswith("real@"):  # a really degraded image need not have one
            why = f"{len(candidates)} clean images have" if candidates else "no clean row has"
            message = f"{row.id!r} is kept without a clean twin: {why} its question, options and answer"
            problems.append(Problem(row.file, row.line, row.at(row.names["id"]), message))
    return found, problems


def _sameness(row: Row) -> tuple[Any, ...]:
    options = tuple(plain(option) for option in row.options)
    return row.split, plain(row.prompt), options, row.gold, plain(row.modality or ""), plain(row.source or "")


def _named_alike(clean: Row, degraded: Row) -> bool:
    return clean.id == degraded.id or _stems(clean) == _stems(degraded)


def _made_of(clean: Row, degraded: Row) -> bool:
    names = [(clean.id, degraded.id), *zip(_stems(clean), _stems(degraded), strict=False)]
    return any(long.startswith(short) and long[len(short) : len(short) + 1] in SIGNS for short, long in names if short)


def _stems(row: Row) -> list[str]:
    return [PurePosixPath(path).stem for path in row.images]
