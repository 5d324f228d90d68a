"""Agreement of readers: Cohen's kappa for two, Krippendorff's alpha for more, with intervals; and arbitration.

Only independent readings count: the first of each person on an item, and none of an arbiter, who has seen the
others. Intervals: 2,000 resamples of the items, percentiles 2.5 and 97.5; Wilson's where few or nearly all agree.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, DeskVerdict, Task
from wardround.desk.tasks.task_kind import ARBITER
from wardround.measuring.validation.agreement import agreement_interval, cohen_kappa, krippendorff_alpha

ALL = "all"
KAPPA, ALPHA = "Cohen's kappa", "Krippendorff's alpha"

Labels = Mapping[str, str]  # of one item, by reader


class LabelAgreement(NamedTuple):
    """One batch: readers, items read at least twice, the share on which all agree, and kappa or alpha."""

    batch: str
    readers: int
    items: int
    same: float
    figure: str
    value: float
    low: float | None
    high: float | None


class ReaderAgreement(NamedTuple):
    """One reader compared with each of the others on the items that both read: a careless one stands out."""

    reader: str
    items: int
    same: float
    value: float  # Cohen's kappa
    low: float | None
    high: float | None


def labels_by_batch(
    desk: Desk, task: Task, label_of: Callable[[Mapping[str, Any]], str | None] | None = None
) -> dict[str, list[dict[str, str]]]:
    """The first label of each reader on each item, by batch; `label_of` makes another label of a verdict."""
    label_of = label_of or desk.kind(task).label
    batches = {item.number: item.batch for item in desk.tasks.list_items(task)}
    labels_by_item: dict[int, dict[str, str]] = {}
    for verdict in desk.tasks.verdicts(task):
        label = label_of(verdict.said)
        if label is not None and verdict.level != ARBITER:
            labels_by_item.setdefault(verdict.item, {}).setdefault(verdict.reader, label)
    by_batch: dict[str, list[dict[str, str]]] = {}
    for number, labels in sorted(labels_by_item.items()):
        by_batch.setdefault(batches[number], []).append(labels)
    return by_batch


def batch_agreements(batches: Mapping[str, Sequence[Labels]]) -> list[LabelAgreement]:
    """The agreement of every batch, then of all together."""
    shared = {name: [labels for labels in batch if len(labels) > 1] for name, batch in batches.items()}
    shared = {name: batch for name, batch in sorted(shared.items()) if batch}
    if len(shared) > 1:
        shared[ALL] = [labels for batch in shared.values() for labels in batch]
    return [_batch_agreement(name, batch) for name, batch in shared.items()]


def _batch_agreement(name: str, batch: Sequence[Labels]) -> LabelAgreement:
    readers = sorted({reader for labels in batch for reader in labels})
    classes = sorted({label for labels in batch for label in labels.values()})
    same = sum(len(set(labels.values())) == 1 for labels in batch) / len(batch)
    tables = np.zeros((len(batch), len(classes), len(classes)))
    if len(readers) == 2:
        for table, labels in zip(tables, batch, strict=True):
            table[classes.index(labels[readers[0]]), classes.index(labels[readers[1]])] += 1
        return LabelAgreement(name, 2, len(batch), same, KAPPA, *agreement_interval(cohen_kappa, tables)[:3])
    for table, labels in zip(tables, batch, strict=True):
        ratings = [classes.index(label) for label in labels.values()]
        for place, rating in enumerate(ratings):
            for other in ratings[:place] + ratings[place + 1 :]:
                table[rating, other] += 1 / (len(ratings) - 1)
    return LabelAgreement(
        name, len(readers), len(batch), same, ALPHA, *agreement_interval(krippendorff_alpha, tables)[:3]
    )


def reader_agreements(batches: Mapping[str, Sequence[Labels]]) -> list[ReaderAgreement]:
    """Each reader's kappa with all others, pooled over pairs of readings."""
    items = [labels for batch in batches.values() for labels in batch if len(labels) > 1]
    classes = sorted({label for labels in items for label in labels.values()})
    return [
        _reader_agreement(reader, items, classes) for reader in sorted({name for labels in items for name in labels})
    ]


def _reader_agreement(reader: str, items: Iterable[Labels], classes: list[str]) -> ReaderAgreement:
    shared = [labels for labels in items if reader in labels]
    tables = np.zeros((len(shared), len(classes), len(classes)))
    for table, labels in zip(tables, shared, strict=True):
        for other, label in labels.items():
            if other != reader:
                table[classes.index(labels[reader]), classes.index(label)] += 1
    whole = tables.sum(axis=0)
    return ReaderAgreement(
        reader, len(shared), float(np.trace(whole) / whole.sum()), *agreement_interval(cohen_kappa, tables)[:3]
    )


def latest_verdicts(verdicts: Iterable[DeskVerdict]) -> dict[int, dict[str, DeskVerdict]]:
    """The latest verdict of each reader, by item: these count for decisions."""
    by_item: dict[int, dict[str, DeskVerdict]] = {}
    for verdict in verdicts:
        by_item.setdefault(verdict.item, {})[verdict.reader] = verdict
    return by_item


def majority_labels(desk: Desk, task: Task) -> list[tuple[DeskItem, str]]:
    """Items with the label that more than half of their readers give, arbiters among them; the others are left out."""
    labels_by_item = latest_labels(desk, task)
    labelled = []
    for item in desk.tasks.list_items(task):
        labels = labels_by_item.get(item.number)
        if labels and (label := _majority(labels)) is not None:
            labelled.append((item, label))
    return labelled


def _majority(labels: Labels) -> str | None:
    label, count = Counter(labels.values()).most_common(1)[0]
    return label if 2 * count > len(labels) else None


def latest_labels(desk: Desk, task: Task) -> dict[int, dict[str, str]]:
    """The latest label of each reader, by item; items without a label are left out."""
    kind, labels_by_item = desk.kind(task), dict[int, dict[str, str]]()
    for number, verdicts in latest_verdicts(desk.tasks.verdicts(task)).items():
        for reader, verdict in verdicts.items():
            if (label := kind.label(verdict.said)) is not None:
                labels_by_item.setdefault(number, {})[reader] = label
    return labels_by_item


class Disagreement(NamedTuple):
    """An item with the current labels of its readers."""

    number: int
    name: str
    batch: str
    said: dict[str, str]  # by reader


def disagreements(desk: Desk, task: Task) -> list[Disagreement]:
    """Items without a majority label after all requested readings."""
    if not desk.kind(task).arbitrates:
        return []
    requested, waiting = _requested(desk, task), {returned.item for returned in desk.tasks.list_returned(task)}
    items = {item.number: item for item in desk.tasks.list_items(task)}
    disagreeing = []
    for number, labels in latest_labels(desk, task).items():
        is_read = len(labels) >= max(2, requested.get(number, 0)) and number not in waiting
        if is_read and _majority(labels) is None:
            item = items[number]
            disagreeing.append(Disagreement(number, item.name, item.batch, labels))
    return sorted(disagreeing)


def in_arbitration(desk: Desk, task: Task) -> int:
    """The number of items that wait for an arbiter."""
    sql = "SELECT count(*) FROM wanted WHERE task = ? AND level = ? AND many > given"
    return int(desk.store.value(sql, task.id, ARBITER))


def send_to_arbitration(desk: Desk, task: Task, by: Person) -> int:
    """Arbitration: requests one more reading of every item on which readers disagree; returns their number."""
    with desk.store.transaction():
        numbers = [disagreement.number for disagreement in disagreements(desk, task)]
        desk.tasks.request_readings(task, numbers, ARBITER, task.round)
        if numbers:
            desk.store.log_action(by.id, "arbitrate", task.id, items=numbers)
    return len(numbers)


def _requested(desk: Desk, task: Task) -> dict[int, int]:
    """The number of readings that were requested of each item."""
    rows = desk.store.rows("SELECT item, sum(many) AS many FROM wanted WHERE task = ? GROUP BY item", task.id)
    return {row["item"]: row["many"] for row in rows}
