"""Splitting: some cases set aside for development, the rest for the test, as CURE does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from wardround.core.canonical import blake
from wardround.core.case import Case

DEV, TEST = "dev", "test"
LARGEST_SHARE = 10  # unless told otherwise, one case in ten at most is set aside (our choice)


def split_by_id(cases: Iterable[Case], dev: int, seed: int = 0) -> dict[str, str]:
    """`dev` or `test` for each case; dev is drawn evenly over specialties and, within them, modalities.

    Clusters are drawn, so that the cases of a patient stay together; `dev` is how many. The draw depends on the
    seed and the ids alone.
    """
    clusters: dict[str, list[Case]] = {}
    for case in cases:
        clusters.setdefault(case.resampled_as, []).append(case)
    order = sorted(clusters, key=lambda name: (*stratum(clusters[name][0]), blake([seed, name]).hex()))
    dev = min(dev, len(order))
    chosen = {order[(2 * number + 1) * len(order) // (2 * dev)] for number in range(dev)}
    return {case.id: DEV if name in chosen else TEST for name, held in clusters.items() for case in held}


def set_aside(cases: Iterable[Case], dev: int) -> int:
    """How many are set aside of so many cases, where nobody says it."""
    return min(dev, len({case.resampled_as for case in cases}) // LARGEST_SHARE)


def stratum(case: Case) -> tuple[str, str]:
    """The specialty, and the modality of which the case has most images."""
    told = Counter(image.modality for image in case.images if image.modality)
    modality = min(told, key=lambda name: (-told[name], name)) if told else _first(case)
    return case.specialty or "", modality


def _first(case: Case) -> str:
    """The first of the modalities that a case tells of itself, where its images tell none."""
    told = (case.model_extra or {}).get("modalities")
    return str(told[0]) if isinstance(told, list) and told else ""
