"""Retain or discard (MedQ-Deg): a question with its image at L0, L1 and L2 is kept, or discarded for stated reasons.

The answers that candidates gave without the image are shown only after a reader has decided; the reader may then say
that the question is answerable without it. Agreement uses the first decision, the outcome the last.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from starlette.datastructures import FormData

from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.errors import BadInput, WardroundError
from wardround.core.random import seeded
from wardround.desk.auth.accounts import PHYSICIANS, Person
from wardround.desk.desk import Desk
from wardround.desk.folders import resolve_inside
from wardround.desk.pictures import Picture
from wardround.desk.records import DeskItem, DeskVerdict, NewImage, NewItem, Task
from wardround.desk.results.decisions import (
    ANSWERABLE,
    DISCARD,
    PAPER,
    QUESTION_REASONS,
    RETAIN,
    RULES,
    decide_items,
    decision_summary,
    discard_verdicts,
)
from wardround.desk.results.export import to_csv, to_jsonl
from wardround.desk.tasks.task_kind import Export, PageSection, Setting, TaskKind, checked_comment
from wardround.marking.marks import MARKS_FILE as MARKS

REASONS = {  # the paper's five mandatory criteria and its three further issues, in our words
    "baseline": "The L0 image itself is not of diagnostic quality",
    "modality": "The image is of none of the seven modalities",
    "destroyed": "L2 leaves nothing of diagnostic value",
    "unchanged": "L2 cannot be distinguished from L0",
    "irrelevant": "This degradation does not occur, or does not matter, in this modality",
    "severity": "Wrong severity: the levels are not in their order or not what they are called",
    "type": "Mislabelled: it is another degradation",
    ANSWERABLE: "The question can be answered without the image",
}


class Retain(TaskKind):
    name = "retain"
    title = "Retain or discard"
    summary = "Degraded questions are retained or discarded, as MedQ-Deg's radiologists did."
    source = "A case set with degraded questions, as wardround build medq-deg or degrade makes it"
    roles = PHYSICIANS
    settings = (
        Setting("readers", "Readers of each question", 3),
        Setting("rule", "A question is discarded by", "majority", "", tuple(RULES)),
        Setting("blind", "A run without images", "", "What it answered is shown to a reader after the decision."),
    )
    template = "tasks/retain.html"

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if settings["readers"] < 1:
            raise WardroundError("each question needs a reader")
        if not source.is_dir():
            raise BadInput(source, "is not the folder of a case set")
        blind = _blind_counts(resolve_inside(root, settings["blind"])) if settings["blind"] else {}
        items = [item for case in CaseSet.open(source) for item in _items_of_case(case, blind, settings["readers"])]
        if not items:
            raise BadInput(source, "has no degraded question")
        return items

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Person, level: str) -> dict[str, Any]:
        mine = desk.tasks.last_verdict(task, item.number, person)
        order = list(item.shown["levels"])
        seeded("positions", task.id, item.number, person.id).shuffle(order)
        pictures = sorted(desk.pictures.of_item(item), key=lambda picture: order.index(_level_of(picture)))
        captions = [_level_of(picture) for picture in pictures]
        context = {"ordered": [[picture] for picture in pictures], "captions": captions}
        blind = item.hidden.get("blind") if mine else None
        reasons = {name: words for name, words in REASONS.items() if name != ANSWERABLE or mine or not _has_blind(item)}
        groups = [
            {name: words for name, words in reasons.items() if (name in QUESTION_REASONS) == is_of_question}
            for is_of_question in (True, False)
        ]
        return context | {"blind": blind, "reasons": groups}

    def next_item(self, desk: Desk, task: Task, person: Person) -> int | None:
        """First an item that is decided, but whose blind answers were not shown yet."""
        pending = desk.store.value(
            "SELECT v.item FROM verdicts v JOIN items i ON i.task = v.task AND i.number = v.item"
            " WHERE v.task = ? AND v.person = ? AND json_extract(i.hidden, '$.blind') IS NOT NULL"
            " GROUP BY v.item HAVING NOT max(json_extract(v.said, '$.after_blind')) LIMIT 1",
            *(task.id, person.id),
        )
        return super().next_item(desk, task, person) if pending is None else int(pending)

    def page_after(self, desk: Desk, task: Task, item: DeskItem, person: Person) -> str | None:
        mine = desk.tasks.last_verdict(task, item.number, person)
        if mine is not None and _has_blind(item) and not mine.said["after_blind"]:
            return f"/tasks/{task.id}/items/{item.number}"
        return None

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        return {
            "decision": str(form.get("decision") or ""),
            "reasons": [reason for reason in form.getlist("reason") if isinstance(reason, str)],
            "comment": str(form.get("comment") or "").strip(),
            "after_blind": form.get("after_blind") == "yes",
        }

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        return {"decision": [said["decision"]], "reason": said["reasons"], "comment": [said["comment"]]}

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        decision, reasons, after_blind = said.get("decision"), said.get("reasons", []), said.get("after_blind", False)
        if decision not in (RETAIN, DISCARD):
            raise WardroundError("choose retain or discard")
        if not isinstance(reasons, list) or any(reason not in tuple(REASONS) for reason in reasons):
            raise WardroundError("a reason is one of the eight")
        comment = checked_comment(said)
        if not isinstance(after_blind, bool):
            raise WardroundError("after_blind is true or false")
        if (decision == DISCARD) != bool(reasons):
            raise WardroundError(
                "say why it is discarded" if decision == DISCARD else "a retained question has no reasons"
            )
        if ANSWERABLE in reasons and _has_blind(item) and not after_blind:
            raise WardroundError("decide first; then you see the answers that were given without the image")
        return {"decision": decision, "reasons": sorted(set(reasons)), "comment": comment, "after_blind": after_blind}

    def label(self, said: Mapping[str, Any]) -> str | None:
        return str(said["decision"])

    def after_verdict(self, desk: Desk, task: Task, item: DeskItem, verdict: DeskVerdict) -> None:
        own = [other for other in desk.tasks.verdicts(task, item.number) if other.person == verdict.person]
        if verdict.said["after_blind"] and len(own) < 2:
            raise WardroundError("decide first; then you see the answers that were given without the image")

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        context = decision_summary(desk, task) | {"words": REASONS, "paper": PAPER}
        return [PageSection.render("Decisions", "tasks/retain_summary.html", **context)]

    def exports(self) -> Sequence[Export]:
        return (
            Export("decisions.jsonl", "every degraded question with its decision, votes, reasons and the rule", _jsonl),
            Export("decisions.csv", "the same as a table", _csv),
            Export("summary.json", "the discard rate with its interval, and the paper's 8.3%", _summary),
            Export("review.jsonl", "for wardround build review --share 0: drops discarded questions", discard_verdicts),
        )


def _items_of_case(case: Case, blind: Mapping[tuple[str, str], list[int]], readers: int) -> Iterator[NewItem]:
    """One item for each clean question and type, with the levels that the set has."""
    questions = {question.id: question for question in case.questions}
    groups: dict[tuple[str, str], dict[str, Question]] = {}
    for question in case.questions:
        if question.of and len(question.degradations) == 1:
            type, _, level = question.degradations[0].partition("@")
            groups.setdefault((question.of, type), {})[level] = question
    for (clean_id, type), levels in groups.items():
        clean = questions[clean_id]
        by_level = {"L0": clean, **dict(sorted(levels.items()))}
        images = tuple(image for level, question in by_level.items() for image in _images(case, question, level, type))
        ids = (clean_id, *(question.id for question in levels.values()))
        counts = np.sum([blind[case.id, id] for id in ids if (case.id, id) in blind], axis=0)
        hidden = {"blind": {"right": int(counts[0]), "of": int(counts[1])}} if np.ndim(counts) else {}
        shown = {
            "case": case.id,
            "prompt": clean.prompt,
            "options": clean.options,
            "gold": clean.gold,
            "type": type,
            "modality": next((image.image.modality for image in images if image.image.modality), None),
            "levels": list(by_level),
            "degraded": [
                {"question": question.id, "of": clean_id, "severity": level}
                for level, question in sorted(levels.items())
            ],
        }
        yield NewItem(f"{case.id}/{clean_id}/{type}", type, shown, {"reader": readers}, hidden, images=images)


def _images(case: Case, question: Question, level: str, type: str) -> Iterator[NewImage]:
    numbers = question.images if question.images is not None else range(len(case.images))
    for number in numbers:
        image = case.images[number]
        if level == "L0" and image.degradations:
            continue
        degradation = None if level == "L0" or image.degradations else f"{type}@{level}"
        yield NewImage(f"{level}/{number}", image, degradation)


def _blind_counts(run: Path) -> dict[tuple[str, str], list[int]]:
    """Right answers and all answers without the image, by case and question; refused ones are no answers."""
    if not (run / MARKS).is_file():
        raise BadInput(run, "is not a run with marks")
    marks = pl.read_parquet(run / MARKS, columns=["case", "question", "condition", "outcome"])
    blind_conditions = [text for text in marks["condition"].unique() if _is_blind(json.loads(text))]
    if not blind_conditions:
        raise BadInput(run, "every condition of this run shows the images")
    is_answer = pl.col("condition").is_in(blind_conditions) & pl.col("outcome").ne_missing("refused")
    groups = marks.filter(is_answer).group_by("case", "question")
    counts = groups.agg((pl.col("outcome") == "right").sum().alias("right"), pl.len().alias("of"))
    return {(case, question): [right, of] for case, question, right, of in counts.iter_rows()}


def _is_blind(condition: Mapping[str, Any]) -> bool:
    inputs = condition.get("inputs")
    return condition.get("images") in ("blank", "none") or (bool(inputs) and "images" not in str(inputs).split("+"))


def _has_blind(item: DeskItem) -> bool:
    return "blind" in item.hidden


def _level_of(picture: Picture) -> str:
    return picture.name.partition("/")[0]


def _decision_rows(desk: Desk, task: Task) -> Iterator[dict[str, Any]]:
    rule = RULES[task.settings["rule"]]
    for decision in decide_items(desk, task):
        for question in decision.item.shown["degraded"]:
            row = {"case": decision.item.shown["case"], **question, "type": decision.item.shown["type"]}
            row |= {"decision": decision.decision, "clean": decision.clean}
            row |= {"discard_votes": decision.votes, "readers": decision.readers}
            yield row | {"reasons": decision.reasons, "rule": rule}


def _jsonl(desk: Desk, task: Task) -> bytes:
    return to_jsonl(_decision_rows(desk, task))


def _csv(desk: Desk, task: Task) -> bytes:
    columns = ("case", "question", "of", "type", "severity", "decision", "clean", "discard_votes", "readers")
    return to_csv(_decision_rows(desk, task), (*columns, "reasons", "rule"))


def _summary(desk: Desk, task: Task) -> bytes:
    paper = {"value": PAPER, "where": "MedQ-Deg appendix 0.A.1, about 8.3%"}
    summary = decision_summary(desk, task) | {"paper": paper}
    return json.dumps(summary, indent=2, ensure_ascii=False).encode() + b"\n"
