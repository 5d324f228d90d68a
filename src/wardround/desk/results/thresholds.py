"""Thresholds: where readers set L1 and L2 of a degradation, combined over readers and images.

The 50% point of a level is the mean of the marks: half of the readings would still say yes there, if marks are
symmetric around it. Its interval covers readers and images: the variance of resampling readers plus that of resampling
images, less the variance of single marks, which both contain; the t quantile uses Satterthwaite's degrees of freedom.
This is our choice: the paper says only that radiologists set the levels.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

MILDEST, STRONGEST = 0.0, 2.0
LEVEL = 0.95
RESAMPLES, SEED, MIN_IMAGES = 1_000, 0, 4  # fewer images have no interval of agreement

Floats = NDArray[np.float64]


class Mark(NamedTuple):
    """One reader's L1 and L2 on one image, on the scale of the table that is calibrated."""

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


class ReaderComparison(NamedTuple):
    """One reader compared with the others: agreement 1 is identical marks, 0 chance; a tolerant one has `shift` > 0."""

    reader: str
    images: int
    shift: float
    scatter: float  # of the differences around that shift
    agreement: float
    low: float | None
    high: float | None


class MarkAgreement(NamedTuple):
    """Krippendorff's alpha for intervals, both levels together, each against its own chance."""

    readers: int
    images: int
    alpha: float
    low: float | None
    high: float | None


def thresholds(marks: Sequence[Mark]) -> list[Threshold]:
    """Both levels of each type that was read, in the order of the marks."""
    results = []
    for type in dict.fromkeys(mark.type for mark in marks):
        of_type = [mark for mark in marks if mark.type == type]
        for level, values in (("L1", [mark.l1 for mark in of_type]), ("L2", [mark.l2 for mark in of_type])):
            levels = np.array(values)
            readers, images = [mark.reader for mark in of_type], [mark.image for mark in of_type]
            value, low, high = _mean(levels, _groups(readers), _groups(images))
            at_end = int((levels >= STRONGEST).sum())
            counts = len(set(readers)), len(set(images)), len(levels), at_end
            results.append(Threshold(type, level, value, low, high, *counts))
    return results


def _groups(names: Sequence[object]) -> NDArray[np.intp]:
    return np.unique(np.array([str(name) for name in names]), return_inverse=True)[1].ravel()


def _mean(
    values: Floats, readers: NDArray[np.intp], images: NDArray[np.intp]
) -> tuple[float, float | None, float | None]:
    """The mean and its interval; no interval for one reader and one image."""
    mean, residuals = float(values.mean()), values - values.mean()
    parts = [_variance(residuals, groups) for groups in (readers, images)]
    known = [(variance, freedom) for variance, freedom in parts if freedom > 0]
    if not known:
        return mean, None, None
    total = sum(variance for variance, _ in known)
    if len(known) == 2:
        total -= _variance(residuals, np.arange(len(residuals)))[0]
    total = max(total, *(variance for variance, _ in known), 1e-12)
    denominator = sum(variance**2 / freedom for variance, freedom in known)
    freedom = total**2 / denominator if denominator > 0 else float(len(values) - 1)
    margin = float(stdtrit(max(freedom, 1.0), 0.5 + LEVEL / 2)) * total**0.5
    return mean, max(MILDEST, mean - margin), min(STRONGEST, mean + margin)


def _variance(residuals: Floats, groups: NDArray[np.intp]) -> tuple[float, int]:
    """The variance of the mean from resampling groups, and its degrees of freedom."""
    sums = np.bincount(groups, weights=residuals)
    count = len(sums)
    return (float(count / (count - 1) * (sums**2).sum() / len(residuals) ** 2) if count > 1 else 0.0), count - 1


def mark_agreement(marks: Sequence[Mark]) -> MarkAgreement | None:
    """The agreement of all readers; None while no image was read twice."""
    table, readers = _table(marks)
    if not len(table):
        return None
    value, low, high = _with_interval(table)
    return MarkAgreement(len(readers), len(table), value, low, high)


def compare_readers(marks: Sequence[Mark]) -> list[ReaderComparison]:
    """Each reader compared with all others: one who marks at random stands out."""
    table, readers = _table(marks)
    comparisons = []
    for index, reader in enumerate(readers):
        is_read = ~np.isnan(table[:, index, 0])
        others = np.delete(table, index, axis=1)
        gap = table[is_read, index] - np.nanmean(others[is_read], axis=1)
        shift, scatter = float(gap.mean()), float(gap.std())
        comparisons.append(ReaderComparison(reader, int(is_read.sum()), shift, scatter, *_with_interval(table, index)))
    return comparisons


def _table(marks: Sequence[Mark]) -> tuple[Floats, list[str]]:
    """Marks by image, reader and level, of images with two readers or more; missing ones are NaN."""
    readers, images = sorted({mark.reader for mark in marks}), sorted({mark.image for mark in marks})
    table = np.full((len(images), len(readers), 2), np.nan)
    for mark in marks:
        table[images.index(mark.image), readers.index(mark.reader)] = mark.l1, mark.l2
    table = table[(~np.isnan(table[:, :, 0])).sum(axis=1) > 1]
    has_marks = ~np.isnan(table[:, :, 0]).all(axis=0) if len(table) else np.zeros(len(readers), bool)
    return table[:, has_marks], [reader for reader, has_any in zip(readers, has_marks, strict=True) if has_any]


def _alphas(table: Floats, weights: Floats, reader: int | None = None) -> Floats:
    """1 - observed / expected squared difference, summed over the levels; of all pairs, or of one reader's.

    `weights` are (draws, images): how often each image counts.
    """
    is_read = ~np.isnan(table[:, :, 0])
    values, counts = np.where(is_read[:, :, None], table, 0.0), is_read.sum(axis=1)
    sums, squares = values.sum(axis=1), (values**2).sum(axis=1)
    if reader is None:
        apart, pairs = 2 * (counts[:, None] * squares - sums**2) / (counts[:, None] - 1), counts.astype(np.float64)
    else:
        by_reader, own = is_read[:, reader], values[:, reader]
        apart = np.where(by_reader[:, None], counts[:, None] * own**2 - 2 * own * sums + squares, 0.0)
        pairs = np.where(by_reader, counts - 1, 0).astype(np.float64)
    n = weights @ counts
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (weights @ apart).sum(axis=1) / (weights @ pairs)
        expected = 2 * (n[:, None] * (weights @ squares) - (weights @ sums) ** 2).sum(axis=1) / (n * (n - 1))
        alphas: Floats = np.where(expected > 1e-12, 1 - observed / expected, np.nan)
    return alphas


def _with_interval(table: Floats, reader: int | None = None) -> tuple[float, float | None, float | None]:
    count = len(table)
    value = float(_alphas(table, np.ones((1, count)), reader)[0])
    if count < MIN_IMAGES or np.isnan(value):
        return value, None, None
    weights = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    values = _alphas(table, weights.astype(np.float64), reader)
    if np.isnan(values).all():
        return value, None, None
    low, high = np.nanquantile(values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return value, float(low), float(high)
