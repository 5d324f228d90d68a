"""Splits a set as CURE does: some cases for development, the rest for the test."""

from collections import Counter
from collections.abc import Iterable

from wardround.core.canonical import blake
from wardround.core.case import Case

DEV, TEST = "dev", "test"
MIN_CASES_PER_DEV = 10  # by default at most one case in ten is set aside (our choice)


def split_by_id(cases: Iterable[Case], dev: int, seed: int = 0) -> dict[str, str]:
    """`dev` or `test` for each case; dev is drawn evenly over specialties and, within them, modalities.

    `dev` clusters are drawn, so that the cases of a patient stay together. The draw depends on the seed and the ids
    alone.
    """
    cases_by_cluster: dict[str, list[Case]] = {}
    for case in cases:
        cases_by_cluster.setdefault(case.cluster_id, []).append(case)
    order = sorted(cases_by_cluster, key=lambda name: (*stratum(cases_by_cluster[name][0]), blake([seed, name]).hex()))
    dev = min(dev, len(order))
    chosen = {order[(2 * number + 1) * len(order) // (2 * dev)] for number in range(dev)}
    return {case.id: DEV if name in chosen else TEST for name, members in cases_by_cluster.items() for case in members}


def default_dev_count(cases: Iterable[Case], dev: int) -> int:
    """The default number of clusters for development: `dev`, but at most one in ten."""
    return min(dev, len({case.cluster_id for case in cases}) // MIN_CASES_PER_DEV)


def stratum(case: Case) -> tuple[str, str]:
    """The specialty, and the commonest modality of the case's images."""
    counts = Counter(image.modality for image in case.images if image.modality)
    modality = min(counts, key=lambda name: (-counts[name], name)) if counts else _stated_modality(case)
    return case.specialty or "", modality


def _stated_modality(case: Case) -> str:
    """The first of a case's own `modalities`, used if its images have none."""
    modalities = (case.model_extra or {}).get("modalities")
    return str(modalities[0]) if isinstance(modalities, list) and modalities else ""
