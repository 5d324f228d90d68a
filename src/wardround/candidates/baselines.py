"""Honest floors: what can be scored without knowing medicine. None of them looks at images.

They answer choice questions only. To an open question they reply with an empty text (marked unparsed), since
they have no diagnosis to name. Asked for their confidence they state chance, 1/K, since they know nothing.
"""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from wardround.asking.applicable import told
from wardround.candidates.candidate import Request
from wardround.candidates.sampled import Choice, Drawn
from wardround.cases.set import CaseSet
from wardround.core.canonical import blake

WORD = re.compile(r"\w+")
# words so common that sharing them says nothing
COMMON = frozenset(
    WORD.findall(
        "a an and are as at be by for from has have in is it its no not of on or that the there this to was were "
        "which with"
    )
)


class Blind(Drawn):
    """A floor: never sent an image, and never surer than chance."""

    def __post_init__(self) -> None:
        self.settings = self.settings.model_copy(update={"sees": False})
        super().__post_init__()

    def choose(self, request: Request) -> Choice:
        count = len(request.order)
        return Choice(evenly(self.favoured(request), count), [1 / count] * count)

    @abstractmethod
    def favoured(self, request: Request) -> Sequence[int]:
        """The places, in the order shown, among which it takes any."""


class Random(Blind):
    """`random`: any option, with equal probability."""

    def favoured(self, request: Request) -> Sequence[int]:
        return range(len(request.order))


class Position(Blind):
    """`position`: the letter that is most often right in the training split.

    Only cases with split "train" are counted: counting the others would peek at the answers. Without a
    training split it always takes the first option.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._counts: Counter[int] = Counter()

    async def prepare(self, cases: CaseSet) -> None:
        self._counts = await asyncio.to_thread(gold_positions, cases)
        # what was counted decides the answers, so it is part of the key
        counted = blake(sorted(self._counts.items())).hex()[:16]
        self.identity = replace(self.settings.identity, revision=fitted_on(self.settings.revision, counted))

    def favoured(self, request: Request) -> Sequence[int]:
        places = range(len(request.order))
        return [max(places, key=lambda place: (self._counts[place], -place))]


class Longest(Blind):
    """`longest`: the option with the longest text; among equals, any of them."""

    def favoured(self, request: Request) -> Sequence[int]:
        return best([len(text) for text in shown_options(request)])


class Overlap(Blind):
    """`overlap`: the option of whose words the largest share stands in the history, findings and question.

    Only what the condition shows counts; among equals, any of them.
    """

    def favoured(self, request: Request) -> Sequence[int]:
        seen = words(shown_text(request))
        return best([overlap(words(text), seen) for text in shown_options(request)])


def evenly(places: Sequence[int], count: int) -> list[float]:
    """Equal shares for some of the places, none for the others."""
    return [1 / len(places) if place in places else 0.0 for place in range(count)]


def best(scores: Sequence[float]) -> list[int]:
    """The places of the highest score."""
    highest = max(scores)
    return [place for place, score in enumerate(scores) if score == highest]


def shown_options(request: Request) -> list[str]:
    """The texts of the options in the order shown."""
    return [request.question.choices[index] for index in request.order]


def shown_text(request: Request) -> str:
    """The history, the findings and the question, as far as the condition shows them."""
    case, condition = request.case, request.condition
    if condition.stem == "options-only":
        return ""
    history, _ = told(case, condition)
    parts = [
        history if condition.shows("history") else None,
        case.findings if condition.shows("findings") else None,
        request.question.prompt,
    ]
    return "\n".join(part for part in parts if part)


def words(text: str) -> set[str]:
    """The distinct words of a text that may carry meaning."""
    return set(WORD.findall(text.casefold())) - COMMON


def overlap(option: set[str], seen: set[str]) -> float:
    """The share of an option's words that were seen."""
    return len(option & seen) / len(option) if option else 0.0


def gold_positions(cases: CaseSet) -> Counter[int]:
    """How often the gold of a choice question stands at each position, in the training split."""
    return Counter(
        question.gold
        for case in cases
        if case.split == "train"
        for question in case.questions
        if isinstance(question.gold, int)
    )


def fitted_on(revision: str | None, data: str) -> str:
    """The revision of a candidate that was fitted on data: the study's own, if any, and the data's hash."""
    return "+".join(part for part in (revision, data) if part)
