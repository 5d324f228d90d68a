"""The decision on each item, by the verdicts of its readers.

- Not all required readings are there: the item stays open.
- All verdicts agree: that verdict.
- Two disagree: kappa of their batch (a queue and a pair of readers) decides. At 0.8 or more over at least 30 items the
  higher level counts, between equals the more careful verdict. Otherwise a third reader arbitrates.
- Three or more: the verdict of more than half. If there is none, the dispute persists: discarded.

X-PCR states the 20%, the 0.8, the arbitration and the discarding; the rest is our choice.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.building.review.items import PHYSICIAN, ReviewItem
from wardround.building.review.verdicts import DISCARD, EDIT, VERDICTS, ReviewVerdict
from wardround.measuring.validation.agreement import cohen_kappa

MIN_KAPPA = 0.8
MIN_ITEMS = 30  # of a batch whose kappa counts
UNREAD, WAITING, SETTLED = "unread", "awaits a second reading", "settled"
ARBITRATION, DISPUTE = "in arbitration", "persistent dispute"

Batch = tuple[str, str, str]  # a queue, and two readers by name


class BatchAgreement(NamedTuple):
    """The agreement of two readers of a queue."""

    queue: str
    one: str
    other: str
    items: int
    agreed: int
    kappa: float  # nan if both always gave the same one verdict

    @property
    def is_good(self) -> bool:
        return self.items >= MIN_ITEMS and (self.kappa >= MIN_KAPPA or self.agreed == self.items)

    @property
    def needs_arbitration(self) -> bool:
        return not self.is_good and self.agreed < self.items


class ItemDecision(NamedTuple):
    """The state of an item, its verdict if there is one, and its readings."""

    item: ReviewItem
    state: str
    verdict: str | None
    readings: Sequence[ReviewVerdict]

    @property
    def edit(self) -> ReviewVerdict | None:
        """The reading whose edits count: of the highest level, the latest."""
        if self.verdict != EDIT:
            return None
        edits = [reading for reading in self.readings if reading.verdict == EDIT]
        return max(edits, key=lambda reading: (reading.level == PHYSICIAN, reading.moment, reading.reviewer))


def measure_agreements(
    readings_by_item: Mapping[str, Sequence[ReviewVerdict]], queue_by_item: Mapping[str, str]
) -> dict[Batch, BatchAgreement]:
    """Cohen's kappa of each batch over the first two readings of its items."""
    tables: dict[Batch, NDArray[np.float64]] = {}
    for item, readings in readings_by_item.items():
        if len(readings) > 1:
            batch, (one, other) = _batch(queue_by_item[item], readings)
            table = tables.setdefault(batch, np.zeros((len(VERDICTS), len(VERDICTS))))
            table[VERDICTS.index(one.verdict), VERDICTS.index(other.verdict)] += 1
    return {
        batch: BatchAgreement(*batch, int(table.sum()), int(np.trace(table)), float(cohen_kappa(table)))
        for batch, table in sorted(tables.items())
    }


def decide_items(
    items: Iterable[ReviewItem], verdicts: Iterable[ReviewVerdict]
) -> tuple[list[ItemDecision], list[BatchAgreement]]:
    """The decision on every item, and the agreement of every batch."""
    readings_by_item: dict[str, list[ReviewVerdict]] = {}
    for verdict in verdicts:
        readings_by_item.setdefault(verdict.item, []).append(verdict)
    items = list(items)
    agreements = measure_agreements(readings_by_item, {item.item: item.queue for item in items})
    decisions = [_decide(item, readings_by_item.get(item.item, []), agreements) for item in items]
    return decisions, list(agreements.values())


def _decide(
    item: ReviewItem, readings: Sequence[ReviewVerdict], agreements: Mapping[Batch, BatchAgreement]
) -> ItemDecision:
    if not readings:
        return ItemDecision(item, UNREAD, None, readings)
    if item.missing_levels(reading.level for reading in readings):
        return ItemDecision(item, WAITING, None, readings)
    verdict, votes = Counter(reading.verdict for reading in readings).most_common(1)[0]
    if 2 * votes > len(readings):
        return ItemDecision(item, SETTLED, verdict, readings)
    if len(readings) > 2:
        return ItemDecision(item, DISPUTE, DISCARD, readings)
    batch, _ = _batch(item.queue, readings)
    if agreements[batch].is_good:
        deciding = max(readings, key=lambda reading: (reading.level == PHYSICIAN, VERDICTS.index(reading.verdict)))
        return ItemDecision(item, SETTLED, deciding.verdict, readings)
    return ItemDecision(item, ARBITRATION, None, readings)


def _batch(queue: str, readings: Sequence[ReviewVerdict]) -> tuple[Batch, list[ReviewVerdict]]:
    """The batch of an item, and its first two readings in the order of their readers' names."""
    pair = sorted(readings[:2], key=lambda reading: reading.reviewer)
    return (queue, pair[0].reviewer, pair[1].reviewer), pair
