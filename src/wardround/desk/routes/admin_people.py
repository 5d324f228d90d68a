"""The administrator's page of people and invitations."""

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from wardround.desk.auth.access import (
    Administrator,
    CheckedForm,
    CurrentDesk,
    Number,
    require_administrator,
    site_origin,
)
from wardround.desk.auth.accounts import INVITATION_DAYS, ROLES
from wardround.desk.pages import render_page
from wardround.desk.routes.login import form_text

router = APIRouter(prefix="/admin", include_in_schema=False, dependencies=[Depends(require_administrator)])


@router.get("/people")
def people(request: Request, desk: CurrentDesk) -> Response:
    return _people_page(request, desk)


@router.post("/invitations")
def invite(request: Request, desk: CurrentDesk, person: Administrator, form: CheckedForm) -> Response:
    role = form_text(form, "role")
    token = desk.accounts.invite(role, person)
    return _people_page(request, desk, link=_link(request, token), effect=f"invites one {role}")


@router.post("/invitations/{id}/withdraw")
def withdraw(desk: CurrentDesk, person: Administrator, form: CheckedForm, id: Number) -> Response:
    desk.accounts.withdraw(id, person)
    return RedirectResponse("/admin/people", 303)


@router.post("/people/{id}/password")
def new_password(request: Request, desk: CurrentDesk, person: Administrator, form: CheckedForm, id: Number) -> Response:
    invited = desk.accounts.by_id(id)
    token = desk.accounts.invite(invited.role, person, invited.id)
    return _people_page(request, desk, link=_link(request, token), effect=f"lets {invited.name} choose a new password")


@router.post("/people/{id}/remove")
def remove(desk: CurrentDesk, person: Administrator, form: CheckedForm, id: Number) -> Response:
    desk.accounts.remove(desk.accounts.by_id(id).id, person)
    return RedirectResponse("/admin/people", 303)


def _people_page(request: Request, desk: CurrentDesk, link: str = "", effect: str = "") -> Response:
    context: dict[str, Any] = {"people": desk.accounts.list_people(), "roles": ROLES, "days": INVITATION_DAYS}
    context["invitations"] = desk.accounts.open_invitations()
    return render_page(request, "admin/people.html", link=link, effect=effect, scripts=("copy.js",), **context)


def _link(request: Request, token: str) -> str:
    return f"{site_origin(request)}/join/{token}"
