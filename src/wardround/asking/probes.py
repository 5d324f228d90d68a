"""Probes of leakage: texts that a candidate is to foretell or to continue, and what those are held against.

ClinBench's two (specs/protocols.md 4.4) are `reference`, whose probability is taken, and `rationale`, which is
generated and compared. Each has its counterparts: the same-length text of another case, and the same said in other
words. Our own are the order of the options and the second half of a stem. A probe shows no images and no literature.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from math import factorial
from typing import NamedTuple

from wardround.asking.applicable import told
from wardround.asking.options import seeded, written
from wardround.cases.set import CaseSet
from wardround.core.ask import Sampling
from wardround.core.case import Case, Question
from wardround.core.condition import DEFAULTS, Condition

FORETELLING = Sampling(max_tokens=0)  # nothing is written
HALF_WORDS = 20  # at least so many words has each half of a stem
NEAREST = 8  # texts of other cases among which the nearest in length is drawn
SHOWN = ("inputs", "telling", "prompt", "reasoning", "probe")  # the axes that a probe has a part in
RATIONALE, GOLD, HALF, ORDER = "published rationale", "gold in a sentence", "second half", "order of the options"


Alike = tuple[str, str, bool, str]  # what sort of text, of what kind of question, with a paraphrase, in which telling
Measured = tuple[int, int, int]  # length of a text, number of its case, place of its question


class Put(NamedTuple):
    """What is said: the prompt, its slots, and the text that is to be foretold or generated."""

    prompt: str
    slots: dict[str, str]
    text: str


def foretells(probe: str) -> bool:
    """Whether a probe takes the probability of a given text; the others have a text written."""
    return probe.startswith(("reference", "options@"))


def reference_of(question: Question) -> tuple[str, str]:
    """The text that a leaked question would be known by, and what it is: the gold stands in where there is none."""
    if question.rationale:
        return question.rationale, RATIONALE
    gold = question.choices[int(question.gold)] if question.options else str(question.gold)
    return f"The answer is {gold}.", GOLD


def halves(case: Case, question: Question, condition: Condition) -> tuple[str, str] | None:
    """The stem cut in the middle of its words: the history, or a question that tells one; None where it is short."""
    history, _ = told(case, condition)
    for stem in (history or "", question.prompt):
        words = stem.split()
        if len(words) >= 2 * HALF_WORDS:
            middle = len(words) // 2
            return " ".join(words[:middle]), " ".join(words[middle:])
    return None


def other_order(case: Case, question: Question, number: int, seed: int) -> tuple[int, ...]:
    """The options in an order of which none with another number is the same; 0 is their own."""
    own, numbers = tuple(range(len(question.choices))), seeded("orders", seed, case.id, question.id)
    orders = [own]
    while len(orders) <= number:
        drawn = tuple(numbers.sample(own, len(own)))
        if drawn not in orders:
            orders.append(drawn)
    return orders[number]


class Probes:
    """The probes of one case set."""

    def __init__(self, cases: CaseSet, seed: int) -> None:
        self._cases, self._seed = cases, seed
        self._lengths: dict[Alike, list[Measured]] = {}  # sorted

    def why_not(self, case: Case, question: Question, condition: Condition) -> str | None:
        """Why a question cannot be probed in this way, or None if it can."""
        axes = [axis for axis, value in condition.values.items() if axis not in SHOWN and value != DEFAULTS[axis]]
        if axes:
            return f"a probe is put without {axes[0]} = {condition.values[axes[0]]}"
        if question.chain is not None:
            return "a probe is put to single questions, not to chains"
        probe = condition.probe
        if probe.startswith("options@"):
            return _why_no_order(question, int(probe.removeprefix("options@")))
        if probe.endswith("-paraphrase") and not (question.rationale and question.paraphrase):
            return "the question has no paraphrase of its rationale"
        if probe.startswith("rationale") and not question.rationale:
            return "the question has no published rationale"
        if probe.startswith("second-half") and halves(case, question, condition) is None:
            return f"the stem has fewer than {2 * HALF_WORDS} words"
        if "-other" in probe and self.another(case, question, condition) is None:
            return "no other case has such a text"
        return None

    def put(self, case: Case, question: Question, condition: Condition) -> Put:
        """What a probe says. Its parts are those that the condition's inputs show."""
        history, _ = told(case, condition)
        slots = {
            "history": (history or "") if condition.shows("history") else "",
            "findings": (case.findings or "") if condition.shows("findings") else "",
            "question": question.prompt,
            "options": written(question.options, range(len(question.options))) if question.options else "",
        }
        probe, text = condition.probe, self.text(case, question, condition)
        if probe.startswith("options@"):
            return Put("probe-options", slots | {"options": ""}, text)
        if probe.startswith("second-half"):
            cut = halves(case, question, condition)
            assert cut is not None, "a stem that cannot be cut is not probed"
            return Put("probe-half", {"half": cut[0]}, text)
        return Put("probe-rationale" if probe.startswith("rationale") else "probe-reference", slots, text)

    def text(self, case: Case, question: Question, condition: Condition) -> str:
        """The text that is to be foretold, or that what is written is held against."""
        probe = condition.probe
        if probe.startswith("options@"):
            order = other_order(case, question, int(probe.removeprefix("options@")), self._seed)
            return written(question.choices, order)
        if "-other" in probe:
            another = self.another(case, question, condition)
            assert another is not None, "where there is no other text, nothing is probed"
            case, question = another
        return str(question.paraphrase) if probe.endswith("-paraphrase") else _own(case, question, condition)[0]

    def kind(self, case: Case, question: Question, condition: Condition) -> str:
        """What sort of text it is."""
        return ORDER if condition.probe.startswith("options@") else _own(case, question, condition)[1]

    def another(self, case: Case, question: Question, condition: Condition) -> tuple[Case, Question] | None:
        """The question of another case whose text of the same sort is about as long; None if there is none.

        One of the nearest in length is drawn, so that no text stands for all the others. Where the question has a
        paraphrase, the other has one too.
        """
        own, alike = _own(case, question, condition)[0], _alike(case, question, condition)
        if alike not in self._lengths:
            self._lengths[alike] = self._measured(alike, condition)
        found: list[tuple[Case, Question]] = []
        for number, place in islice(_outwards(self._lengths[alike], len(own)), 4 * NEAREST):
            other = self._cases.case(number)
            text, _ = _own(other, other.questions[place], condition)
            if other.resampled_as != case.resampled_as and text != own:
                found.append((other, other.questions[place]))
            if len(found) == NEAREST:
                break
        return seeded("another text", self._seed, case.id, question.id, *alike).choice(found) if found else None

    def _measured(self, alike: Alike, condition: Condition) -> list[Measured]:
        found: dict[int, Measured] = {}  # each text once
        for number, case in enumerate(self._cases):
            if condition.telling != "own" and case.told_as(condition.telling) is None:
                continue
            for place, question in enumerate(case.questions):
                text, _ = _own(case, question, condition)
                if text and _alike(case, question, condition) == alike:
                    found.setdefault(hash(text), (len(text), number, place))
        return sorted(found.values())


def _own(case: Case, question: Question, condition: Condition) -> tuple[str, str]:
    if not condition.probe.startswith("second-half"):
        return reference_of(question)
    cut = halves(case, question, condition)
    return (cut[1], HALF) if cut is not None else ("", HALF)


def _alike(case: Case, question: Question, condition: Condition) -> Alike:
    paraphrased = bool(question.rationale and question.paraphrase)
    return _own(case, question, condition)[1], question.kind, paraphrased, condition.telling


def _outwards(lengths: list[Measured], length: int) -> Iterator[tuple[int, int]]:
    """Case and question of each text, the nearest in length first."""
    above = bisect_left(lengths, (length, 0, 0))
    below = above - 1
    while below >= 0 or above < len(lengths):
        up = lengths[above][0] - length if above < len(lengths) else None
        down = length - lengths[below][0] if below >= 0 else None
        if down is None or (up is not None and up <= down):
            yield lengths[above][1:]
            above += 1
        else:
            yield lengths[below][1:]
            below -= 1


def _why_no_order(question: Question, number: int) -> str | None:
    if question.options is None:
        return "an open question has no options to order"
    if number >= factorial(min(len(question.options), 5)):
        return "so few options have no further order"
    return None
