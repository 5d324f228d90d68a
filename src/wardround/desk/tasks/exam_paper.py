"""Sitting: what one person is asked in an exam. Drawn once, kept, in an order of their own."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wardround.asking.options import seeded
from wardround.cases.readers.clinbench import specialty_named
from wardround.desk.auth.people import Person
from wardround.desk.desk import Desk
from wardround.desk.records import Task

DRAWN = (
    "SELECT i.number, json_extract(i.shown, '$.unit') AS unit FROM wanted w JOIN items i ON i.task = w.task"
    " AND i.number = w.item WHERE w.task = ? AND w.level = ? ORDER BY i.number"
)


class Unit(NamedTuple):
    """What is drawn together: a question, or a chain of them."""

    items: tuple[int, ...]
    case: str
    specialty: str | None


def specialties(told: str | None) -> set[str]:
    """The specialties that somebody wrote down, apart by `;`, however they are written."""
    return {specialty_named(each).casefold() for each in (told or "").split(";") if each.strip()}


def is_within(case_specialty: str | None, own: set[str]) -> bool:
    return bool(case_specialty) and specialty_named(case_specialty or "").casefold() in own


def drawn(units: Iterable[Unit], own: set[str], many: int, share: float, chance: random.Random) -> list[Unit]:
    """One unit of a case at most; `share` of them in the own specialty, the others spread evenly over the rest.

    Where one side has too few, the other fills up; without a specialty of their own all is spread evenly.
    """
    mixed = list(units)
    chance.shuffle(mixed)
    of_case: dict[str, Unit] = {}
    for unit in mixed:
        of_case.setdefault(unit.case, unit)
    within = [unit for unit in of_case.values() if is_within(unit.specialty, own)]
    outside = _spread([unit for unit in of_case.values() if not is_within(unit.specialty, own)])
    wanted = max(round(many * share) if own else 0, many - len(outside))
    taken = within[:wanted]
    return taken + outside[: many - len(taken)]


def _spread(units: Sequence[Unit]) -> list[Unit]:
    """The first of each specialty, then the second of each, and so on."""
    seen: Counter[str | None] = Counter()
    ranked = []
    for unit in units:
        ranked.append((seen[unit.specialty], unit))
        seen[unit.specialty] += 1
    return [unit for _, unit in sorted(ranked, key=lambda each: each[0])]


def level_of(person: Person) -> str:
    """The level at which somebody sits: their own, by the name that a desk knows them by."""
    return f"sitting of {person.name}"


def questions_of(desk: Desk, task: Task, person: Person) -> list[int]:
    """The items of a sitting in the order in which they come: units by chance, the stages of a chain in theirs."""
    units: dict[int, list[int]] = {}
    for row in desk.store.rows(DRAWN, task.id, level_of(person)):
        if row["unit"] is not None:
            units.setdefault(row["unit"], []).append(row["number"])
    order = list(units.values())
    seeded("order", task.settings["seed"], person.name).shuffle(order)
    return [number for unit in order for number in unit]


def option_order(task: Task, person: Person, item: int, many: int) -> list[int]:
    """The order in which somebody sees the options, each by its index in the case."""
    order = list(range(many))
    seeded("options", task.settings["seed"], person.name, item).shuffle(order)
    return order
