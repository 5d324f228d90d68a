"""Marks: every answer that a run used, judged. Always recomputable from the stored answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.options import option_order
from wardround.asking.probes import Probes
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.evidence.grounding import EVIDENCE_SCHEMA, Test, evidence_marks, supported
from wardround.marking.judges.judge import Judge, answered, judged_diagnoses, row_of
from wardround.marking.judges.lexical_judge import NO_SYNONYMS, Lexical
from wardround.marking.leakage import LEAKAGE_SCHEMA, probe_mark
from wardround.marking.parser.choice import parse_choice, parser_version
from wardround.marking.parser.clean import spoken
from wardround.marking.parser.confidence import stated_confidence
from wardround.marking.parser.distribution import distribution
from wardround.marking.person_columns import PEOPLE_SCHEMA, person_marks
from wardround.marking.slice_values import CARRIED_SCHEMA, SLICE_SCHEMA, STRATA_SCHEMA, slice_values, strata
from wardround.running.parquet import write_in_parts
from wardround.running.store import Store
from wardround.running.used_answers import Shown

FILE = "marks.parquet"
CHUNK = 5_000  # marks that are held as records
PLACE = ("candidate", "case", "question", "condition", "trial", "ask")
SCHEMA: dict[str, Any] = {
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
    "error_class": pl.String,
    "judge": pl.String,
    "parser": pl.String,
    "gold": pl.Int16,
    "k": pl.Int16,
    "shares": pl.List(pl.Float64),
    **SLICE_SCHEMA,
    **STRATA_SCHEMA,
    **CARRIED_SCHEMA,
    "place": pl.Int16,  # of the chosen option as shown
    "gold_place": pl.Int16,
    **EVIDENCE_SCHEMA,
    **LEAKAGE_SCHEMA,
    **PEOPLE_SCHEMA,
    "labels": pl.List(pl.Boolean),  # what people say of the diagnoses that `hits` judges
}


def mark(
    used: pl.LazyFrame,
    cases: CaseSet,
    store: Store,
    study: Study,
    *,
    parser: str = "strict",
    judged_by: Judge | None = None,
    shown: Shown | None = None,
    test: Test = supported,
) -> Iterator[pl.DataFrame]:
    """One mark per used answer, some at a time; for an answer by log-probabilities, one that holds the distribution.

    Without a judge, open answers are unscored. `test` says whether documents that were shown support a diagnosis.
    """
    parser_version(parser)  # an unknown mode is refused also where there is no choice to read
    yield pl.DataFrame(schema=SCHEMA)  # so that there is a table where there is no mark
    marks = _marks(used, cases, store, study, parser, judged_by, shown, test)
    while rows := list(islice(marks, CHUNK)):
        yield pl.DataFrame(rows, schema=SCHEMA)


def _marks(
    used: pl.LazyFrame,
    cases: CaseSet,
    store: Store,
    study: Study,
    parser: str,
    judged_by: Judge | None,
    shown: Shown | None,
    test: Test,
) -> Iterator[dict[str, Any]]:
    conditions = {condition.json: condition for condition in study.all_conditions}
    synonyms = judged_by.synonyms if isinstance(judged_by, Lexical) else NO_SYNONYMS
    degrades = any(condition.degradation != "none" for condition in study.all_conditions)
    probes = Probes(cases, study.seed)
    about: Case | None = None
    for row, case, question in answered(used, cases):
        if case is not about:
            about, slices = case, {each.id: slice_values(case, each) for each in case.questions}
        condition = conditions[row["condition"]]
        answer = store.get(row_of(row))
        if answer is None:
            continue
        order = option_order(case, question, condition, row["trial"], study.seed)
        if condition.probe != "none":
            judged = probe_mark(answer, case, question, condition, probes)
        else:
            judged = judge(answer, question, order, condition, parser, judged_by)
        if judged is not None:
            place = {name: row[name] for name in PLACE}
            degraded = strata(case, question, condition) if degrades else {}
            evidence = shown.with_answer(row) if shown else None
            told: dict[str, Any] = dict(person_marks(answer, case))
            if evidence is not None:
                told |= evidence_marks(case, question, answer, judged, evidence, synonyms, test)
            yield place | {"cluster": case.resampled_as} | judged | slices[question.id] | degraded | told


def judge(
    answer: Answer,
    question: Question,
    order: tuple[int, ...],
    condition: Condition,
    parser: str = "strict",
    judged_by: Judge | None = None,
) -> dict[str, Any] | None:
    """What an answer is worth. None for log-probabilities that settle nothing: the votes are marked instead."""
    if question.kind == "open":
        stated = stated_confidence(spoken(answer.text)) if condition.confidence == "verbal" else None
        return _open(answer, question, judged_by) | {"confidence": stated, "parser": parser_version()}
    if condition.confidence == "logprobs" and answer.first_token is not None:
        return _by_logprobs(answer, question, order)
    shown = [question.choices[index] for index in order]
    reading = parse_choice(answer.text, shown, parser)
    option = None if reading.option is None else order[reading.option]
    outcome = "unparsed" if option is None else "right" if option == question.gold else "wrong"
    return {
        "option": option,
        "outcome": outcome,
        "rule": reading.rule,
        "confidence": reading.confidence if condition.confidence == "verbal" else None,
        "parser": parser_version(parser),
        "gold": question.gold,
        "k": len(order),
        "place": reading.option,
        "gold_place": order.index(int(question.gold)),
    }


def _by_logprobs(answer: Answer, question: Question, order: tuple[int, ...]) -> dict[str, Any] | None:
    found = distribution(answer, [question.choices[index] for index in order])
    if found is None or not found.settled:
        return None
    shares = [0.0] * len(order)
    for place, share in enumerate(found.shares):
        shares[order[place]] = share
    top = max(range(len(shares)), key=lambda index: shares[index])
    parsed = sum(shares) > 0
    outcome = "unparsed" if not parsed else "right" if top == question.gold else "wrong"
    return {
        "option": top if parsed else None,
        "outcome": outcome,
        "rule": "log-probabilities",
        "confidence": shares[top] if parsed else None,
        "parser": parser_version(),
        "gold": question.gold,
        "k": len(order),
        "shares": shares,
        "place": order.index(top) if parsed else None,
        "gold_place": order.index(int(question.gold)),
    }


def _open(answer: Answer, question: Question, judged_by: Judge | None) -> dict[str, Any]:
    """By the verdict on the first diagnosis: right, wrong, or unscored where there is none."""
    diagnoses = judged_diagnoses(answer.text)
    if not diagnoses:
        return {"outcome": "unparsed", "rule": "no diagnosis"}
    if judged_by is None:
        return {"outcome": "unscored", "rule": "no judge"}
    hits = [judged_by.same(question, diagnosis) for diagnosis in diagnoses]
    outcome = {True: "right", False: "wrong", None: "unscored"}[hits[0]]
    rule = "no verdict" if hits[0] is None else "judged"
    return {"outcome": outcome, "rule": rule, "hits": hits, "judge": judged_by.name}


def with_error_classes(marks: pl.DataFrame, classes: Mapping[tuple[Any, ...], str]) -> pl.DataFrame:
    """The marks with the error class of each wrong answer, by its place (see PLACE)."""
    places = marks.select(PLACE).iter_rows()
    found = [classes.get(place) for place in places]
    return marks.with_columns(pl.Series("error_class", found, pl.String)).select(*SCHEMA)


def write_marks(folder: Path, marks: pl.DataFrame) -> None:
    """Writes marks.parquet whole or not at all."""
    write_in_parts(folder / FILE, [marks])
