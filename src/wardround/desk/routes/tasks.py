"""The readers' pages: their tasks, a task's queue, an item."""

import secrets
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from wardround.core.errors import WardroundError
from wardround.desk.auth.access import (
    CheckedForm,
    CurrentDesk,
    CurrentPerson,
    ReadableItem,
    ReadableTask,
    require_login,
)
from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.pages import render_page
from wardround.desk.pictures import stack_pictures
from wardround.desk.records import DeskItem, Task
from wardround.desk.routes.login import form_text
from wardround.desk.submit import claim_next, open_item, submit_verdict

router = APIRouter(include_in_schema=False, dependencies=[Depends(require_login)])
MAX_LISTED_READ = 200
SCRIPTS = ("viewer.js", "stack.js", "window.js", "draft.js", "keys.js", "help.js")


@router.get("/")
def home(request: Request, desk: CurrentDesk, person: CurrentPerson) -> Response:
    if person.is_administrator:
        return RedirectResponse("/admin", 303)
    store = desk.tasks
    own_tasks = store.open_tasks_of(person)
    for task in own_tasks:
        desk.kind(task).prepare(desk, task, person)
    tasks = [
        {
            "task": task,
            "kind": desk.kind(task),
            "back": len(store.list_returned(task, person)),
            "waiting": store.count_waiting(task, person, desk.kind(task).levels(person, task)),
            "read": store.count_read(task, person),
        }
        for task in own_tasks
    ]
    closed = [task for task in store.list_tasks() if not task.open and store.count_read(task, person)]
    return render_page(request, "home.html", tasks=tasks, closed=closed)


@router.get("/tasks/{task}")
def queue(request: Request, desk: CurrentDesk, person: CurrentPerson, task: ReadableTask) -> Response:
    kind, store = desk.kind(task), desk.tasks
    kind.prepare(desk, task, person)
    levels = kind.levels(person, task)
    read = store.items_read_by(task, person)
    context: dict[str, Any] = {
        "todo": store.list_returned(task, person),
        "waiting": store.count_waiting(task, person, levels),
        "next": kind.next_item(desk, task, person),
        "read": read[:MAX_LISTED_READ],
        "count": len(read),
        "again": {number for number, _, _ in read[:MAX_LISTED_READ] if kind.may_return(desk, task, number, person)},
        "notes": kind.reader_notes(desk, task, person),
    }
    return render_page(request, "queue.html", task=task, kind=kind, **context)


@router.get("/tasks/{task}/next")
def next_item(desk: CurrentDesk, person: CurrentPerson, task: ReadableTask) -> Response:
    return RedirectResponse(claim_next(desk, task, person), 303)


@router.get("/tasks/{task}/items/{item}")
def item_page(
    request: Request, desk: CurrentDesk, person: CurrentPerson, task: ReadableTask, item: ReadableItem
) -> Response:
    level = open_item(desk, task, item, person)
    return _item_page(request, desk, task, item, person, level)


@router.post("/tasks/{task}/items/{item}")
def submit(
    request: Request,
    desk: CurrentDesk,
    person: CurrentPerson,
    task: ReadableTask,
    item: ReadableItem,
    form: CheckedForm,
) -> Response:
    kind = desk.kind(task)
    try:
        submit_verdict(desk, task, item, person, kind.parse_form(form, item), form_text(form, "once"))
    except WardroundError as error:
        level = open_item(desk, task, item, person)
        filled = {name: [value for value in form.getlist(name) if isinstance(value, str)] for name in form}
        return _item_page(request, desk, task, item, person, level, filled, str(error))
    address = kind.page_after(desk, task, item, person) or claim_next(desk, task, person)
    return RedirectResponse(address, 303)


def _item_page(
    request: Request,
    desk: Desk,
    task: Task,
    item: DeskItem,
    person: Person,
    level: str,
    filled: dict[str, list[str]] | None = None,
    problem: str = "",
) -> Response:
    """The page of an item. `filled`: the values of its form; by default the draft or the last verdict."""
    kind, store = desk.kind(task), desk.tasks
    mine, pictures = store.last_verdict(task, item.number, person), desk.pictures.of_item(item)
    previous = store.previous_item(task, item.number, person)
    if filled is None:
        filled = store.load_draft(task, item.number, person) or (kind.fill_form(mine.said, item) if mine else {})
    context: dict[str, Any] = {
        "level": level,
        "pictures": pictures,
        "stacks": stack_pictures(pictures),
        "mine": mine,
        "previous": previous if previous and kind.may_return(desk, task, previous, person) else None,
        "back": store.returned_to(task, item.number, person),
        "waiting": store.count_waiting(task, person, kind.levels(person, task)),
        "read": store.count_read(task, person),
        "once": secrets.token_urlsafe(16),
        "filled": filled,
        "wrong": problem,
        "scripts": (*SCRIPTS, *kind.scripts),
    }
    context |= kind.template_context(desk, task, item, person, level)
    return render_page(request, kind.template, 422 if problem else 200, task=task, kind=kind, item=item, **context)
