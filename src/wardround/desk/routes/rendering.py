"""Pictures as a reader turns them: at a severity."""

from __future__ import annotations

from fastapi import APIRouter, Depends, HTTPException
from fastapi.responses import Response

from wardround.degrade.severities import profile_named, severity_number
from wardround.desk.access import LoggedIn, TheDesk, logged_in
from wardround.desk.live import at_severity
from wardround.desk.routes.images import picture_for

router = APIRouter(prefix="/images", include_in_schema=False, dependencies=[Depends(logged_in)])


@router.get("/{id}/at/{severity}")
def degraded(desk: TheDesk, person: LoggedIn, id: str, severity: str, quick: bool = False) -> Response:
    """A picture at a severity, for tasks in which the reader moves it."""
    picture, task = picture_for(desk, person, id)
    if task.kind != "severity" or not picture.degradation:
        raise HTTPException(404, "there is no such image for you")
    type, number = picture.degradation.partition("@")[0], severity_number(severity)
    file, profile = desk.pictures.file(picture, task), profile_named(task.settings["profile"])
    shown = at_severity(file, picture.image, type, number, profile, quick=quick)
    return Response(shown.data, media_type=shown.media_type)
