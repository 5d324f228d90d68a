"""Verdicts: what people said of items, one a line; from the desk or from any program that writes the format."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from wardround.building.review.items import Level
from wardround.cases.set import BYTE_ORDER_MARK
from wardround.core.errors import BadInput
from wardround.core.field_errors import complaints, not_json

KEEP, EDIT, DISCARD = "keep", "edit", "discard"
SAYINGS = (KEEP, EDIT, DISCARD)


class Verdict(BaseModel):
    """One line. `edits` are new values by field; only `edit` has them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    def _hangs_together(self) -> Verdict:
        if (self.verdict == EDIT) != bool(self.edits):
            raise ValueError("edits belong to the verdict edit, and it to them")
        try:
            moment = datetime.fromisoformat(self.time)
        except ValueError:
            raise ValueError(f"time is like 2026-03-01T14:05:00Z, not {self.time!r}") from None
        if moment.tzinfo is None:
            raise ValueError(f"time needs its zone, like 2026-03-01T14:05:00Z, not {self.time!r}")
        return self

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.time)

    def wrong(self, message: str, field: str | None = None) -> BadInput:
        """What is wrong with this verdict, with its file and line."""
        return BadInput(self._file, message, line=self._line, field=field)


def read_verdicts(files: Iterable[Path], known: Collection[str]) -> list[Verdict]:
    """All verdicts, by item, time and reviewer; of two by one reviewer on one item the later. `known`: the items."""
    last: dict[tuple[str, str], Verdict] = {}
    for file in files:
        for verdict in _read(file):
            if verdict.item not in known:
                raise verdict.wrong(f"the set has no item {verdict.item!r}", "item")
            before = last.get((verdict.item, verdict.reviewer))
            if before is None or before.moment < verdict.moment:
                last[verdict.item, verdict.reviewer] = verdict
            elif before.moment == verdict.moment and before.model_dump() != verdict.model_dump():
                raise verdict.wrong(f"{verdict.reviewer!r} said something else of {verdict.item!r} at the same time")
    return sorted(last.values(), key=lambda each: (each.item, each.moment, each.reviewer))


def _read(file: Path) -> Iterable[Verdict]:
    try:
        lines = file.read_bytes().removeprefix(BYTE_ORDER_MARK).splitlines()
    except OSError as error:
        raise BadInput(file, f"cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            verdict = Verdict.model_validate_json(line, strict=True)
        except ValidationError as error:
            field, message = complaints(error)[0]
            raise BadInput(file, message, line=number, field=field) from None
        except ValueError as error:
            raise BadInput(file, not_json(error), line=number) from None
        verdict._file, verdict._line = file, number
        yield verdict
