"""Access: who asks, what they may reach, and that what they send comes from our own pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from wardround.desk.auth.people import Person
from wardround.desk.desk import Desk
from wardround.desk.records import Item, Task

HEADER = "x-csrf-token"
SAFE = ("GET", "HEAD", "OPTIONS")
MOST_FIELDS = 2_000
LONGEST_FIELD = 4 * 2**20


Number = Annotated[int, Path(ge=1, lt=2**31)]


class LogInFirst(Exception):
    """A page was asked for by nobody we know."""


@dataclass(frozen=True)
class Visit:
    """One browser: its id, the token of its forms, and who has logged in there."""

    id: str
    token: str
    person: Person | None
    is_new: bool


def visit_of(request: Request, desk: Desk) -> Visit:
    """The visit that a request belongs to, or a new one."""
    id = desk.visits.read(request.cookies.get(desk.visits.cookie))
    known = id or desk.visits.new()
    return Visit(known, desk.visits.token(known), desk.people.of_session(known) if id else None, id is None)


def remember(response: Response, request: Request, desk: Desk, id: str) -> None:
    """Gives a browser its cookie: signed, not for scripts, not for other sites."""
    secure = request.url.scheme == "https"
    response.set_cookie(
        desk.visits.cookie, desk.visits.signed(id), httponly=True, samesite="lax", secure=secure, path="/"
    )


def the_desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def visiting(request: Request) -> Visit:
    visit: Visit = request.state.visit
    return visit


def logged_in(request: Request) -> Person:
    """Whoever asks, if they have logged in; a page sends others to the log-in, anything else refuses."""
    person = visiting(request).person
    if person is None:
        if request.method in SAFE and not request.url.path.startswith(("/api", "/images")):
            raise LogInFirst
        raise HTTPException(401, "log in first")
    return person


def administrating(person: Annotated[Person, Depends(logged_in)]) -> Person:
    if not person.is_administrator:
        raise HTTPException(403, "this page is for the administrator")
    return person


async def form_sent(request: Request) -> FormData:
    """A form that one of our own pages sent, for this visit."""
    form = await request.form(max_fields=MOST_FIELDS, max_part_size=LONGEST_FIELD)
    given = form.get("csrf")
    refuse_others(request, given if isinstance(given, str) else "")
    return form


def json_sent(request: Request) -> None:
    """The same for JSON: the token is in a header that other sites cannot send."""
    refuse_others(request, request.headers.get(HEADER, ""))


def refuse_others(request: Request, token: str) -> None:
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{request.headers.get('host')}":
        raise HTTPException(403, "this was not sent by a page of the desk")
    if not the_desk(request).visits.is_token(visiting(request).id, token):
        raise HTTPException(403, "this page is too old: load it again")


def task_to_do(
    task: Number, desk: Annotated[Desk, Depends(the_desk)], person: Annotated[Person, Depends(logged_in)]
) -> Task:
    """A task that is open and given to whoever asks. Others learn nothing, not even that it exists."""
    found = desk.work.task(task)
    if found is None or not desk.work.is_assigned(found, person):
        raise HTTPException(404, "there is no such task for you")
    if not found.open:
        raise HTTPException(404, "this task is closed; what you did is kept")
    return found


def task_to_run(
    task: Number, desk: Annotated[Desk, Depends(the_desk)], person: Annotated[Person, Depends(administrating)]
) -> Task:
    """Any task, for the administrator."""
    found = desk.work.task(task)
    if found is None:
        raise HTTPException(404, "there is no such task")
    return found


def item_of_task(
    item: Number, task: Annotated[Task, Depends(task_to_do)], desk: Annotated[Desk, Depends(the_desk)]
) -> Item:
    found = desk.work.item(task, item)
    if found is None:
        raise HTTPException(404, "there is no such item for you")
    return found


TheDesk = Annotated[Desk, Depends(the_desk)]
Visiting = Annotated[Visit, Depends(visiting)]
LoggedIn = Annotated[Person, Depends(logged_in)]
Administrator = Annotated[Person, Depends(administrating)]
FormSent = Annotated[FormData, Depends(form_sent)]
TaskToDo = Annotated[Task, Depends(task_to_do)]
TaskToRun = Annotated[Task, Depends(task_to_run)]
ItemToDo = Annotated[Item, Depends(item_of_task)]
