"""Arbitration: items on which readers disagree go to one more reader."""

from __future__ import annotations

from typing import NamedTuple

from wardround.desk.auth.people import Person
from wardround.desk.desk import Desk
from wardround.desk.records import Task
from wardround.desk.results.agreement import latest
from wardround.desk.tasks.task_kind import ARBITER


class Disagreement(NamedTuple):
    """An item with what its readers say now."""

    number: int
    name: str
    batch: str
    said: dict[str, str]  # by reader


def disagreements(desk: Desk, task: Task) -> list[Disagreement]:
    """Items of which no label has more than half of the readers, after all that were asked have read them."""
    kind = desk.kind(task)
    if not kind.arbitrates:
        return []
    asked, waiting = _asked(desk, task), {each.item for each in desk.work.todo(task)}
    items = {item.number: item for item in desk.work.items(task)}
    found = []
    for number, verdicts in latest(desk.work.verdicts(task)).items():
        labels = {reader: label for reader, each in verdicts.items() if (label := kind.label(each.said)) is not None}
        most = max((list(labels.values()).count(label) for label in labels.values()), default=0)
        if len(labels) >= max(2, asked.get(number, 0)) and 2 * most <= len(labels) and number not in waiting:
            item = items[number]
            found.append(Disagreement(number, item.name, item.batch, labels))
    return sorted(found)


def in_arbitration(desk: Desk, task: Task) -> int:
    """How many items wait for an arbiter."""
    return int(
        desk.store.value(
            "SELECT count(*) FROM wanted WHERE task = ? AND level = ? AND many > given", *(task.id, ARBITER)
        )
    )


def send_to_arbitration(desk: Desk, task: Task, by: Person) -> int:
    """One more reader for every item on which readers disagree; says how many."""
    with desk.store.saving():
        found = [each.number for each in disagreements(desk, task)]
        desk.work.want(task, found, ARBITER, task.round)
        if found:
            desk.store.record(by.id, "arbitrate", task.id, items=found)
    return len(found)


def _asked(desk: Desk, task: Task) -> dict[int, int]:
    """How many readings each item is to have by now."""
    rows = desk.store.rows("SELECT item, sum(many) AS many FROM wanted WHERE task = ? GROUP BY item", task.id)
    return {row["item"]: row["many"] for row in rows}
