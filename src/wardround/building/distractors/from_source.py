"""Which candidates of a source become distractors: those that it lists first, or those that balance the set.

`source` (CURE: the differentials of the report) keeps the source's own candidates in its order; only a question with
too few gets right answers of other questions, those of its group first.

`balanced` (our choice) lets no name give itself away over the set. A name that is right g times should be offered so
often that chance, the sum of 1/K over its questions, makes g. So a name that is never right is offered once at most,
and one that is right several times beside other answers too; right answers of other questions replace the rest. The
choice among the remaining candidates balances length and shared words (see options.py).
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from wardround.building.distractors.options import (
    NO_RELATIONS,
    NameRelations,
    OptionBalancer,
    Options,
    merge_candidates,
    names_overlap,
)
from wardround.building.distractors.patient_fit import ANY_PATIENT, PatientFacts, possible_options
from wardround.building.pipeline.pipeline import Build
from wardround.candidates.baselines import overlap, words
from wardround.core.names import content_words

EDGE = 1e-9
OTHER_OPTIONS = "other-options.jsonl"  # the options of the choice that the set was not built with
SPARES_PER_OPTION = 6  # right answers of other questions to choose from, for each option
Key = tuple[str, ...]
OptionChoice = Literal["source", "balanced"]


@dataclass(frozen=True)
class OptionRequest:
    """A question that needs options."""

    gold: str
    names: Sequence[str]  # of the right answer, itself included
    candidates: Sequence[str]  # of its own, merged, the better first
    count: int  # options
    group: str  # right answers of the same group are preferred as substitutes
    text: str  # of the case
    patient: PatientFacts = ANY_PATIENT  # what rules answers of other questions out


class _OfferCounts:
    """How often each name is right, and how often chance would make it right where it is offered."""

    def __init__(self, requests: Iterable[OptionRequest], relations: NameRelations) -> None:
        self._relations = relations
        self._keys: dict[str, Key] = {}
        self.right: Counter[Key] = Counter()
        self.chance: defaultdict[Key, float] = defaultdict(float)
        self.names: dict[Key, str] = {}
        for request in requests:
            key = self.key(request.gold)
            self.names.setdefault(key, request.gold)
            self.right[key] += 1
            self.chance[key] += 1 / request.count

    def key(self, name: str) -> Key:
        """The same for a name and its synonyms."""
        if name not in self._keys:
            synonyms = self._relations.synonyms.names_of(name)
            self._keys[name] = min(tuple(sorted(content_words(synonym))) for synonym in synonyms)
        return self._keys[name]

    def is_underoffered(self, key: Key, count: int) -> bool:
        """Whether a right answer may be offered once more as a distractor."""
        return self.chance[key] + 1 / count <= self.right[key] + EDGE

    def is_fair(self, name: str, count: int) -> bool:
        """Whether a name may be offered once more."""
        key = self.key(name)
        return self.is_underoffered(key, count) if self.right[key] else not self.chance[key]

    def add(self, name: str, count: int, times: int = 1) -> None:
        self.chance[self.key(name)] += times / count


def choose_options(
    requests: Sequence[OptionRequest], rng: random.Random, relations: NameRelations = NO_RELATIONS
) -> tuple[list[Options | None], int]:
    """The options of every question, and the number of distractors that are offered more often than is fair.

    A question has none if its candidates and the right answers of other questions are too few.
    """
    offers, balancer, unfair = _OfferCounts(requests, relations), OptionBalancer(rng), 0
    keys_by_group = _keys_by_group(requests, offers)
    options_by_index: dict[int, Options] = {}
    for index in rng.sample(range(len(requests)), len(requests)):
        request = requests[index]
        fair = [name for name in request.candidates if offers.is_fair(name, request.count)]
        if len(fair) < request.count - 1:
            fair = _add_other_answers(request, fair, offers, keys_by_group, relations, rng)
        if len(fair) < request.count - 1:
            fair = merge_candidates(request.gold, [*fair, *request.candidates], relations)
        options = balancer.make_options(request.gold, fair, request.count, partial(_share, words(request.text)))
        if options is None:  # the set has too few other diagnoses
            continue
        for name in options.distractors:
            unfair += not offers.is_fair(name, request.count)
            offers.add(name, request.count)
        options_by_index[index] = options
    _offer_common_answers(requests, options_by_index, offers, relations, rng)
    return [options_by_index.get(index) for index in range(len(requests))], unfair


def list_options(
    requests: Sequence[OptionRequest], rng: random.Random, relations: NameRelations = NO_RELATIONS
) -> list[Options | None]:
    """The options of every question: its own candidates in their order, then right answers of other questions.

    The right one is once at each position in every K questions with K options. A question has none if all are too few.
    """
    offers, balancer = _OfferCounts(requests, relations), OptionBalancer(rng)
    keys_by_group = _keys_by_group(requests, offers)
    listed: list[Options | None] = []
    for request in requests:
        names = list(request.candidates)
        if len(names) < request.count - 1:
            names = _add_other_answers(request, names, offers, keys_by_group, relations, rng)
        if len(names) < request.count - 1:
            listed.append(None)
            continue
        distractors = names[: request.count - 1]
        for name in distractors:
            offers.add(name, request.count)
        listed.append(balancer.place_gold(request.gold, distractors, shuffle=False))
    return listed


def choose_options_by_id(
    requests: Iterable[tuple[str, OptionRequest]],
    build: Build,
    relations: NameRelations = NO_RELATIONS,
    choice: OptionChoice = "balanced",
) -> dict[str, Options]:
    """The options of the questions of a build, by the id of their record.

    What the other choice would have offered goes to a file beside the cases, for the audit.
    """
    request_by_id = dict(requests)
    request_list = list(request_by_id.values())
    listed = list_options(request_list, build.random_stream("options"), relations)
    balanced, unfair = choose_options(request_list, build.random_stream("options"), relations)
    if unfair and choice == "balanced":
        build.note(f"{unfair:,} distractors are offered more often than is fair: the set has too few others")
    chosen, other, other_choice = (listed, balanced, "balanced") if choice == "source" else (balanced, listed, "source")
    build.side_files[OTHER_OPTIONS] = [
        {"case": id, "choice": other_choice, **options._asdict()}
        for id, options in zip(request_by_id, other, strict=True)
        if options is not None
    ]
    return {id: options for id, options in zip(request_by_id, chosen, strict=True) if options is not None}


def _keys_by_group(requests: Iterable[OptionRequest], offers: _OfferCounts) -> dict[str, set[Key]]:
    keys_by_group: defaultdict[str, set[Key]] = defaultdict(set)
    for request in requests:
        keys_by_group[request.group].add(offers.key(request.gold))
    return keys_by_group


def _share(case_words: set[str], name: str) -> float:
    return overlap(words(name), case_words)


def _is_right(name: str, request: OptionRequest, relations: NameRelations) -> bool:
    return any(names_overlap(name, right, relations) for right in request.names)


def _add_other_answers(
    request: OptionRequest,
    names: Sequence[str],
    offers: _OfferCounts,
    keys_by_group: dict[str, set[Key]],
    relations: NameRelations,
    rng: random.Random,
) -> list[str]:
    """The names, followed by right answers of other questions that do not overlap with them."""
    others = possible_options(_other_answers(request, offers, keys_by_group, rng), request.patient)
    merged = merge_candidates(request.gold, [*names, *others], relations)
    return [name for name in merged if not _is_right(name, request, relations)]


def _other_answers(
    request: OptionRequest, offers: _OfferCounts, keys_by_group: dict[str, set[Key]], rng: random.Random
) -> list[str]:
    """Right answers of other questions that may still be offered, those of its group first."""
    group, limit = keys_by_group[request.group], SPARES_PER_OPTION * request.count
    near = sorted(key for key in group if offers.is_underoffered(key, request.count))
    far = sorted(key for key in offers.right.keys() - group if offers.is_underoffered(key, request.count))
    drawn = [key for keys in (near, far) for key in rng.sample(keys, min(len(keys), limit))]
    return [offers.names[key] for key in drawn[:limit]]


def _offer_common_answers(
    requests: Sequence[OptionRequest],
    options_by_index: dict[int, Options],
    offers: _OfferCounts,
    relations: NameRelations,
    rng: random.Random,
) -> None:
    """Names that are right several times replace distractors that are never right, until they are offered fairly."""
    for key in sorted(key for key, times in offers.right.items() if times > 1):
        name = offers.names[key]
        own_groups = {request.group for request in requests if offers.key(request.gold) == key}
        indices = rng.sample(range(len(requests)), len(requests))
        for index in sorted(indices, key=lambda index: requests[index].group not in own_groups):
            request, options = requests[index], options_by_index.get(index)
            if options is None:
                continue
            if not offers.is_underoffered(key, request.count):
                break
            if _is_right(name, request, relations) or not possible_options([name], request.patient):
                continue
            if offers.key(name) in map(offers.key, options.options):
                continue
            spare = [place for place, other in enumerate(options.options) if not offers.right[offers.key(other)]]
            for place in reversed(spare):
                others = [other for at, other in enumerate(options.options) if at not in (place, options.gold)]
                if not any(names_overlap(name, other, relations) for other in others):
                    offers.add(options.options[place], request.count, times=-1)
                    offers.add(name, request.count)
                    options.options[place] = name
                    break
