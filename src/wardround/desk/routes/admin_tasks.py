"""The administrator's pages of tasks: creation, assignment, progress, arbitration."""

from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse
from markupsafe import Markup
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from wardround.core.errors import WardroundError
from wardround.desk.auth.access import Administrator, AnyTask, CheckedForm, CurrentDesk, Number, require_administrator
from wardround.desk.auth.accounts import ROLES
from wardround.desk.desk import Desk
from wardround.desk.folders import list_sources, remove_upload, save_upload
from wardround.desk.pages import render_page
from wardround.desk.pictures import stack_pictures
from wardround.desk.results.agreement import (
    ALL,
    LabelAgreement,
    ReaderAgreement,
    batch_agreements,
    disagreements,
    in_arbitration,
    labels_by_batch,
    reader_agreements,
    send_to_arbitration,
)
from wardround.desk.results.progress import people_progress
from wardround.desk.routes.login import form_text
from wardround.desk.tasks.task_kind import Setting, TaskKind
from wardround.reporting.figures.svg import Scale, bar, empty_track, interval

router = APIRouter(prefix="/admin", include_in_schema=False, dependencies=[Depends(require_administrator)])
MAX_NAME = 120
MAX_LISTED_ITEMS = 500
SCALE = Scale(-1.0, 1.0, marked=0.0)


@router.get("")
def overview(request: Request, desk: CurrentDesk) -> Response:
    projects: dict[str, list[dict[str, Any]]] = {}
    for task in desk.tasks.list_tasks():
        row = {"task": task, "kind": desk.kind(task), **_readings(desk, task.id)}
        projects.setdefault(task.project, []).append(row)
    context: dict[str, Any] = {"projects": projects, "kinds": desk.kinds.values()}
    return render_page(request, "admin/overview.html", people=len(desk.accounts.list_people()), **context)


def _readings(desk: Desk, task: int) -> dict[str, Any]:
    """The requested and finished readings of a task, with a bar."""
    row = desk.store.row("SELECT sum(many) AS wanted, sum(min(many, given)) AS given FROM wanted WHERE task = ?", task)
    assert row is not None
    requested, finished = int(row["wanted"] or 0), int(row["given"] or 0)
    share = finished / requested if requested else 0.0
    return {"wanted": requested, "given": finished, "bar": bar(share, f"{finished} of {requested} readings")}


@router.get("/tasks/new")
def new_task_page(request: Request, desk: CurrentDesk, kind: str = "", preset: str = "") -> Response:
    task_kind = _find_kind(desk, kind)
    if not preset:
        return _new_task_page(request, desk, task_kind, {})
    if preset not in task_kind.presets:
        raise HTTPException(404, "there is no such preset")
    values = {setting.name: setting.default for setting in task_kind.settings} | dict(task_kind.presets[preset])
    text_of_tick = {True: "yes", False: ""}
    filled = {name: text_of_tick[v] if isinstance(v, bool) else str(v) for name, v in values.items()}
    return _new_task_page(request, desk, task_kind, filled)


@router.post("/tasks/new")
def new_task(request: Request, desk: CurrentDesk, person: Administrator, form: CheckedForm) -> Response:
    kind = _find_kind(desk, form_text(form, "kind"))
    upload = None
    try:
        name, project = (" ".join(form_text(form, field).split())[:MAX_NAME] for field in ("name", "project"))
        if not name or not project:
            raise WardroundError("a task needs a name and a project")
        settings = {setting.name: _read_setting(form, setting) for setting in kind.settings}
        file = form.get("file")
        if isinstance(file, UploadFile) and file.filename:
            source = upload = save_upload(desk.root, file.filename, file.file)
        else:
            source = desk.resolve(form_text(form, "source")).relative_to(desk.root).as_posix()
        items = kind.make_items(desk.resolve(source), settings, desk.root)
        if not items:
            raise WardroundError(f"there is nothing to read in {source!r}")
        task = {"project": project, "kind": kind.name, "name": name, "source": source, "settings": settings}
        number = desk.tasks.create(task, items, person)
    except BaseException as error:
        if upload is not None:
            remove_upload(desk.root, upload)
        if not isinstance(error, WardroundError):
            raise
        filled = {key: value for key, value in form.items() if isinstance(value, str)}
        return _new_task_page(request, desk, kind, filled, str(error).replace(f"{desk.root}/", ""))
    return RedirectResponse(f"/admin/tasks/{number}", 303)


def _find_kind(desk: Desk, name: str) -> TaskKind:
    if name not in desk.kinds:
        raise HTTPException(404, "there is no such kind of task")
    return desk.kinds[name]


def _new_task_page(request: Request, desk: Desk, kind: TaskKind, filled: dict[str, str], problem: str = "") -> Response:
    context: dict[str, Any] = {"kind": kind, "filled": filled, "wrong": problem, "places": list_sources(desk.root)}
    projects = sorted({task.project for task in desk.tasks.list_tasks()})
    return render_page(request, "admin/new_task.html", 422 if problem else 200, projects=projects, **context)


def _read_setting(form: FormData, setting: Setting) -> str | int | float | bool:
    """The value of a setting, in the type of its default."""
    text, value_type = form_text(form, setting.name).strip(), type(setting.default)
    if value_type is bool:
        return text == "yes"
    if not text:
        return setting.default
    if setting.choices and text not in setting.choices:
        raise WardroundError(f"{setting.label}: one of {', '.join(setting.choices)}")
    try:
        value: str | int | float = value_type(text)
    except ValueError:
        raise WardroundError(f"{setting.label}: expected a number, not {text[:40]!r}") from None
    if isinstance(value, int | float) and not 0 <= value < 2**53:
        raise WardroundError(f"{setting.label}: expected a number from 0, not {text[:40]!r}")
    return value


@router.get("/tasks/{task}")
def task_page(request: Request, desk: CurrentDesk, task: AnyTask) -> Response:
    kind, batches = desk.kind(task), labels_by_batch(desk, task)
    context: dict[str, Any] = {
        **_readings(desk, task.id),
        "progress": people_progress(desk, task),
        "agreements": [(agreement, _draw_agreement(agreement)) for agreement in batch_agreements(batches)],
        "readers": [(agreement, _draw_agreement(agreement)) for agreement in reader_agreements(batches)],
        "sections": kind.sections(desk, task),
        "disagreements": disagreements(desk, task),
        "arbitrated": in_arbitration(desk, task),
        "assigned": desk.tasks.assignees(task),
        "people": [person for person in desk.accounts.list_people() if person.role in kind.roles],
        "roles": [role for role in ROLES if role in kind.roles],
        "all": ALL,
        "items": [(item.number, item.name) for item in desk.tasks.list_items(task)[:MAX_LISTED_ITEMS]],
    }
    return render_page(request, "admin/task.html", task=task, kind=kind, scripts=("live.js",), **context)


def _draw_agreement(agreement: LabelAgreement | ReaderAgreement) -> Markup:
    value = agreement.value
    if value != value:
        return empty_track(SCALE, "undefined: everybody always chooses the same")
    return interval(value, agreement.low, agreement.high, scale=SCALE, title=f"{value:.2f}")


@router.post("/tasks/{task}/assign")
def assign(desk: CurrentDesk, person: Administrator, task: AnyTask, form: CheckedForm) -> Response:
    kind = desk.kind(task)
    known = {f"role:{role}" for role in kind.roles}
    known |= {f"person:{reader.id}" for reader in desk.accounts.list_people() if reader.role in kind.roles}
    assignees = [assignee for assignee in form.getlist("who") if isinstance(assignee, str)]
    if unknown := [assignee for assignee in assignees if assignee not in known]:
        raise WardroundError(f"{unknown[0][:40]!r} cannot be assigned this task")
    desk.tasks.assign(task, assignees, person)
    return RedirectResponse(f"/admin/tasks/{task.id}", 303)


@router.post("/tasks/{task}/state")
def set_state(desk: CurrentDesk, person: Administrator, task: AnyTask, form: CheckedForm) -> Response:
    desk.tasks.set_open(task, form_text(form, "open") == "yes", person)
    return RedirectResponse(f"/admin/tasks/{task.id}", 303)


@router.post("/tasks/{task}/arbitrate")
def arbitrate(desk: CurrentDesk, person: Administrator, task: AnyTask, form: CheckedForm) -> Response:
    send_to_arbitration(desk, task, person)
    return RedirectResponse(f"/admin/tasks/{task.id}#arbitration", 303)


@router.get("/tasks/{task}/items/{item}")
def item_page(request: Request, desk: CurrentDesk, task: AnyTask, item: Number) -> Response:
    record = desk.tasks.get_item(task, item)
    if record is None:
        raise HTTPException(404, "there is no such item")
    kind = desk.kind(task)
    verdicts = [(verdict, kind.render_verdict(verdict.said, record)) for verdict in desk.tasks.verdicts(task, item)]
    context: dict[str, Any] = {
        "item": record,
        "verdicts": verdicts,
        "stacks": stack_pictures(desk.pictures.of_item(record)),
        "scripts": ("viewer.js", "stack.js", "window.js"),
    }
    return render_page(request, "admin/item.html", task=task, kind=kind, **context)
