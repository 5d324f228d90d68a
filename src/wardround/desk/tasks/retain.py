"""Retain or discard (MedQ-Deg): a question with its image at L0, L1 and L2, kept or thrown out for stated reasons.

What candidates answered without the image is shown only after a reader has decided; the reader may then say that the
question is answerable without it. Agreement is measured on the first decision, the outcome on the last.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from starlette.datastructures import FormData

from wardround.asking.options import seeded
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.errors import BadInput, WardroundError
from wardround.desk.auth.people import PHYSICIANS, Person
from wardround.desk.desk import Desk
from wardround.desk.folders import inside
from wardround.desk.pages import render
from wardround.desk.records import Item, NewImage, NewItem, Task, Verdict
from wardround.desk.results.decisions import (
    ANSWERABLE,
    DISCARD,
    OF_THE_QUESTION,
    PAPER,
    RETAIN,
    RULES,
    decisions,
    summary,
)
from wardround.desk.results.export import jsonl, table
from wardround.desk.results.export_discards import taken_out
from wardround.desk.tasks.task_kind import Export, Kind, Part, Setting
from wardround.marking.marks import FILE as MARKS

REASONS = {  # the paper's five mandatory criteria and its three further issues, in our words
    "baseline": "The L0 image itself is not of diagnostic quality",
    "modality": "The image is of none of the seven modalities",
    "destroyed": "L2 leaves nothing of diagnostic value",
    "unchanged": "L2 cannot be told from L0",
    "irrelevant": "This degradation does not occur, or does not matter, in this modality",
    "severity": "Wrong severity: the levels are not in their order or not what they are called",
    "type": "Mislabelled: it is another degradation",
    ANSWERABLE: "The question can be answered without the image",
}


class Retain(Kind):
    name = "retain"
    title = "Retain or discard"
    what = "Degraded questions are kept or thrown out, as MedQ-Deg's radiologists did."
    source = "A case set with degraded questions, as wardround build medq-deg or degrade makes it"
    roles = PHYSICIANS
    settings = (
        Setting("readers", "Readers of each question", 3),
        Setting("rule", "A question is discarded by", "majority", "", tuple(RULES)),
        Setting("blind", "A run without images", "", "What it answered is shown to a reader after the decision."),
    )
    template = "retain.html"

    def items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if settings["readers"] < 1:
            raise WardroundError("each question needs a reader")
        if not source.is_dir():
            raise BadInput(source, "is no case set's folder")
        blind = _blind(inside(root, settings["blind"])) if settings["blind"] else {}
        found = [item for case in CaseSet.open(source) for item in _of_case(case, blind, settings["readers"])]
        if not found:
            raise BadInput(source, "no question in it is degraded")
        return found

    # what is seen

    def view(self, desk: Desk, task: Task, item: Item, person: Person, level: str) -> dict[str, Any]:
        mine = desk.work.mine(task, item.number, person)
        order = list(item.shown["levels"])
        seeded("positions", task.id, item.number, person.id).shuffle(order)
        pictures = sorted(desk.pictures.of(item), key=lambda each: order.index(each.name.partition("/")[0]))
        told = {"ordered": pictures, "captions": [each.name.partition("/")[0] for each in pictures]}
        blind = item.hidden.get("blind") if mine else None
        reasons = {name: words for name, words in REASONS.items() if name != ANSWERABLE or mine or not _has_blind(item)}
        groups = [
            {name: words for name, words in reasons.items() if (name in OF_THE_QUESTION) == whole}
            for whole in (True, False)
        ]
        return told | {"blind": blind, "reasons": groups}

    def next(self, desk: Desk, task: Task, person: Person) -> int | None:
        """Decided, but the blind run not seen: that first."""
        unseen = desk.store.value(
            "SELECT v.item FROM verdicts v JOIN items i ON i.task = v.task AND i.number = v.item"
            " WHERE v.task = ? AND v.person = ? AND json_extract(i.hidden, '$.blind') IS NOT NULL"
            " GROUP BY v.item HAVING NOT max(json_extract(v.said, '$.after_blind')) LIMIT 1",
            *(task.id, person.id),
        )
        return super().next(desk, task, person) if unseen is None else int(unseen)

    def done(self, desk: Desk, task: Task, item: Item, person: Person) -> str | None:
        mine = desk.work.mine(task, item.number, person)
        if mine is not None and _has_blind(item) and not mine.said["after_blind"]:
            return f"/tasks/{task.id}/items/{item.number}"
        return None

    # what is said

    def read(self, form: FormData, item: Item) -> dict[str, Any]:
        return {
            "decision": str(form.get("decision") or ""),
            "reasons": [each for each in form.getlist("reason") if isinstance(each, str)],
            "comment": str(form.get("comment") or "").strip(),
            "after_blind": form.get("after_blind") == "yes",
        }

    def form(self, said: Mapping[str, Any], item: Item) -> dict[str, list[str]]:
        return {"decision": [said["decision"]], "reason": said["reasons"], "comment": [said["comment"]]}

    def checked(self, said: Mapping[str, Any], task: Task, item: Item) -> dict[str, Any]:
        decision, reasons, comment = said.get("decision"), said.get("reasons", []), said.get("comment", "")
        after = said.get("after_blind", False)
        if decision not in (RETAIN, DISCARD):
            raise WardroundError("choose retain or discard")
        if not isinstance(reasons, list) or not all(isinstance(each, str) and each in REASONS for each in reasons):
            raise WardroundError("a reason is one of the eight")
        if not isinstance(comment, str) or len(comment) > 5_000 or not isinstance(after, bool):
            raise WardroundError("a comment has at most 5,000 characters")
        if (decision == DISCARD) != bool(reasons):
            raise WardroundError("say why it is discarded" if decision == DISCARD else "what is retained has no reason")
        if ANSWERABLE in reasons and _has_blind(item) and not after:
            raise WardroundError("decide first; then you see what was answered without the image")
        return {"decision": decision, "reasons": sorted(set(reasons)), "comment": comment, "after_blind": after}

    def label(self, said: Mapping[str, Any]) -> str | None:
        return str(said["decision"])

    def after(self, desk: Desk, task: Task, item: Item, verdict: Verdict) -> None:
        mine = [each for each in desk.work.verdicts(task, item.number) if each.person == verdict.person]
        if verdict.said["after_blind"] and len(mine) < 2:
            raise WardroundError("decide first; then you see what was answered without the image")

    # what comes of it

    def parts(self, desk: Desk, task: Task) -> list[Part]:
        return [Part("Decisions", render("retain_figures.html", **summary(desk, task), words=REASONS, paper=PAPER))]

    def exports(self) -> Sequence[Export]:
        return (
            Export("decisions.jsonl", "every degraded question with its decision, votes, reasons and the rule", _lines),
            Export("decisions.csv", "the same as a table", _table),
            Export("summary.json", "the discard rate with its interval, beside the paper's 8.3%", _summary),
            Export("review.jsonl", "for wardround build review --share 0: takes out what was discarded", taken_out),
        )


def _of_case(case: Case, blind: Mapping[tuple[str, str], list[int]], readers: int) -> Iterator[NewItem]:
    """One item for each clean question and type, with the levels that the set has."""
    questions = {question.id: question for question in case.questions}
    groups: dict[tuple[str, str], dict[str, Question]] = {}
    for question in case.questions:
        if question.of and len(question.degradations) == 1:
            type, _, level = question.degradations[0].partition("@")
            groups.setdefault((question.of, type), {})[level] = question
    for (of, type), levels in groups.items():
        clean = questions[of]
        asked = {"L0": clean, **dict(sorted(levels.items()))}
        images = tuple(image for level, question in asked.items() for image in _images(case, question, level, type))
        counted = np.sum(
            [blind[case.id, id] for id in (of, *(each.id for each in levels.values())) if (case.id, id) in blind],
            axis=0,
        )
        hidden = {"blind": {"right": int(counted[0]), "of": int(counted[1])}} if np.ndim(counted) else {}
        shown = {
            "case": case.id,
            "prompt": clean.prompt,
            "options": clean.options,
            "gold": clean.gold,
            "type": type,
            "modality": next((image.image.modality for image in images if image.image.modality), None),
            "levels": list(asked),
            "degraded": [{"question": each.id, "of": of, "severity": level} for level, each in sorted(levels.items())],
        }
        yield NewItem(f"{case.id}/{of}/{type}", type, shown, {"reader": readers}, hidden, images=images)


def _images(case: Case, question: Question, level: str, type: str) -> Iterator[NewImage]:
    numbers = question.images if question.images is not None else range(len(case.images))
    for number in numbers:
        image = case.images[number]
        if level == "L0" and image.degradations:
            continue
        drawn = None if level == "L0" or image.degradations else f"{type}@{level}"
        yield NewImage(f"{level}/{number}", image, drawn)


def _blind(run: Path) -> dict[tuple[str, str], list[int]]:
    """How many answers without the image were right, and of how many, by case and question."""
    if not (run / MARKS).is_file():
        raise BadInput(run, "is no run with marks")
    marks = pl.read_parquet(run / MARKS, columns=["case", "question", "condition", "outcome"])
    without = [text for text in marks["condition"].unique() if _is_blind(json.loads(text))]
    if not without:
        raise BadInput(run, "every condition of this run shows the images")
    told = marks.filter(pl.col("condition").is_in(without)).group_by("case", "question")
    counts = told.agg((pl.col("outcome") == "right").sum().alias("right"), pl.len().alias("of"))
    return {(case, question): [right, of] for case, question, right, of in counts.iter_rows()}


def _is_blind(condition: Mapping[str, Any]) -> bool:
    inputs = condition.get("inputs")
    return condition.get("images") in ("blank", "none") or (bool(inputs) and "images" not in str(inputs).split("+"))


def _has_blind(item: Item) -> bool:
    return "blind" in item.hidden


def _told(desk: Desk, task: Task) -> Iterator[dict[str, Any]]:
    rule = RULES[task.settings["rule"]]
    for each in decisions(desk, task):
        for question in each.item.shown["degraded"]:
            told = {"case": each.item.shown["case"], **question, "type": each.item.shown["type"]}
            told |= {"decision": each.decision, "clean": each.clean}
            told |= {"discard_votes": each.votes, "readers": each.readers}
            yield told | {"reasons": each.reasons, "rule": rule}


def _lines(desk: Desk, task: Task) -> bytes:
    return jsonl(_told(desk, task))


def _table(desk: Desk, task: Task) -> bytes:
    named = ("case", "question", "of", "type", "severity")
    decided = ("decision", "clean", "discard_votes", "readers", "reasons", "rule")
    return table(_told(desk, task), (*named, *decided))


def _summary(desk: Desk, task: Task) -> bytes:
    told = summary(desk, task) | {"paper": {"value": PAPER, "where": "MedQ-Deg, appendix 0.A.1, about 8.3%"}}
    return json.dumps(told, indent=2, ensure_ascii=False).encode() + b"\n"
