"""What became of degraded questions: retained or discarded by the task's rule, and how many."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from wardround.desk.agreement import latest
from wardround.desk.desk import Desk
from wardround.desk.records import Item, Task
from wardround.measuring.wilson import wilson

RETAIN, DISCARD, OPEN = "retain", "discard", "open"
PAPER = 0.083  # MedQ-Deg, appendix 0.A.1: about 8.3% of the generated pairs were discarded
RULES = {
    "majority": "discarded if more than half of its readers discard it (our choice: the paper does not say)",
    "any": "discarded if any of its readers discards it (our choice: the paper does not say)",
}


class Decision(NamedTuple):
    """What became of an item."""

    item: Item
    decision: str
    votes: int
    readers: int
    reasons: dict[str, int]


def decisions(desk: Desk, task: Task) -> list[Decision]:
    """What became of every item by the task's rule; open until enough have read it."""
    said = latest(desk.work.verdicts(task))
    found = []
    for item in desk.work.items(task):
        verdicts = list(said.get(item.number, {}).values())
        votes = [each for each in verdicts if each.said["decision"] == DISCARD]
        reasons = Counter(reason for each in votes for reason in each.said["reasons"])
        many = len(verdicts)
        gone = bool(votes) if task.settings["rule"] == "any" else 2 * len(votes) > many
        decision = OPEN if many < task.settings["readers"] else DISCARD if gone else RETAIN
        found.append(Decision(item, decision, len(votes), many, dict(sorted(reasons.items()))))
    return found


def summary(desk: Desk, task: Task) -> dict[str, Any]:
    """The discard rate over decided pairs (an image at one level with its question), by type too."""
    every = decisions(desk, task)
    decided = [each for each in every if each.decision != OPEN]
    reasons = Counter(reason for each in decided if each.decision == DISCARD for reason in each.reasons)
    types = sorted({each.item.batch for each in decided})
    return {
        "rule": RULES[task.settings["rule"]],
        "readers": task.settings["readers"],
        "pairs": sum(len(each.item.shown["degraded"]) for each in every),
        "rate": _rate(decided),
        "types": {name: _rate([each for each in decided if each.item.batch == name]) for name in types},
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
