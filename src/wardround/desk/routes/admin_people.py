"""The administrator's pages of people: invitations, roles, progress and reminders."""

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile
from starlette.responses import Response

from wardround.cases.readers.clinbench import SPECIALTIES
from wardround.core.errors import WardroundError
from wardround.desk.auth.access import (
    Administrator,
    CheckedForm,
    CurrentDesk,
    Number,
    require_administrator,
    site_origin,
)
from wardround.desk.auth.accounts import INVITATION_DAYS, ROLES, Person
from wardround.desk.auth.invitation_list import parse_invitation_list, parse_specialty_list
from wardround.desk.desk import Desk
from wardround.desk.pages import render_page
from wardround.desk.results.export import to_csv
from wardround.desk.results.person_work import reminder_text, work_of_person
from wardround.desk.routes.login import form_text

router = APIRouter(prefix="/admin", include_in_schema=False, dependencies=[Depends(require_administrator)])
LINK_COLUMNS = ("name", "role", "specialty", "email", "link")


@router.get("/people")
def people(request: Request, desk: CurrentDesk) -> Response:
    return _people_page(request, desk)


@router.post("/invitations")
def invite(request: Request, desk: CurrentDesk, person: Administrator, form: CheckedForm) -> Response:
    role = form_text(form, "role")
    token = desk.accounts.invite(role, person)
    return _people_page(request, desk, link=_link(request, token), effect=f"invites one {role}")


@router.post("/invitations/list")
def invite_list(request: Request, desk: CurrentDesk, person: Administrator, form: CheckedForm) -> Response:
    """Invites everybody of a CSV by name; answers with the same CSV and the links."""
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise WardroundError("choose a file first")
    try:
        text = file.file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise WardroundError("the list is not UTF-8 text: save it as CSV UTF-8") from None
    with desk.store.transaction():  # everybody, or nobody
        rows = []
        for invited in parse_invitation_list(text, desk.accounts.invited_names()):
            named: dict[str, Any] = {"name": invited.name, "specialty": invited.specialty, "login": invited.email}
            token = desk.accounts.invite(invited.role, person, **named)
            rows.append(invited._asdict() | {"link": _link(request, token)})
    headers = {"content-disposition": 'attachment; filename="links.csv"'}
    return Response(to_csv(rows, LINK_COLUMNS), media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/invitations/{id}/withdraw")
def withdraw(desk: CurrentDesk, person: Administrator, form: CheckedForm, id: Number) -> Response:
    desk.accounts.withdraw(id, person)
    return RedirectResponse("/admin/people", 303)


@router.get("/people/{id}")
def person_page(request: Request, desk: CurrentDesk, id: Number) -> Response:
    return _person_page(request, desk, desk.accounts.by_id(id))


@router.post("/people/{id}")
def change(request: Request, desk: CurrentDesk, person: Administrator, form: CheckedForm, id: Number) -> Response:
    member = desk.accounts.by_id(id)
    try:
        chosen = filter(None, (form_text(form, "specialty"), form_text(form, "second")))
        if "login" in form:
            desk.accounts.set_login(member.id, form_text(form, "login"), person)
        desk.accounts.change(member.id, form_text(form, "role"), parse_specialty_list("; ".join(chosen)), person)
    except WardroundError as error:
        return _person_page(request, desk, member, str(error))
    return RedirectResponse(f"/admin/people/{member.id}", 303)


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
    members = desk.accounts.list_people()
    context: dict[str, Any] = {"people": members, "roles": ROLES, "days": INVITATION_DAYS}
    context["work"] = {member.id: _sum_work(desk, member) for member in members}
    context["invitations"] = desk.accounts.open_invitations()
    return render_page(request, "admin/people.html", link=link, effect=effect, scripts=("copy.js",), **context)


def _sum_work(desk: Desk, member: Person) -> dict[str, int]:
    work = work_of_person(desk, member)
    return {"read": sum(row.read for row in work), "waiting": sum(row.waiting + row.back for row in work)}


def _person_page(request: Request, desk: Desk, member: Person, problem: str = "") -> Response:
    work = work_of_person(desk, member)
    own = [*(part.strip() for part in member.specialty.split(";")), "", ""][:2]
    context: dict[str, Any] = {"member": member, "roles": ROLES, "specialties": SPECIALTIES.values(), "own": own}
    context |= {"login": desk.accounts.login_of(member.id) if request.app.state.openid else None}
    context |= {"work": work, "reminder": reminder_text(member, work, site_origin(request)), "wrong": problem}
    return render_page(request, "admin/person.html", 422 if problem else 200, scripts=("copy.js",), **context)


def _link(request: Request, token: str) -> str:
    return f"{site_origin(request)}/join/{token}"
