"""Degraded questions: retained or discarded by the task's rule, and the discard rate."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from wardround.building.review.items import PHYSICIAN
from wardround.building.review.verdicts import EDIT
from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, DeskVerdict, Task
from wardround.desk.results.agreement import latest_verdicts
from wardround.desk.results.export import to_jsonl
from wardround.measuring.engine.wilson import wilson

RETAIN, DISCARD, OPEN = "retain", "discard", "open"
PAPER = 0.083  # MedQ-Deg appendix 0.A.1: about 8.3% of the generated pairs were discarded
RULES = {
    name: f"discarded if {who} it; if {who} it for the L0 image or the question itself, the clean question is out too,"
    " with all that is made of it (our choice: the paper does not say)"
    for name, who in (("majority", "more than half of its readers discard"), ("any", "any of its readers discards"))
}
ANSWERABLE = "answerable"
QUESTION_REASONS = frozenset(("baseline", "modality", ANSWERABLE))  # reasons that hold for the clean question as well


class Decision(NamedTuple):
    """The decision on an item, and on the clean question that it is made from."""

    item: DeskItem
    decision: str
    clean: str
    votes: int
    readers: int
    reasons: dict[str, int]

    @property
    def question(self) -> tuple[str, str]:
        """Case and id of the clean question."""
        return self.item.shown["case"], self.item.shown["degraded"][0]["of"]


def decide_items(desk: Desk, task: Task) -> list[Decision]:
    """The decision on every item by the task's rule; open until enough have read it, or its clean question is out."""
    verdicts = latest_verdicts(desk.tasks.verdicts(task))
    items = desk.tasks.list_items(task)
    votes = [_count_votes(task, item, list(verdicts.get(item.number, {}).values())) for item in items]
    discarded = {vote.question for vote in votes if vote.clean == DISCARD}
    still_open = {vote.question for vote in votes if vote.clean == OPEN}
    return [
        vote._replace(decision=DISCARD, clean=DISCARD)
        if vote.question in discarded
        else vote._replace(clean=OPEN if vote.question in still_open else RETAIN)
        for vote in votes
    ]


def _count_votes(task: Task, item: DeskItem, verdicts: list[DeskVerdict]) -> Decision:
    """The readers' decision on one item, and on its clean question."""
    discards = [verdict for verdict in verdicts if verdict.said["decision"] == DISCARD]
    clean_discards = [verdict for verdict in discards if not QUESTION_REASONS.isdisjoint(verdict.said["reasons"])]
    reasons = Counter(reason for verdict in discards for reason in verdict.said["reasons"])

    def decide(against: list[DeskVerdict]) -> str:
        if len(verdicts) < task.settings["readers"]:
            return OPEN
        is_discarded = bool(against) if task.settings["rule"] == "any" else 2 * len(against) > len(verdicts)
        return DISCARD if is_discarded else RETAIN

    decisions = decide(discards), decide(clean_discards)
    return Decision(item, *decisions, len(discards), len(verdicts), dict(sorted(reasons.items())))


def decision_summary(desk: Desk, task: Task) -> dict[str, Any]:
    """The discard rate over decided pairs (an image at one level with its question), by type too."""
    decisions = decide_items(desk, task)
    decided = [decision for decision in decisions if decision.decision != OPEN]
    discarded = [decision for decision in decided if decision.decision == DISCARD]
    reasons = Counter(reason for decision in discarded for reason in decision.reasons)
    types = sorted({decision.item.batch for decision in decided})
    clean = Counter({decision.question: decision.clean for decision in decisions}.values())
    return {
        "rule": RULES[task.settings["rule"]],
        "readers": task.settings["readers"],
        "pairs": _count_pairs(decisions),
        "rate": _rate(decided),
        "types": {name: _rate([decision for decision in decided if decision.item.batch == name]) for name in types},
        "clean": {"questions": clean.total(), "discarded": clean[DISCARD], "open": clean[OPEN]},
        "reasons": dict(reasons.most_common()),
    }


def _rate(decided: list[Decision]) -> dict[str, Any]:
    pairs = _count_pairs(decided)
    discarded = _count_pairs([decision for decision in decided if decision.decision == DISCARD])
    if not pairs:
        return {"decided": 0, "discarded": 0, "value": None, "low": None, "high": None}
    # the levels of one question are decided together: the interval counts questions, not levels
    low, high = wilson(np.array(discarded / pairs), np.array(float(len(decided))))
    rate = {"decided": pairs, "discarded": discarded, "value": discarded / pairs}
    return rate | {"low": float(low), "high": float(high)}


def _count_pairs(decisions: list[Decision]) -> int:
    return sum(len(decision.item.shown["degraded"]) for decision in decisions)


def discard_verdicts(desk: Desk, task: Task) -> bytes:
    """Verdicts for `wardround build review`: one per case, which removes its discarded questions, or all of it."""
    discarded: dict[str, set[str]] = {}
    for decision in decide_items(desk, task):
        if decision.decision == DISCARD:
            case_id, clean_id = decision.question
            questions = {question["question"] for question in decision.item.shown["degraded"]}
            clean = {clean_id} if decision.clean == DISCARD else set()
            discarded.setdefault(case_id, set()).update(questions | clean)
    if not discarded:
        return b""
    shared = {
        "reviewer": f"readers of {task.name}",
        "level": PHYSICIAN,
        "time": max(verdict.time for verdict in desk.tasks.verdicts(task)),
        "reasons": [RULES[task.settings["rule"]]],
    }
    lines = []
    for case in CaseSet.open(desk.source_path(task)):
        if case.id in discarded:
            dropped = _with_dependents(case, discarded[case.id])
            edits = {f"questions.{question.id}": None for question in case.questions if question.id in dropped}
            verdict = {"verdict": EDIT, "edits": edits} if len(edits) < len(case.questions) else {"verdict": DISCARD}
            lines.append({"item": f"cases/{case.id}", **shared, **verdict})
    return to_jsonl(lines)


def _with_dependents(case: Case, ids: set[str]) -> set[str]:
    """These questions with all that are made from them or follow them in a chain."""
    more = {
        question.id
        for question in case.questions
        if question.id in ids or question.of in ids or not ids.isdisjoint(question.given)
    }
    return ids if more == ids else _with_dependents(case, more)
