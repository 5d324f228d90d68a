"""Pictures as a reader turns them: at a severity, under a window."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Depends, HTTPException
from fastapi.responses import Response

from wardround.cases.images.stretch import stretch
from wardround.degrade.severities import profile_named, severity_number
from wardround.desk.auth.access import LoggedIn, TheDesk, logged_in
from wardround.desk.preview import at_severity, under_window
from wardround.desk.routes.images import picture_for

router = APIRouter(prefix="/images", include_in_schema=False, dependencies=[Depends(logged_in)])


@router.get("/{id}/at/{severity}")
def degraded(
    desk: TheDesk,
    person: LoggedIn,
    id: str,
    severity: str,
    quick: bool = False,
    center: float | None = None,
    width: float | None = None,
) -> Response:
    """A picture at a severity, for tasks in which the reader moves it; under another window if one is given."""
    picture, task = picture_for(desk, person, id)
    if task.kind != "severity" or not picture.degradation:
        raise HTTPException(404, "there is no such image for you")
    type, number = picture.degradation.partition("@")[0], severity_number(severity)
    image = picture.image
    if center is not None or width is not None:
        image = image.model_copy(update={"window": _window(center, width)})
    file, profile = desk.pictures.file(picture, task), profile_named(task.settings["profile"])
    shown = at_severity(file, image, type, number, profile, quick=quick)
    return Response(shown.data, media_type=shown.media_type)


@router.get("/{id}/window")
def window(desk: TheDesk, person: LoggedIn, id: str) -> dict[str, Any]:
    """The window under which a picture is first shown, and how far it can be moved; nothing where it has none."""
    picture, task = picture_for(desk, person, id)
    found = stretch(desk.pictures.file(picture, task), picture.image)
    return {} if found is None else found._asdict()


@router.get("/{id}/window/{center}/{width}")
def windowed(desk: TheDesk, person: LoggedIn, id: str, center: float, width: float) -> Response:
    """A picture under another window."""
    picture, task = picture_for(desk, person, id)
    file = desk.pictures.file(picture, task)
    shown = under_window(file, picture.image, picture.degradation, *_window(center, width))
    return Response(shown.data, media_type=shown.media_type)


def _window(center: float | None, width: float | None) -> tuple[float, float]:
    if center is None or width is None or not math.isfinite(center) or not 0 < width < math.inf:
        raise HTTPException(422, "a window has a centre and a width above 0")
    return center, width
