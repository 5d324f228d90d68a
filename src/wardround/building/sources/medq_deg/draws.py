"""Which degradations each question gets: fitting, seeded, and as often as the others.

The paper applies three at random and does not say how often each comes. Our choice: within one modality every fitting
type is used equally often, so that types can be compared. Questions come in an order that only the seed and their ids
decide, and each takes the types that were used least until then; ties are broken by the seed and the question's id.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from wardround.building.sources.medq_deg.duplicates import Asked
from wardround.core.canonical import blake
from wardround.core.errors import WardroundError
from wardround.degrade.types import TYPES, fits


def drawn(asked: Collection[Asked], seed: int, count: int) -> dict[tuple[str, str], tuple[str, ...]]:
    """The types of each question by its key, in the order of the 18."""
    used: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    found = {}
    for each in sorted(asked, key=lambda each: blake([seed, *each.key])):
        fitting = [type for type in TYPES if all(fits(type, modality) for modality in each.modalities)]
        if len(fitting) < count:
            several = " and ".join(each.modalities)
            raise WardroundError(f"{count} degradations a question: {several} has only {len(fitting)} that fit")
        so_far = used[each.modalities]
        fitting.sort(key=lambda type: (so_far[type], blake([seed, *each.key, type])))
        chosen = fitting[:count]
        so_far.update(chosen)
        found[each.key] = tuple(type for type in TYPES if type in chosen)
    return found
