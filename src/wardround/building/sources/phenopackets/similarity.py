"""Likeness of a patient and a disease: the information content of the features that they share.

The content of a feature is -log of its frequency among the patients of the set (Resnik's measure on the set itself,
without an ontology: only equal features are shared). A disease has a feature to the degree in which its patients have
it. Likeness is the content that is shared over all content of the patient: 0 for nothing, at most 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from math import log

# With these bounds the search takes no longer for a patient of a large set than of a small one.
RAREST = 24  # features of a patient that are looked up
WIDEST = 96  # diseases that are looked up for a feature: those that have it most
NEAREST = 24  # diseases that are kept for a patient


class Likeness:
    """An index of the diseases of a set by their features."""

    def __init__(self, patients: Iterable[tuple[int, Sequence[str]]]) -> None:
        """`patients`: the number of the disease and the features of each."""
        seen: dict[str, Counter[int]] = {}
        many: Counter[int] = Counter()
        for disease, features in patients:
            many[disease] += 1
            for feature in features:
                seen.setdefault(feature, Counter())[disease] += 1
        total = many.total()
        self.content = {feature: -log(held.total() / total) for feature, held in seen.items()}
        self._having = {
            feature: nsmallest(WIDEST, ((-times / many[disease], disease) for disease, times in held.items()))
            for feature, held in seen.items()
        }

    def near(self, features: Sequence[str]) -> list[tuple[int, float]]:
        """The diseases most like a patient, with their likeness, the most like first."""
        content = sorted(((self.content[feature], feature) for feature in features), reverse=True)
        whole = sum(each for each, _ in content)
        shared: dict[int, float] = {}
        for worth, feature in content[:RAREST]:
            for less, disease in self._having[feature]:
                shared[disease] = shared.get(disease, 0.0) - worth * less
        found = nsmallest(NEAREST, ((-value, disease) for disease, value in shared.items() if value > 0))
        return [(disease, -less / whole) for less, disease in found]
