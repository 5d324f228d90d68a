"""A model as judge: what it is asked about a pair of diagnoses, and which verdict its reply states.

Our choices (specs/protocols.md 2.5): temperature 0, a short reply, one request for each distinct pair. A verdict is
read only where the reply states exactly one; all else is unscored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Ask, Identity, Message, Sampling
from wardround.core.canonical import blake
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.marking.judges.judge import Pair
from wardround.marking.judges.lexical_judge import same_disease
from wardround.marking.parser.clean import spoken

PROMPT = "judge"
VERDICT_TOKENS = 64
LONGEST_SLOT = 12_000  # characters; what a candidate wrote must not push the question out of the judge's sight

T = TypeVar("T")


def _label(words: str) -> re.Pattern[str]:
    return re.compile(rf"^[\W_]*(?:(?:the|my|final)\s+)*(?:{words})[\s*_\"'`]*(?:is\b|[:=])(.*)$", re.I)


VERDICT = _label("verdict|answer|judge?ment")
CATEGORY = _label(r"error\s+category|category")

_SENTENCE_END = re.compile(r"[.;(\n]|\s[-–—]+\s")


def _meanings(yes: Sequence[str], no: Sequence[str]) -> dict[str, bool]:
    told = dict.fromkeys(yes, True) | dict.fromkeys(no, False)
    lettered = {f"{'a' if meaning else 'b'} {word}": meaning for word, meaning in told.items()}
    return {"a": True, "b": False, **told, **lettered}


SAME_OR_NOT = _meanings(
    ["same", "the same", "same disease", "the same disease", "yes"],
    ["not same", "not the same", "different", "not same disease", "not the same disease", "different diseases", "no"],
)
YES_OR_NO = _meanings(["yes"], ["no"])


def same_request(pair: Pair, identity: Identity, sampling: Sampling, prompts: Prompts) -> Request:
    """Asks whether both names of a pair mean the same disease."""
    slots = {"gold": pair.gold, "accept": "; ".join(pair.accept), "diagnosis": pair.diagnosis}
    gold = 0 if same_disease(pair.diagnosis, [pair.gold, *pair.accept]) else 1
    return judge_request("same", slots, ["same", "not same"], gold, identity, sampling, prompts)


def judge_request(
    kind: str,
    slots: Mapping[str, str],
    options: list[str],
    gold: int,
    identity: Identity,
    sampling: Sampling,
    prompts: Prompts,
) -> Request:
    """One request to a judge.

    Servers see the rendered text only. A simulated judge errs as planted against `gold`, which is what the rules
    without medicine say; `task` names it, so that sensitivity and specificity can be planted apart.
    """
    text = prompts.fill(PROMPT, kind, slots)
    question = Question(id=kind, kind="choice", prompt="", options=options, gold=gold, task=options[gold])
    case = Case(id=blake(dict(slots)).hex()[:16], questions=[question])
    ask = Ask(identity, sampling, (Message("user", (text,)),))
    return Request(ask, case, question, Condition(), tuple(range(len(options))), (0,))


def read_same(answer: Answer | None) -> bool | None:
    """Whether the judge said "same"; None where it said nothing that can be read."""
    return None if answer is None else stated(answer.text, SAME_OR_NOT)


def stated(reply: str, meanings: Mapping[str, T], label: re.Pattern[str] = VERDICT) -> T | None:
    """What a reply states, if it states exactly one of the meanings, and nothing that contradicts it."""
    said = spoken(reply)
    labelled = [_meaning(value, meanings) for value in _labelled(said, label)]
    if labelled:
        first = labelled[0]
        return first if all(meaning == first for meaning in labelled) else None
    whole = meanings.get(_folded(said))
    if whole is not None:
        return whole
    lines = said.splitlines()
    if len(lines) < 2:
        opening = _folded(_SENTENCE_END.split(said, maxsplit=1)[0])
        return meanings.get(opening) if len(opening) > 1 else None  # "A. fib ..." begins with no verdict
    ends = {meanings.get(_folded(lines[0])), meanings.get(_folded(lines[-1]))} - {None}
    return ends.pop() if len(ends) == 1 else None


def within(text: str) -> str:
    """What a candidate wrote, as long as a judge may be shown."""
    return text if len(text) <= LONGEST_SLOT else f"{text[:LONGEST_SLOT]} [...]"


def _labelled(said: str, label: re.Pattern[str]) -> list[str]:
    """The values that follow "Verdict:" and the like, in lines or in a JSON object."""
    opened, closed = said.find("{"), said.rfind("}")
    if 0 <= opened < closed:
        try:
            told = json.loads(said[opened : closed + 1])
        except (ValueError, RecursionError):
            told = None
        if isinstance(told, dict):
            return [str(value) for key, value in told.items() if label.match(f"{key}:")]
    return [found[1] for line in said.splitlines() if (found := label.match(line))]


def _meaning(value: str, meanings: Mapping[str, T]) -> T | None:
    whole = meanings.get(_folded(value))
    return meanings.get(_folded(_SENTENCE_END.split(value.strip(), maxsplit=1)[0])) if whole is None else whole


def _folded(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def judge_name(identity: Identity, sampling: Sampling, prompt_hash: str) -> str:
    """How marks name a judge: who it is, and a short hash of how it is asked."""
    who = f"{identity.provider}/{identity.model or '-'}"
    if identity.revision:
        who += f"@{identity.revision}"
    how = {"prompt": prompt_hash, "sampling": json.loads(sampling.json), "extra_body": identity.extra_body}
    return f"{who}#{blake(how).hex()[:8]}"


@dataclass
class Verdicts:
    """What a judge said about pairs, read once for all the marks that need it."""

    name: str
    by_pair: Mapping[Pair, bool | None] = field(default_factory=dict)

    def same(self, question: Question, diagnosis: str) -> bool | None:
        return self.by_pair.get(Pair.of(question, diagnosis))
