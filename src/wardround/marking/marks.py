"""Marks: one for every answer that a run used, always recomputable from the stored answers."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.options import option_order
from wardround.asking.probes import Probes
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.names import NO_SYNONYMS
from wardround.core.study import Study
from wardround.marking.evidence.grounding import EVIDENCE_SCHEMA
from wardround.marking.judges.judge import Judge, answer_key, judged_diagnoses
from wardround.marking.judges.lexical_judge import LexicalJudge
from wardround.marking.judges.rubric_judge import RUBRIC_SCHEMA, RubricVerdicts, grade, shown_answer
from wardround.marking.leakage import LEAKAGE_SCHEMA, probe_mark
from wardround.marking.model_reader import RULE, ModelReadings
from wardround.marking.parser.choice import STRICT, Reading, parse_choice, parser_version
from wardround.marking.parser.clean import clean_reply
from wardround.marking.parser.confidence import stated_confidence
from wardround.marking.parser.distribution import first_token_distribution
from wardround.marking.slice_values import CARRIED_SCHEMA, PEOPLE_SCHEMA, SLICE_SCHEMA, STRATA_SCHEMA
from wardround.running.parquet import write_in_parts
from wardround.running.store import AnswerStore

MARKS_FILE = "marks.parquet"
FEW_MARKS = 50_000  # as many are read at once and stay in memory
ParseChoice = Callable[[str, Sequence[str], str], Reading]  # a reply, the options as shown, the mode
MARK_KEY = ("candidate", "case", "question", "condition", "trial", "ask")
MARKS_SCHEMA: dict[str, Any] = {
    "candidate": pl.String,
    "case": pl.String,
    "cluster": pl.String,
    "question": pl.String,
    "condition": pl.String,
    "trial": pl.Int32,
    "ask": pl.String,
    "option": pl.Int16,
    "outcome": pl.String,
    "rule": pl.String,
    "confidence": pl.Float64,
    "hits": pl.List(pl.Boolean),
    "grounded": pl.Boolean,
    "error_class": pl.String,  # of an answer that is not right, if a judge named it
    "has_reasoning": pl.Boolean,  # whether that answer came with reasoning
    "judge": pl.String,
    "parser": pl.String,
    "gold": pl.Int16,
    "k": pl.Int16,
    "shares": pl.List(pl.Float64),
    **SLICE_SCHEMA,
    **STRATA_SCHEMA,
    **CARRIED_SCHEMA,
    "strict_option": pl.Int16,  # read by the strict parser where another one marks; -1: none
    "place": pl.Int16,  # of the chosen option in the order shown
    "gold_place": pl.Int16,
    **EVIDENCE_SCHEMA,
    **LEAKAGE_SCHEMA,
    **PEOPLE_SCHEMA,
    "labels": pl.List(pl.Boolean),  # people's verdicts on the diagnoses that `hits` judges
    **RUBRIC_SCHEMA,
}


class AnswerMarker:
    """Marks single answers of a run with its parser, judge and readings of what the parser could not read."""

    def __init__(
        self,
        cases: CaseSet,
        store: AnswerStore,
        study: Study,
        parser: str = "strict",
        judge: Judge | None = None,
        readings: ModelReadings | None = None,
        rubrics: RubricVerdicts | None = None,
        parse: ParseChoice = parse_choice,
    ) -> None:
        parser_version(parser)  # an unknown mode is refused even if there is no choice to read
        self.store, self._seed, self._parser, self._judge = store, study.seed, parser, judge
        self._readings, self._rubrics, self._parse = readings, rubrics, parse
        self._probes = Probes(cases, study.seed)
        self.conditions = {condition.json: condition for condition in study.all_conditions}
        self.synonyms = judge.synonyms if isinstance(judge, LexicalJudge) else NO_SYNONYMS

    def mark(self, row: dict[str, Any], case: Case, question: Question) -> tuple[Answer, dict[str, Any]] | None:
        """The answer of a row of used.parquet, and its mark without the columns of the case and the evidence."""
        answer, condition = self.store.get(answer_key(row)), self.conditions[row["condition"]]
        if answer is None:
            return None
        order = self.order_shown(case, question, condition, row["trial"])
        values = self.judgement(answer, case, question, condition, order)
        return None if values is None else (answer, values)

    def order_shown(self, case: Case, question: Question, condition: Condition, trial: int) -> tuple[int, ...]:
        """The options in the order shown, by their own index."""
        return option_order(case, question, condition, trial, self._seed)

    def judgement(
        self, answer: Answer, case: Case, question: Question, condition: Condition, order: tuple[int, ...]
    ) -> dict[str, Any] | None:
        """The mark of an answer without the columns of the case and the evidence; None if it has none."""
        if condition.probe != "none":
            return probe_mark(answer, case, question, condition, self._probes)
        if question.kind == "rubric":
            return mark_rubric(answer, case, question, condition, self._rubrics)
        how = (self._parser, self._judge, self._readings, self._parse)
        return mark_answer(answer, question, order, condition, *how)


def mark_answer(
    answer: Answer,
    question: Question,
    order: tuple[int, ...],
    condition: Condition,
    parser: str = "strict",
    judge: Judge | None = None,
    readings: ModelReadings | None = None,
    parse: ParseChoice = parse_choice,
) -> dict[str, Any] | None:
    """The mark of an answer. None for incomplete log-probabilities: the votes are marked instead."""
    if answer.refused_for is not None:
        place = _mark_choice(question, order, None) if question.kind == "choice" else {}
        if place and parser != STRICT:
            place["strict_option"] = -1
        return place | {"outcome": "refused", "rule": answer.refused_for, "parser": parser_version(parser)}
    if question.kind == "open":
        confidence = stated_confidence(clean_reply(answer.text)) if condition.confidence == "verbal" else None
        return _mark_open(answer, question, judge) | {"confidence": confidence, "parser": parser_version()}
    if condition.confidence == "logprobs" and answer.first_token is not None:
        return _mark_by_logprobs(answer, question, order)
    shown = [question.choices[index] for index in order]
    reading = parse(answer.text, shown, parser)
    confidence = reading.confidence if condition.confidence == "verbal" else None
    chosen, rule = reading.option, reading.rule
    if chosen is None and readings is not None and (chosen := readings.place(answer.text, shown)) is not None:
        rule = RULE
    fields = {"rule": rule, "confidence": confidence, "parser": parser_version(parser)}
    if parser != STRICT:
        strict_place = parse(answer.text, shown, STRICT).option
        fields["strict_option"] = -1 if strict_place is None else order[strict_place]
    return _mark_choice(question, order, chosen) | fields


def _mark_by_logprobs(answer: Answer, question: Question, order: tuple[int, ...]) -> dict[str, Any] | None:
    distribution = first_token_distribution(answer, [question.choices[index] for index in order])
    if distribution is None or not distribution.is_complete:
        return None
    shares = [distribution.shares[order.index(option)] for option in range(len(order))]
    top = max(range(len(shares)), key=lambda option: shares[option]) if sum(shares) > 0 else None
    confidence = None if top is None else shares[top]
    fields = {"rule": "log-probabilities", "confidence": confidence, "parser": parser_version(), "shares": shares}
    return _mark_choice(question, order, None if top is None else order.index(top)) | fields


def _mark_choice(question: Question, order: tuple[int, ...], place: int | None) -> dict[str, Any]:
    """The outcome of choosing the option at this place of the order shown."""
    option = None if place is None else order[place]
    return {
        "option": option,
        "outcome": "unparsed" if option is None else "right" if option == question.gold else "wrong",
        "gold": question.gold,
        "k": len(order),
        "place": place,
        "gold_place": order.index(int(question.gold)),
    }


def _mark_open(answer: Answer, question: Question, judge: Judge | None) -> dict[str, Any]:
    """By the verdict on the first diagnosis: right, wrong, or unscored without a verdict."""
    diagnoses = judged_diagnoses(answer.text)
    if not diagnoses:
        return {"outcome": "unparsed", "rule": "no diagnosis"}
    if judge is None:
        return {"outcome": "unscored", "rule": "no judge"}
    hits = [judge.same(question, diagnosis) for diagnosis in diagnoses]
    outcome = {True: "right", False: "wrong", None: "unscored"}[hits[0]]
    rule = "no verdict" if hits[0] is None else "judged"
    return {"outcome": outcome, "rule": rule, "hits": hits, "judge": judge.name}


def mark_rubric(
    answer: Answer, case: Case, question: Question, condition: Condition, rubrics: RubricVerdicts | None
) -> dict[str, Any]:
    """Graded if every criterion has a verdict, else unscored; an empty reply is unparsed."""
    if answer.refused_for is not None:
        return {"outcome": "refused", "rule": answer.refused_for}
    if not clean_reply(answer.text):
        return {"outcome": "unparsed", "rule": "empty reply"}
    if rubrics is None:
        return {"outcome": "unscored", "rule": "no judge of criteria"}
    shown = shown_answer(case, question, condition, answer)
    met = [rubrics.met(shown, criterion) for criterion in question.criteria]
    score = grade(question.criteria, met)
    criteria = [
        {"id": criterion.id, "points": criterion.points, "axis": criterion.axis, "met": is_met}
        for criterion, is_met in zip(question.criteria, met, strict=True)
    ]
    outcome, rule = ("unscored", "no verdict") if score is None else ("graded", "judged")
    return {"outcome": outcome, "rule": rule, "judge": rubrics.name, "criteria": criteria, "score": score}


def with_error_classes(
    marks: pl.DataFrame, verdicts: Mapping[tuple[Any, ...], tuple[str | None, bool | None]]
) -> pl.DataFrame:
    """The marks with error class and `has_reasoning` of each answer that is not right, by MARK_KEY."""
    rows = [verdicts.get(key, (None, None)) for key in marks.select(MARK_KEY).iter_rows()]
    columns = [
        pl.Series("error_class", [row[0] for row in rows], pl.String),
        pl.Series("has_reasoning", [row[1] for row in rows], pl.Boolean),
    ]
    return marks.with_columns(*columns).select(*MARKS_SCHEMA)


def write_marks(folder: Path, marks: pl.DataFrame) -> None:
    """Writes marks.parquet whole or not at all."""
    write_in_parts(folder / MARKS_FILE, [marks])


def scan_marks(folder: Path) -> pl.LazyFrame:
    """The marks of a run; few are read once, so that what is computed from them reads no file again."""
    marks = pl.scan_parquet(folder / MARKS_FILE)
    first = marks.head(FEW_MARKS + 1).collect()
    return first.lazy() if len(first) <= FEW_MARKS else marks
