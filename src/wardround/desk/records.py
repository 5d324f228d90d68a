"""Task, DeskItem and DeskVerdict: what people work on, and what they decide."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from sqlite3 import Row
from typing import TYPE_CHECKING, Any, TypeVar

from wardround.core.case import Image

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RecordType = TypeVar("RecordType", bound="DataclassInstance")
JSON_COLUMNS = ("settings", "shown", "hidden", "said", "why")
CONVERTERS: Mapping[str, Callable[[Any], Any]] = dict.fromkeys(JSON_COLUMNS, json.loads) | {"open": bool}


@dataclass(frozen=True)
class Task:
    """Work of one kind on one source."""

    id: int
    project: str
    kind: str
    name: str
    source: str
    settings: Mapping[str, Any]
    open: bool
    round: int
    made: str


@dataclass(frozen=True)
class DeskItem:
    """One decision to make. `hidden` is for the administrator, and for a reader only after the decision."""

    task: int
    number: int
    name: str
    batch: str
    shown: Mapping[str, Any]
    hidden: Mapping[str, Any]


@dataclass(frozen=True)
class DeskVerdict:
    """One person's decision on an item. Never changed; of two by one person on one item the later counts."""

    id: int
    task: int
    item: int
    person: int
    reader: str
    role: str
    level: str
    round: int
    said: Mapping[str, Any]
    opened: str | None
    time: str


@dataclass(frozen=True)
class NewImage:
    """An image of a new item: its path is below the source of the task."""

    name: str
    image: Image
    degradation: str | None = None


@dataclass(frozen=True)
class NewItem:
    """An item as a kind of task makes it. `wants`: how many readings at which level; `first`: higher is earlier."""

    name: str
    batch: str
    shown: Mapping[str, Any]
    wants: Mapping[str, int]
    hidden: Mapping[str, Any] = field(default_factory=dict)
    first: int = 0
    images: tuple[NewImage, ...] = ()


@dataclass(frozen=True)
class ReturnedItem:
    """An item that was sent back to a reader, and why."""

    item: int
    name: str
    round: int
    why: Mapping[str, Any]


def from_row(record: type[RecordType], row: Row) -> RecordType:
    """A record from the columns with the names of its fields."""
    values = {field.name: row[field.name] for field in fields(record)}
    return record(**{name: CONVERTERS[name](value) if name in CONVERTERS else value for name, value in values.items()})
