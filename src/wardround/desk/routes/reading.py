"""The pages of those who read: their tasks, a task's queue, an item."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from wardround.core.errors import WardroundError
from wardround.desk.auth.access import FormSent, ItemToDo, LoggedIn, TaskToDo, TheDesk, logged_in
from wardround.desk.auth.people import Person
from wardround.desk.desk import Desk
from wardround.desk.pages import page
from wardround.desk.records import Item, Task
from wardround.desk.routes.entering import text
from wardround.desk.submit import give, may_open, take_next

router = APIRouter(include_in_schema=False, dependencies=[Depends(logged_in)])
READ_SHOWN = 200


@router.get("/")
def home(request: Request, desk: TheDesk, person: LoggedIn) -> Response:
    if person.is_administrator:
        return RedirectResponse("/admin", 303)
    work = desk.work
    mine = work.tasks_of(person)
    for task in mine:
        desk.kind(task).prepare(desk, task, person)
    tasks = [
        {
            "task": task,
            "kind": desk.kind(task),
            "back": len(work.todo(task, person)),
            "waiting": work.waiting(task, person, desk.kind(task).levels(person, task)),
            "read": work.many_read(task, person),
        }
        for task in mine
    ]
    return page(request, "home.html", tasks=tasks)


@router.get("/tasks/{task}")
def queue(request: Request, desk: TheDesk, person: LoggedIn, task: TaskToDo) -> Response:
    kind, work = desk.kind(task), desk.work
    kind.prepare(desk, task, person)
    levels = kind.levels(person, task)
    read = work.read_by(task, person)
    told: dict[str, Any] = {
        "todo": work.todo(task, person),
        "waiting": work.waiting(task, person, levels),
        "next": kind.next(desk, task, person),
        "read": read[:READ_SHOWN],
        "many": len(read),
        "again": {number for number, _, _ in read[:READ_SHOWN] if kind.may_return(desk, task, number, person)},
        "notes": kind.notes(desk, task, person),
    }
    return page(request, "queue.html", task=task, kind=kind, **told)


@router.get("/tasks/{task}/next")
def go_on(desk: TheDesk, person: LoggedIn, task: TaskToDo) -> Response:
    return RedirectResponse(take_next(desk, task, person), 303)


@router.get("/tasks/{task}/items/{item}")
def item_page(request: Request, desk: TheDesk, person: LoggedIn, task: TaskToDo, item: ItemToDo) -> Response:
    level = may_open(desk, task, item, person)
    return _shown(request, desk, task, item, person, level)


@router.post("/tasks/{task}/items/{item}")
def say(request: Request, desk: TheDesk, person: LoggedIn, task: TaskToDo, item: ItemToDo, form: FormSent) -> Response:
    kind = desk.kind(task)
    try:
        give(desk, task, item, person, kind.read(form, item), text(form, "once"))
    except WardroundError as error:
        level = may_open(desk, task, item, person)
        filled = {name: [value for value in form.getlist(name) if isinstance(value, str)] for name in form}
        return _shown(request, desk, task, item, person, level, filled, str(error))
    there = kind.done(desk, task, item, person) or take_next(desk, task, person)
    return RedirectResponse(there, 303)


def _shown(
    request: Request,
    desk: Desk,
    task: Task,
    item: Item,
    person: Person,
    level: str,
    filled: dict[str, list[str]] | None = None,
    wrong: str = "",
) -> Response:
    """The page of an item. `filled`: what is in its form: as sent, as drafted, or as said before."""
    kind, work = desk.kind(task), desk.work
    mine = work.mine(task, item.number, person)
    if filled is None:
        filled = work.draft(task, item.number, person) or (kind.form(mine.said, item) if mine else {})
    told: dict[str, Any] = {
        "level": level,
        "pictures": desk.pictures.of(item),
        "mine": mine,
        "back": work.came_back(task, item.number, person),
        "waiting": work.waiting(task, person, kind.levels(person, task)),
        "read": work.many_read(task, person),
        "once": secrets.token_urlsafe(16),
        "filled": filled,
        "wrong": wrong,
        "scripts": ("viewer.js", "window.js", "draft.js", "keys.js", *kind.scripts),
    }
    told |= kind.view(desk, task, item, person, level)
    return page(request, kind.template, 422 if wrong else 200, task=task, kind=kind, item=item, **told)
