"""The diseases of a set: their names, their genes, and which cannot be options side by side.

Our choice: members of a numbered series (Noonan syndrome 1 and 2) are never offered together, nor are diseases of the
same gene, since signs alone do not tell them apart.
"""

from __future__ import annotations

import re

from wardround.building.distractors.options import NOTHING_KNOWN, Known, one_holds_the_other, words_of
from wardround.marking.judges.lexical_judge import OVERLAP, Synonyms, content

_NUMBER = re.compile(r",?\s+(?<!type )(?<!types )(?<!group )\d+[A-Za-z]{0,2}(?=$|,| \(|\s+with\b)")
_GENETIC = re.compile(
    r",?\s+(?:autosomal (?:dominant|recessive)|x-linked(?: dominant| recessive)?"
    r"|susceptibility to|with or without\b.*)",
    re.IGNORECASE,
)
_DESIGNATION = re.compile(r"\d+[a-z]*|[ivx]+[a-z]{0,2}|[a-z]")
GENETIC = frozenset(["type", "autosomal", "dominant", "recessive", "linked", "susceptibility", "group"])


def without_number(name: str) -> str | None:
    """The name of the series that a numbered disease belongs to: `Noonan syndrome` of `Noonan syndrome 2`."""
    found = " ".join(_NUMBER.sub("", name).split())
    return found if found != name and words_of(found) else None


def bare(name: str) -> str:
    """A name without its number, its inheritance and what may or may not go with it."""
    return " ".join(_GENETIC.sub("", without_number(name) or name).split())


def all_names(names: list[str], synonyms: Synonyms) -> list[str]:
    """Under which names a disease is known: its labels, synonyms, and its series without the number."""
    known = [each for name in names for each in synonyms.of(name)]
    return list(dict.fromkeys([*known, *filter(None, map(without_number, known))]))


def sense(name: str) -> frozenset[str]:
    """The words of a name without numbers, types and inheritance."""
    words = words_of(name)
    return frozenset(word for word in words if not _DESIGNATION.fullmatch(word) and word not in GENETIC) or words


class Diseases:
    """Each disease by its number."""

    def __init__(self, known: Known = NOTHING_KNOWN) -> None:
        self._known = known
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._senses: list[list[frozenset[str]]] = []
        self._genes: list[set[str]] = []
        self._contents: list[set[tuple[str, ...]]] = []
        self._above: list[frozenset[tuple[str, ...]]] = []  # what is broader

    def number(self, id: str, names: list[str], genes: list[str]) -> int:
        """The number of a disease, which is taken in if it is new. `names`: the one that is shown first."""
        number = self._numbers.setdefault(id, len(self.names))
        if number == len(self.names):
            self.names.append(names[0])
            self._senses.append(list(dict.fromkeys(map(sense, names))))
            self._genes.append(set())
            if self._known.broader:
                self._contents.append({content(name) for name in names})
                self._above.append(frozenset().union(*map(self._known.above, names)))
        self._genes[number].update(genes)
        return number

    def apart(self, one: int, other: int) -> bool:
        """Whether two diseases can be options of one question."""
        if one == other or not self._genes[one].isdisjoint(self._genes[other]):
            return False
        if self._known.broader and (
            self._contents[one] & self._above[other] or self._contents[other] & self._above[one]
        ):
            return False
        return not any(alike(a, b) for a in self._senses[one] for b in self._senses[other])


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two names say the same, or one of them a part of the other."""
    shared = len(one & other)
    if shared < min(len(one), len(other)) and shared < OVERLAP * (len(one) + len(other) - shared):
        return False
    return shared >= OVERLAP * (len(one) + len(other) - shared) or one_holds_the_other(one, other)
