"""A model as judge: the request about a pair of diagnoses, and the verdict in its reply.

Our choices (docs/protocols.md 2.5): temperature 0, a short reply, one request for each distinct pair. A verdict is
read only if the reply states exactly one; every other reply is unscored.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Ask, Identity, Message, Sampling
from wardround.core.canonical import blake
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.names import same_disease
from wardround.marking.judges.judge import DiagnosisPair
from wardround.marking.judges.judged_text import as_data
from wardround.marking.parser.clean import clean_reply

PROMPT = "judge"
VERDICT_TOKENS = 64
MAX_SLOT_CHARACTERS = 12_000  # a candidate's text must not push the question out of the judge's context

T = TypeVar("T")


def make_label(words: str) -> re.Pattern[str]:
    """The pattern of a line such as `Verdict: ...`, or of a key of a JSON object."""
    return re.compile(rf"^[\W_]*(?:(?:the|my|final)\s+)*(?:{words})[\s*_\"'`]*(?:is\b|[:=])(.*)$", re.I)


VERDICT = make_label("verdict|answer|judge?ment")
CATEGORY = make_label(r"error\s+category|category")

_SENTENCE_END = re.compile(r"[.;(\n]|\s[-–—]+\s")


def verdict_words(yes: Sequence[str], no: Sequence[str]) -> dict[str, bool]:
    """The meaning of each wording of a verdict, of its letter too."""
    words = dict.fromkeys(yes, True) | dict.fromkeys(no, False)
    lettered = {f"{'a' if meaning else 'b'} {word}": meaning for word, meaning in words.items()}
    return {"a": True, "b": False, **words, **lettered}


SAME_OR_NOT = verdict_words(
    ["same", "the same", "same disease", "the same disease", "yes"],
    ["not same", "not the same", "different", "not same disease", "not the same disease", "different diseases", "no"],
)
YES_OR_NO = verdict_words(["yes"], ["no"])


class JudgeQuestion(NamedTuple):
    """A question to a judge: its prompt and slots, the verdicts to choose from, and that of the lexical rules."""

    kind: str
    slots: dict[str, str]
    options: list[str]
    gold: int = 0

    def request(self, identity: Identity, sampling: Sampling, prompts: Prompts) -> Request:
        """The request to a judge of this identity.

        Servers see only the rendered text. A simulated judge errs as planted against `gold`; `task` names it, so that
        sensitivity and specificity can be planted separately.
        """
        kind, slots, options, gold = self
        question = Question(id=kind, kind="choice", prompt="", options=options, gold=gold, task=options[gold])
        case = Case(id=blake(slots).hex()[:16], questions=[question])
        data = {name: as_data(text) for name, text in slots.items()}
        ask = Ask(identity, sampling, (Message("user", (prompts.fill(PROMPT, prompts.resolve(PROMPT, kind), data),)),))
        return Request(ask, case, question, Condition(), tuple(range(len(options))), (0,))


def same_question(pair: DiagnosisPair) -> JudgeQuestion:
    """Whether both names of a pair mean the same disease."""
    slots = {"gold": pair.gold, "accept": "; ".join(pair.accept), "diagnosis": pair.diagnosis}
    gold = 0 if same_disease(pair.diagnosis, [pair.gold, *pair.accept]) else 1
    return JudgeQuestion("same", slots, ["same", "not same"], gold)


def parse_same(answer: Answer | None) -> bool | None:
    """Whether the judge said "same"; None without a readable verdict."""
    return None if answer is None else parse_verdict(answer.text, SAME_OR_NOT)


def parse_verdict(reply: str, meanings: Mapping[str, T], label: re.Pattern[str] = VERDICT) -> T | None:
    """The meaning that a reply states, if it states exactly one."""
    text = clean_reply(reply)
    labelled = [_meaning(value, meanings) for value in _labelled_values(text, label)]
    if labelled:
        first = labelled[0]
        return first if all(meaning == first for meaning in labelled) else None
    whole = meanings.get(fold_words(text))
    if whole is not None:
        return whole
    lines = text.splitlines()
    if len(lines) < 2:
        opening = fold_words(_SENTENCE_END.split(text, maxsplit=1)[0])
        return meanings.get(opening) if len(opening) > 1 else None  # "A. fib ..." is not a verdict
    ends = {meanings.get(fold_words(lines[0])), meanings.get(fold_words(lines[-1]))} - {None}
    return ends.pop() if len(ends) == 1 else None


def shorten(text: str) -> str:
    """A candidate's text, cut to the length that a judge is shown."""
    return text if len(text) <= MAX_SLOT_CHARACTERS else f"{text[:MAX_SLOT_CHARACTERS]} [...]"


def _labelled_values(text: str, label: re.Pattern[str]) -> list[str]:
    """The values that follow "Verdict:" and the like, in lines or in a JSON object."""
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        try:
            fields = json.loads(text[start : end + 1])
        except (ValueError, RecursionError):
            fields = None
        if isinstance(fields, dict):
            return [str(value) for key, value in fields.items() if label.match(f"{key}:")]
    return [match[1] for line in text.splitlines() if (match := label.match(line))]


def _meaning(value: str, meanings: Mapping[str, T]) -> T | None:
    whole = meanings.get(fold_words(value))
    return meanings.get(fold_words(_SENTENCE_END.split(value.strip(), maxsplit=1)[0])) if whole is None else whole


def fold_words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def judge_name(identity: Identity, sampling: Sampling, prompt_hash: str) -> str:
    """The name of a judge in marks: its identity, and a short hash of its prompt and settings."""
    name = f"{identity.provider}/{identity.model or '-'}"
    if identity.revision:
        name += f"@{identity.revision}"
    settings = {"prompt": prompt_hash, "sampling": json.loads(sampling.json), "extra_body": identity.extra_body}
    return f"{name}#{blake(settings).hex()[:8]}"


@dataclass
class JudgeVerdicts:
    """The verdicts of a judge on pairs."""

    name: str
    by_pair: Mapping[DiagnosisPair, bool | None] = field(default_factory=dict)

    def same(self, question: Question, diagnosis: str) -> bool | None:
        return self.by_pair.get(DiagnosisPair.of(question, diagnosis))
