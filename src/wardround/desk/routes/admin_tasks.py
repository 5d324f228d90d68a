"""The administrator's pages about tasks: made, handed out, watched, settled."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from wardround.core.errors import WardroundError
from wardround.desk.auth.access import Administrator, FormSent, Number, TaskToRun, TheDesk, administrating
from wardround.desk.auth.people import ROLES
from wardround.desk.desk import Desk
from wardround.desk.folders import offered, take_upload
from wardround.desk.pages import page
from wardround.desk.results.agreement import ALL, agreements, labels_by_batch, one_against_others
from wardround.desk.results.arbitration import disagreements, in_arbitration, send_to_arbitration
from wardround.desk.results.progress import progress
from wardround.desk.routes.entering import text
from wardround.desk.tasks.task_kind import Kind, Setting
from wardround.reporting.figures.svg import Scale, bar, interval, nothing

router = APIRouter(prefix="/admin", include_in_schema=False, dependencies=[Depends(administrating)])
LONGEST = 120
ITEMS_SHOWN = 500
SCALE = Scale(-1.0, 1.0, marked=0.0)


@router.get("")
def overview(request: Request, desk: TheDesk) -> Response:
    projects: dict[str, list[dict[str, Any]]] = {}
    for task in desk.work.tasks():
        wanted, given = _amount(desk, task.id)
        told = {"task": task, "kind": desk.kind(task), "wanted": wanted, "given": given}
        told["bar"] = bar(given / wanted if wanted else 0.0, f"{given} of {wanted} readings")
        projects.setdefault(task.project, []).append(told)
    return page(request, "admin.html", projects=projects, kinds=desk.kinds.values(), people=len(desk.people.all()))


def _amount(desk: Desk, task: int) -> tuple[int, int]:
    """Readings that are wanted, and those of them that are there."""
    row = desk.store.row("SELECT sum(many) AS wanted, sum(min(many, given)) AS given FROM wanted WHERE task = ?", task)
    assert row is not None
    return int(row["wanted"] or 0), int(row["given"] or 0)


@router.get("/tasks/new")
def new_task_page(request: Request, desk: TheDesk, kind: str = "") -> Response:
    return _new_task(request, desk, _kind_named(desk, kind), {})


@router.post("/tasks/new")
def new_task(request: Request, desk: TheDesk, person: Administrator, form: FormSent) -> Response:
    kind = _kind_named(desk, text(form, "kind"))
    try:
        name, project = (" ".join(text(form, field).split())[:LONGEST] for field in ("name", "project"))
        if not name or not project:
            raise WardroundError("a task needs a name and a project")
        settings = {setting.name: _setting(form, setting) for setting in kind.settings}
        file = form.get("file")
        if isinstance(file, UploadFile) and file.filename:
            source = take_upload(desk.root, file.filename, file.file)
        else:
            source = desk.below(text(form, "source")).relative_to(desk.root).as_posix()
        items = kind.items(desk.below(source), settings, desk.root)
        if not items:
            raise WardroundError(f"there is nothing to read in {source!r}")
    except WardroundError as error:
        filled = {key: value for key, value in form.items() if isinstance(value, str)}
        return _new_task(request, desk, kind, filled, str(error).replace(f"{desk.root}/", ""))
    told: dict[str, Any] = {"project": project, "kind": kind.name, "name": name, "source": source, "settings": settings}
    return RedirectResponse(f"/admin/tasks/{desk.work.make(told, items, person)}", 303)


def _kind_named(desk: Desk, name: str) -> Kind:
    if name not in desk.kinds:
        raise HTTPException(404, "there is no such kind of task")
    return desk.kinds[name]


def _new_task(request: Request, desk: Desk, kind: Kind, filled: dict[str, str], wrong: str = "") -> Response:
    told: dict[str, Any] = {"kind": kind, "filled": filled, "wrong": wrong, "places": offered(desk.root)}
    projects = sorted({task.project for task in desk.work.tasks()})
    return page(request, "new_task.html", 422 if wrong else 200, projects=projects, **told)


def _setting(form: FormData, setting: Setting) -> str | int | float | bool:
    """A setting as its default's type."""
    given, wanted = text(form, setting.name).strip(), type(setting.default)
    if wanted is bool:
        return given == "yes"
    if not given:
        return setting.default
    if setting.choices and given not in setting.choices:
        raise WardroundError(f"{setting.label}: one of {', '.join(setting.choices)}")
    try:
        value: str | int | float = wanted(given)
    except ValueError:
        raise WardroundError(f"{setting.label}: expected a number, not {given[:40]!r}") from None
    if isinstance(value, int | float) and not 0 <= value < 2**53:
        raise WardroundError(f"{setting.label}: expected a number from 0, not {given[:40]!r}")
    return value


@router.get("/tasks/{task}")
def task_page(request: Request, desk: TheDesk, task: TaskToRun) -> Response:
    kind, batches = desk.kind(task), labels_by_batch(desk, task)
    wanted, given = _amount(desk, task.id)
    told: dict[str, Any] = {
        "wanted": wanted,
        "given": given,
        "bar": bar(given / wanted if wanted else 0.0, f"{given} of {wanted} readings"),
        "progress": progress(desk, task),
        "agreements": [(each, _drawn(each)) for each in agreements(batches)],
        "alone": [(each, _drawn(each)) for each in one_against_others(batches)],
        "parts": kind.parts(desk, task),
        "disagreements": disagreements(desk, task),
        "arbitrated": in_arbitration(desk, task),
        "assigned": desk.work.assigned(task),
        "people": [person for person in desk.people.all() if person.role in kind.roles],
        "roles": [role for role in ROLES if role in kind.roles],
        "all": ALL,
        "items": [(item.number, item.name) for item in desk.work.items(task)[:ITEMS_SHOWN]],
    }
    return page(request, "task.html", task=task, kind=kind, scripts=("live.js",), **told)


def _drawn(each: Any) -> Any:
    """A figure of agreement with its interval, drawn."""
    value = each.kappa if hasattr(each, "kappa") else each.value
    if value != value:
        return nothing(SCALE, "undefined: everybody always says the same")
    return interval(value, each.low, each.high, scale=SCALE, title=f"{value:.2f}")


@router.post("/tasks/{task}/assign")
def assign(desk: TheDesk, person: Administrator, task: TaskToRun, form: FormSent) -> Response:
    kind = desk.kind(task)
    known = {f"role:{role}" for role in kind.roles}
    known |= {f"person:{each.id}" for each in desk.people.all() if each.role in kind.roles}
    who = [each for each in form.getlist("who") if isinstance(each, str)]
    if unknown := [each for each in who if each not in known]:
        raise WardroundError(f"{unknown[0][:40]!r} cannot be given this task")
    desk.work.assign(task, who, person)
    return RedirectResponse(f"/admin/tasks/{task.id}", 303)


@router.post("/tasks/{task}/state")
def set_state(desk: TheDesk, person: Administrator, task: TaskToRun, form: FormSent) -> Response:
    desk.work.set_open(task, text(form, "open") == "yes", person)
    return RedirectResponse(f"/admin/tasks/{task.id}", 303)


@router.post("/tasks/{task}/arbitrate")
def arbitrate(desk: TheDesk, person: Administrator, task: TaskToRun, form: FormSent) -> Response:
    send_to_arbitration(desk, task, person)
    return RedirectResponse(f"/admin/tasks/{task.id}#arbitration", 303)


@router.get("/tasks/{task}/items/{item}")
def item_page(request: Request, desk: TheDesk, task: TaskToRun, item: Number) -> Response:
    found = desk.work.item(task, item)
    if found is None:
        raise HTTPException(404, "there is no such item")
    kind = desk.kind(task)
    said = [(verdict, kind.told(verdict.said, found)) for verdict in desk.work.verdicts(task, item)]
    told: dict[str, Any] = {
        "item": found,
        "said": said,
        "pictures": desk.pictures.of(found),
        "scripts": ("viewer.js", "window.js"),
    }
    return page(request, "item.html", task=task, kind=kind, **told)
