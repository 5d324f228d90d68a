"""Dealing: the diseases of a set as distractors of each other, each as often as is fair.

A disease that is right g times should be offered as a distractor g (K - 1) times: then it is right in one of K of the
questions that offer it, and how often a disease is offered says nothing about where it is right. So each right answer
becomes K - 1 cards; all cards are dealt at random, a hand to each question, and then exchanged where that brings more
of what the questions wish for. Cards are only ever exchanged, so the counts stay exact.
"""

from __future__ import annotations

import random
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence

TRIES = 200  # exchanges that are tried for a card that does not fit
HANDED_ON = 20  # times that such a card is handed on
PASSES = 10  # times that all cards are looked over
ROUNDS = 2  # times that every question is served its wishes
PARTNERS = 6  # owners of a wished card that are asked
EMPTY = -1
Apart = Callable[[int, int], bool]  # whether two diseases can be options of one question
Fits = Callable[[int, int], bool]  # whether a question takes a disease as a distractor


class Wishes:
    """For each question the diseases that it wishes for, with how much; kept in little memory."""

    def __init__(self) -> None:
        self._starts = array("q", [0])
        self._diseases = array("i")
        self._worth = array("d")

    def add(self, wished: Sequence[tuple[int, float]]) -> None:
        for disease, worth in sorted(wished):
            self._diseases.append(disease)
            self._worth.append(worth)
        self._starts.append(len(self._diseases))

    def of(self, question: int) -> list[tuple[float, int]]:
        """What a question wishes for, most first."""
        part = slice(self._starts[question], self._starts[question + 1])
        pairs = zip(self._worth[part], self._diseases[part], strict=True)
        return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))

    def worth(self, question: int, disease: int) -> float:
        """How much a question wishes for a disease; 0 for one that it did not name."""
        last = self._starts[question + 1]
        place = bisect_left(self._diseases, disease, self._starts[question], last)
        return self._worth[place] if place < last and self._diseases[place] == disease else 0.0


class Table:
    """All hands, and who holds which card. A place is one card of one hand; `size` of them are a question's."""

    def __init__(
        self, golds: Sequence[int], size: int, apart: Apart, numbers: random.Random, takes: Fits | None = None
    ) -> None:
        self.golds, self.size, self.apart, self.numbers, self.takes = golds, size, apart, numbers, takes
        cards = _cards(golds, size, takes)
        numbers.shuffle(cards)
        self.cards = array("i", cards)
        self.owners: dict[int, list[int]] = {}  # the places of each disease's cards
        self._rank = array("i", [0]) * len(cards)  # where a place stands among the owners of its card
        for place, card in enumerate(cards):
            if card != EMPTY:
                self._own(place, card)

    def hand(self, question: int) -> list[int]:
        """The cards of a question; fewer where a place stayed empty."""
        return [card for card in self.cards[question * self.size : (question + 1) * self.size] if card != EMPTY]

    def places(self, question: int) -> range:
        return range(question * self.size, (question + 1) * self.size)

    def put(self, place: int, card: int) -> None:
        if self.cards[place] != EMPTY:
            self._disown(place)
        self.cards[place] = card
        if card != EMPTY:
            self._own(place, card)

    def exchange(self, one: int, other: int) -> None:
        mine, theirs = self.cards[one], self.cards[other]
        self.put(one, theirs)
        self.put(other, mine)

    def fits(self, place: int, card: int) -> bool:
        """Whether a card can stand beside the right answer and the rest of the hand. A place may stay empty."""
        question = place // self.size
        if card == EMPTY:
            return True
        if not self.apart(self.golds[question], card):
            return False
        if self.takes is not None and not self.takes(question, card):
            return False
        cards = self.cards
        return all(
            cards[other] == EMPTY or self.apart(cards[other], card) for other in self.places(question) if other != place
        )

    def can_exchange(self, one: int, other: int) -> bool:
        """Only between two questions: inside a hand nothing would change."""
        return (
            one // self.size != other // self.size
            and self.fits(one, self.cards[other])
            and self.fits(other, self.cards[one])
        )

    def some_owners(self, card: int) -> list[int]:
        """A few places where a card lies, drawn."""
        owners = self.owners.get(card, [])
        return owners[:] if len(owners) <= PARTNERS else self.numbers.sample(owners, PARTNERS)

    def _own(self, place: int, card: int) -> None:
        owners = self.owners.setdefault(card, [])
        self._rank[place] = len(owners)
        owners.append(place)

    def _disown(self, place: int) -> None:
        owners, rank = self.owners[self.cards[place]], self._rank[place]
        owners[rank] = owners[-1]
        self._rank[owners[rank]] = rank
        owners.pop()


def deal(
    golds: Sequence[int], size: int, apart: Apart, numbers: random.Random, takes: Fits | None = None
) -> tuple[Table, int]:
    """A table on which every card fits where it lies, and for how many places none of the fair cards did.

    `golds`: the disease that is right in each question; `size`: its distractors. A place without a fair card gets any
    disease that fits, or stays empty: so it is in small sets, and where one disease is right in more than 1 of K.
    """
    table = Table(golds, size, apart, numbers, takes)
    left = _misfits(table)
    for _ in range(PASSES):
        for place in left:
            if not table.fits(place, table.cards[place]):
                _settle(table, place)
        if not (left := _misfits(table)):
            break
    for place in left:
        table.put(place, EMPTY)
    left = [place for place, card in enumerate(table.cards) if card == EMPTY]
    diseases = sorted(set(golds))
    for place in left:
        table.put(
            place, next((card for card in numbers.sample(diseases, len(diseases)) if table.fits(place, card)), EMPTY)
        )
    return table, len(left)


def _cards(golds: Sequence[int], size: int, takes: Fits | None) -> list[int]:
    """The fair number of cards of each disease; places are empty for those that there are not enough questions for."""
    many = Counter(golds)
    if takes is None:
        room = {card: len(golds) - times for card, times in many.items()}
    else:
        room = {card: sum(takes(question, card) for question in range(len(golds))) for card in many}
    cards: list[int] = []
    for card in golds:
        fair = min(size, room[card])
        room[card] -= fair
        cards += [card] * fair + [EMPTY] * (size - fair)
    return cards


def _misfits(table: Table) -> list[int]:
    return [place for place, card in enumerate(table.cards) if not table.fits(place, card)]


def _settle(table: Table, place: int) -> None:
    """Exchanges a card that does not fit; where nobody can, it is handed on to someone who then has to."""
    for _ in range(HANDED_ON):
        drawn = [table.numbers.randrange(len(table.cards)) for _ in range(TRIES)]
        other = next((each for each in drawn if table.can_exchange(place, each)), None)
        if other is not None:
            table.exchange(place, other)
            return
        others = (each for each in drawn if each // table.size != place // table.size)
        taker = next((each for each in others if table.fits(place, table.cards[each])), None)
        if taker is None:
            return
        table.exchange(place, taker)
        place = taker


def serve(table: Table, wishes: Wishes, difficulty: float) -> None:
    """Exchanges cards so that hands hold more of what is wished; a share `difficulty` of all places takes part."""
    places = len(table.cards)
    taking = bytearray(places)
    for place in table.numbers.sample(range(places), round(difficulty * places)):
        taking[place] = 1
    questions = list(range(len(table.golds)))
    for _ in range(ROUNDS):
        table.numbers.shuffle(questions)
        for question in questions:
            mine = [place for place in table.places(question) if taking[place] and table.cards[place] != EMPTY]
            if mine:
                _serve_one(table, wishes, question, mine, taking)


def _serve_one(table: Table, wishes: Wishes, question: int, mine: list[int], taking: bytearray) -> None:
    """Gets one question the cards it wishes for, each from whoever loses least, for the one it values least."""
    held = {place: wishes.worth(question, table.cards[place]) for place in mine}
    hand = table.hand(question)
    for worth, card in wishes.of(question):
        place = min(held, key=lambda each: (held[each], each))
        if worth <= held[place]:
            return
        if card in hand or not table.apart(table.golds[question], card):
            continue
        best, chosen = 0.0, EMPTY
        for other in table.some_owners(card):
            if taking[other]:
                theirs = other // table.size
                gain = wishes.worth(theirs, table.cards[place]) - wishes.worth(theirs, card) + worth - held[place]
                if gain > best and table.can_exchange(place, other):
                    best, chosen = gain, other
        if chosen != EMPTY:
            table.exchange(place, chosen)
            held[place] = worth
            hand = table.hand(question)
