"""One person's work in all tasks, and a reminder of what waits for them, as text to send."""

from typing import NamedTuple

from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.records import Task


class TaskWork(NamedTuple):
    """One person's part in one task."""

    task: Task
    read: int
    waiting: int
    back: int
    last: str | None


def work_of_person(desk: Desk, person: Person) -> list[TaskWork]:
    """The tasks that are given to a person, or in which they have read something."""
    work = []
    for task in desk.tasks.list_tasks():
        verdicts = desk.tasks.verdicts(task, person=person)
        is_given = desk.tasks.is_assigned(task, person)
        if not is_given and not verdicts:
            continue
        waiting = 0
        if is_given and task.open:
            waiting = desk.tasks.count_waiting(task, person, desk.kind(task).levels(person, task))
        read = len({verdict.item for verdict in verdicts})
        last = verdicts[-1].time if verdicts else None
        work.append(TaskWork(task, read, waiting, len(desk.tasks.list_returned(task, person)), last))
    return work


def reminder_text(person: Person, work: list[TaskWork], address: str) -> str:
    """A friendly reminder of open tasks; empty if nothing waits."""
    lines = [
        f"- {row.task.name}: {row.waiting} waiting{f', {row.back} came back to you' if row.back else ''} "
        f"({row.read} done)\n  {address}/tasks/{row.task.id}"
        for row in work
        if row.task.open and (row.waiting or row.back)
    ]
    if not lines:
        return ""
    return "\n".join(
        [f"Dear {person.name},", "", "these are waiting for you at the desk:", *lines, "", "Thank you for your help."]
    )
