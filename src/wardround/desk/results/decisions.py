"""What became of degraded questions: retained or discarded by the task's rule, and how many."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from wardround.desk.desk import Desk
from wardround.desk.records import Item, Task, Verdict
from wardround.desk.results.agreement import latest
from wardround.measuring.engine.wilson import wilson

RETAIN, DISCARD, OPEN = "retain", "discard", "open"
PAPER = 0.083  # MedQ-Deg, appendix 0.A.1: about 8.3% of the generated pairs were discarded
RULES = {
    name: f"discarded if {who} it; if {who} it for the L0 image or the question itself, the clean question is out too,"
    " with all that is made of it (our choice: the paper does not say)"
    for name, who in (("majority", "more than half of its readers discard"), ("any", "any of its readers discards"))
}
ANSWERABLE = "answerable"
OF_THE_QUESTION = frozenset(("baseline", "modality", ANSWERABLE))  # reasons that hold for the clean question as well


class Decision(NamedTuple):
    """What became of an item, and of the clean question that it is made of."""

    item: Item
    decision: str
    clean: str
    votes: int
    readers: int
    reasons: dict[str, int]

    @property
    def question(self) -> tuple[str, str]:
        """Case and id of the clean question."""
        return self.item.shown["case"], self.item.shown["degraded"][0]["of"]


def decisions(desk: Desk, task: Task) -> list[Decision]:
    """What became of every item by the task's rule; open until enough have read it, or its clean question is out."""
    said = latest(desk.work.verdicts(task))
    voted = [_voted(task, item, list(said.get(item.number, {}).values())) for item in desk.work.items(task)]
    out = {each.question for each in voted if each.clean == DISCARD}
    still_open = {each.question for each in voted if each.clean == OPEN}
    return [
        each._replace(decision=DISCARD, clean=DISCARD)
        if each.question in out
        else each._replace(clean=OPEN if each.question in still_open else RETAIN)
        for each in voted
    ]


def _voted(task: Task, item: Item, verdicts: list[Verdict]) -> Decision:
    """What the readers of one item made of it, and of its clean question."""
    votes = [each for each in verdicts if each.said["decision"] == DISCARD]
    whole = [each for each in votes if not OF_THE_QUESTION.isdisjoint(each.said["reasons"])]
    reasons = Counter(reason for each in votes for reason in each.said["reasons"])

    def decided(against: list[Verdict]) -> str:
        if len(verdicts) < task.settings["readers"]:
            return OPEN
        gone = bool(against) if task.settings["rule"] == "any" else 2 * len(against) > len(verdicts)
        return DISCARD if gone else RETAIN

    return Decision(item, decided(votes), decided(whole), len(votes), len(verdicts), dict(sorted(reasons.items())))


def summary(desk: Desk, task: Task) -> dict[str, Any]:
    """The discard rate over decided pairs (an image at one level with its question), by type too."""
    every = decisions(desk, task)
    decided = [each for each in every if each.decision != OPEN]
    reasons = Counter(reason for each in decided if each.decision == DISCARD for reason in each.reasons)
    types = sorted({each.item.batch for each in decided})
    clean = Counter({each.question: each.clean for each in every}.values())
    return {
        "rule": RULES[task.settings["rule"]],
        "readers": task.settings["readers"],
        "pairs": sum(len(each.item.shown["degraded"]) for each in every),
        "rate": _rate(decided),
        "types": {name: _rate([each for each in decided if each.item.batch == name]) for name in types},
        "clean": {"questions": clean.total(), "discarded": clean[DISCARD], "open": clean[OPEN]},
        "reasons": dict(reasons.most_common()),
    }


def _rate(decided: list[Decision]) -> dict[str, Any]:
    pairs = sum(len(each.item.shown["degraded"]) for each in decided)
    gone = sum(len(each.item.shown["degraded"]) for each in decided if each.decision == DISCARD)
    if not pairs:
        return {"decided": 0, "discarded": 0, "value": None, "low": None, "high": None}
    # the levels of one question are decided together: the interval counts questions, not levels
    low, high = wilson(np.array(gone / pairs), np.array(float(len(decided))))
    return {"decided": pairs, "discarded": gone, "value": gone / pairs, "low": float(low), "high": float(high)}
