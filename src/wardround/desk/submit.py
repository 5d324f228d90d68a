"""Giving a verdict: checked, kept once, and what follows from it kept with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException

from wardround.core.errors import WardroundError
from wardround.desk.auth.people import Person
from wardround.desk.desk import Desk
from wardround.desk.records import Item, Task, Verdict

LONGEST_ONCE = 64


def may_open(desk: Desk, task: Task, item: Item, person: Person) -> str:
    """The level at which somebody reads an item now; whoever may not, learns nothing."""
    kind = desk.kind(task)
    here = (desk, task, item.number, person)
    level = None
    if desk.work.mine(task, item.number, person) or kind.may_begin(*here):
        level = desk.work.open(task, item.number, person, kind.levels(person, task), kind.may_return(*here))
    if level is None:
        raise HTTPException(404, "there is no such item for you")
    return level


def take_next(desk: Desk, task: Task, person: Person) -> str:
    """Where somebody goes on: the next item, theirs from now on, or the task's page when there is none."""
    kind = desk.kind(task)
    with desk.store.saving(durably=False):  # nobody else is handed the same one
        kind.prepare(desk, task, person)
        number = kind.next(desk, task, person)
        item = None if number is None else desk.work.item(task, number)
        if item is None:
            return f"/tasks/{task.id}"
        may_open(desk, task, item, person)
    return f"/tasks/{task.id}/items/{item.number}"


def give(desk: Desk, task: Task, item: Item, person: Person, said: Mapping[str, Any], once: str) -> Verdict:
    """Keeps what somebody says of an item; on the disk when this returns."""
    if not 8 <= len(once) <= LONGEST_ONCE or not once.isascii():
        raise WardroundError("this page is too old: load it again")
    kind = desk.kind(task)
    checked = kind.checked(said, task, item)
    with desk.store.saving():
        verdict, is_new = desk.work.say(task, item, person, checked, once)
        if is_new:
            kind.after(desk, task, item, verdict)
    return verdict
