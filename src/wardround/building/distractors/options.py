"""Options from the candidates of a source, a model or a table, merged so that exactly one option is right.

Our choices: two names overlap if they are the same by their words or a table of synonyms, if a table says that one is
broader, or if all words of one are in the other (`pneumonia`, `aspiration pneumonia`). Over a set the right option is
equally often at every position and, if there are candidates to choose from, at every rank of length, and it does not
share the most words with its case more often than by chance.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from wardround.building.distractors.balance_words import guess_rate
from wardround.building.pipeline.pipeline import Build, Record, Reject, Step, model_step
from wardround.core.names import NO_SYNONYMS, Synonyms, content_words, normalized_words, read_name_pairs, same_disease

COUNT = 6  # default number of options
DRAWS = 12  # random sets of distractors from which the one that balances the case set best is taken
PROPOSER = "proposer"  # role of the model that names plausible diagnoses from the stem alone
PROPOSED_GOLD = "stems of which the proposer named the diagnosis"
NEGATIONS = frozenset(["non", "not", "no"])
Share = Callable[[str], float]  # of a name's words: those that are in the case
_ALTERNATIVE = re.compile(r"\bwith or without\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}\s*[.):]|[-*•])\s+(.+)$")


class Options(NamedTuple):
    """The options of one question, and the index of the right one."""

    options: list[str]
    gold: int

    @property
    def distractors(self) -> list[str]:
        return [name for index, name in enumerate(self.options) if index != self.gold]


@dataclass(frozen=True)
class NameRelations:
    """What tables say about names: which mean the same, and which are broader."""

    synonyms: Synonyms = NO_SYNONYMS
    broader: Mapping[tuple[str, ...], frozenset[tuple[str, ...]]] = field(default_factory=dict)

    def broader_names(self, name: str) -> frozenset[tuple[str, ...]]:
        """The content words of all names that are broader than this one, directly or through others."""
        waiting = [content_words(synonym) for synonym in self.synonyms.names_of(name)]
        names: set[tuple[str, ...]] = set()
        while waiting:
            for broader in self.broader.get(waiting.pop(), frozenset()) - names:
                names.add(broader)
                waiting.append(broader)
        return frozenset(names)

    def is_broader(self, one: str, other: str) -> bool:
        """Whether the first is a class of the second."""
        if not self.broader:
            return False
        return any(content_words(name) in self.broader_names(other) for name in self.synonyms.names_of(one))


NO_RELATIONS = NameRelations()


def read_broader(file: Path) -> dict[tuple[str, ...], frozenset[tuple[str, ...]]]:
    """The broader names of each name in a table with the columns `name` and `broader`."""
    broader_by_name: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for name, broader in read_name_pairs(file, "broader"):
        broader_by_name.setdefault(content_words(name), set()).add(content_words(broader))
    return {name: frozenset(names) for name, names in broader_by_name.items()}


def names_overlap(one: str, other: str, relations: NameRelations = NO_RELATIONS) -> bool:
    """Whether two names cannot both be options of one question."""
    return (
        is_contained(name_words(one), name_words(other))
        or same_disease(one, [other], relations.synonyms)
        or relations.is_broader(one, other)
        or relations.is_broader(other, one)
    )


def name_words(name: str) -> frozenset[str]:
    """The content words of a name, without what follows `with or without`."""
    return frozenset(content_words(_ALTERNATIVE.split(name)[0])) or frozenset(content_words(name))


def is_contained(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether all words of one name are in the other, and the additional ones do not negate it."""
    shorter, longer = sorted((one, other), key=len)
    return bool(shorter) and shorter <= longer and not (longer - shorter) & NEGATIONS


def merge_candidates(gold: str, candidates: Iterable[str], relations: NameRelations = NO_RELATIONS) -> list[str]:
    """The candidates that are wrong and mean different things, in order; of two that overlap the first is kept."""
    names: list[str] = []
    for name in map(clean_name, candidates):
        if content_words(name) and not any(names_overlap(name, other, relations) for other in [gold, *names]):
            names.append(name)
    return names


def clean_name(name: str) -> str:
    """A name with single spaces, without a full stop, quotes or emphasis around it."""
    return " ".join(name.split()).strip("*_\"'“”. ")


class OptionBalancer:
    """Makes the options of one question after another, so that neither position nor length gives the right one away."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._positions: dict[int, list[int]] = {}  # by the number of options: positions not used in this round
        self._ranks: Counter[tuple[int, int]] = Counter()  # (number of options, options longer than the right one)
        self._word_lead = 0.0  # how much more often than chance the right option shared most words with its case

    def make_options(self, gold: str, candidates: Sequence[str], count: int, share: Share) -> Options | None:
        """Options from candidates that do not overlap, the better ones first; None if there are too few."""
        if len(candidates) < count - 1:
            return None
        distractors = self._choose_distractors(gold, candidates, count - 1, share)
        self._ranks[count, count_longer(gold, distractors)] += 1
        self._word_lead += _lead_rate(gold, distractors, share) - 1 / count
        return self.place_gold(gold, distractors)

    def place_gold(self, gold: str, distractors: Sequence[str], *, shuffle: bool = True) -> Options:
        """The options shuffled; in every K questions with K options the right one is once at each position."""
        options = list(distractors)
        if shuffle:
            self._rng.shuffle(options)
        position = self._next_position(len(options) + 1)
        options.insert(position, gold)
        return Options(options, position)

    def _choose_distractors(self, gold: str, candidates: Sequence[str], count: int, share: Share) -> list[str]:
        """From the best candidates those that give the gold its rarest rank of length so far; else the better ones.

        If right options shared most words with their cases too often, first those with which this one does not.
        """
        pool = candidates[: 2 * count]
        draws = [list(range(count))]
        draws += [sorted(self._rng.sample(range(len(pool)), count)) for _ in range(DRAWS)]
        choices = [[pool[index] for index in draw] for draw in draws]
        best = min(
            range(len(draws)),
            key=lambda number: (
                _lead_rate(gold, choices[number], share) if self._word_lead > 0 else 0.0,
                self._ranks[count + 1, count_longer(gold, choices[number])],
                sum(draws[number]),
                number,
            ),
        )
        return choices[best]

    def _next_position(self, count: int) -> int:
        if not self._positions.get(count):
            self._positions[count] = self._rng.sample(range(count), count)
        return self._positions[count].pop()


def _lead_rate(gold: str, distractors: Sequence[str], share: Share) -> float:
    """How often the right option is the one that shares most words with the case."""
    return guess_rate(share(gold), [share(name) for name in distractors])


def count_longer(gold: str, distractors: Sequence[str]) -> int:
    """How many distractors are longer than the right option."""
    return sum(len(name) > len(gold) for name in distractors)


def parse_name_list(reply: str) -> list[str]:
    """The names in a list that a model wrote: numbered or bulleted lines, or else every line."""
    lines = [line for line in map(str.strip, reply.splitlines()) if line]
    numbered = [match[1] for line in lines if (match := _NUMBERED.match(line))]
    entries = numbered or [line for line in lines if not line.endswith(":")]
    names = [re.split(r"\s+[-–—]\s+|:\s", entry)[0] for entry in entries]  # what follows is a reason
    return [clean_name(name) for name in names if 0 < len(normalized_words(name)) <= 15]


def plausible_diagnoses_step(count: int) -> Step:
    """A step in which the model `proposer` adds the most plausible diagnoses to the end of a record's `candidates`.

    It reads the record's `history` and is not told the diagnosis (ClinBench). How often it named the diagnosis is
    counted; merging drops that name.
    """

    def slots(record: Record, build: Build) -> dict[str, str]:
        return {"history": record["history"], "count": str(count)}

    def read(record: Record, reply: str, build: Build) -> Record:
        names = parse_name_list(reply)[:count]
        right = any(names_overlap(name, own) for name in names for own in record.get("names", [record["diagnosis"]]))
        build.counts[PROPOSED_GOLD] += right
        return record | {"candidates": [*record.get("candidates", []), *names]}

    return model_step("plausible", PROPOSER, "plausible", slots, read, max_tokens=256)


def model_distractors_step(count: int, missing: Callable[[Record], int] | None = None) -> Step:
    """A step in which the model `writer` adds other diagnoses to the end of a record's `candidates`.

    A record has `history` and `diagnosis`. Without a name in the reply and a candidate of the source it is rejected.
    `missing`: how many a record lacks (default: `count`); the writer is not asked about one that lacks none.
    """

    def slots(record: Record, build: Build) -> dict[str, str] | None:
        wanted = count if missing is None else missing(record)
        if not wanted:
            return None
        return {"history": record["history"], "diagnosis": record["diagnosis"], "count": str(wanted)}

    def read(record: Record, reply: str, build: Build) -> Record:
        candidates = [*record.get("candidates", []), *parse_name_list(reply)]
        if not candidates:
            raise Reject("no candidate for an option", reply[:200])
        return record | {"candidates": candidates}

    return model_step("distractors", "writer", "distractors", slots, read, max_tokens=256)
