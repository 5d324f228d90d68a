"""Images by id, for those who may see their item: as they are, at a severity, or under a window."""

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import Response

from wardround.cases.images.frame_count import count_frames
from wardround.cases.images.value_range import value_range
from wardround.core.case import Image
from wardround.degrade.severities import load_profile, parse_severity
from wardround.desk.auth.access import CurrentDesk, CurrentPerson, require_login
from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.pictures import Picture, render_at_severity, render_picture
from wardround.desk.records import Task

EXAM = "exam"
FrameNumber = Annotated[int | None, Query(ge=0, lt=2**31)]

router = APIRouter(prefix="/images", include_in_schema=False, dependencies=[Depends(require_login)])


@router.get("/{id}")
def image(desk: CurrentDesk, person: CurrentPerson, id: str, frame: FrameNumber = None) -> Response:
    picture, task = _at_frame(*find_picture(desk, person, id), frame)
    rendered = desk.pictures.render(picture, task)
    return Response(rendered.data, media_type=rendered.media_type)


@router.get("/{id}/frames")
def frames(desk: CurrentDesk, person: CurrentPerson, id: str) -> dict[str, int]:
    """The number of frames of a picture's file, and the one that is first shown."""
    picture, task = find_picture(desk, person, id)
    if task.kind == EXAM:
        return {"count": 1, "shown": 0}
    return asdict(count_frames(desk.pictures.file(picture, task), picture.image))


@router.get("/{id}/at/{severity}")
def degraded(
    desk: CurrentDesk,
    person: CurrentPerson,
    id: str,
    severity: str,
    quick: bool = False,
    center: float | None = None,
    width: float | None = None,
) -> Response:
    """A picture at a severity, for severity tasks; under another window if one is given."""
    picture, task = find_picture(desk, person, id)
    if task.kind != "severity" or not picture.degradation:
        raise HTTPException(404, "there is no such image for you")
    type, number = picture.degradation.partition("@")[0], parse_severity(severity)
    image = picture.image if center is None and width is None else _under_window(picture.image, center, width)
    file, profile = desk.pictures.file(picture, task), load_profile(task.settings["profile"])
    first = None if image is picture.image else _first_width(file, picture.image)
    rendered = render_at_severity(file, image, type, number, profile, quick=quick, window=first)
    return Response(rendered.data, media_type=rendered.media_type)


@router.get("/{id}/window")
def window(desk: CurrentDesk, person: CurrentPerson, id: str) -> dict[str, Any]:
    """The window under which a picture is first shown, and its range; empty if it has none."""
    picture, task = find_picture(desk, person, id)
    range_of_values = value_range(desk.pictures.file(picture, task), picture.image)
    return {} if range_of_values is None else range_of_values._asdict()


@router.get("/{id}/window/{center}/{width}")
def windowed(
    desk: CurrentDesk, person: CurrentPerson, id: str, center: float, width: float, frame: FrameNumber = None
) -> Response:
    picture, task = _at_frame(*find_picture(desk, person, id), frame)
    image = _under_window(picture.image, center, width)
    file = desk.pictures.file(picture, task)
    rendered = render_picture(file, image, picture.degradation, _first_width(file, picture.image))
    return Response(rendered.data, media_type=rendered.media_type)


def _at_frame(picture: Picture, task: Task, frame: int | None) -> tuple[Picture, Task]:
    """The picture at another frame of its file; in an exam there is none, for a candidate sees no other either."""
    if frame is None or frame == picture.image.frame:
        return picture, task
    if task.kind == EXAM:
        raise HTTPException(404, "there is no such image for you")
    return replace(picture, image=picture.image.model_copy(update={"frame": frame})), task


def _first_width(file: Path, image: Image) -> float | None:
    """The width of the window in which a picture is first shown, if it has one."""
    shown = value_range(file, image)
    return None if shown is None else shown.width


def _under_window(image: Image, center: float | None, width: float | None) -> Image:
    if center is None or width is None or not math.isfinite(center) or not 0 < width < math.inf:
        raise HTTPException(422, "a window has a centre and a width above 0")
    return image.model_copy(update={"window": (center, width)})


def find_picture(desk: Desk, person: Person, id: str) -> tuple[Picture, Task]:
    """A picture and its task, if this person may see it; else the same 404 as for an unknown id."""
    picture = desk.pictures.find(id)
    task = desk.tasks.get_task(picture.task) if picture else None
    if picture is None or task is None or not _may_see(desk, person, picture, task):
        raise HTTPException(404, "there is no such image for you")
    return picture, task


def _may_see(desk: Desk, person: Person, picture: Picture, task: Task) -> bool:
    if person.is_administrator:
        return True
    levels = desk.kind(task).levels(person, task)
    assigned = task.open and desk.tasks.is_assigned(task, person)
    return assigned and desk.tasks.may_see(task, picture.item, person, levels)
