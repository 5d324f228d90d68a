"""Coming in and going out. The only pages for those who have not logged in."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData
from starlette.responses import Response

from wardround.core.errors import WardroundError
from wardround.desk.auth.access import FormSent, TheDesk, Visiting, remember
from wardround.desk.auth.people import SHORTEST_PASSWORD, Person, TooManyTries
from wardround.desk.pages import page

router = APIRouter(include_in_schema=False)


def text(form: FormData, name: str) -> str:
    """A field of a form as text; nothing where it is missing or a file."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


@router.get("/login")
def login_page(request: Request, visit: Visiting, to: str = "/") -> Response:
    if visit.person is not None:
        return RedirectResponse(_inside(to), 303)
    return page(request, "login.html", to=_inside(to), name="", wrong="")


@router.post("/login")
def log_in(request: Request, desk: TheDesk, visit: Visiting, form: FormSent) -> Response:
    name, to = text(form, "name"), _inside(text(form, "to"))
    try:
        person = desk.people.log_in(name, text(form, "password"), request.client.host if request.client else "")
    except TooManyTries as error:
        return page(request, "login.html", 429, to=to, name=name, wrong=str(error))
    except WardroundError as error:
        return page(request, "login.html", 401, to=to, name=name, wrong=str(error))
    return _entered(request, desk, person, to)


@router.post("/logout")
def log_out(request: Request, desk: TheDesk, visit: Visiting, form: FormSent) -> Response:
    if visit.person is not None:
        desk.people.close_session(visit.id, visit.person)
    response = RedirectResponse("/login", 303)
    remember(response, request, desk, desk.visits.new())
    return response


@router.get("/join/{token}")
def join_page(request: Request, desk: TheDesk, token: str) -> Response:
    invited = desk.people.invitation(token)
    if invited is None:
        raise HTTPException(404, "this link was used already, or is too old: ask for a new one")
    told = {"role": invited["role"], "name": invited["name"] or "", "known": invited["person"] is not None}
    return page(request, "join.html", specialty="", shortest=SHORTEST_PASSWORD, wrong="", **told)


@router.post("/join/{token}")
def join(request: Request, desk: TheDesk, token: str, form: FormSent) -> Response:
    invited = desk.people.invitation(token)
    if invited is None:
        raise HTTPException(404, "this link was used already, or is too old: ask for a new one")
    name, specialty = invited["name"] or text(form, "name"), text(form, "specialty")
    try:
        if text(form, "password") != text(form, "again"):
            raise WardroundError("the two passwords differ")
        person = desk.people.join(token, name, text(form, "password"), specialty)
    except WardroundError as error:
        told = {"role": invited["role"], "name": name, "known": invited["person"] is not None}
        told |= {"specialty": specialty, "shortest": SHORTEST_PASSWORD, "wrong": str(error)}
        return page(request, "join.html", 422, **told)
    return _entered(request, desk, person, "/")


def _entered(request: Request, desk: TheDesk, person: Person, to: str) -> Response:
    response = RedirectResponse(to, 303)
    remember(response, request, desk, desk.people.open_session(person))
    return response


def _inside(to: str) -> str:
    """Where to go on after the log-in: only ever to a page of the desk."""
    fits = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() and "\\" not in to
    return to if fits else "/"
