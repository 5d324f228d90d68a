"""Baselines: what can be scored without medical knowledge and without images.

They answer choice questions only; to an open question they reply with an empty text, which is marked unparsed. As
confidence they state chance, 1/K.
"""

import asyncio
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from wardround.asking.evidence import case_query
from wardround.candidates.candidate import Request
from wardround.candidates.sampled import OptionDistribution, SampledCandidate
from wardround.cases.set import CaseSet
from wardround.core.canonical import blake

WORD_PATTERN = re.compile(r"\w+")
# words so common that sharing them says nothing
COMMON_WORDS = frozenset(
    WORD_PATTERN.findall(
        "a an and are as at be by for from has have in is it its no not of on or that the there this to was were "
        "which with"
    )
)


class BlindBaseline(SampledCandidate):
    """A baseline that gets no images and states chance as its confidence."""

    def __post_init__(self) -> None:
        self.settings = self.settings.model_copy(update={"sees": False})
        super().__post_init__()

    def choose(self, request: Request) -> OptionDistribution:
        count = len(request.order)
        return OptionDistribution(uniform_shares(self.choose_places(request), count), [1 / count] * count)

    @abstractmethod
    def choose_places(self, request: Request) -> Sequence[int]:
        """The places, in the order shown, one of which it takes at random."""


class Random(BlindBaseline):
    """`random`: any option, with equal probability."""

    def choose_places(self, request: Request) -> Sequence[int]:
        return range(len(request.order))


class Position(BlindBaseline):
    """`position`: the letter that is most often right in the training split.

    Only cases with split "train" are counted: the others hold the answers. Without a training split it always
    takes the first option.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._counts: Counter[int] = Counter()

    async def prepare(self, cases: CaseSet) -> None:
        self._counts = await asyncio.to_thread(gold_positions, cases)
        # the counts decide the answers, so they are part of the key
        counts_hash = blake(sorted(self._counts.items())).hex()[:16]
        self.identity = replace(self.settings.identity, revision=fitted_revision(self.settings.revision, counts_hash))

    def choose_places(self, request: Request) -> Sequence[int]:
        places = range(len(request.order))
        return [max(places, key=lambda place: (self._counts[place], -place))]


class Longest(BlindBaseline):
    """`longest`: the option with the longest text; among equals, one at random."""

    def choose_places(self, request: Request) -> Sequence[int]:
        return best_places([len(text) for text in request.options])


class Overlap(BlindBaseline):
    """`overlap`: the option with the largest share of its words in the history, findings and question.

    Only what the condition shows counts; among equals, one at random.
    """

    def choose_places(self, request: Request) -> Sequence[int]:
        shown_words: set[str] = set()
        if request.condition.stem != "options-only":
            shown_words = words(f"{case_query(request.case, request.condition)}\n{request.question.prompt}")
        return best_places([overlap(words(text), shown_words) for text in request.options])


def uniform_shares(places: Sequence[int], count: int) -> list[float]:
    """Equal shares for these places, 0 for the others."""
    return [1 / len(places) if place in places else 0.0 for place in range(count)]


def best_places(scores: Sequence[float]) -> list[int]:
    """The places with the highest score."""
    highest = max(scores)
    return [place for place, score in enumerate(scores) if score == highest]


def words(text: str) -> set[str]:
    """The distinct words of a text, without common ones."""
    return set(WORD_PATTERN.findall(text.casefold())) - COMMON_WORDS


def overlap(option: set[str], text: set[str]) -> float:
    """The share of an option's words that are in a text."""
    return len(option & text) / len(option) if option else 0.0


def gold_positions(cases: CaseSet) -> Counter[int]:
    """The number of right options at each position in the training split."""
    return Counter(
        question.gold
        for case in cases
        if case.split == "train"
        for question in case.questions
        if isinstance(question.gold, int)
    )


def fitted_revision(revision: str | None, data_hash: str) -> str:
    """The revision of a fitted candidate: the study's own, if any, and the hash of the data."""
    return "+".join(part for part in (revision, data_hash) if part)
