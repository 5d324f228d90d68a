"""Levelling: hands changed until the words of an option no longer give the right one away.

The name of a disease often shares words with the history of a patient who has it, also where no name is told. Whoever
takes the option of whose words most stand in the history would then be right too often. Where the right option leads in
that way, one that leads it is exchanged into the hand, until the guess is right in one of K.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wardround.building.distractors.assign import EMPTY, Table, Wishes

RIVALS = 12  # diseases that are tried for a question
Share = Callable[[int, int], float]  # of the words of a disease's name, how many stand in the history of a question


def guessed(gold: float, others: Sequence[float]) -> float:
    """How often the right option is taken by whoever takes the highest share, any of equals."""
    best = max(others, default=0.0)
    return 0.0 if gold < best else 1 / (1 + sum(other == gold for other in others))


def level(table: Table, wishes: Wishes, share: Share, rivals: Callable[[int], Sequence[int]]) -> float:
    """Exchanges cards until the guess is at chance; gives how often it is right then, over all questions.

    `rivals` names diseases that share words with a question's history, the largest share first.
    """
    questions = range(len(table.golds))

    def rate(question: int) -> float:
        shares = [share(question, card) for card in table.hand(question)]
        return guessed(share(question, table.golds[question]), shares)

    rates = [rate(question) for question in questions]
    right, chance = sum(rates), len(rates) / (table.size + 1)
    leading = [question for question in questions if rates[question] > 1 / (table.size + 1)]
    table.numbers.shuffle(leading)
    for question in leading:
        if right <= chance:
            break
        right -= _overtake(table, wishes, question, share, rivals(question)[:RIVALS], rate)
    return right / max(len(rates), 1)


def _overtake(
    table: Table, wishes: Wishes, question: int, share: Share, rivals: Sequence[int], rate: Callable[[int], float]
) -> float:
    """Gets a question a card that leads its right option; gives by how much the guess is right less often."""
    gold = share(question, table.golds[question])
    filled = [place for place in table.places(question) if table.cards[place] != EMPTY]
    filled.sort(key=lambda place: (wishes.worth(question, table.cards[place]), place))
    for card in rivals:
        if share(question, card) < gold or not table.apart(table.golds[question], card):
            continue
        for other in table.some_owners(card):
            for place in filled[:2]:
                if table.can_exchange(place, other):
                    before = rate(question) + rate(other // table.size)
                    table.exchange(place, other)
                    less = before - rate(question) - rate(other // table.size)
                    if less > 0:
                        return less
                    table.exchange(place, other)
    return 0.0
