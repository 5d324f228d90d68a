"""The data dictionary of a task's tables: every column with its type, its values and what it means."""

from wardround.candidates.people import COLUMNS as ANSWER_COLUMNS
from wardround.desk.desk import Desk
from wardround.desk.records import Task
from wardround.desk.results.export import COLUMNS as VERDICT_COLUMNS
from wardround.desk.results.export import to_csv
from wardround.desk.tasks.task_kind import TaskKind

EXAM = "exam"
TIME = "UTC, ISO 8601"
VERDICTS = {
    "task": ("text", "", "Name of the task"),
    "item": ("text", "", "Name of the item; unique in the task"),
    "batch": ("text", "", "Group of items by which agreement is measured"),
    "reader": ("text", "", "Name of the person"),
    "role": ("text", "student; resident; attending; specialist; radiologist", "Role of the person"),
    "level": ("text", "", "Level at which the item was read: reader, student, physician, arbiter, or an exam paper"),
    "round": ("integer", "from 1", "Round of a review in which the verdict was given"),
    "label": ("text", "", "Class on which agreement is measured; empty: none (cannot tell, or the task has none)"),
    "said": ("JSON", "", "The whole verdict, as in verdicts.jsonl"),
    "opened": ("time", TIME, "When the item was opened"),
    "time": ("time", TIME, "When the verdict was saved. Of two by one person on one item the later counts"),
    "seconds": ("number", "from 0", "From opened to time"),
}
ANSWERS = {
    "person": ("text", "", "Name of the person"),
    "role": VERDICTS["role"],
    "specialty": ("text", "ClinBench's names, separated by ;", "Specialty of the person"),
    "case": ("text", "", "Id of the case"),
    "question": ("text", "", "Id of the question in the case"),
    "trial": ("integer", "0", "Always 0: a person answers once"),
    "option": ("text", "A, B, ...; or words", "The chosen option in the case's own order, or an open answer"),
    "confidence": ("number", "0 to 1", "How sure the person was; empty: not asked"),
    "seconds": ("number", "from 0", "Time in which the question was visible"),
    "at": ("time", TIME, "When the answer was saved"),
}


def data_dictionary(desk: Desk, task: Task) -> bytes:
    """`dictionary.csv`: file, column, type, values, meaning."""
    kind: TaskKind = desk.kind(task)
    tables: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, str, str]]]] = {
        "verdicts.csv": (VERDICT_COLUMNS, VERDICTS)
    }
    if kind.name == EXAM:
        tables["answers.csv"] = (ANSWER_COLUMNS, ANSWERS)
    rows = [
        {"file": file, "column": column, **dict(zip(("type", "values", "meaning"), meanings[column], strict=True))}
        for file, (columns, meanings) in tables.items()
        for column in columns
    ]
    return to_csv(rows, ("file", "column", "type", "values", "meaning"))
