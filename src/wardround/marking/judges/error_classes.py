"""ClinBench's five error classes: a judge names the one behind each answer that is not right (docs/protocols.md 4.5).

An answer without reasoning is judged by the answer alone and counted apart. A refused question has no answer to judge.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from wardround.asking.options import format_options, option_order
from wardround.asking.prompt_slots import IMAGES
from wardround.asking.reasoning import split_reasoning
from wardround.asking.tellings import resolve_telling, shown_modalities
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
PERCEPTION = "perception_error"  # of people only: a judge is not shown the images
REFUSED, NO_VERDICT, UNREADABLE = "unscored: refused", "unscored: no verdict", "unscored: unreadable"
NO_REASONING = "(none)"  # what the judge reads where reasoning should be
NO_OPTION = "(none of the options)"
ERROR_TOKENS = 512
MIN_REASONING_WORDS = 10  # of a reply, besides the answer itself, to count as reasoning (our choice)

_MEANINGS = {
    meaning: name
    for number, name in enumerate(CLASSES, 1)
    for spaced in [name.replace("_", " "), name.replace("_", " ").replace("judgment", "judgement")]
    for meaning in (spaced, f"{number} {spaced}", str(number))
}


class ErrorVerdict(NamedTuple):
    """The error class of an answer that is not right, or why it has none."""

    error_class: str
    has_reasoning: bool


class WrongAnswer(NamedTuple):
    """An answer that is not right, with all that a judge of its error needs."""

    key: tuple[Any, ...]
    case: Case
    question: Question
    condition: Condition
    order: tuple[int, ...]
    option: int | None
    answer: Answer
    images: str = ""  # the modalities of the images that were shown with the question


def wrong_answers(
    marks: pl.DataFrame, used: pl.LazyFrame, cases: CaseSet, store: AnswerStore, study: Study
) -> Iterator[WrongAnswer]:
    """Every answer of a run that is not right: a wrong one, or one that could not be read."""
    conditions = {condition.json: condition for condition in study.all_conditions}
    blind = {candidate.name for candidate in study.candidates if not candidate.sees}
    wrong = marks.filter(pl.col("outcome").is_in(["wrong", "unparsed"])).select(*MARK_KEY, "option")
    options = {row[:-1]: row[-1] for row in wrong.iter_rows()}
    used_wrong = used.join(wrong.lazy(), on=MARK_KEY, how="semi", maintain_order="left").collect().lazy()
    for row, case, question in scored_answers(used_wrong, cases):
        answer = store.get(answer_key(row))
        if answer is not None:
            key, condition = tuple(row[name] for name in MARK_KEY), conditions[row["condition"]]
            order = option_order(case, question, condition, row["trial"], study.seed)
            images = "" if row["candidate"] in blind else shown_modalities(case, question, condition)
            yield WrongAnswer(key, case, question, condition, order, options[key], answer, images)


def error_question(wrong: WrongAnswer, earlier: str = "") -> JudgeQuestion:
    """The question for the error class of an answer; `earlier` is a reply of the judge that named no single class."""
    slots = {
        "question": shorten(shown_question(wrong)),
        "gold": wrong.question.gold_text,
        "answer": stated_answer(wrong),
        "reasoning": shorten(reasoning_of(wrong.answer, wrong.question) or NO_REASONING),
        "earlier": shorten(earlier),
        "images": wrong.images,
    }
    kind = f"error{IMAGES}" if wrong.images else "error"
    return JudgeQuestion(kind, {name: text for name, text in slots.items() if text}, list(CLASSES))


def stated_answer(wrong: WrongAnswer) -> str:
    """The option or the first diagnosis of an answer."""
    if wrong.option is not None:
        return wrong.question.choices[wrong.option]
    diagnoses = [] if wrong.question.options else judged_diagnoses(wrong.answer.text)
    return diagnoses[0] if diagnoses else NO_OPTION if wrong.question.options else NO_REASONING


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
