"""Submitting a verdict: checked, saved once, together with what follows from it."""

from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException

from wardround.core.errors import WardroundError
from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, DeskVerdict, Task

MAX_ONCE = 64


def open_item(desk: Desk, task: Task, item: DeskItem, person: Person) -> str:
    """Opens an item for a reader; returns the level. 404 if they may not read it, as if it did not exist."""
    kind = desk.kind(task)
    place = (desk, task, item.number, person)
    level = None
    if desk.tasks.last_verdict(task, item.number, person) or kind.may_begin(*place):
        level = desk.tasks.claim(task, item.number, person, kind.levels(person, task), kind.may_return(*place))
    if level is None:
        raise HTTPException(404, "there is no such item for you")
    return level


def claim_next(desk: Desk, task: Task, person: Person) -> str:
    """The address of the next item, which is claimed for this reader, or of the task's page if there is none."""
    kind = desk.kind(task)
    with desk.store.transaction(durable=False):  # nobody else gets the same item
        kind.prepare(desk, task, person)
        number = kind.next_item(desk, task, person)
        item = None if number is None else desk.tasks.get_item(task, number)
        if item is None:
            return f"/tasks/{task.id}"
        open_item(desk, task, item, person)
    return f"/tasks/{task.id}/items/{item.number}"


def submit_verdict(
    desk: Desk, task: Task, item: DeskItem, person: Person, said: Mapping[str, Any], once: str
) -> DeskVerdict:
    """Saves a reader's verdict on an item; it is on disk when this returns."""
    if not 8 <= len(once) <= MAX_ONCE or not once.isascii():
        raise WardroundError("this page is too old: load it again")
    kind = desk.kind(task)
    checked = kind.check(said, task, item)
    with desk.store.transaction():
        verdict, is_new = desk.tasks.save_verdict(task, item, person, checked, once)
        if is_new:
            kind.after_verdict(desk, task, item, verdict)
    return verdict
