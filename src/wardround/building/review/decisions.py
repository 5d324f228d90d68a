"""Settling: what becomes of an item by what its readers said.

- Not all readings that were drawn are there: it stays open.
- All say the same: that.
- Two disagree: kappa of their batch (a queue and a pair of readers) decides. At 0.8 or more over at least 30 items the
  higher level counts, between equals the more careful verdict. Else a third reader arbitrates.
- Three or more: what more than half of them say. If there is no such verdict the dispute persists: discarded.

X-PCR states the 20%, the 0.8, the arbitration and the discarding; the rest is our choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from wardround.building.review.items import PHYSICIAN, Item
from wardround.building.review.verdicts import DISCARD, EDIT, SAYINGS, Verdict
from wardround.measuring.validation.kappa import kappa_of

AGREED = 0.8
FEWEST = 30  # items of a batch whose kappa says something
UNREAD, WAITING, SETTLED = "unread", "awaits a second reading", "settled"
ARBITRATION, DISPUTE = "in arbitration", "persistent dispute"

Batch = tuple[str, str, str]  # a queue, and two readers by name


class Agreement(NamedTuple):
    """How far two readers of a queue agree."""

    queue: str
    one: str
    other: str
    items: int
    agreed: int
    kappa: float  # nan where both always said the same one thing

    @property
    def is_good(self) -> bool:
        return self.items >= FEWEST and (self.kappa >= AGREED or self.agreed == self.items)


class Settled(NamedTuple):
    """What became of an item: its state, the verdict, and whose edits count."""

    item: Item
    state: str
    verdict: str | None
    readings: Sequence[Verdict]

    @property
    def edits(self) -> Verdict | None:
        """The edit that counts: of the highest level, the latest."""
        if self.verdict != EDIT:
            return None
        edits = [each for each in self.readings if each.verdict == EDIT]
        return max(edits, key=lambda each: (each.level == PHYSICIAN, each.moment, each.reviewer))


def agreements(read: Mapping[str, Sequence[Verdict]], queues: Mapping[str, str]) -> dict[Batch, Agreement]:
    """Cohen's kappa of each batch over the first two readings of its items. `queues`: the queue of each item."""
    tables: dict[Batch, np.ndarray] = {}
    for item, readings in read.items():
        if len(readings) > 1:
            batch, (one, other) = _batch(queues[item], readings)
            table = tables.setdefault(batch, np.zeros((len(SAYINGS), len(SAYINGS))))
            table[SAYINGS.index(one.verdict), SAYINGS.index(other.verdict)] += 1
    return {
        batch: Agreement(*batch, int(table.sum()), int(np.trace(table)), kappa_of(table))
        for batch, table in sorted(tables.items())
    }


def settle(items: Iterable[Item], verdicts: Iterable[Verdict]) -> tuple[list[Settled], list[Agreement]]:
    """What became of every item, and the agreement of every batch."""
    read: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        read.setdefault(verdict.item, []).append(verdict)
    listed = list(items)
    batches = agreements(read, {item.item: item.queue for item in listed})
    return [_settled(item, read.get(item.item, []), batches) for item in listed], list(batches.values())


def _settled(item: Item, readings: list[Verdict], batches: Mapping[Batch, Agreement]) -> Settled:
    if not readings:
        return Settled(item, UNREAD, None, readings)
    if item.lacking(each.level for each in readings):
        return Settled(item, WAITING, None, readings)
    said = Counter(each.verdict for each in readings)
    verdict, most = said.most_common(1)[0]
    if 2 * most > len(readings):
        return Settled(item, SETTLED, verdict, readings)
    if len(readings) > 2:
        return Settled(item, DISPUTE, DISCARD, readings)
    batch, _ = _batch(item.queue, readings)
    if batches[batch].is_good:
        stands = max(readings, key=lambda each: (each.level == PHYSICIAN, SAYINGS.index(each.verdict)))
        return Settled(item, SETTLED, stands.verdict, readings)
    return Settled(item, ARBITRATION, None, readings)


def _batch(queue: str, readings: Sequence[Verdict]) -> tuple[Batch, list[Verdict]]:
    """The batch of an item, and its first two readings in the order of their readers' names."""
    pair = sorted(readings[:2], key=lambda each: each.reviewer)
    return (queue, pair[0].reviewer, pair[1].reviewer), pair
