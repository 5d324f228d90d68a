"""Levels and importance (X-PCR): how hard is a question (R, A, S), and what does an error cost? Set by specialists.

Readers do not see the levels that the set has. What more than half of the readers say is the level; the importance is
the median. Both go back into the set by `wardround build ophthalmic --grades`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.errors import BadInput, WardroundError
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, NewImage, NewItem, Task
from wardround.desk.results.agreement import (
    ALL,
    LabelAgreement,
    batch_agreements,
    labels_by_batch,
    latest_verdicts,
    majority_labels,
)
from wardround.desk.results.export import to_csv, to_jsonl
from wardround.desk.tasks.one_choice import balanced_sample
from wardround.desk.tasks.task_kind import Export, PageSection, Setting, TaskKind, checked_comment

LEVELS = {  # the paper's levels; the words are ours
    "R": "Resident: every resident answers it",
    "A": "Attending: takes years of practice",
    "S": "Specialist: takes the specialty",
}
UNSURE = "cannot tell"
IMPORTANCE = {  # our scale: the paper states none
    1: "Usual: an error is soon noticed",
    2: "Serious: an error can cost sight in time",
    3: "Critical: an error can cost sight or life now",
}
DRAFTS = Path("review", "decisions.jsonl")  # stage 6, which joins the set when somebody has kept it
COLUMNS = ("case", "question", "answer", "grade", "importance", "readers")


class Grading(TaskKind):
    name = "grading"
    title = "Levels and importance"
    summary = "Specialists set the level (R, A, S) and the importance of questions. For wardround build ophthalmic."
    source = "A case set, as wardround build ophthalmic makes it"
    roles = ("specialist",)
    settings = (
        Setting("readers", "Readers of each question", 2),
        Setting("many", "Questions to draw", 0, "Evenly from stages and tasks. 0: all."),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "tasks/grading.html"
    arbitrates = True

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if settings["readers"] < 1:
            raise WardroundError("each question needs a reader")
        if not source.is_dir():
            raise BadInput(source, "is not the folder of a case set")
        rows = list(_graded_questions(source))
        if not rows:
            raise BadInput(source, "has no choice question")
        sample = balanced_sample(rows, lambda row: _batch(row[1]), settings["many"], settings["seed"])
        return [_new_item(case, question, settings["readers"]) for (case, question), _ in sample]

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Any, level: str) -> dict[str, Any]:
        levels = [*LEVELS.items(), (UNSURE, "Cannot tell")]
        return {"levels": levels, "importance": [(str(number), words) for number, words in IMPORTANCE.items()]}

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        text = str(form.get("importance") or "")
        said = {"grade": str(form.get("grade") or ""), "importance": int(text) if text.isdigit() else None}
        return said | {"comment": str(form.get("comment") or "").strip()}

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        return {name: [str(said[name])] for name in ("grade", "importance", "comment")}

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        if said.get("grade") not in (*LEVELS, UNSURE):
            raise WardroundError("choose a level")
        if said.get("importance") not in tuple(IMPORTANCE):
            raise WardroundError("choose how important a right answer is")
        return {"grade": said["grade"], "importance": said["importance"], "comment": checked_comment(said)}

    def label(self, said: Mapping[str, Any]) -> str | None:
        return said["grade"] if said["grade"] != UNSURE else None

    def render_verdict(self, said: Mapping[str, Any], item: DeskItem) -> Markup:
        return Markup("{}, importance {}").format(said["grade"], said["importance"])

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        agreements = level_agreements(desk, task)
        return [PageSection.render("Agreement by level", "tasks/grading_agreement.html", agreements=agreements)]

    def exports(self) -> Sequence[Export]:
        about = "for wardround build ophthalmic --grades; questions without a majority are left out"
        return (Export("grades.jsonl", about, _jsonl), Export("grades.csv", "the same as a table", _csv))


def level_agreements(desk: Desk, task: Task) -> list[tuple[str, LabelAgreement]]:
    """Agreement on each level (this one or another), and on importance, with what it is about; first readings only."""
    levels = [labels for batch in labels_by_batch(desk, task).values() for labels in batch]
    named = {
        words: [{reader: str(label == level) for reader, label in labels.items()} for labels in levels]
        for level, words in LEVELS.items()
    }
    importance = labels_by_batch(desk, task, lambda said: str(said["importance"]))
    named["Importance"] = [labels for batch in importance.values() for labels in batch]
    return [(name, agreement) for name, labels in named.items() for agreement in batch_agreements({ALL: labels})]


def _graded_questions(folder: Path) -> Iterator[tuple[Case, Question]]:
    """The choice questions of a set, and the drafts of decisions that wait for people."""
    cases = {case.id: case for case in CaseSet.open(folder)}
    drafts: dict[str, list[Question]] = {}
    if (folder / DRAFTS).is_file():
        for line in (folder / DRAFTS).read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if "adds" in entry:
                drafts.setdefault(entry["id"], []).append(Question.model_validate(entry["adds"]))
    for case in cases.values():
        for question in [*case.questions, *drafts.get(case.id, [])]:
            if question.kind == "choice":
                yield case, question


def _batch(question: Question) -> str:
    return question.stage or question.task or "questions"


def _new_item(case: Case, question: Question, readers: int) -> NewItem:
    extra = question.model_extra or {}
    numbers = question.images if question.images is not None else range(len(case.images))
    shown = {
        "case": case.id,
        "question": question.id,
        "history": case.history,
        "labels": [extra[name] for name in ("disease", "label") if extra.get(name)],
        "prompt": question.prompt,
        "options": question.options,
        "gold": question.gold,
    }
    hidden = {"grade": question.grade, "importance": question.importance, "answer": question.gold_text}
    images = tuple(NewImage(str(number), case.images[number]) for number in numbers)
    return NewItem(f"{case.id}/{question.id}", _batch(question), shown, {"reader": readers}, hidden, images=images)


def _rows(desk: Desk, task: Task) -> Iterator[dict[str, Any]]:
    verdicts = latest_verdicts(desk.tasks.verdicts(task))
    for item, grade in majority_labels(desk, task):
        said = [verdict.said["importance"] for verdict in verdicts[item.number].values()]
        place = {"case": item.shown["case"], "question": item.shown["question"], "answer": item.hidden["answer"]}
        yield place | {"grade": grade, "importance": float(median(said)), "readers": len(said)}


def _jsonl(desk: Desk, task: Task) -> bytes:
    return to_jsonl(_rows(desk, task))


def _csv(desk: Desk, task: Task) -> bytes:
    return to_csv(_rows(desk, task), COLUMNS)
