"""Log-in, log-out and invitations: the only pages without a log-in."""

from sqlite3 import Row

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData
from starlette.responses import Response

from wardround.cases.readers.clinbench import SPECIALTIES
from wardround.core.errors import WardroundError
from wardround.desk.auth.access import CheckedForm, CurrentDesk, CurrentVisit, set_visit_cookie, site_origin
from wardround.desk.auth.accounts import MIN_PASSWORD, Person
from wardround.desk.auth.invitation_list import parse_specialty_list
from wardround.desk.auth.log_in_limits import TooManyAttempts
from wardround.desk.auth.openid import OpenIdClient
from wardround.desk.pages import render_page

router = APIRouter(include_in_schema=False)


def form_text(form: FormData, name: str) -> str:
    """A field of a form as text; empty if it is missing or a file."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


@router.get("/login")
def login_page(request: Request, visit: CurrentVisit, to: str = "/") -> Response:
    if visit.person is not None:
        return RedirectResponse(_local_path(to), 303)
    return _login_page(request, _local_path(to))


@router.post("/login")
def log_in(request: Request, desk: CurrentDesk, visit: CurrentVisit, form: CheckedForm) -> Response:
    name, to = form_text(form, "name"), _local_path(form_text(form, "to"))
    try:
        person = desk.accounts.log_in(name, form_text(form, "password"), request.client.host if request.client else "")
    except WardroundError as error:
        status = 429 if isinstance(error, TooManyAttempts) else 401
        return _login_page(request, to, name, str(error), status)
    return _start_session(request, desk, person, to)


@router.get("/login/openid")
def begin_openid(request: Request, visit: CurrentVisit, to: str = "/") -> Response:
    try:
        return RedirectResponse(_openid(request).begin(visit.id, _return_address(request), _local_path(to)), 303)
    except WardroundError as error:
        return _login_page(request, _local_path(to), "", str(error), 502)


@router.get("/login/openid/return")
def finish_openid(request: Request, desk: CurrentDesk, visit: CurrentVisit) -> Response:
    try:
        login, to = _openid(request).finish(visit.id, _return_address(request), request.query_params)
        person = desk.accounts.log_in_by_provider(login)
    except WardroundError as error:
        return _login_page(request, "/", "", str(error), 401)
    return _start_session(request, desk, person, to)


def _openid(request: Request) -> OpenIdClient:
    client: OpenIdClient | None = request.app.state.openid
    if client is None:
        raise HTTPException(404, "the desk has no log-in by OpenID Connect")
    return client


def _return_address(request: Request) -> str:
    return f"{site_origin(request)}/login/openid/return"


def _login_page(request: Request, to: str, name: str = "", problem: str = "", status: int = 200) -> Response:
    client: OpenIdClient | None = request.app.state.openid
    openid = client.settings.name if client else ""
    return render_page(request, "login.html", status, to=to, name=name, wrong=problem, openid=openid)


@router.post("/logout")
def log_out(request: Request, desk: CurrentDesk, visit: CurrentVisit, form: CheckedForm) -> Response:
    if visit.person is not None:
        desk.accounts.close_session(visit.id, visit.person)
        desk.tasks.release_items(visit.person)
    response = RedirectResponse("/login", 303)
    set_visit_cookie(response, request, desk, desk.visits.new_visitor())
    return response


@router.get("/join/{token}")
def join_page(request: Request, desk: CurrentDesk, token: str) -> Response:
    invitation = desk.accounts.find_invitation(token)
    if invitation is None:
        raise HTTPException(404, "this link was used already, or is too old: ask for a new one")
    return _join_page(request, invitation, invitation["whom"] or "", invitation["specialty"])


@router.post("/join/{token}")
def join(request: Request, desk: CurrentDesk, token: str, form: CheckedForm) -> Response:
    invitation = desk.accounts.find_invitation(token)
    if invitation is None:
        raise HTTPException(404, "this link was used already, or is too old: ask for a new one")
    name = invitation["whom"] or form_text(form, "name")
    specialty = "; ".join(filter(None, (form_text(form, "specialty"), form_text(form, "second"))))
    try:
        specialty = parse_specialty_list(specialty)
        if form_text(form, "password") != form_text(form, "again"):
            raise WardroundError("the two passwords differ")
        person = desk.accounts.join(token, name, form_text(form, "password"), specialty)
    except WardroundError as error:
        return _join_page(request, invitation, name, specialty, str(error))
    return _start_session(request, desk, person, "/")


def _join_page(request: Request, invitation: Row, name: str, specialty: str, problem: str = "") -> Response:
    chosen = [part.strip() for part in specialty.split(";")]
    context = {"role": invitation["role"], "name": name, "known": invitation["person"] is not None}
    context |= {"is_named": bool(invitation["whom"]), "chosen": [*chosen, "", ""][:2], "wrong": problem}
    status = 422 if problem else 200
    return render_page(request, "join.html", status, specialties=SPECIALTIES.values(), shortest=MIN_PASSWORD, **context)


def _start_session(request: Request, desk: CurrentDesk, person: Person, to: str) -> Response:
    response = RedirectResponse(to, 303)
    set_visit_cookie(response, request, desk, desk.accounts.open_session(person))
    return response


def _local_path(to: str) -> str:
    """The address after the log-in, if it is a page of the desk; else the start page."""
    is_local = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() and "\\" not in to
    return to if is_local else "/"
