"""Leakage probes: texts whose log-likelihood is taken or that a candidate continues, and their counterparts.

ClinBench's two (docs/protocols.md 4.4) are `reference`, whose log-likelihood is taken, and `rationale`, which is
generated and compared. Each has its counterparts: a text of the same length from another case, and a paraphrase. Our
own are the order of the options, the second half of a stem, and `reference-masked`, whose prompt shares no word with
the text or its counterparts: what is more probable after it was not copied. A probe shows no images and no literature.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from wardround.asking.masking import mask_words, word_beginnings
from wardround.asking.options import format_options
from wardround.asking.tellings import resolve_telling, shown_texts
from wardround.cases.set import CaseSet
from wardround.core.ask import Sampling
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.random import seeded

SCORING = Sampling(max_tokens=0)  # nothing is written
HALF_WORDS = 20  # the least words of each half of a stem
NEAREST = 8  # texts of other cases, nearest in length, from which the counterpart is drawn
PROBE_AXES = ("inputs", "telling", "prompt", "reasoning", "probe")  # the axes that apply to a probe
MASKED = "reference-masked"
RATIONALE, GOLD, HALF, ORDER = "published rationale", "gold in a sentence", "second half", "order of the options"

TextClass = tuple[str, str, bool, str]  # kind of text, kind of question, whether paraphrased, telling
TextLength = tuple[int, int, int]  # length of a text, number of its case, index of its question


class ProbePrompt(NamedTuple):
    """The prompt of a probe, its slots, and the text to be scored or generated."""

    prompt: str
    slots: dict[str, str]
    text: str


def asks_logprob(probe: str) -> bool:
    """Whether a probe takes the log-likelihood of a text; the others have one written."""
    return probe.startswith(("reference", "options@"))


def reference_of(question: Question) -> tuple[str, str]:
    """The text by which a leaked question would be known, and its kind. Without a rationale it is the gold."""
    if question.rationale:
        return question.rationale, RATIONALE
    return f"The answer is {question.gold_text}.", GOLD


def halves(case: Case, question: Question, condition: Condition) -> tuple[str, str] | None:
    """The two halves of the stem (the history, or a long question); None if both are too short."""
    history, _ = resolve_telling(case, condition)
    for stem in (history or "", question.prompt):
        words = stem.split()
        if len(words) >= 2 * HALF_WORDS:
            middle = len(words) // 2
            return " ".join(words[:middle]), " ".join(words[middle:])
    return None


def other_order(case: Case, question: Question, number: int, seed: int) -> tuple[int, ...]:
    """One order of the options per number, all different; 0 is their own."""
    own, random = tuple(range(len(question.choices))), seeded("orders", seed, case.id, question.id)
    orders = [own]
    while len(orders) <= number:
        order = tuple(random.sample(own, len(own)))
        if order not in orders:
            orders.append(order)
    return orders[number]


class Probes:
    """The probes of one case set."""

    def __init__(self, cases: CaseSet, seed: int) -> None:
        self._cases, self._seed = cases, seed
        self._lengths: dict[TextClass, list[TextLength]] = {}  # sorted

    def prompt(self, case: Case, question: Question, condition: Condition) -> ProbePrompt:
        """The prompt of a probe, with the parts of the case that the condition's inputs show."""
        slots = {
            **shown_texts(case, condition),
            "question": question.prompt,
            "options": format_options(question.options, range(len(question.options))) if question.options else "",
        }
        probe, text = condition.probe, self.text(case, question, condition)
        if probe.startswith(MASKED):
            words = word_beginnings(self._compared_texts(case, question, condition))
            slots = {name: mask_words(shown, words) for name, shown in slots.items()}
        if probe.startswith("options@"):
            return ProbePrompt("probe-options", slots | {"options": ""}, text)
        if probe.startswith("second-half"):
            parts = halves(case, question, condition)
            assert parts is not None, "a stem that cannot be cut is not probed"
            return ProbePrompt("probe-half", {"half": parts[0]}, text)
        return ProbePrompt("probe-rationale" if probe.startswith("rationale") else "probe-reference", slots, text)

    def text(self, case: Case, question: Question, condition: Condition) -> str:
        """The text to be scored, or with which the generated text is compared."""
        probe = condition.probe
        if probe.startswith("options@"):
            order = other_order(case, question, int(probe.removeprefix("options@")), self._seed)
            return format_options(question.choices, order)
        case, question = self.text_owner(case, question, condition)
        if probe.endswith("-paraphrase"):
            return str(question.paraphrase)
        return _text_and_kind(case, question, condition)[0]

    def text_owner(self, case: Case, question: Question, condition: Condition) -> tuple[Case, Question]:
        """The case and the question whose text it is: its own, or the counterpart."""
        if "-other" not in condition.probe:
            return case, question
        counterpart = self.find_counterpart(case, question, condition)
        assert counterpart is not None, "a question without a counterpart is not probed"
        return counterpart

    def _compared_texts(self, case: Case, question: Question, condition: Condition) -> list[str]:
        """The rationale, that of the counterpart, and both in other words."""
        counterpart = self.find_counterpart(case, question, condition)
        questions = [question] if counterpart is None else [question, counterpart[1]]
        return [text for asked in questions for text in (asked.rationale, asked.paraphrase) if text]

    def copyable_words(self, case: Case, question: Question, condition: Condition) -> frozenset[str]:
        """The words that an explanation may share with a rationale because both have them from the stem.

        Those of the counterpart's stem too, so that both rationales lose what they quote.
        """
        stems = _stem_texts(case, question, condition)
        if (counterpart := self.find_counterpart(case, question, condition)) is not None:
            stems += _stem_texts(*counterpart, condition)
        return word_beginnings(stems)

    def text_kind(self, case: Case, question: Question, condition: Condition) -> str:
        """The kind of the text."""
        return ORDER if condition.probe.startswith("options@") else _text_and_kind(case, question, condition)[1]

    def find_counterpart(self, case: Case, question: Question, condition: Condition) -> tuple[Case, Question] | None:
        """A question of another case whose text is of the same class and about as long; None if there is none.

        It is drawn among the nearest in length, so that no text is the counterpart of all others.
        """
        own, text_class = _text_and_kind(case, question, condition)[0], _text_class(case, question, condition)
        if text_class not in self._lengths:
            self._lengths[text_class] = self._measure_lengths(text_class, condition)
        nearest: list[tuple[Case, Question]] = []
        for number, index in islice(_nearest_first(self._lengths[text_class], len(own)), 4 * NEAREST):
            other = self._cases.case(number)
            text, _ = _text_and_kind(other, other.questions[index], condition)
            if other.cluster_id != case.cluster_id and text != own:
                nearest.append((other, other.questions[index]))
            if len(nearest) == NEAREST:
                break
        random = seeded("another text", self._seed, case.id, question.id, *text_class)
        return random.choice(nearest) if nearest else None

    def _measure_lengths(self, text_class: TextClass, condition: Condition) -> list[TextLength]:
        lengths: dict[int, TextLength] = {}  # by the hash of the text: each text once
        for number, case in enumerate(self._cases):
            if condition.telling != "own" and case.telling_named(condition.telling) is None:
                continue
            for index, question in enumerate(case.questions):
                text, _ = _text_and_kind(case, question, condition)
                if text and _text_class(case, question, condition) == text_class:
                    lengths.setdefault(hash(text), (len(text), number, index))
        return sorted(lengths.values())


def _stem_texts(case: Case, question: Question, condition: Condition) -> list[str]:
    """What a prompt shows of a case and a question."""
    return [*shown_texts(case, condition).values(), question.prompt, *(question.options or ())]


def _text_and_kind(case: Case, question: Question, condition: Condition) -> tuple[str, str]:
    if not condition.probe.startswith("second-half"):
        return reference_of(question)
    parts = halves(case, question, condition)
    return (parts[1] if parts is not None else ""), HALF


def _text_class(case: Case, question: Question, condition: Condition) -> TextClass:
    paraphrased = bool(question.rationale and question.paraphrase)
    return _text_and_kind(case, question, condition)[1], question.kind, paraphrased, condition.telling


def _nearest_first(lengths: list[TextLength], length: int) -> Iterator[tuple[int, int]]:
    """Case number and question index of each text, the nearest in length first."""
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
