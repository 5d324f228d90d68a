"""The step `options`: for each patient the diseases of other patients of the set, as alike as is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wardround.building.distractors.assign import Wishes, deal, serve
from wardround.building.distractors.balance_words import level
from wardround.building.distractors.options import NOTHING_KNOWN, Balance, Known
from wardround.building.pipeline.pipeline import Build, Step, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.sources.phenopackets.diseases import Diseases
from wardround.building.sources.phenopackets.similarity import Likeness
from wardround.candidates.baselines import overlap, words

STEP = "options"
RAREST_WORDS = 4  # of a history, by the names that have them, among whose diseases rivals are looked for
MOST_NAMES = 200  # that are looked at for a word


def options(count: int, difficulty: float, known: Known = NOTHING_KNOWN) -> Step:
    """Adds `options` and `gold` to each record; leaves out those for which the set has too few diseases."""

    def change(records: Spool, build: Build) -> Iterator[Record]:
        diseases = Diseases(known)
        golds = [diseases.number(record["disease"], record["names"], record["genes"]) for record in records]
        likeness = Likeness(zip(golds, map(_features, records), strict=True))
        wishes = Wishes()
        for record in records:
            wishes.add(likeness.near(_features(record)))
        table, unfair = deal(golds, count - 1, diseases.apart, build.drawn(STEP))
        serve(table, wishes, difficulty)
        share, rivals = _words(records, diseases)
        level(table, wishes, share, rivals)
        if unfair:
            build.note(f"{unfair:,} of {len(table.cards):,} distractors are offered more often than is fair")
        balance = Balance(build.drawn("places"))
        for question, record in enumerate(records):
            names = [diseases.names[card] for card in table.hand(question)]
            if len(names) < count - 1:
                reason = f"fewer than {count - 1} other diseases in the set that do not overlap"
                build.reject(record, STEP, reason, str(len(names)))
                continue
            written = balance.placed(diseases.names[golds[question]], names)
            yield record | {"options": written.options, "gold": written.gold}

    return whole(STEP, change)


def _features(record: Record) -> list[str]:
    return [feature["id"] for feature in record["present"]]


def _words(records: Spool, diseases: Diseases) -> tuple[Callable[[int, int], float], Callable[[int], list[int]]]:
    """The share of a disease's name in a history, and the diseases with the largest, as `level` needs them."""
    named = [words(name) for name in diseases.names]
    having: dict[str, list[int]] = {}
    for number, name in enumerate(named):
        for word in name:
            having.setdefault(word, []).append(number)
    told = [tuple(sorted(word for word in words(record["history"]) if word in having)) for record in records]

    def share(question: int, disease: int) -> float:
        return overlap(named[disease], set(told[question]))

    def rivals(question: int) -> list[int]:
        rarest = sorted(told[question], key=lambda word: (len(having[word]), word))[:RAREST_WORDS]
        found = {number for word in rarest for number in having[word][:MOST_NAMES]}
        return sorted(found, key=lambda number: (-share(question, number), number))

    return share, rivals
