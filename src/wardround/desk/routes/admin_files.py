"""The administrator's files: exports, the audit log, a backup, and imports."""

import tempfile
from pathlib import Path

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask
from starlette.datastructures import UploadFile
from starlette.responses import Response

from wardround.core.errors import WardroundError
from wardround.desk.auth.access import Administrator, AnyTask, CheckedForm, CurrentDesk, require_administrator
from wardround.desk.pages import render_page
from wardround.desk.results import export as exporting
from wardround.desk.results.data_dictionary import data_dictionary
from wardround.desk.results.fhir import fhir_bundle
from wardround.desk.results.import_export import import_everything
from wardround.desk.store import FILE, now

router = APIRouter(prefix="/admin", include_in_schema=False, dependencies=[Depends(require_administrator)])
MORE_FILES = {"fhir.json": fhir_bundle, "dictionary.csv": data_dictionary}
TYPES = {
    ".jsonl": "application/jsonl",
    ".csv": "text/csv; charset=utf-8",
    ".toml": "application/toml",
    "fhir.json": "application/fhir+json",
}


@router.get("/files")
def files(request: Request) -> Response:
    return render_page(request, "admin/files.html", imported=None)


@router.get("/tasks/{task}/export/{file}")
def export(desk: CurrentDesk, person: Administrator, task: AnyTask, file: str) -> Response:
    makers = exporting.COMMON_FILES | MORE_FILES | {export.name: export.make for export in desk.kind(task).exports()}
    if file not in makers:
        raise HTTPException(404, "there is no such file")
    data = makers[file](desk, task)
    with desk.store.transaction():
        desk.store.log_action(person.id, "export", task.id, file=file)
    return _download(data, file)


@router.get("/audit.jsonl")
def audit_jsonl(desk: CurrentDesk) -> Response:
    return _download(exporting.to_jsonl(exporting.audit_rows(desk)), "audit.jsonl")


@router.get("/audit.csv")
def audit_csv(desk: CurrentDesk) -> Response:
    columns = ("id", "time", "person", "name", "role", "action", "task", "item", "detail")
    return _download(exporting.to_csv(exporting.audit_rows(desk), columns), "audit.csv")


@router.get("/everything.zip")
def everything(desk: CurrentDesk, person: Administrator) -> Response:
    with desk.store.transaction():
        desk.store.log_action(person.id, "export", file="everything.zip")
    return _download(exporting.export_zip(desk), "everything.zip")


@router.get("/backup")
def backup(desk: CurrentDesk, person: Administrator) -> Response:
    with desk.store.transaction():
        desk.store.log_action(person.id, "backup")
    folder = tempfile.TemporaryDirectory(prefix="desk-backup-")
    copy = desk.store.backup(Path(folder.name) / FILE)
    name = f"desk-{now()[:19].replace(':', '')}.sqlite"
    return FileResponse(
        copy, media_type="application/octet-stream", filename=name, background=BackgroundTask(folder.cleanup)
    )


@router.post("/import")
def import_file(request: Request, desk: CurrentDesk, person: Administrator, form: CheckedForm) -> Response:
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise WardroundError("choose a file first")
    return render_page(request, "admin/files.html", imported=import_everything(desk, file.file, person))


def _download(data: bytes, name: str) -> Response:
    media_type = TYPES.get(name) or TYPES.get(Path(name).suffix, "application/octet-stream")
    return Response(data, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})
