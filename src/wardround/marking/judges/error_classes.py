"""ClinBench's five kinds of error: a judge names the one that led to a wrong answer (specs/protocols.md 4.5).

The judge needs the reasoning behind the answer. Where a candidate gave none, the error is unscored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from wardround.asking.applicable import told
from wardround.asking.options import option_order, written
from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Request
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Identity, Sampling
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.judges.judge import answered, judged_diagnoses, row_of
from wardround.marking.judges.lexical_judge import tokens
from wardround.marking.judges.model_judge import CATEGORY, judge_request, stated, within
from wardround.marking.marks import PLACE
from wardround.running.store import Store

CLASSES = (
    "key_information_omission",
    "clinical_context_misunderstanding",
    "medical_knowledge_deficiency",
    "priority_judgment_error",
    "temporal_sequence_confusion",
)
NO_REASONING, NO_VERDICT, UNREADABLE = "unscored: no reasoning", "unscored: no verdict", "unscored: unreadable"
ERROR_TOKENS = 512
LEAST_WORDS = 10  # of a reply, beyond the answer itself, for it to hold reasoning (our choice)

_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>(.*?)(?:</(?:think|thinking|reasoning)>|\Z)", re.S | re.I)
_MEANINGS = {
    meaning: name
    for number, name in enumerate(CLASSES, 1)
    for spaced in [name.replace("_", " "), name.replace("_", " ").replace("judgment", "judgement")]
    for meaning in (spaced, f"{number} {spaced}", str(number))
}


class Wrong(NamedTuple):
    """A wrong answer with all that a judge of its error needs."""

    place: tuple[Any, ...]
    case: Case
    question: Question
    condition: Condition
    order: tuple[int, ...]
    option: int | None
    answer: Answer


def wrong_answers(
    marks: pl.DataFrame, used: pl.LazyFrame, cases: CaseSet, store: Store, study: Study
) -> Iterator[Wrong]:
    """Every wrong answer of a run."""
    conditions = {condition.json: condition for condition in study.all_conditions}
    wrong = marks.filter(pl.col("outcome") == "wrong").select(*PLACE, "option")
    options = {row[:-1]: row[-1] for row in wrong.iter_rows()}
    about_wrong = used.join(wrong.lazy(), on=PLACE, how="semi", maintain_order="left").collect().lazy()
    for row, case, question in answered(about_wrong, cases):
        answer = store.get(row_of(row))
        if answer is not None:
            place, condition = tuple(row[name] for name in PLACE), conditions[row["condition"]]
            order = option_order(case, question, condition, row["trial"], study.seed)
            yield Wrong(place, case, question, condition, order, options[place], answer)


def error_request(wrong: Wrong, reasoning: str, identity: Identity, sampling: Sampling, prompts: Prompts) -> Request:
    """Asks which kind of error led to a wrong answer."""
    question, option = wrong.question, wrong.option
    slots = {
        "question": within(as_put(wrong)),
        "gold": question.choices[int(question.gold)] if question.options else str(question.gold),
        "answer": question.choices[option] if option is not None else judged_diagnoses(wrong.answer.text)[0],
        "reasoning": within(reasoning),
    }
    return judge_request("error", slots, list(CLASSES), 0, identity, sampling, prompts)


def read_error_class(answer: Answer | None) -> str:
    """The class that the judge named, or why there is none."""
    if answer is None:
        return NO_VERDICT
    return stated(answer.text, _MEANINGS, CATEGORY) or UNREADABLE


def class_named(text: str) -> str | None:
    """The class that a person names, by its name or its number; None where it is none."""
    return _MEANINGS.get(" ".join(re.findall(r"[^\W_]+", text.casefold())))


def reasoning_of(answer: Answer, question: Question) -> str | None:
    """The reasoning that came with an answer: told apart, within tags, or as a reply that is more than an answer."""
    if answer.reasoning and answer.reasoning.strip():
        return answer.reasoning.strip()
    thought = "\n".join(part.strip() for part in _THOUGHT.findall(answer.text)).strip()
    if thought:
        return thought
    names = question.options or judged_diagnoses(answer.text)
    answering = {word for name in names for word in tokens(name)}
    beyond = [word for word in tokens(answer.text) if word.isalpha() and word not in answering]
    return answer.text.strip() if len(beyond) >= LEAST_WORDS else None


def as_put(wrong: Wrong) -> str:
    """The question as the candidate was shown it, without its images."""
    case, question, condition = wrong.case, wrong.question, wrong.condition
    parts = []
    if condition.stem == "full":
        history, _ = told(case, condition)
        parts += [
            history if condition.shows("history") else None,
            case.findings if condition.shows("findings") else None,
        ]
    parts += [question.prompt, written(question.options, wrong.order) if question.options else None]
    return "\n".join(part for part in parts if part)
