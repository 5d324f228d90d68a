"""Progress: who has read how much, when, and how fast."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from statistics import median
from typing import NamedTuple

from markupsafe import Markup

from wardround.desk.auth.people import Person
from wardround.desk.desk import Desk
from wardround.desk.records import Task, Verdict
from wardround.reporting.figures.svg import bar

LONGEST = 3600  # seconds: who took longer was away


class Row(NamedTuple):
    """One person's part in a task."""

    name: str
    role: str
    read: int
    waiting: int
    back: int
    seconds: float | None  # median
    last: str | None
    share: Markup  # read, of what is theirs
    days: Markup


def progress(desk: Desk, task: Task) -> list[Row]:
    """Everybody who is assigned or has read something, by name."""
    by: dict[int, list[Verdict]] = {}
    for verdict in desk.work.verdicts(task):
        by.setdefault(verdict.person, []).append(verdict)
    assigned = [person for person in desk.people.all() if desk.work.is_assigned(task, person)]
    everybody = {person.id: person for person in assigned}
    everybody |= {id: desk.people.by_id(id) for id in by if id not in everybody}
    days = sorted({verdict.time[:10] for said in by.values() for verdict in said})
    people = sorted(everybody.values(), key=lambda person: person.name.casefold())
    return [_row(desk, task, person, by.get(person.id, []), days) for person in people]


def _row(desk: Desk, task: Task, person: Person, said: list[Verdict], days: list[str]) -> Row:
    read = len({verdict.item for verdict in said})
    waiting = desk.work.waiting(task, person, desk.kind(task).levels(person, task))
    taken = [seconds for verdict in said if (seconds := seconds_of(verdict)) is not None and seconds < LONGEST]
    share = read / (read + waiting) if read + waiting else 0.0
    counts = Counter(verdict.time[:10] for verdict in said)
    return Row(
        person.name,
        person.role,
        read,
        waiting,
        len(desk.work.todo(task, person)),
        median(taken) if taken else None,
        max((verdict.time for verdict in said), default=None),
        bar(share, f"{read} of {read + waiting} read"),
        columns([(day, counts[day]) for day in days[-30:]]),
    )


def seconds_of(verdict: Verdict) -> float | None:
    """How long an item was open before its verdict."""
    if verdict.opened is None:
        return None
    return (datetime.fromisoformat(verdict.time) - datetime.fromisoformat(verdict.opened)).total_seconds()


def columns(counts: list[tuple[str, int]]) -> Markup:
    """Counts by day as columns, the latest on the right."""
    most = max((count for _, count in counts), default=0) or 1
    drawn = Markup("").join(
        Markup('<rect class="place" x="{}" y="{:.1f}" width="6" height="{:.1f}"><title>{}: {}</title></rect>').format(
            8 * place, 22 - 22 * count / most, 22 * count / most, day, count
        )
        for place, (day, count) in enumerate(counts)
    )
    told = ", ".join(f"{day}: {count}" for day, count in counts) or "nothing yet"
    return Markup('<svg class="days" role="img" width="{}" height="22"><title>{}</title>{}</svg>').format(
        8 * max(len(counts), 1), told, drawn
    )
