"""Progress of each person in a task: items read, waiting, and time per item."""

from collections import Counter
from datetime import datetime
from statistics import median
from typing import NamedTuple

from markupsafe import Markup

from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskVerdict, Task
from wardround.reporting.figures.svg import bar

MAX_SECONDS = 3600  # a reader who took longer was away


class PersonProgress(NamedTuple):
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


def people_progress(desk: Desk, task: Task) -> list[PersonProgress]:
    """Everybody who is assigned or has read something, by name."""
    verdicts_by_person: dict[int, list[DeskVerdict]] = {}
    for verdict in desk.tasks.verdicts(task):
        verdicts_by_person.setdefault(verdict.person, []).append(verdict)
    assigned = [person for person in desk.accounts.list_people() if desk.tasks.is_assigned(task, person)]
    everybody = {person.id: person for person in assigned}
    everybody |= {id: desk.accounts.by_id(id) for id in verdicts_by_person if id not in everybody}
    days = sorted({verdict.time[:10] for verdicts in verdicts_by_person.values() for verdict in verdicts})
    people = sorted(everybody.values(), key=lambda person: person.name.casefold())
    return [_person_progress(desk, task, person, verdicts_by_person.get(person.id, []), days) for person in people]


def _person_progress(
    desk: Desk, task: Task, person: Person, verdicts: list[DeskVerdict], days: list[str]
) -> PersonProgress:
    read = len({verdict.item for verdict in verdicts})
    waiting = desk.tasks.count_waiting(task, person, desk.kind(task).levels(person, task))
    durations = [
        seconds for verdict in verdicts if (seconds := seconds_open(verdict)) is not None and seconds < MAX_SECONDS
    ]
    share = read / (read + waiting) if read + waiting else 0.0
    counts = Counter(verdict.time[:10] for verdict in verdicts)
    return PersonProgress(
        person.name,
        person.role,
        read,
        waiting,
        len(desk.tasks.list_returned(task, person)),
        median(durations) if durations else None,
        max((verdict.time for verdict in verdicts), default=None),
        bar(share, f"{read} of {read + waiting} read"),
        day_chart([(day, counts[day]) for day in days[-30:]]),
    )


def seconds_open(verdict: DeskVerdict) -> float | None:
    """How long an item was open before its verdict."""
    if verdict.opened is None:
        return None
    return (datetime.fromisoformat(verdict.time) - datetime.fromisoformat(verdict.opened)).total_seconds()


def day_chart(counts: list[tuple[str, int]]) -> Markup:
    """Counts by day as columns of an SVG, the latest on the right."""
    highest = max((count for _, count in counts), default=0) or 1
    bars = Markup("").join(
        Markup('<rect class="place" x="{}" y="{:.1f}" width="6" height="{:.1f}"><title>{}: {}</title></rect>').format(
            8 * index, 22 - 22 * count / highest, 22 * count / highest, day, count
        )
        for index, (day, count) in enumerate(counts)
    )
    title = ", ".join(f"{day}: {count}" for day, count in counts) or "nothing yet"
    return Markup('<svg class="days" role="img" width="{}" height="22"><title>{}</title>{}</svg>').format(
        8 * max(len(counts), 1), title, bars
    )
