"""How far readers agree: Cohen's kappa for two, Krippendorff's alpha for more, by batch, with intervals.

Only independent readings count: the first that each person gave of an item, and none of an arbiter, who has seen
the others'. Intervals: 2,000 resamples of the items, percentiles 2.5 and 97.5 (our choice).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.desk.desk import Desk
from wardround.desk.records import Task, Verdict
from wardround.desk.tasks.task_kind import ARBITER
from wardround.measuring.validation.kappa import krippendorff_alpha

RESAMPLES, SEED, FEWEST = 2_000, 0, 8  # items for an interval
ALL = "all"
KAPPA, ALPHA = "Cohen's kappa", "Krippendorff's alpha"

Floats = NDArray[np.float64]
Labels = Mapping[str, str]  # what each reader said of one item


class Agreement(NamedTuple):
    """Of one batch: how many readers, items read at least twice, the share in which all said the same, the figure."""

    batch: str
    readers: int
    items: int
    same: float
    figure: str
    value: float
    low: float | None
    high: float | None


class Alone(NamedTuple):
    """One reader against each of the others on the items that both read: a careless one stands out."""

    reader: str
    items: int
    same: float
    kappa: float
    low: float | None
    high: float | None


def labels_by_batch(desk: Desk, task: Task) -> dict[str, list[dict[str, str]]]:
    """The first label of each reader on each item, by batch."""
    kind = desk.kind(task)
    batches = {item.number: item.batch for item in desk.work.items(task)}
    found: dict[int, dict[str, str]] = {}
    for verdict in desk.work.verdicts(task):
        label = kind.label(verdict.said)
        if label is not None and verdict.level != ARBITER:
            found.setdefault(verdict.item, {}).setdefault(verdict.reader, label)
    told: dict[str, list[dict[str, str]]] = {}
    for number, labels in sorted(found.items()):
        told.setdefault(batches[number], []).append(labels)
    return told


def agreements(batches: Mapping[str, Sequence[Labels]]) -> list[Agreement]:
    """The agreement of every batch, then of all together."""
    told = {name: [labels for labels in batch if len(labels) > 1] for name, batch in batches.items()}
    told = {name: batch for name, batch in sorted(told.items()) if batch}
    if len(told) > 1:
        told[ALL] = [labels for batch in told.values() for labels in batch]
    return [_agreement(name, batch) for name, batch in told.items()]


def _agreement(name: str, batch: Sequence[Labels]) -> Agreement:
    readers = sorted({reader for labels in batch for reader in labels})
    classes = sorted({label for labels in batch for label in labels.values()})
    same = sum(len(set(labels.values())) == 1 for labels in batch) / len(batch)
    tables = np.zeros((len(batch), len(classes), len(classes)))
    if len(readers) == 2:
        for table, labels in zip(tables, batch, strict=True):
            table[classes.index(labels[readers[0]]), classes.index(labels[readers[1]])] += 1
        return Agreement(name, 2, len(batch), same, KAPPA, *with_interval(kappas, tables))
    for table, labels in zip(tables, batch, strict=True):
        said = [classes.index(label) for label in labels.values()]
        for place, one in enumerate(said):
            for other in said[:place] + said[place + 1 :]:
                table[one, other] += 1 / (len(said) - 1)
    return Agreement(name, len(readers), len(batch), same, ALPHA, *with_interval(krippendorff_alpha, tables))


def one_against_others(batches: Mapping[str, Sequence[Labels]]) -> list[Alone]:
    """Each reader's kappa with all others, pooled over pairs of readings."""
    items = [labels for batch in batches.values() for labels in batch if len(labels) > 1]
    classes = sorted({label for labels in items for label in labels.values()})
    return [_alone(reader, items, classes) for reader in sorted({name for labels in items for name in labels})]


def _alone(reader: str, items: Iterable[Labels], classes: list[str]) -> Alone:
    here = [labels for labels in items if reader in labels]
    tables = np.zeros((len(here), len(classes), len(classes)))
    for table, labels in zip(tables, here, strict=True):
        for other, label in labels.items():
            if other != reader:
                table[classes.index(labels[reader]), classes.index(label)] += 1
    whole = tables.sum(axis=0)
    return Alone(reader, len(here), float(np.trace(whole) / whole.sum()), *with_interval(kappas, tables))


def kappas(tables: Floats) -> Floats:
    """Cohen's kappa of tables (..., classes, classes); nan where both always say the same one thing."""
    n = tables.sum(axis=(-2, -1))
    chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    observed = np.trace(tables, axis1=-2, axis2=-1) * n
    missing = np.full(np.shape(n), np.nan)
    found: Floats = np.divide(observed - chance, n * n - chance, out=missing, where=n * n - chance > 1e-9)
    return found


def with_interval(statistic: Callable[[Floats], Floats], tables: Floats) -> tuple[float, float | None, float | None]:
    value = float(statistic(tables.sum(axis=0)))
    many = len(tables)
    if many < FEWEST or np.isnan(value):
        return value, None, None
    drawn = np.random.default_rng(SEED).multinomial(many, np.full(many, 1 / many), size=RESAMPLES)
    totals = (drawn @ tables.reshape(many, -1)).reshape(RESAMPLES, *tables.shape[1:])
    values = statistic(totals)
    if np.isnan(values).all():
        return value, None, None
    low, high = np.nanquantile(values, [0.025, 0.975])
    return value, float(low), float(high)


def latest(verdicts: Iterable[Verdict]) -> dict[int, dict[str, Verdict]]:
    """What each reader last said, by item: this is what counts for decisions."""
    found: dict[int, dict[str, Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.item, {})[verdict.reader] = verdict
    return found
