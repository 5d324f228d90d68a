"""The administrator's page about people: who is here, and who is invited."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from wardround.desk.auth.access import Administrator, FormSent, Number, TheDesk, administrating
from wardround.desk.auth.people import INVITATION_DAYS, ROLES
from wardround.desk.pages import page
from wardround.desk.routes.entering import text

router = APIRouter(prefix="/admin", include_in_schema=False, dependencies=[Depends(administrating)])


@router.get("/people")
def people(request: Request, desk: TheDesk) -> Response:
    return _people(request, desk)


@router.post("/invitations")
def invite(request: Request, desk: TheDesk, person: Administrator, form: FormSent) -> Response:
    role = text(form, "role")
    token = desk.people.invite(role, person)
    return _people(request, desk, link=_link(request, token), what=f"invites one {role}")


@router.post("/invitations/{id}/withdraw")
def withdraw(desk: TheDesk, person: Administrator, form: FormSent, id: Number) -> Response:
    desk.people.withdraw(id, person)
    return RedirectResponse("/admin/people", 303)


@router.post("/people/{id}/password")
def new_password(request: Request, desk: TheDesk, person: Administrator, form: FormSent, id: Number) -> Response:
    whose = desk.people.by_id(id)
    token = desk.people.invite(whose.role, person, whose.id)
    return _people(request, desk, link=_link(request, token), what=f"lets {whose.name} choose a new password")


@router.post("/people/{id}/remove")
def remove(desk: TheDesk, person: Administrator, form: FormSent, id: Number) -> Response:
    desk.people.leave(desk.people.by_id(id).id, person)
    return RedirectResponse("/admin/people", 303)


def _people(request: Request, desk: TheDesk, link: str = "", what: str = "") -> Response:
    told: dict[str, Any] = {"people": desk.people.all(), "roles": ROLES, "days": INVITATION_DAYS}
    told["invitations"] = desk.people.invitations()
    return page(request, "people.html", link=link, what=what, scripts=("copy.js",), **told)


def _link(request: Request, token: str) -> str:
    return f"{request.url.scheme}://{request.headers['host']}/join/{token}"
