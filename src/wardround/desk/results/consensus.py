"""Consensus: what the majority of an item's readers says now."""

from __future__ import annotations

from collections import Counter

from wardround.desk.desk import Desk
from wardround.desk.records import Item, Task
from wardround.desk.results.agreement import latest


def consensus(desk: Desk, task: Task) -> list[tuple[Item, str]]:
    """Items with the label that more than half of their readers give, arbiters among them; the others are left out."""
    kind, said = desk.kind(task), latest(desk.work.verdicts(task))
    found = []
    for item in desk.work.items(task):
        labels = [label for each in said.get(item.number, {}).values() if (label := kind.label(each.said)) is not None]
        if labels:
            label, most = Counter(labels).most_common(1)[0]
            if 2 * most > len(labels):
                found.append((item, label))
    return found
