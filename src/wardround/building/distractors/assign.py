"""Assignment of the diseases of a set to its questions as distractors, each as often as is fair.

A disease that is right g times should be offered as a distractor g (K - 1) times: then it is right in one of K of the
questions that offer it, and how often a disease is offered says nothing about where it is right. So each right answer
fills K - 1 slots, at random over all questions; then slots are swapped where that meets more of the questions'
preferences. Diseases are only ever swapped, so the counts stay exact.
"""

import random
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_TRIES = 200  # swaps that are tried for a disease that does not fit
MAX_HANDOVERS = 20  # times that such a disease is passed to another question
MAX_PASSES = 10  # over all slots
ROUNDS = 2  # over all questions, to meet their preferences
PARTNERS = 6  # slots with a preferred disease that are tried
EMPTY = -1
Compatible = Callable[[int, int], bool]  # whether two diseases can be options of one question
Accepts = Callable[[int, int], bool]  # whether a question takes a disease as a distractor


class Preferences:
    """For each question the diseases that it prefers, with weights; kept in little memory."""

    def __init__(self) -> None:
        self._starts = array("q", [0])
        self._diseases = array("i")
        self._weights = array("d")

    def add(self, weighted: Sequence[tuple[int, float]]) -> None:
        """Adds the next question with its (disease, weight) pairs."""
        for disease, weight in sorted(weighted):
            self._diseases.append(disease)
            self._weights.append(weight)
        self._starts.append(len(self._diseases))

    def ranked(self, question: int) -> list[tuple[float, int]]:
        """(weight, disease) of a question, largest weight first."""
        part = slice(self._starts[question], self._starts[question + 1])
        pairs = zip(self._weights[part], self._diseases[part], strict=True)
        return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))

    def weight(self, question: int, disease: int) -> float:
        """0 for a disease that the question did not name."""
        last = self._starts[question + 1]
        index = bisect_left(self._diseases, disease, self._starts[question], last)
        return self._weights[index] if index < last and self._diseases[index] == disease else 0.0


@dataclass
class Assignment:
    """The disease in each slot, and the slots of each disease; `slots_per_question` in a row are a question's."""

    golds: Sequence[int]
    slots_per_question: int
    compatible: Compatible
    rng: random.Random
    accepts: Accepts | None = None
    picky: frozenset[int] | None = None

    def __post_init__(self) -> None:
        diseases = _fair_diseases(self.golds, self.slots_per_question, self.accepts, self.picky)
        self.rng.shuffle(diseases)
        self.diseases = array("i", diseases)
        self.slots_by_disease: dict[int, list[int]] = {}
        self._rank = array("i", [0]) * len(diseases)  # the index of a slot among the slots of its disease
        for slot, disease in enumerate(diseases):
            if disease != EMPTY:
                self._index(slot, disease)

    def distractors(self, question: int) -> list[int]:
        """The distractors of a question; fewer if a slot stayed empty."""
        return [disease for slot in self.slots(question) if (disease := self.diseases[slot]) != EMPTY]

    def slots(self, question: int) -> range:
        return range(question * self.slots_per_question, (question + 1) * self.slots_per_question)

    def question(self, slot: int) -> int:
        return slot // self.slots_per_question

    def fill(self, slot: int, disease: int) -> None:
        if self.diseases[slot] != EMPTY:
            self._unindex(slot)
        self.diseases[slot] = disease
        if disease != EMPTY:
            self._index(slot, disease)

    def swap(self, one: int, other: int) -> None:
        first, second = self.diseases[one], self.diseases[other]
        self.fill(one, second)
        self.fill(other, first)

    def fits(self, slot: int, disease: int) -> bool:
        """Whether a disease is compatible with the right answer and the other distractors. A slot may stay empty."""
        question = self.question(slot)
        if disease == EMPTY:
            return True
        if not self.compatible(self.golds[question], disease):
            return False
        if self.accepts is not None and not self.accepts(question, disease):
            return False
        others = (self.diseases[other] for other in self.slots(question) if other != slot)
        return all(other == EMPTY or self.compatible(other, disease) for other in others)

    def can_swap(self, one: int, other: int) -> bool:
        """Only between two questions: within one nothing would change."""
        return (
            self.question(one) != self.question(other)
            and self.fits(one, self.diseases[other])
            and self.fits(other, self.diseases[one])
        )

    def sample_slots(self, disease: int) -> list[int]:
        """A few random slots with a disease."""
        slots = self.slots_by_disease.get(disease, [])
        return slots[:] if len(slots) <= PARTNERS else self.rng.sample(slots, PARTNERS)

    def _index(self, slot: int, disease: int) -> None:
        slots = self.slots_by_disease.setdefault(disease, [])
        self._rank[slot] = len(slots)
        slots.append(slot)

    def _unindex(self, slot: int) -> None:
        slots, rank = self.slots_by_disease[self.diseases[slot]], self._rank[slot]
        slots[rank] = slots[-1]
        self._rank[slots[rank]] = rank
        slots.pop()


def assign_distractors(
    golds: Sequence[int],
    slots_per_question: int,
    compatible: Compatible,
    rng: random.Random,
    accepts: Accepts | None = None,
    picky: frozenset[int] | None = None,
) -> tuple[Assignment, int]:
    """An assignment in which every disease fits its slot, and the number of slots that got no fair disease.

    `golds`: the disease that is right in each question. `picky`: the diseases that some question does not accept (None:
    any may be); the others are accepted by every question that has another right answer. A slot without a fair disease
    gets any that fits, or stays empty: this happens in small sets, and if one disease is right in more than 1 of K
    questions.
    """
    assignment = Assignment(golds, slots_per_question, compatible, rng, accepts, picky)
    misfits = _misfits(assignment)
    for _ in range(MAX_PASSES):
        for slot in misfits:
            if not assignment.fits(slot, assignment.diseases[slot]):
                _resolve_misfit(assignment, slot)
        if not (misfits := _misfits(assignment)):
            break
    for slot in misfits:
        assignment.fill(slot, EMPTY)
    empty = [slot for slot, disease in enumerate(assignment.diseases) if disease == EMPTY]
    diseases = sorted(set(golds))
    for slot in empty:
        shuffled = rng.sample(diseases, len(diseases))
        assignment.fill(slot, next((disease for disease in shuffled if assignment.fits(slot, disease)), EMPTY))
    return assignment, len(empty)


def _fair_diseases(
    golds: Sequence[int], slots_per_question: int, accepts: Accepts | None, picky: frozenset[int] | None
) -> list[int]:
    """Each disease as often as is fair; EMPTY instead of those for which there are not enough questions."""
    questions_left = {disease: len(golds) - times for disease, times in Counter(golds).items()}
    if accepts is not None:
        for disease in questions_left if picky is None else questions_left.keys() & picky:
            others = (question for question, gold in enumerate(golds) if gold != disease)
            questions_left[disease] = sum(accepts(question, disease) for question in others)
    diseases: list[int] = []
    for disease in golds:
        fair = min(slots_per_question, questions_left[disease])
        questions_left[disease] -= fair
        diseases += [disease] * fair + [EMPTY] * (slots_per_question - fair)
    return diseases


def _misfits(assignment: Assignment) -> list[int]:
    return [slot for slot, disease in enumerate(assignment.diseases) if not assignment.fits(slot, disease)]


def _resolve_misfit(assignment: Assignment, slot: int) -> None:
    """Swaps a disease that does not fit; if no swap works, it passes to another question, which then swaps it."""
    for _ in range(MAX_HANDOVERS):
        drawn = [assignment.rng.randrange(len(assignment.diseases)) for _ in range(MAX_TRIES)]
        partner = next((other for other in drawn if assignment.can_swap(slot, other)), None)
        if partner is not None:
            assignment.swap(slot, partner)
            return
        others = (other for other in drawn if assignment.question(other) != assignment.question(slot))
        taker = next((other for other in others if assignment.fits(slot, assignment.diseases[other])), None)
        if taker is None:
            return
        assignment.swap(slot, taker)
        slot = taker


def apply_preferences(assignment: Assignment, preferences: Preferences, difficulty: float) -> None:
    """Swaps distractors to meet more preferences; a share `difficulty` of all slots takes part."""
    slot_count = len(assignment.diseases)
    takes_part = bytearray(slot_count)
    for slot in assignment.rng.sample(range(slot_count), round(difficulty * slot_count)):
        takes_part[slot] = 1
    questions = list(range(len(assignment.golds)))
    for _ in range(ROUNDS):
        assignment.rng.shuffle(questions)
        for question in questions:
            slots = [
                slot for slot in assignment.slots(question) if takes_part[slot] and assignment.diseases[slot] != EMPTY
            ]
            if slots:
                _improve_question(assignment, preferences, question, slots, takes_part)


def _improve_question(
    assignment: Assignment, preferences: Preferences, question: int, slots: list[int], takes_part: bytearray
) -> None:
    """Swaps a question's least preferred distractors for preferred ones, each from the question that loses least."""
    weights = {slot: preferences.weight(question, assignment.diseases[slot]) for slot in slots}
    distractors = assignment.distractors(question)
    for weight, disease in preferences.ranked(question):
        slot = min(weights, key=lambda slot: (weights[slot], slot))
        if weight <= weights[slot]:
            return
        if disease in distractors or not assignment.compatible(assignment.golds[question], disease):
            continue
        best_gain, best_slot = 0.0, EMPTY
        for other in assignment.sample_slots(disease):
            if takes_part[other]:
                partner, current = assignment.question(other), assignment.diseases[slot]
                gain = preferences.weight(partner, current) - preferences.weight(partner, disease)
                gain = gain + weight - weights[slot]
                if gain > best_gain and assignment.can_swap(slot, other):
                    best_gain, best_slot = gain, other
        if best_slot != EMPTY:
            assignment.swap(slot, best_slot)
            weights[slot] = weight
            distractors = assignment.distractors(question)
