"""Task, Item and Verdict: what people work on, and what they said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from sqlite3 import Row
from typing import Any

from wardround.core.case import Image


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
class Item:
    """One thing to decide. `hidden` is for the administrator, and for a reader only after the decision."""

    task: int
    number: int
    name: str
    batch: str
    shown: Mapping[str, Any]
    hidden: Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What somebody said of an item. Never changed; of two by one person on one item the later counts."""

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
class Todo:
    """An item that came back to somebody, and why."""

    item: int
    name: str
    round: int
    why: Mapping[str, Any]


def task_of(row: Row) -> Task:
    return Task(
        **{name: row[name] for name in ("id", "project", "kind", "name", "source")},
        settings=json.loads(row["settings"]),
        open=bool(row["open"]),
        round=row["round"],
        made=row["made"],
    )


def item_of(row: Row) -> Item:
    shown, hidden = json.loads(row["shown"]), json.loads(row["hidden"])
    return Item(row["task"], row["number"], row["name"], row["batch"], shown, hidden)


def verdict_of(row: Row) -> Verdict:
    return Verdict(
        **{name: row[name] for name in ("id", "task", "item", "person", "reader", "role", "level", "round")},
        said=json.loads(row["said"]),
        opened=row["opened"],
        time=row["time"],
    )
