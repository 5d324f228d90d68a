"""JSON for the pages' own scripts, and for programs that log in as a person."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from wardround.desk.auth.access import ItemToDo, LoggedIn, TaskToDo, TheDesk, json_sent, logged_in
from wardround.desk.submit import LONGEST_ONCE, give, may_open, take_next

router = APIRouter(prefix="/api", dependencies=[Depends(logged_in)])
FROM_OUR_PAGES = [Depends(json_sent)]


class Draft(BaseModel):
    """The fields of a form as they are now."""

    model_config = ConfigDict(extra="forbid")
    form: dict[Annotated[str, Field(max_length=200)], list[Annotated[str, Field(max_length=200_000)]]] = Field(
        max_length=500
    )


class Saying(BaseModel):
    """A verdict. `once` is a new random text for each: what is sent twice is kept once."""

    model_config = ConfigDict(extra="forbid")
    said: dict[str, Any] = Field(max_length=200)
    once: str = Field(min_length=8, max_length=LONGEST_ONCE, pattern=r"^[A-Za-z0-9_-]+$")


class Saved(BaseModel):
    saved: str = Field(description="When.")


class Given(Saved):
    verdict: int
    next: str


class Standing(BaseModel):
    """How far somebody is."""

    task: int
    name: str
    read: int
    waiting: int
    back: int
    next: str


@router.get("/tasks/{task}")
def standing(desk: TheDesk, person: LoggedIn, task: TaskToDo) -> Standing:
    levels = desk.kind(task).levels(person, task)
    return Standing(
        task=task.id,
        name=task.name,
        read=desk.work.many_read(task, person),
        waiting=desk.work.waiting(task, person, levels),
        back=len(desk.work.todo(task, person)),
        next=f"/tasks/{task.id}/next",
    )


@router.post("/tasks/{task}/items/{item}/draft", dependencies=FROM_OUR_PAGES)
def draft(desk: TheDesk, person: LoggedIn, task: TaskToDo, item: ItemToDo, draft: Draft) -> Saved:
    return Saved(saved=desk.work.keep_draft(task, item.number, person, draft.form))


@router.post("/tasks/{task}/items/{item}/verdict", dependencies=FROM_OUR_PAGES)
def verdict(desk: TheDesk, person: LoggedIn, task: TaskToDo, item: ItemToDo, saying: Saying) -> Given:
    if not desk.work.was_said(saying.once):
        may_open(desk, task, item, person)
    given = give(desk, task, item, person, saying.said, saying.once)
    return Given(saved=given.time, verdict=given.id, next=take_next(desk, task, person))
