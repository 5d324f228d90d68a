"""Offering: which candidates of a source become distractors, so that no name gives itself away over the set.

A name that is right g times should be offered so often that chance, the sum of 1/K over its questions, makes g. So a
name that is never right is offered once at most, and one that is right several times beside other answers too.
Where a question runs out of candidates of its own, right answers of other questions stand in, those of its group first.
Length and shared words are balanced by the choice among what is left (see options.py).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from wardround.building.distractors.options import NOTHING_KNOWN, Balance, Known, Options, merged, overlapping
from wardround.building.pipeline.pipeline import Build
from wardround.candidates.baselines import overlap, words
from wardround.marking.judges.lexical_judge import content

EDGE = 1e-9
ENOUGH = 6  # others for every option: among them the balanced ones are chosen
Key = tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """A question whose options are wanted."""

    gold: str
    names: Sequence[str]  # under which the right answer goes, itself included
    candidates: Sequence[str]  # of its own, merged, the better first
    count: int  # options
    group: str  # right answers of the same group stand in first
    text: str  # what is told of the case


class _Offers:
    """How often each name is right, and what chance makes of the times it is offered."""

    def __init__(self, asked: Iterable[Asked], known: Known) -> None:
        self._known = known
        self._keys: dict[str, Key] = {}
        self.right: Counter[Key] = Counter()
        self.chance: defaultdict[Key, float] = defaultdict(float)
        self.named: dict[Key, str] = {}
        for each in asked:
            key = self.key(each.gold)
            self.named.setdefault(key, each.gold)
            self.right[key] += 1
            self.chance[key] += 1 / each.count

    def key(self, name: str) -> Key:
        """What a name and its synonyms have in common; found out once."""
        if name not in self._keys:
            self._keys[name] = min(tuple(sorted(content(each))) for each in self._known.synonyms.of(name))
        return self._keys[name]

    def lacks(self, key: Key, count: int) -> bool:
        """Whether a right answer is still offered too rarely beside others."""
        return self.chance[key] + 1 / count <= self.right[key] + EDGE

    def has_room(self, name: str, count: int) -> bool:
        key = self.key(name)
        return self.lacks(key, count) if self.right[key] else not self.chance[key]

    def offer(self, name: str, count: int, times: int = 1) -> None:
        self.chance[self.key(name)] += times / count


def offered(asked: Sequence[Asked], numbers: random.Random, known: Known = NOTHING_KNOWN) -> tuple[list[Options], int]:
    """The options of every question, and how many distractors are offered more often than is fair."""
    offers, balance, unfair = _Offers(asked, known), Balance(numbers), 0
    groups: defaultdict[str, set[Key]] = defaultdict(set)
    for each in asked:
        groups[each.group].add(offers.key(each.gold))
    written: dict[int, Options] = {}
    for place in numbers.sample(range(len(asked)), len(asked)):
        each = asked[place]
        fair = [name for name in each.candidates if offers.has_room(name, each.count)]
        if len(fair) < each.count - 1:
            fair = merged(each.gold, [*fair, *_others(each, offers, groups, numbers)], known)
            fair = [name for name in fair if not _is_right(name, each, known)]
        if len(fair) < each.count - 1:
            fair = merged(each.gold, [*fair, *each.candidates], known)
        options = balance.write(each.gold, fair, each.count, partial(_shared, words(each.text)))
        assert options is not None, "its own candidates are enough"
        for name in _wrong(options):
            unfair += not offers.has_room(name, each.count)
            offers.offer(name, each.count)
        written[place] = options
    _top_up(asked, written, offers, known, numbers)
    return [written[place] for place in range(len(asked))], unfair


def offered_by_id(asked: Iterable[tuple[str, Asked]], build: Build, known: Known = NOTHING_KNOWN) -> dict[str, Options]:
    """The options of the questions of a build, by the id of their record."""
    ids, questions = zip(*pairs, strict=True) if (pairs := list(asked)) else ((), ())
    found, unfair = offered(questions, build.drawn("options"), known)
    if unfair:
        build.note(f"{unfair:,} distractors are offered more often than is fair: the set has too few others")
    return dict(zip(ids, found, strict=True))


def _wrong(options: Options) -> list[str]:
    return [name for place, name in enumerate(options.options) if place != options.gold]


def _shared(told: set[str], name: str) -> float:
    return overlap(words(name), told)


def _is_right(name: str, asked: Asked, known: Known) -> bool:
    return any(overlapping(name, right, known) for right in asked.names)


def _others(asked: Asked, offers: _Offers, groups: dict[str, set[Key]], numbers: random.Random) -> list[str]:
    """Right answers of other questions that may still be offered, as many as are choice enough: of its group first."""
    near = sorted(key for key in groups[asked.group] if offers.lacks(key, asked.count))
    far = sorted(key for key in offers.right.keys() - groups[asked.group] if offers.lacks(key, asked.count))
    drawn = [key for keys in (near, far) for key in numbers.sample(keys, min(len(keys), ENOUGH * asked.count))]
    return [offers.named[key] for key in drawn[: ENOUGH * asked.count]]


def _top_up(
    asked: Sequence[Asked], written: dict[int, Options], offers: _Offers, known: Known, numbers: random.Random
) -> None:
    """Names that are right several times are offered beside other answers, instead of such as are never right."""
    for key in sorted(key for key, many in offers.right.items() if many > 1):
        name = offers.named[key]
        home = {each.group for each in asked if offers.key(each.gold) == key}
        places = numbers.sample(range(len(asked)), len(asked))
        for place in sorted(places, key=lambda place: asked[place].group not in home):
            each, options = asked[place], written[place]
            if not offers.lacks(key, each.count):
                break
            if _is_right(name, each, known) or offers.key(name) in map(offers.key, options.options):
                continue
            spare = [at for at, other in enumerate(options.options) if not offers.right[offers.key(other)]]
            for at in reversed(spare):
                others = [other for number, other in enumerate(options.options) if number not in (at, options.gold)]
                if not any(overlapping(name, other, known) for other in others):
                    offers.offer(options.options[at], each.count, times=-1)
                    offers.offer(name, each.count)
                    options.options[at] = name
                    break
