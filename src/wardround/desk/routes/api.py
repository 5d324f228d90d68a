"""JSON for the pages' scripts, and for programs that log in as a person."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from wardround.desk.auth.access import CurrentDesk, CurrentPerson, ReadableItem, ReadableTask, check_json, require_login
from wardround.desk.submit import MAX_ONCE, claim_next, open_item, submit_verdict

router = APIRouter(prefix="/api", dependencies=[Depends(require_login)])
FROM_OUR_PAGES = [Depends(check_json)]
LEAVE_GRACE = 60.0  # seconds: a page that is loaded again may come before the notice that it was left


class DraftRequest(BaseModel):
    """The fields of a form as they are now."""

    model_config = ConfigDict(extra="forbid")
    form: dict[Annotated[str, Field(max_length=200)], list[Annotated[str, Field(max_length=200_000)]]] = Field(
        max_length=500
    )


class VerdictRequest(BaseModel):
    """A verdict. `once` is a new random text for each: a repeated request is saved once."""

    model_config = ConfigDict(extra="forbid")
    said: dict[str, Any] = Field(max_length=200)
    once: str = Field(min_length=8, max_length=MAX_ONCE, pattern=r"^[A-Za-z0-9_-]+$")


class SavedResponse(BaseModel):
    saved: str = Field(description="When.")


class VerdictResponse(SavedResponse):
    verdict: int
    next: str


class TaskStanding(BaseModel):
    """A person's progress in a task."""

    task: int
    name: str
    read: int
    waiting: int
    back: int
    next: str


@router.get("/tasks/{task}")
def standing(desk: CurrentDesk, person: CurrentPerson, task: ReadableTask) -> TaskStanding:
    levels = desk.kind(task).levels(person, task)
    return TaskStanding(
        task=task.id,
        name=task.name,
        read=desk.tasks.count_read(task, person),
        waiting=desk.tasks.count_waiting(task, person, levels),
        back=len(desk.tasks.list_returned(task, person)),
        next=f"/tasks/{task.id}/next",
    )


@router.post("/tasks/{task}/items/{item}/draft", dependencies=FROM_OUR_PAGES)
def draft(
    desk: CurrentDesk, person: CurrentPerson, task: ReadableTask, item: ReadableItem, draft: DraftRequest
) -> SavedResponse:
    return SavedResponse(saved=desk.tasks.save_draft(task, item.number, person, draft.form))


@router.post("/tasks/{task}/items/{item}/leave", dependencies=FROM_OUR_PAGES, status_code=204)
def leave(desk: CurrentDesk, person: CurrentPerson, task: ReadableTask, item: ReadableItem) -> None:
    """The page of an item was closed: others get it soon, unless the reader loads it again."""
    desk.tasks.release_items(person, LEAVE_GRACE)


@router.post("/tasks/{task}/items/{item}/verdict", dependencies=FROM_OUR_PAGES)
def verdict(
    desk: CurrentDesk, person: CurrentPerson, task: ReadableTask, item: ReadableItem, request: VerdictRequest
) -> VerdictResponse:
    if not desk.tasks.is_saved(request.once):
        open_item(desk, task, item, person)
    saved = submit_verdict(desk, task, item, person, request.said, request.once)
    return VerdictResponse(saved=saved.time, verdict=saved.id, next=claim_next(desk, task, person))
