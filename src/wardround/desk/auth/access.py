"""Access: who sends a request, what they may reach, and that forms come from our own pages."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from wardround.desk.auth.accounts import Person
from wardround.desk.auth.public_address import PublicAddress
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, Task

HEADER = "x-csrf-token"
SAFE = ("GET", "HEAD", "OPTIONS")
MAX_FIELDS = 2_000
MAX_FIELD_BYTES = 4 * 2**20

Number = Annotated[int, Path(ge=1, lt=2**31)]


class LoginRequired(Exception):
    """A page was requested without a log-in."""


@dataclass(frozen=True)
class Visit:
    """One browser: its id, the token of its forms, and who has logged in there."""

    id: str
    token: str
    person: Person | None
    is_new: bool


def read_visit(request: Request, desk: Desk) -> Visit:
    """The visit that a request belongs to, or a new one."""
    id = desk.visits.verify(request.cookies.get(desk.visits.cookie))
    visit_id = id or desk.visits.new_visitor()
    person = desk.accounts.person_of_session(visit_id) if id else None
    return Visit(visit_id, desk.visits.form_token(visit_id), person, id is None)


def set_visit_cookie(response: Response, request: Request, desk: Desk, id: str) -> None:
    """Gives a browser its cookie: signed, not for scripts, not for other sites."""
    secure = site_origin(request).startswith("https:")
    response.set_cookie(
        desk.visits.cookie, desk.visits.sign(id), httponly=True, samesite="lax", secure=secure, path="/"
    )


def site_origin(request: Request) -> str:
    """The address of the desk as visitors see it: `--public-url`, or the one that was asked for."""
    public: PublicAddress | None = request.app.state.public_address
    return public.origin if public is not None else _own_origin(request)


def _own_origin(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers.get('host')}"


def get_desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def get_visit(request: Request) -> Visit:
    visit: Visit = request.state.visit
    return visit


def require_login(request: Request) -> Person:
    """The person who has logged in. Without one, a page redirects to the log-in and anything else is refused."""
    person = get_visit(request).person
    if person is None:
        if request.method in SAFE and not request.url.path.startswith(("/api", "/images")):
            raise LoginRequired
        raise HTTPException(401, "log in first")
    return person


CurrentDesk = Annotated[Desk, Depends(get_desk)]
CurrentVisit = Annotated[Visit, Depends(get_visit)]
CurrentPerson = Annotated[Person, Depends(require_login)]


def require_administrator(person: CurrentPerson) -> Person:
    if not person.is_administrator:
        raise HTTPException(403, "this page is for the administrator")
    return person


Administrator = Annotated[Person, Depends(require_administrator)]


async def checked_form(request: Request) -> FormData:
    """The form of a request, if one of our own pages sent it for this visit."""
    form = await request.form(max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES)
    token = form.get("csrf")
    check_sender(request, token if isinstance(token, str) else "")
    return form


def check_json(request: Request) -> None:
    """The same for JSON: the token is in a header that other sites cannot send."""
    check_sender(request, request.headers.get(HEADER, ""))


def check_sender(request: Request, token: str) -> None:
    origin = request.headers.get("origin")
    if origin is not None and origin not in (site_origin(request), _own_origin(request)):
        raise HTTPException(403, "this was not sent by a page of the desk")
    if not get_desk(request).visits.is_form_token(get_visit(request).id, token):
        raise HTTPException(403, "this page is too old: load it again")


def readable_task(task: Number, desk: CurrentDesk, person: CurrentPerson) -> Task:
    """A task that is open and assigned to the person. Others learn nothing, not even that it exists."""
    record = desk.tasks.get_task(task)
    if record is None or not desk.tasks.is_assigned(record, person):
        raise HTTPException(404, "there is no such task for you")
    if not record.open:
        raise HTTPException(404, "this task is closed; what you did is kept")
    return record


def any_task(task: Number, desk: CurrentDesk, person: Administrator) -> Task:
    """Any task, for the administrator."""
    record = desk.tasks.get_task(task)
    if record is None:
        raise HTTPException(404, "there is no such task")
    return record


def readable_item(item: Number, task: Annotated[Task, Depends(readable_task)], desk: CurrentDesk) -> DeskItem:
    record = desk.tasks.get_item(task, item)
    if record is None:
        raise HTTPException(404, "there is no such item for you")
    return record


CheckedForm = Annotated[FormData, Depends(checked_form)]
ReadableTask = Annotated[Task, Depends(readable_task)]
AnyTask = Annotated[Task, Depends(any_task)]
ReadableItem = Annotated[DeskItem, Depends(readable_item)]
