"""The diseases of a set: names, genes, and which cannot be options of one question.

Our choice: members of a numbered series (Noonan syndrome 1 and 2) are never offered together, nor are diseases of the
same gene, because their signs alone do not distinguish them.
"""

import re

from wardround.building.distractors.options import NO_RELATIONS, NameRelations, is_contained, name_words
from wardround.core.names import MIN_OVERLAP, Synonyms, content_words

_NUMBER = re.compile(r",?\s+(?<!type )(?<!types )(?<!group )\d+[A-Za-z]{0,2}(?=$|,| \(|\s+with\b)")
_DESIGNATION = re.compile(r"\d+[a-z]*|[ivx]+[a-z]{0,2}|[a-z]")
GENETIC_WORDS = frozenset(["type", "autosomal", "dominant", "recessive", "linked", "susceptibility", "group"])


def series_name(name: str) -> str | None:
    """The name of the series that a numbered disease belongs to: `Noonan syndrome` of `Noonan syndrome 2`."""
    series = " ".join(_NUMBER.sub("", name).split())
    return series if series != name and name_words(series) else None


def all_names(names: list[str], synonyms: Synonyms) -> list[str]:
    """All names of a disease: its labels, their synonyms, and its series without the number."""
    known = [synonym for name in names for synonym in synonyms.names_of(name)]
    return list(dict.fromkeys([*known, *filter(None, map(series_name, known))]))


def distinctive_words(name: str) -> frozenset[str]:
    """The words of a name without numbers, types and inheritance."""
    words = name_words(name)
    return frozenset(word for word in words if not _DESIGNATION.fullmatch(word) and word not in GENETIC_WORDS) or words


class DiseaseIndex:
    """The diseases of a set, by number."""

    def __init__(self, relations: NameRelations = NO_RELATIONS) -> None:
        self._relations = relations
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._distinctive_words: list[list[frozenset[str]]] = []
        self._genes: list[set[str]] = []
        self._content_words: list[set[tuple[str, ...]]] = []
        self._broader: list[frozenset[tuple[str, ...]]] = []

    def number(self, id: str, names: list[str], genes: list[str]) -> int:
        """The number of a disease, which is added if it is new. The first of `names` is shown."""
        number = self._numbers.setdefault(id, len(self.names))
        if number == len(self.names):
            self.names.append(names[0])
            self._distinctive_words.append(list(dict.fromkeys(map(distinctive_words, names))))
            self._genes.append(set())
            if self._relations.broader:
                self._content_words.append({content_words(name) for name in names})
                self._broader.append(frozenset().union(*map(self._relations.broader_names, names)))
        self._genes[number].update(genes)
        return number

    def can_be_options(self, one: int, other: int) -> bool:
        """Whether two diseases can be options of one question."""
        if one == other or not self._genes[one].isdisjoint(self._genes[other]):
            return False
        if self._relations.broader and (
            self._content_words[one] & self._broader[other] or self._content_words[other] & self._broader[one]
        ):
            return False
        return not any(
            names_overlap(a, b) for a in self._distinctive_words[one] for b in self._distinctive_words[other]
        )


def names_overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two names mean the same, or one is a part of the other."""
    shared = len(one & other)
    if shared < min(len(one), len(other)) and shared < MIN_OVERLAP * (len(one) + len(other) - shared):
        return False
    return shared >= MIN_OVERLAP * (len(one) + len(other) - shared) or is_contained(one, other)
