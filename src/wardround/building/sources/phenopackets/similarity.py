"""Similarity of a patient and a disease: the information content of the features that they share.

The content of a feature is -log of its frequency among the patients of the set (Resnik's measure on the set itself,
without an ontology: only equal features are shared). A disease has a feature to the degree in which its patients have
it. Similarity is the shared content over all content of the patient: from 0 to 1.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from math import log

# With these limits a search takes no longer in a large set than in a small one.
MAX_FEATURES = 24  # of a patient: the rarest
MAX_DISEASES = 96  # those that have it most often
MAX_RESULTS = 24  # diseases for a patient


class DiseaseSimilarity:
    """An index of the diseases of a set by their features."""

    def __init__(self, patients: Iterable[tuple[int, Sequence[str]]]) -> None:
        """`patients`: the number of the disease and the features of each."""
        counts_by_feature: dict[str, Counter[int]] = {}
        patient_counts: Counter[int] = Counter()
        for disease, features in patients:
            patient_counts[disease] += 1
            for feature in features:
                counts_by_feature.setdefault(feature, Counter())[disease] += 1
        total = patient_counts.total()
        self.content = {feature: -log(counts.total() / total) for feature, counts in counts_by_feature.items()}
        self._diseases_by_feature = {
            feature: nsmallest(
                MAX_DISEASES,
                ((-count / patient_counts[disease], disease) for disease, count in counts.items()),
            )
            for feature, counts in counts_by_feature.items()
        }

    def most_similar(self, features: Sequence[str]) -> list[tuple[int, float]]:
        """The diseases most similar to a patient, with their similarity, in descending order."""
        content = sorted(((self.content[feature], feature) for feature in features), reverse=True)
        total = sum(weight for weight, _ in content)
        shared: dict[int, float] = {}
        for weight, feature in content[:MAX_FEATURES]:
            for negative, disease in self._diseases_by_feature[feature]:
                shared[disease] = shared.get(disease, 0.0) - weight * negative
        nearest = nsmallest(MAX_RESULTS, ((-value, disease) for disease, value in shared.items() if value > 0))
        return [(disease, -negative / total) for negative, disease in nearest]
