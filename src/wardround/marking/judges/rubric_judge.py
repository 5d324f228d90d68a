"""A model as judge of rubric answers: the requests, the verdicts in its replies, and the score that follows.

One request for each criterion, or one for all criteria of an answer (`[judge] rubric`). The judge is not shown the
points. A verdict is read only if the reply states exactly one for the criterion; else the criterion is unjudged.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from wardround.asking.tellings import resolve_telling
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.case import Case, Criterion, Question
from wardround.core.condition import Condition
from wardround.core.names import normalized_words
from wardround.core.study import Study
from wardround.marking.judges.judge import answer_key, is_probe, scored_answers
from wardround.marking.judges.model_judge import (
    MAX_SLOT_CHARACTERS,
    JudgeQuestion,
    make_label,
    parse_verdict,
    shorten,
    verdict_words,
)
from wardround.marking.parser.clean import clean_reply
from wardround.running.store import AnswerStore

CRITERION_TOKENS, RUBRIC_TOKENS = 256, 4096
CRITERIA_SCHEMA = pl.List(pl.Struct({"id": pl.String, "points": pl.Float64, "axis": pl.String, "met": pl.Boolean}))
RUBRIC_SCHEMA: dict[str, Any] = {
    "criteria": CRITERIA_SCHEMA,  # the rubric of a rubric answer in its order; `met` is null without a verdict
    "score": pl.Float64,  # points of the criteria met / positive points; null unless every criterion has a verdict
}
MET_OR_NOT = verdict_words(
    ["met", "criterion met", "the criterion is met", "yes", "true"],
    ["not met", "unmet", "criterion not met", "the criterion is not met", "no", "false"],
)
_MET = make_label(r"verdict|answer|judge?ment|criteri(?:on|a)[\s_]met|met")
_LINE = re.compile(
    r"^[\W_]*(?:criterion\s*)?#?(\d{1,3})[\W_]*?(?:verdict\W*)?(not[\s_]+met|unmet|met|yes|no|true|false)\b(.*)$", re.I
)


class RubricAnswer(NamedTuple):
    """An answer to a rubric question, as a judge is shown it."""

    context: str  # what the question showed, as text
    answer: str


class CriterionPair(NamedTuple):
    """A rubric answer and one criterion."""

    shown: RubricAnswer
    criterion: str


@dataclass
class RubricVerdicts:
    """The verdicts of a judge on pairs of an answer and a criterion."""

    name: str
    by_pair: Mapping[CriterionPair, bool | None] = field(default_factory=dict)

    def met(self, shown: RubricAnswer, criterion: Criterion) -> bool | None:
        return self.by_pair.get(CriterionPair(shown, criterion.text))


def shown_answer(case: Case, question: Question, condition: Condition, answer: Answer) -> RubricAnswer:
    """A rubric answer as a judge sees it: history, findings, conversation and question, and the reply."""
    history, _ = resolve_telling(case, condition)
    parts = [
        history if condition.shows("history") else None,
        case.findings if condition.shows("findings") else None,
        *(f"{message.role}: {message.content}" for message in question.conversation),
        f"user: {question.prompt}" if question.conversation else question.prompt,
    ]
    context = "\n\n".join(part for part in parts if part)
    if len(context) > MAX_SLOT_CHARACTERS:  # the question itself stands at the end
        context = f"[...] {context[-MAX_SLOT_CHARACTERS:]}"
    return RubricAnswer(context, shorten(clean_reply(answer.text)))


def rubric_answers(
    used: pl.LazyFrame, cases: CaseSet, store: AnswerStore, study: Study
) -> Iterator[tuple[RubricAnswer, Question]]:
    """Every rubric answer of a run that is not empty and was not refused, with its question."""
    conditions = {condition.json: condition for condition in study.all_conditions}
    for row, case, question in scored_answers(used, cases):
        if question.kind != "rubric" or is_probe(row["condition"]):
            continue
        answer = store.get(answer_key(row))
        if answer is not None and answer.refused_for is None and clean_reply(answer.text):
            yield shown_answer(case, question, conditions[row["condition"]], answer), question


def criterion_question(pair: CriterionPair) -> JudgeQuestion:
    """Whether an answer meets one criterion. The lexical truth is whether the criterion's words stand in it."""
    slots = {"question": pair.shown.context, "answer": pair.shown.answer, "criterion": pair.criterion}
    return JudgeQuestion("criterion", slots, ["met", "not met"], 0 if _states(pair) else 1)


def rubric_question(shown: RubricAnswer, criteria: Sequence[str]) -> JudgeQuestion:
    """Which of these criteria an answer meets."""
    listed = "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(criteria, 1))
    slots = {"question": shown.context, "answer": shown.answer, "criteria": listed}
    return JudgeQuestion("criteria", slots, ["met", "not met"])


def parse_met(answer: Answer | None) -> bool | None:
    """Whether the judge said "met"; None without a readable verdict."""
    return None if answer is None else parse_verdict(answer.text, MET_OR_NOT, _MET)


def parse_lines(answer: Answer | None, count: int) -> list[bool | None]:
    """The verdict on each of `count` criteria; None for one that has no line, or lines that contradict each other."""
    verdicts: dict[int, set[bool]] = {}
    for number, verdict, _ in _verdict_lines(answer):
        verdicts.setdefault(number, set()).add(verdict)
    return [
        next(iter(stated)) if len(stated := verdicts.get(number, set())) == 1 else None
        for number in range(1, count + 1)
    ]


def stated_reasons(answer: Answer | None, count: int) -> list[str | None]:
    """What the judge wrote about each of `count` criteria in its one reply."""
    reasons = {number: reason for number, _, reason in _verdict_lines(answer)}
    return [reasons.get(number) for number in range(1, count + 1)]


def grade(criteria: Sequence[Criterion], met: Sequence[bool | None]) -> float | None:
    """The points of the criteria met, divided by all positive points; None if a criterion has no verdict.

    Not clipped: an answer that meets criteria with negative points can be below 0.
    """
    if None in met:
        return None
    possible = sum(criterion.points for criterion in criteria if criterion.points > 0)
    achieved = sum(criterion.points for criterion, is_met in zip(criteria, met, strict=True) if is_met)
    return achieved / possible


def _states(pair: CriterionPair) -> bool:
    answer, criterion = (" ".join(normalized_words(text)) for text in (pair.shown.answer, pair.criterion))
    return f" {criterion} " in f" {answer} "


def _verdict_lines(answer: Answer | None) -> Iterator[tuple[int, bool, str]]:
    for line in clean_reply(answer.text).splitlines() if answer is not None else ():
        if match := _LINE.match(line):
            verdict = MET_OR_NOT[" ".join(re.findall(r"[a-z]+", match[2].casefold()))]
            yield int(match[1]), verdict, match[3].strip(" \t;:,.-–—*_\"'|}")
