"""Files for the administrator: exports of a task and of everything, the audit log, a backup; and imports."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask
from starlette.datastructures import UploadFile
from starlette.responses import Response

from wardround.core.errors import WardroundError
from wardround.desk.auth.access import Administrator, FormSent, TaskToRun, TheDesk, administrating
from wardround.desk.pages import page
from wardround.desk.results import export as exporting
from wardround.desk.results.import_export import import_everything
from wardround.desk.store import FILE, now

router = APIRouter(prefix="/admin", include_in_schema=False, dependencies=[Depends(administrating)])
TYPES = {".jsonl": "application/jsonl", ".csv": "text/csv; charset=utf-8", ".toml": "application/toml"}


@router.get("/files")
def files(request: Request) -> Response:
    return page(request, "files.html", told=None)


@router.get("/tasks/{task}/export/{file}")
def export(desk: TheDesk, person: Administrator, task: TaskToRun, file: str) -> Response:
    made = {each.name: each.make for each in desk.kind(task).exports()}
    if file == "verdicts.jsonl":
        data = exporting.jsonl(exporting.said(desk, task))
    elif file == "verdicts.csv":
        data = exporting.table(exporting.said(desk, task), exporting.COLUMNS)
    elif file == "agreement.csv":
        data = exporting.agreement(desk, task)
    elif file in made:
        data = made[file](desk, task)
    else:
        raise HTTPException(404, "there is no such file")
    with desk.store.saving():
        desk.store.record(person.id, "export", task.id, file=file)
    return _download(data, file)


@router.get("/audit.jsonl")
def audit_jsonl(desk: TheDesk) -> Response:
    return _download(exporting.jsonl(exporting.audit(desk)), "audit.jsonl")


@router.get("/audit.csv")
def audit_csv(desk: TheDesk) -> Response:
    columns = ("id", "time", "person", "name", "role", "action", "task", "item", "detail")
    return _download(exporting.table(exporting.audit(desk), columns), "audit.csv")


@router.get("/everything.zip")
def everything(desk: TheDesk, person: Administrator) -> Response:
    with desk.store.saving():
        desk.store.record(person.id, "export", file="everything.zip")
    return _download(exporting.everything(desk), "everything.zip")


@router.get("/backup")
def backup(desk: TheDesk, person: Administrator) -> Response:
    with desk.store.saving():
        desk.store.record(person.id, "backup")
    folder = tempfile.TemporaryDirectory(prefix="desk-backup-")
    copy = desk.store.backup(Path(folder.name) / FILE)
    name = f"desk-{now()[:19].replace(':', '')}.sqlite"
    return FileResponse(
        copy, media_type="application/octet-stream", filename=name, background=BackgroundTask(folder.cleanup)
    )


@router.post("/import")
def bring_in(request: Request, desk: TheDesk, person: Administrator, form: FormSent) -> Response:
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise WardroundError("choose a file first")
    return page(request, "files.html", told=import_everything(desk, file.file, person))


def _download(data: bytes, name: str) -> Response:
    media_type = TYPES.get(Path(name).suffix, "application/octet-stream")
    return Response(data, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})
