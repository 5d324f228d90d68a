"""Thresholds: where readers put L1 and L2 of a degradation, combined over readers and images.

The 50% point of a level is the mean of the marks (where half of the readings would still say yes, if marks lie evenly
around it), with an interval over readers and images: the variance of drawing readers anew plus that of drawing images
anew, less the noise of single marks, which both contain; Student's quantile (Satterthwaite). This is our choice: the
paper tells only that radiologists set the levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

MILDEST, STRONGEST = 0.0, 2.0
LEVEL = 0.95
RESAMPLES, SEED, FEWEST = 1_000, 0, 4  # images for an interval of agreement

Floats = NDArray[np.float64]


class Mark(NamedTuple):
    """Where one reader put both levels on one image, on the scale of the table that was calibrated."""

    reader: str
    image: int
    type: str
    l1: float
    l2: float


class Threshold(NamedTuple):
    """The 50% point of one level of one type. `at_end`: marks at the end of the slider, where it is `at least`."""

    type: str
    level: str
    value: float
    low: float | None
    high: float | None
    readers: int
    images: int
    marks: int
    at_end: int


class Reader(NamedTuple):
    """One reader against the others: 1 is the same marks, 0 what chance gives. `shift`: above 0 is more tolerant."""

    reader: str
    images: int
    shift: float
    scatter: float  # of the differences around that shift
    agreement: float
    low: float | None
    high: float | None


class Agreement(NamedTuple):
    """Krippendorff's alpha for intervals, both levels together, each against its own chance."""

    readers: int
    images: int
    alpha: float
    low: float | None
    high: float | None


def thresholds(marks: Sequence[Mark]) -> list[Threshold]:
    """Both levels of each type that was read, in the order of the marks."""
    told = []
    for type in dict.fromkeys(mark.type for mark in marks):
        here = [mark for mark in marks if mark.type == type]
        for level, values in (("L1", [mark.l1 for mark in here]), ("L2", [mark.l2 for mark in here])):
            at = np.array(values)
            readers, images = ([mark[place] for mark in here] for place in (0, 1))
            value, low, high = _mean(at, _groups(readers), _groups(images))
            ends = int((at >= STRONGEST).sum())
            told.append(Threshold(type, level, value, low, high, len(set(readers)), len(set(images)), len(at), ends))
    return told


def _groups(names: Sequence[object]) -> NDArray[np.intp]:
    return np.unique(np.array([str(name) for name in names]), return_inverse=True)[1].ravel()


def _mean(
    values: Floats, readers: NDArray[np.intp], images: NDArray[np.intp]
) -> tuple[float, float | None, float | None]:
    """The mean and its interval; none where there is one reader and one image."""
    mean, off = float(values.mean()), values - values.mean()
    parts = [_variance(off, groups) for groups in (readers, images)]
    known = [(variance, freedom) for variance, freedom in parts if freedom > 0]
    if not known:
        return mean, None, None
    whole = sum(variance for variance, _ in known)
    if len(known) == 2:
        whole -= _variance(off, np.arange(len(off)))[0]
    whole = max(whole, *(variance for variance, _ in known), 1e-12)
    below = sum(variance**2 / freedom for variance, freedom in known)
    freedom = whole**2 / below if below > 0 else float(len(values) - 1)
    reach = float(stdtrit(max(freedom, 1.0), 0.5 + LEVEL / 2)) * whole**0.5
    return mean, max(MILDEST, mean - reach), min(STRONGEST, mean + reach)


def _variance(off: Floats, groups: NDArray[np.intp]) -> tuple[float, int]:
    """Of the mean, from drawing groups anew; and its degrees of freedom."""
    sums = np.bincount(groups, weights=off)
    many = len(sums)
    return (float(many / (many - 1) * (sums**2).sum() / len(off) ** 2) if many > 1 else 0.0), many - 1


def agreement(marks: Sequence[Mark]) -> Agreement | None:
    """How far all readers agree; None while no image was read twice."""
    table, readers = _table(marks)
    if not len(table):
        return None
    value, low, high = _with_interval(table)
    return Agreement(len(readers), len(table), value, low, high)


def one_against_others(marks: Sequence[Mark]) -> list[Reader]:
    """Each reader against all others: one who marks at random stands out."""
    table, readers = _table(marks)
    told = []
    for place, reader in enumerate(readers):
        mine = ~np.isnan(table[:, place, 0])
        others = np.delete(table, place, axis=1)
        gap = table[mine, place] - np.nanmean(others[mine], axis=1)
        value, low, high = _with_interval(table, place)
        told.append(Reader(reader, int(mine.sum()), float(gap.mean()), float(gap.std()), value, low, high))
    return told


def _table(marks: Sequence[Mark]) -> tuple[Floats, list[str]]:
    """Marks by image, reader and level, of images with two readers or more; missing ones are not numbers."""
    readers, images = sorted({mark.reader for mark in marks}), sorted({mark.image for mark in marks})
    table = np.full((len(images), len(readers), 2), np.nan)
    for mark in marks:
        table[images.index(mark.image), readers.index(mark.reader)] = mark.l1, mark.l2
    table = table[(~np.isnan(table[:, :, 0])).sum(axis=1) > 1]
    there = ~np.isnan(table[:, :, 0]).all(axis=0) if len(table) else np.zeros(len(readers), bool)
    return table[:, there], [reader for reader, is_there in zip(readers, there, strict=True) if is_there]


def _alphas(table: Floats, weights: Floats, reader: int | None = None) -> Floats:
    """1 - observed / expected squared difference, summed over the levels; of all pairs, or of one reader's.

    `weights` are (draws, images): how often each image counts.
    """
    there = ~np.isnan(table[:, :, 0])
    values, many = np.where(there[:, :, None], table, 0.0), there.sum(axis=1)
    sums, squares = values.sum(axis=1), (values**2).sum(axis=1)
    if reader is None:
        apart, pairs = 2 * (many[:, None] * squares - sums**2) / (many[:, None] - 1), many.astype(np.float64)
    else:
        mine, own = there[:, reader], values[:, reader]
        apart = np.where(mine[:, None], many[:, None] * own**2 - 2 * own * sums + squares, 0.0)
        pairs = np.where(mine, many - 1, 0).astype(np.float64)
    n = weights @ many
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (weights @ apart).sum(axis=1) / (weights @ pairs)
        expected = 2 * (n[:, None] * (weights @ squares) - (weights @ sums) ** 2).sum(axis=1) / (n * (n - 1))
        found: Floats = np.where(expected > 1e-12, 1 - observed / expected, np.nan)
    return found


def _with_interval(table: Floats, reader: int | None = None) -> tuple[float, float | None, float | None]:
    many = len(table)
    value = float(_alphas(table, np.ones((1, many)), reader)[0])
    if many < FEWEST or np.isnan(value):
        return value, None, None
    drawn = np.random.default_rng(SEED).multinomial(many, np.full(many, 1 / many), size=RESAMPLES)
    values = _alphas(table, drawn.astype(np.float64), reader)
    if np.isnan(values).all():
        return value, None, None
    low, high = np.nanquantile(values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return value, float(low), float(high)
