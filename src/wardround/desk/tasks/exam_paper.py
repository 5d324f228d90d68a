"""One person's exam paper: the questions drawn for them, and the order of questions and options."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wardround.cases.readers.clinbench import specialty_named
from wardround.core.random import seeded
from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.records import Task

DRAWN_QUESTIONS = (
    "SELECT i.number, json_extract(i.shown, '$.unit') AS unit FROM wanted w JOIN items i ON i.task = w.task"
    " AND i.number = w.item WHERE w.task = ? AND w.level = ? ORDER BY i.number"
)


DRAWN_SPECIALTIES = (
    "SELECT json_extract(i.hidden, '$.specialty') AS specialty, count(*) AS count FROM wanted w JOIN items i"
    " ON i.task = w.task AND i.number = w.item WHERE w.task = ? AND specialty IS NOT NULL GROUP BY specialty"
)


class ExamUnit(NamedTuple):
    """Questions that are drawn together: one, or a chain."""

    items: tuple[int, ...]
    case: str
    specialty: str | None


def parse_specialties(text: str | None) -> set[str]:
    """Specialties separated by `;`, in their usual spelling."""
    return {specialty_named(name).casefold() for name in (text or "").split(";") if name.strip()}


def is_within(case_specialty: str | None, own: set[str]) -> bool:
    return bool(case_specialty) and specialty_named(case_specialty or "").casefold() in own


def draw_units(
    units: Iterable[ExamUnit], own: set[str], count: int, share: float, rng: random.Random
) -> list[ExamUnit]:
    """At most one unit per case; `share` of them in the person's specialties, the others spread evenly over the rest.

    If one side has too few, the other fills up; without a specialty all are spread evenly.
    """
    shuffled = list(units)
    rng.shuffle(shuffled)
    by_case: dict[str, ExamUnit] = {}
    for unit in shuffled:
        by_case.setdefault(unit.case, unit)
    within = [unit for unit in by_case.values() if is_within(unit.specialty, own)]
    outside = _spread([unit for unit in by_case.values() if not is_within(unit.specialty, own)])
    chosen = within[: max(round(count * share) if own else 0, count - len(outside))]
    return chosen + outside[: count - len(chosen)]


def draw_two_specialties(
    units: Iterable[ExamUnit], own: set[str], own_count: int, other_count: int, drawn: Counter[str], rng: random.Random
) -> list[ExamUnit]:
    """At most one unit per case: so many in the person's specialties, and so many of one other (ClinBench).

    The other specialty is one with enough cases, of these the one that was drawn least so far. Nothing fills up what a
    specialty lacks.
    """
    shuffled = list(units)
    rng.shuffle(shuffled)
    by_case = {unit.case: unit for unit in reversed(shuffled)}
    within = [unit for unit in by_case.values() if is_within(unit.specialty, own)]
    outside: dict[str, list[ExamUnit]] = {}
    for unit in by_case.values():
        if unit.specialty and not is_within(unit.specialty, own):
            outside.setdefault(specialty_named(unit.specialty), []).append(unit)
    ranked = sorted(outside, key=lambda name: (-min(len(outside[name]), other_count), drawn[name]))
    return _spread(within)[:own_count] + (outside[ranked[0]][:other_count] if ranked else [])


def drawn_so_far(desk: Desk, task: Task) -> Counter[str]:
    """How many questions of each specialty were drawn for anybody."""
    counts: Counter[str] = Counter()
    for row in desk.store.rows(DRAWN_SPECIALTIES, task.id):
        counts[specialty_named(row["specialty"])] += row["count"]
    return counts


def _spread(units: Sequence[ExamUnit]) -> list[ExamUnit]:
    """The first of each specialty, then the second of each, and so on."""
    counts: Counter[str | None] = Counter()
    ranked = []
    for unit in units:
        ranked.append((counts[unit.specialty], unit))
        counts[unit.specialty] += 1
    return [unit for _, unit in sorted(ranked, key=lambda pair: pair[0])]


def exam_level(person: Person) -> str:
    """The level of a person's own exam paper."""
    return f"sitting of {person.name}"


def question_numbers(desk: Desk, task: Task, person: Person) -> list[int]:
    """The items of a person's exam in their order: units shuffled, the stages of a chain in sequence."""
    units: dict[int, list[int]] = {}
    for row in desk.store.rows(DRAWN_QUESTIONS, task.id, exam_level(person)):
        if row["unit"] is not None:
            units.setdefault(row["unit"], []).append(row["number"])
    order = list(units.values())
    seeded("order", task.settings["seed"], person.name).shuffle(order)
    return [number for unit in order for number in unit]


def option_order(task: Task, person: Person, item: int, count: int) -> list[int]:
    """The order in which a person sees the options, each by its index in the case."""
    order = list(range(count))
    seeded("options", task.settings["seed"], person.name, item).shuffle(order)
    return order
