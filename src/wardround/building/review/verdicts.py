"""The verdicts of reviewers on items, one per line, from the desk or any other program."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from wardround.building.review.items import Level
from wardround.cases.set import BYTE_ORDER_MARK
from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.field_errors import describe_json_error, list_errors
from wardround.core.toml_table import StrictTable

KEEP, EDIT, DISCARD = "keep", "edit", "discard"
VERDICTS = (KEEP, EDIT, DISCARD)


class ReviewVerdict(StrictTable):
    """One line. `edits` are new values by field, for the verdict `edit` only."""

    item: str = Field(min_length=1)
    reviewer: str = Field(min_length=1)
    level: Level
    verdict: Literal["keep", "edit", "discard"]
    reasons: list[str] = Field(default_factory=list)
    edits: dict[str, Any] = Field(default_factory=dict)
    time: str
    _file: Path = PrivateAttr(default=Path("verdicts"))
    _line: int = PrivateAttr(default=0)

    @model_validator(mode="after")
    def _check(self) -> ReviewVerdict:
        if (self.verdict == EDIT) != bool(self.edits):
            raise ValueError("the verdict edit needs edits, and the others have none")
        try:
            moment = datetime.fromisoformat(self.time)
        except ValueError:
            raise ValueError(f"time is {self.time!r}; expected one like 2026-03-01T14:05:00Z") from None
        if moment.tzinfo is None:
            raise ValueError(f"time is {self.time!r}, without a zone; expected one like 2026-03-01T14:05:00Z")
        return self

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.time)

    def error(self, message: str, field: str | None = None) -> BadInput:
        """An error with the verdict's file and line."""
        return BadInput(self._file, message, line=self._line, field=field)


def read_verdicts(files: Iterable[Path], item_ids: Collection[str]) -> list[ReviewVerdict]:
    """All verdicts by item, time and reviewer; of two by one reviewer on one item the later."""
    last: dict[tuple[str, str], ReviewVerdict] = {}
    for file in files:
        for verdict in _read(file):
            if verdict.item not in item_ids:
                raise verdict.error(f"the set has no item {verdict.item!r}", "item")
            before = last.get((verdict.item, verdict.reviewer))
            if before is None or before.moment < verdict.moment:
                last[verdict.item, verdict.reviewer] = verdict
            elif before.moment == verdict.moment and before.model_dump() != verdict.model_dump():
                raise verdict.error(f"{verdict.reviewer!r} gave another verdict on {verdict.item!r} at the same time")
    return sorted(last.values(), key=lambda verdict: (verdict.item, verdict.moment, verdict.reviewer))


def _read(file: Path) -> Iterable[ReviewVerdict]:
    try:
        lines = file.read_bytes().removeprefix(BYTE_ORDER_MARK).splitlines()
    except OSError as error:
        raise BadInput(file, describe_unreadable(error)) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            verdict = ReviewVerdict.model_validate_json(line, strict=True)
        except ValidationError as error:
            field, message = list_errors(error)[0]
            raise BadInput(file, message, line=number, field=field) from None
        except ValueError as error:
            raise BadInput(file, describe_json_error(error), line=number) from None
        verdict._file, verdict._line = file, number
        yield verdict
