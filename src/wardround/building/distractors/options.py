"""Options: candidates from a source, a model or a table, merged so that exactly one option of a question is right.

Our choices: two names overlap if they are the same by their words or a table of synonyms, if a table says that one is
broader, or if all words of one are in the other (`pneumonia`, `aspiration pneumonia`). Over a set the right option
stands equally often at every place and, where there are candidates to choose from, at every rank of length, and it does
not share most words with its case more often than chance has it.
"""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from wardround.building.distractors.balance_words import guessed
from wardround.building.pipeline.pipeline import Build, Reject, Step, asked
from wardround.building.pipeline.records import Record
from wardround.core.errors import BadInput
from wardround.marking.judges.lexical_judge import NO_SYNONYMS, Synonyms, content, same_disease, tokens

COUNT = 6  # options of a question unless told otherwise
DRAWS = 12  # choices of distractors among which the one that balances the set best is taken
NEGATIONS = frozenset(["non", "not", "no"])
Shared = Callable[[str], float]
_ALTERNATIVE = re.compile(r"\bwith or without\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}\s*[.):]|[-*•])\s+(.+)$")


class Options(NamedTuple):
    """The options of one question, and the place of the right one."""

    options: list[str]
    gold: int


@dataclass(frozen=True)
class Known:
    """What tables say about names: which mean the same, and which are broader."""

    synonyms: Synonyms = NO_SYNONYMS
    broader: Mapping[tuple[str, ...], frozenset[tuple[str, ...]]] = field(default_factory=dict)

    def above(self, name: str) -> frozenset[tuple[str, ...]]:
        """The content of all names that are broader than this one, directly or through others."""
        waiting = [content(each) for each in self.synonyms.of(name)]
        found: set[tuple[str, ...]] = set()
        while waiting:
            for each in self.broader.get(waiting.pop(), frozenset()) - found:
                found.add(each)
                waiting.append(each)
        return frozenset(found)

    def is_broader(self, one: str, other: str) -> bool:
        """Whether the first is a class of the second."""
        return bool(self.broader) and any(content(name) in self.above(other) for name in self.synonyms.of(one))


NOTHING_KNOWN = Known()


def read_broader(file: Path) -> dict[tuple[str, ...], frozenset[tuple[str, ...]]]:
    """The rows of a table with the columns name and broader."""
    above: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not {"name", "broader"} <= set(rows.fieldnames or ()):
                raise BadInput(file, "expected the columns name and broader", line=1)
            for row in rows:
                for column in ("name", "broader"):
                    if not content(row[column] or ""):
                        raise BadInput(file, "is empty", line=rows.line_num, field=column)
                above.setdefault(content(row["name"]), set()).add(content(row["broader"]))
    except FileNotFoundError:
        raise BadInput(file, "there is no such table") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"cannot be read: {error}") from None
    return {name: frozenset(names) for name, names in above.items()}


def overlapping(one: str, other: str, known: Known = NOTHING_KNOWN) -> bool:
    """Whether two names cannot stand side by side as options."""
    return (
        one_holds_the_other(words_of(one), words_of(other))
        or same_disease(one, [other], known.synonyms)
        or known.is_broader(one, other)
        or known.is_broader(other, one)
    )


def words_of(name: str) -> frozenset[str]:
    """The content words of a name; `with or without X` leaves open whether there is X."""
    return frozenset(content(_ALTERNATIVE.split(name)[0])) or frozenset(content(name))


def one_holds_the_other(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether all words of a name are in another one, and what is added does not deny it."""
    fewer, more = sorted((one, other), key=len)
    return bool(fewer) and fewer <= more and not (more - fewer) & NEGATIONS


def merged(gold: str, candidates: Iterable[str], known: Known = NOTHING_KNOWN) -> list[str]:
    """The candidates that are wrong and mean different things, in their order; the first of two that overlap stays."""
    kept: list[str] = []
    for name in map(tidy, candidates):
        if content(name) and not any(overlapping(name, other, known) for other in [gold, *kept]):
            kept.append(name)
    return kept


def tidy(name: str) -> str:
    """A name without needless spaces and without a full stop, quotes or emphasis around it."""
    return " ".join(name.split()).strip("*_\"'“”. ")


class Balance:
    """Writes options one question after the other, so that neither place nor length gives the right one away."""

    def __init__(self, numbers: random.Random) -> None:
        self._numbers = numbers
        self._places: dict[int, list[int]] = {}  # by the number of options: places not used in this turn
        self._ranks: Counter[tuple[int, int]] = Counter()  # (number of options, options longer than the right one)
        self._led = 0.0  # how much more often than chance the right option shared most words with its case

    def write(
        self, gold: str, candidates: Sequence[str], count: int = COUNT, shared: Shared | None = None
    ) -> Options | None:
        """Options from candidates that do not overlap, the better ones first; None where they are too few.

        `shared`: the share of a name's words that stand in the case; then that is balanced too.
        """
        if len(candidates) < count - 1:
            return None
        distractors = self._chosen(gold, candidates, count - 1, shared)
        self._ranks[count, longer(gold, distractors)] += 1
        self._led += _leads(gold, distractors, shared) - 1 / count
        return self.placed(gold, distractors)

    def placed(self, gold: str, distractors: Sequence[str]) -> Options:
        """The options shuffled; in every K questions with K options the right one is once at each place."""
        options = list(distractors)
        self._numbers.shuffle(options)
        place = self._place(len(options) + 1)
        options.insert(place, gold)
        return Options(options, place)

    def _chosen(self, gold: str, candidates: Sequence[str], wanted: int, shared: Shared | None) -> list[str]:
        """Of the best candidates those with which the gold's rank of length has been seen least; else the better.

        Where right options shared most words with their cases too often, those beside which this one does not.
        """
        pool = candidates[: 2 * wanted]
        draws = [list(range(wanted))]
        draws += [sorted(self._numbers.sample(range(len(pool)), wanted)) for _ in range(DRAWS)]
        ranked = [[pool[place] for place in places] for places in draws]
        best = min(
            range(len(draws)),
            key=lambda one: (
                _leads(gold, ranked[one], shared) if self._led > 0 else 0.0,
                self._ranks[wanted + 1, longer(gold, ranked[one])],
                sum(draws[one]),
                one,
            ),
        )
        return ranked[best]

    def _place(self, count: int) -> int:
        if not self._places.get(count):
            self._places[count] = self._numbers.sample(range(count), count)
        return self._places[count].pop()


def _leads(gold: str, distractors: Sequence[str], shared: Shared | None) -> float:
    """How often the right option is taken by whoever takes the one that shares most words with the case."""
    if shared is None:
        return 1 / (len(distractors) + 1)
    return guessed(shared(gold), [shared(name) for name in distractors])


def longer(gold: str, distractors: Sequence[str]) -> int:
    """How many distractors are longer than the right option."""
    return sum(len(name) > len(gold) for name in distractors)


def listed(reply: str) -> list[str]:
    """The names of a list that a model wrote, one a line, numbered or with dashes; else each line."""
    lines = [line for line in map(str.strip, reply.splitlines()) if line]
    numbered = [match[1] for line in lines if (match := _NUMBERED.match(line))]
    entries = numbered or [line for line in lines if not line.endswith(":")]
    names = [re.split(r"\s+[-–—]\s+|:\s", entry)[0] for entry in entries]  # what follows is a reason
    return [tidy(name) for name in names if 0 < len(tokens(name)) <= 15]


def distractors_of_a_model(count: int = COUNT - 1, name: str = "distractors") -> Step:
    """A step that asks the writer for other diagnoses; they go to the end of the record's `candidates`.

    A record has `history` and `diagnosis`. A reply without a single name is a reason to leave a record out only where
    the source gave no candidate either.
    """

    def slots(record: Record, build: Build) -> dict[str, str]:
        return {"history": record["history"], "diagnosis": record["diagnosis"], "count": str(count)}

    def read(record: Record, reply: str, build: Build) -> Record:
        candidates = [*record.get("candidates", []), *listed(reply)]
        if not candidates:
            raise Reject("no candidate for an option", reply[:200])
        return record | {"candidates": candidates}

    return asked(name, "writer", "distractors", slots, read, max_tokens=256)
