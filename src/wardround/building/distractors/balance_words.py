"""Swaps distractors until the words of an option no longer give the right one away.

The name of a disease often shares words with the history of a patient who has it, even if the history does not name it.
A guesser that takes the option with the largest share of its words in the history would then be right too often. Where
the right option has the largest share, a disease with a larger one is swapped in, until the guess is right in one of K.
"""

from collections.abc import Callable, Sequence

from wardround.building.distractors.assign import EMPTY, Assignment, Preferences

MAX_RIVALS = 12  # diseases that are tried for a question
Share = Callable[[int, int], float]  # (question, disease): the share of the name's words that are in the history


def guess_rate(gold: float, others: Sequence[float]) -> float:
    """How often the highest share is the right option's, if ties are broken at random."""
    best = max(others, default=0.0)
    return 0.0 if gold < best else 1 / (1 + sum(other == gold for other in others))


def balance_shared_words(
    assignment: Assignment, preferences: Preferences, share: Share, rivals: Callable[[int], Sequence[int]]
) -> float:
    """Swaps distractors until the guess is at chance; returns its final accuracy over all questions.

    `rivals` names the diseases that share words with a question's history, the largest share first.
    """
    questions = range(len(assignment.golds))
    chance = 1 / (assignment.slots_per_question + 1)

    def rate(question: int) -> float:
        shares = [share(question, disease) for disease in assignment.distractors(question)]
        return guess_rate(share(question, assignment.golds[question]), shares)

    rates = [rate(question) for question in questions]
    right, expected = sum(rates), len(rates) / (assignment.slots_per_question + 1)
    leading = [question for question in questions if rates[question] > chance]
    assignment.rng.shuffle(leading)
    for question in leading:
        if right <= expected:
            break
        right -= _swap_in_rival(assignment, preferences, question, share, rivals(question)[:MAX_RIVALS], rate)
    return right / max(len(rates), 1)


def _swap_in_rival(
    assignment: Assignment,
    preferences: Preferences,
    question: int,
    share: Share,
    rivals: Sequence[int],
    rate: Callable[[int], float],
) -> float:
    """Swaps in a rival with at least the right option's share; returns by how much the guess gets worse."""
    gold = share(question, assignment.golds[question])
    filled = [slot for slot in assignment.slots(question) if assignment.diseases[slot] != EMPTY]
    filled.sort(key=lambda slot: (preferences.weight(question, assignment.diseases[slot]), slot))
    for disease in rivals:
        if share(question, disease) < gold or not assignment.compatible(assignment.golds[question], disease):
            continue
        for other in assignment.sample_slots(disease):
            partner = assignment.question(other)
            for slot in filled[:2]:
                if assignment.can_swap(slot, other):
                    before = rate(question) + rate(partner)
                    assignment.swap(slot, other)
                    gain = before - rate(question) - rate(partner)
                    if gain > 0:
                        return gain
                    assignment.swap(slot, other)
    return 0.0
