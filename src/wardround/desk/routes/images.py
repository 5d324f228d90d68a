"""Images, by id, for those who may see their item."""

from __future__ import annotations

from fastapi import APIRouter, Depends, HTTPException
from fastapi.responses import Response

from wardround.desk.auth.access import LoggedIn, TheDesk, logged_in
from wardround.desk.auth.people import Person
from wardround.desk.desk import Desk
from wardround.desk.pictures import Picture
from wardround.desk.records import Task

router = APIRouter(prefix="/images", include_in_schema=False, dependencies=[Depends(logged_in)])


@router.get("/{id}")
def image(desk: TheDesk, person: LoggedIn, id: str) -> Response:
    picture, task = picture_for(desk, person, id)
    shown = desk.pictures.show(picture, task)
    return Response(shown.data, media_type=shown.media_type)


def picture_for(desk: Desk, person: Person, id: str) -> tuple[Picture, Task]:
    """A picture and its task, if this person may see it; else the same answer as for an id that does not exist."""
    picture = desk.pictures.find(id)
    task = desk.work.task(picture.task) if picture else None
    if picture is None or task is None or not _may_see(desk, person, picture, task):
        raise HTTPException(404, "there is no such image for you")
    return picture, task


def _may_see(desk: Desk, person: Person, picture: Picture, task: Task) -> bool:
    if person.is_administrator:
        return True
    levels = desk.kind(task).levels(person, task)
    assigned = task.open and desk.work.is_assigned(task, person)
    return assigned and desk.work.may_see(task, picture.item, person, levels)
