"""What came of an exam: the answers as the provider `people` reads them, and how each sitting went."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

from wardround.asking.options import LETTERS
from wardround.candidates.people import COLUMNS
from wardround.desk.desk import Desk
from wardround.desk.records import Item, Task, Verdict
from wardround.desk.results.export import table
from wardround.desk.results.progress import seconds_of
from wardround.desk.tasks.exam_paper import is_within, level_of, specialties


class Sitting(NamedTuple):
    """One person's exam. Right ones are counted where there is an option to choose."""

    person: str
    role: str
    specialty: str
    begun: str | None
    ended: str | None
    rules: str | None
    ai: str | None  # what they confirmed at the end
    comment: str
    asked: int
    answered: int
    within: int
    right_within: int
    outside: int
    right_outside: int
    seconds: float | None  # median


def spent(verdict: Verdict) -> float:
    """Seconds on a question: as the page counted them while it was seen, never more than it was open."""
    if "confidence" not in verdict.said:
        return 0.0
    opened, counted = seconds_of(verdict) or 0.0, verdict.said.get("seconds")
    return round(opened if counted is None else min(counted, opened), 1)


def answers(desk: Desk, task: Task, *, confirmed: bool) -> bytes:
    """CSV: what each person answered last to each question; `confirmed`: only of those who finished without AI."""
    items = {item.number: item for item in desk.work.items(task)}
    people = {person: desk.people.by_id(person) for person in {each.person for each in desk.work.verdicts(task)}}
    finished = {each.person for each in desk.work.verdicts(task) if each.said.get("ai") == "no"}
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for verdict in desk.work.verdicts(task):
        if "confidence" not in verdict.said or (confirmed and verdict.person not in finished):
            continue
        person, item = people[verdict.person], items[verdict.item]
        before = rows.get((person.id, item.number), {"seconds": 0.0})
        rows[person.id, item.number] = {
            "person": person.name,
            "role": person.role,
            "specialty": person.specialty,
            "case": item.hidden["case"],
            "question": item.hidden["question"],
            "trial": 0,
            "option": _written(verdict.said),
            "confidence": verdict.said["confidence"],
            "seconds": round(before["seconds"] + spent(verdict), 1),
            "at": verdict.time,
        }
    return table(rows.values(), COLUMNS)


def _written(said: Mapping[str, Any]) -> str:
    return LETTERS[said["option"]] if "option" in said else said["answer"]


def sittings(desk: Desk, task: Task) -> list[Sitting]:
    """Everybody for whom questions were drawn, by name."""
    items = {item.number: item for item in desk.work.items(task)}
    said: dict[int, dict[int, Verdict]] = {}
    for verdict in desk.work.verdicts(task):
        said.setdefault(verdict.person, {})[verdict.item] = verdict
    told = []
    for person in desk.people.all():
        sql = "SELECT count(*) - 2 FROM wanted WHERE task = ? AND level = ?"
        asked = int(desk.store.value(sql, task.id, level_of(person)))
        if asked < 0:
            continue
        mine = said.get(person.id, {})
        first = next((each for each in mine.values() if "agreed" in each.said), None)
        last = next((each for each in mine.values() if "ai" in each.said), None)
        given = [(items[each.item], each) for each in mine.values() if "confidence" in each.said]
        own = specialties(person.specialty)
        inside = [_is_right(item, each) for item, each in given if is_within(item.hidden["specialty"], own)]
        outside = [_is_right(item, each) for item, each in given if not is_within(item.hidden["specialty"], own)]
        told.append(
            Sitting(
                *(person.name, person.role, person.specialty),
                *(first.time if first else None, last.time if last else None),
                *(first.said["rules"] if first else None, last.said["ai"] if last else None),
                last.said["comment"] if last else "",
                *(asked, len(given), len(inside), sum(inside), len(outside), sum(outside)),
                seconds=median(spent(each) for _, each in given) if given else None,
            )
        )
    return told


def _is_right(item: Item, verdict: Verdict) -> bool:
    return "option" in verdict.said and verdict.said["option"] == item.hidden["gold"]
