"""Error classes (ClinBench): which of five error classes led to a wrong answer, blind to candidate and judge.

A sixth class, perception, is ours: people see the images that the candidate was shown, the judge does not.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import blake
from wardround.core.errors import BadInput, WardroundError
from wardround.desk.auth.accounts import PHYSICIANS, STUDENT, Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, NewItem, Task
from wardround.desk.results.agreement import majority_labels
from wardround.desk.results.export import to_jsonl
from wardround.desk.tasks.one_choice import ChoiceTask, balanced_sample
from wardround.desk.tasks.sent_images import image_changes, run_image_folder, sent_images
from wardround.desk.tasks.task_kind import Export, PageSection, Setting
from wardround.marking.judges.error_classes import (
    CLASSES,
    PERCEPTION,
    WrongAnswer,
    reasoning_of,
    shown_question,
    stated_answer,
    wrong_answers,
)
from wardround.marking.marks import MARK_KEY, MARKS_FILE
from wardround.measuring.validation.agreement import agreement_interval, cohen_kappa

MEANINGS = {
    PERCEPTION: "Perception: what an image shows was not seen, or taken for something else",
    "key_information_omission": "Key information omission: something that decides the case was passed over",
    "clinical_context_misunderstanding": "Clinical context misunderstanding: the situation was taken for another",
    "medical_knowledge_deficiency": "Medical knowledge deficiency: a medical fact was missing or wrong",
    "priority_judgment_error": "Priority judgment error: seen, but not put first",
    "temporal_sequence_confusion": "Temporal sequence confusion: the course or its order was misread",
}
NONE = "none of these"


class ErrorClasses(ChoiceTask):
    name = "errors"
    title = "Error classes"
    summary = "Which kind of error led to a wrong answer? For wardround judge errors."
    source = "A run with its marks (marks.parquet) and its answers"
    roles = (STUDENT, *PHYSICIANS)
    settings = (
        Setting("readers", "Readers of each answer", 2),
        Setting("many", "Answers to draw", 100, "Evenly from the classes that the judge named. 0: all."),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "tasks/errors.html"
    field, choices, unsure = "class", (*CLASSES, PERCEPTION), NONE
    arbitrates = True

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        from wardround.running.stored_run import StoredRun
        from wardround.running.used_answers import scan_used

        if settings["readers"] < 1:
            raise WardroundError("each answer needs a reader")
        if not (source / MARKS_FILE).is_file():
            raise BadInput(source, "is not a run with marks")
        marks = pl.read_parquet(source / MARKS_FILE)
        class_by_key = {row[:-1]: row[-1] for row in marks.select(*MARK_KEY, "error_class").iter_rows()}
        with StoredRun.open(source) as run:
            run.verify_inputs(accept=False, as_marked=True)
            run.refuse_fewer(source / MARKS_FILE)
            wrong_list = list(wrong_answers(marks, scan_used(source), run.cases, run.store, run.study))
            can_show = run.cases.folder.resolve().is_relative_to(root.resolve())
        with_reasoning = [
            (wrong, reasoning) for wrong in wrong_list if (reasoning := reasoning_of(wrong.answer, wrong.question))
        ]
        if not with_reasoning:
            raise BadInput(source, "no wrong answer in it comes with reasoning")
        sample = balanced_sample(
            with_reasoning, lambda row: str(class_by_key[row[0].key]), settings["many"], settings["seed"]
        )
        return [
            _new_item(*row, class_by_key[row[0].key], weight, settings["readers"], can_show) for row, weight in sample
        ]

    def image_folder(self, source: Path, root: Path) -> Path:
        return run_image_folder(source, root)

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Person, level: str) -> dict[str, Any]:
        meanings = {
            name: words for name, words in MEANINGS.items() if name != PERCEPTION or item.shown.get("sent_images")
        }
        return {"classes": [*meanings.items(), (NONE, "None of these, or it cannot be decided")]}

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        pairs = [(label, item.hidden["class"]) for item, label in majority_labels(desk, task)]
        perception = sum(label == PERCEPTION for label, _ in pairs)
        pairs = [(label, judge) for label, judge in pairs if label in CLASSES and judge in CLASSES]
        tables = np.zeros((len(pairs), len(CLASSES), len(CLASSES)))
        for table, (label, judge) in zip(tables, pairs, strict=True):
            table[CLASSES.index(label), CLASSES.index(judge)] = 1
        interval = agreement_interval(cohen_kappa, tables) if pairs else None
        same = sum(label == judge for label, judge in pairs)
        context = {"items": len(pairs), "same": same, "kappa": interval, "perception": perception}
        return [PageSection.render("People and the judge", "tasks/errors_agreement.html", **context)]

    def exports(self) -> Sequence[Export]:
        return (Export("labels.jsonl", "for wardround judge errors RUN --labels", _labels),)


def _new_item(
    wrong: WrongAnswer, reasoning: str, error_class: str | None, weight: float, readers: int, can_show: bool
) -> NewItem:
    question, place = wrong.question, dict(zip(MARK_KEY, wrong.key, strict=True))
    changes = image_changes(question, wrong.condition)
    shown = {"question": shown_question(wrong), "gold": question.gold_text, "answer": stated_answer(wrong)}
    shown |= {"reasoning": reasoning, "sent_images": wrong.images, "put": changes if wrong.images else ""}
    pictures = sent_images(wrong.case, question, wrong.condition) if wrong.images and can_show else ()
    digest = blake(list(map(str, wrong.key))).hex()[:8]  # does not reveal the candidate
    hidden = {"place": place, "class": error_class, "weight": weight}
    name, wants = f"{place['case']}/{place['question']} {digest}", {"reader": readers}
    return NewItem(name, "answers", shown, wants, hidden, images=pictures)


def _labels(desk: Desk, task: Task) -> bytes:
    columns = ("candidate", "case", "question", "condition", "trial")
    return to_jsonl(
        {name: item.hidden["place"][name] for name in columns} | {"class": label}
        for item, label in majority_labels(desk, task)
    )
