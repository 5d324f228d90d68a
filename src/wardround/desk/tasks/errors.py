"""Error classes (ClinBench): which of five kinds of error led to a wrong answer, blind to candidate and judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import blake
from wardround.core.errors import BadInput, WardroundError
from wardround.desk.auth.people import PHYSICIANS, STUDENT
from wardround.desk.desk import Desk
from wardround.desk.pages import render
from wardround.desk.records import NewItem, Task
from wardround.desk.results.agreement import kappas, with_interval
from wardround.desk.results.consensus import consensus
from wardround.desk.results.export import jsonl
from wardround.desk.sampling import balanced
from wardround.desk.tasks.one_choice import OneChoice
from wardround.desk.tasks.task_kind import Export, Part, Setting
from wardround.marking.judges.error_classes import CLASSES, Wrong, as_put, reasoning_of, wrong_answers
from wardround.marking.judges.judge import judged_diagnoses
from wardround.marking.marks import FILE, PLACE

MEANINGS = {
    "key_information_omission": "Key information omission: something that decides the case was passed over",
    "clinical_context_misunderstanding": "Clinical context misunderstanding: the situation was taken for another",
    "medical_knowledge_deficiency": "Medical knowledge deficiency: a medical fact was missing or wrong",
    "priority_judgment_error": "Priority judgment error: seen, but not put first",
    "temporal_sequence_confusion": "Temporal sequence confusion: the course or its order was misread",
}
NONE = "none of these"


class ErrorClasses(OneChoice):
    name = "errors"
    title = "Error classes"
    what = "Which kind of error led to a wrong answer? For wardround judge errors."
    source = "A run with its marks (marks.parquet) and its answers"
    roles = (STUDENT, *PHYSICIANS)
    settings = (
        Setting("readers", "Readers of each answer", 2),
        Setting("many", "Answers to draw", 100, "Evenly from the classes that the judge named. 0: all."),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "errors.html"
    field, choices, unsure = "class", CLASSES, NONE
    arbitrates = True

    def items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        from wardround.api import Ran
        from wardround.running.used_answers import scan_used

        if settings["readers"] < 1:
            raise WardroundError("each answer needs a reader")
        if not (source / FILE).is_file():
            raise BadInput(source, "is no run with marks")
        marks = pl.read_parquet(source / FILE)
        named = {row[:-1]: row[-1] for row in marks.select(*PLACE, "error_class").iter_rows()}
        ran = Ran.open(source, None)
        try:
            wrong = list(wrong_answers(marks, scan_used(source), ran.cases, ran.store, ran.study))
        finally:
            ran.store.close()
        told = [(each, reasoning) for each in wrong if (reasoning := reasoning_of(each.answer, each.question))]
        if not told:
            raise BadInput(source, "no wrong answer in it comes with reasoning")
        drawn = balanced(told, lambda row: str(named[row[0].place]), settings["many"], settings["seed"])
        return [_new(*row, named[row[0].place], weight, settings["readers"]) for row, weight in drawn]

    def view(self, *_: Any) -> dict[str, Any]:
        return {"classes": [*MEANINGS.items(), (NONE, "None of these, or it cannot be told")]}

    def parts(self, desk: Desk, task: Task) -> list[Part]:
        pairs = [(label, item.hidden["class"]) for item, label in consensus(desk, task)]
        pairs = [(label, judge) for label, judge in pairs if judge in CLASSES]
        tables = np.zeros((len(pairs), len(CLASSES), len(CLASSES)))
        for table, (label, judge) in zip(tables, pairs, strict=True):
            table[CLASSES.index(label), CLASSES.index(judge)] = 1
        found = with_interval(kappas, tables) if pairs else None
        same = sum(label == judge for label, judge in pairs)
        return [Part("People and the judge", render("errors_figures.html", items=len(pairs), same=same, found=found))]

    def exports(self) -> Sequence[Export]:
        return (Export("labels.jsonl", "for wardround judge errors RUN --labels", _labels),)


def _new(wrong: Wrong, reasoning: str, named: str | None, weight: float, readers: int) -> NewItem:
    question, place = wrong.question, dict(zip(PLACE, wrong.place, strict=True))
    gold = question.choices[int(question.gold)] if question.options else str(question.gold)
    said = question.choices[wrong.option] if wrong.option is not None else judged_diagnoses(wrong.answer.text)[0]
    told = {"question": as_put(wrong), "gold": gold, "answer": said, "reasoning": reasoning}
    mark = blake(list(map(str, wrong.place))).hex()[:8]  # tells readers nothing of the candidate
    hidden = {"place": place, "class": named, "weight": weight}
    return NewItem(f"{place['case']}/{place['question']} {mark}", "answers", told, {"reader": readers}, hidden)


def _labels(desk: Desk, task: Task) -> bytes:
    columns = ("candidate", "case", "question", "condition", "trial")
    return jsonl(
        {name: item.hidden["place"][name] for name in columns} | {"class": label}
        for item, label in consensus(desk, task)
    )
