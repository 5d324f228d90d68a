"""ClinBench's five error classes: a judge names the one behind a wrong answer (docs/protocols.md 4.5).

The judge needs the reasoning behind the answer. Without reasoning the error is unscored.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from wardround.asking.options import format_options, option_order
from wardround.asking.reasoning import split_reasoning
from wardround.asking.tellings import resolve_telling
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.names import normalized_words
from wardround.core.study import Study
from wardround.marking.judges.judge import answer_key, judged_diagnoses, scored_answers
from wardround.marking.judges.model_judge import CATEGORY, JudgeQuestion, fold_words, parse_verdict, shorten
from wardround.marking.marks import MARK_KEY
from wardround.running.store import AnswerStore

CLASSES = (
    "key_information_omission",
    "clinical_context_misunderstanding",
    "medical_knowledge_deficiency",
    "priority_judgment_error",
    "temporal_sequence_confusion",
)
NO_REASONING, NO_VERDICT, UNREADABLE = "unscored: no reasoning", "unscored: no verdict", "unscored: unreadable"
ERROR_TOKENS = 512
MIN_REASONING_WORDS = 10  # of a reply, besides the answer itself, to count as reasoning (our choice)

_MEANINGS = {
    meaning: name
    for number, name in enumerate(CLASSES, 1)
    for spaced in [name.replace("_", " "), name.replace("_", " ").replace("judgment", "judgement")]
    for meaning in (spaced, f"{number} {spaced}", str(number))
}


class WrongAnswer(NamedTuple):
    """A wrong answer with all that a judge of its error needs."""

    key: tuple[Any, ...]
    case: Case
    question: Question
    condition: Condition
    order: tuple[int, ...]
    option: int | None
    answer: Answer


def wrong_answers(
    marks: pl.DataFrame, used: pl.LazyFrame, cases: CaseSet, store: AnswerStore, study: Study
) -> Iterator[WrongAnswer]:
    """Every wrong answer of a run."""
    conditions = {condition.json: condition for condition in study.all_conditions}
    wrong = marks.filter(pl.col("outcome") == "wrong").select(*MARK_KEY, "option")
    options = {row[:-1]: row[-1] for row in wrong.iter_rows()}
    used_wrong = used.join(wrong.lazy(), on=MARK_KEY, how="semi", maintain_order="left").collect().lazy()
    for row, case, question in scored_answers(used_wrong, cases):
        answer = store.get(answer_key(row))
        if answer is not None:
            key, condition = tuple(row[name] for name in MARK_KEY), conditions[row["condition"]]
            order = option_order(case, question, condition, row["trial"], study.seed)
            yield WrongAnswer(key, case, question, condition, order, options[key], answer)


def error_question(wrong: WrongAnswer) -> JudgeQuestion | None:
    """The question for the error class of a wrong answer; None without reasoning."""
    question, option, reasoning = wrong.question, wrong.option, reasoning_of(wrong.answer, wrong.question)
    if reasoning is None:
        return None
    slots = {
        "question": shorten(shown_question(wrong)),
        "gold": question.gold_text,
        "answer": question.choices[option] if option is not None else judged_diagnoses(wrong.answer.text)[0],
        "reasoning": shorten(reasoning),
    }
    return JudgeQuestion("error", slots, list(CLASSES))


def parse_error_class(answer: Answer | None) -> str:
    """The class that the judge named, or the reason why there is none."""
    if answer is None:
        return NO_VERDICT
    return parse_verdict(answer.text, _MEANINGS, CATEGORY) or UNREADABLE


def parse_class_name(text: str) -> str | None:
    """The class of this name or number, if there is one."""
    return _MEANINGS.get(fold_words(text))


def reasoning_of(answer: Answer, question: Question) -> str | None:
    """The reasoning with an answer: in a field of its own, in tags, or as a reply that is more than an answer."""
    if answer.reasoning and answer.reasoning.strip():
        return answer.reasoning.strip()
    if tagged := split_reasoning(answer.text).reasoning:
        return tagged
    names = question.options or judged_diagnoses(answer.text)
    answer_words = {word for name in names for word in normalized_words(name)}
    other_words = [word for word in normalized_words(answer.text) if word.isalpha() and word not in answer_words]
    return answer.text.strip() if len(other_words) >= MIN_REASONING_WORDS else None


def shown_question(wrong: WrongAnswer) -> str:
    """The question as the candidate saw it, without its images."""
    case, question, condition = wrong.case, wrong.question, wrong.condition
    parts = []
    if condition.stem == "full":
        history, _ = resolve_telling(case, condition)
        parts += [
            history if condition.shows("history") else None,
            case.findings if condition.shows("findings") else None,
        ]
    parts += [question.prompt, format_options(question.options, wrong.order) if question.options else None]
    return "\n".join(part for part in parts if part)
