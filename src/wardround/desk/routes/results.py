"""After a task is closed: a person's own results, and a certificate of participation to print or save as PDF."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import Response

from wardround.desk.auth.access import CurrentDesk, CurrentPerson, Number, require_login
from wardround.desk.pages import render_page
from wardround.desk.records import Task
from wardround.desk.results.closed_task import closed_task
from wardround.reporting.figures.svg import bar

router = APIRouter(include_in_schema=False, dependencies=[Depends(require_login)])


def own_closed_task(task: Number, desk: CurrentDesk, person: CurrentPerson) -> Task:
    """A closed task in which the person has read something; to others it does not exist."""
    record = desk.tasks.get_task(task)
    if record is None or record.open or not desk.tasks.count_read(record, person):
        raise HTTPException(404, "there is no such task for you, or it is not closed yet")
    return record


OwnClosedTask = Annotated[Task, Depends(own_closed_task)]


@router.get("/tasks/{task}/results")
def results(request: Request, desk: CurrentDesk, person: CurrentPerson, task: OwnClosedTask) -> Response:
    result = closed_task(desk, task, person)
    assert result is not None
    scores = [(score, bar(score.share, f"{score.share:.0%}")) for score in result.scores]
    return render_page(request, "results.html", task=task, kind=desk.kind(task), result=result, scores=scores)


@router.get("/tasks/{task}/certificate")
def certificate(request: Request, desk: CurrentDesk, person: CurrentPerson, task: OwnClosedTask) -> Response:
    context: dict[str, Any] = {"kind": desk.kind(task), "result": closed_task(desk, task, person)}
    return render_page(request, "certificate.html", task=task, scripts=("print.js",), **context)
