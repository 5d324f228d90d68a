"""Marks: every answer that a run used, judged. Always recomputable from the stored answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.options import option_order
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.choice import PARSER, parse_choice, stated_confidence
from wardround.marking.distribution import distribution
from wardround.marking.open import LEXICAL, lexical_hits
from wardround.marking.slices import SLICE_SCHEMA, slice_values
from wardround.running.store import Row, Store

CHUNK = 20_000
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
}


def mark(used: pl.DataFrame, cases: CaseSet, store: Store, study: Study) -> pl.DataFrame:
    """One mark per used answer; for an answer by log-probabilities, one that holds the distribution."""
    frames = []
    rows: list[dict[str, Any]] = []
    for row in _marks(used.filter("scored"), cases, store, study):
        rows.append(row)
        if len(rows) >= CHUNK:
            frames.append(pl.DataFrame(rows, schema=SCHEMA))
            rows = []
    frames.append(pl.DataFrame(rows, schema=SCHEMA))
    return pl.concat(frames)


def _marks(used: pl.DataFrame, cases: CaseSet, store: Store, study: Study) -> Iterator[dict[str, Any]]:
    conditions = {condition.json: condition for condition in study.all_conditions}
    case: Case | None = None
    for row in used.iter_rows(named=True):
        if case is None or case.id != row["case"]:
            case = cases.case(cases.index_of(row["case"]))
            questions = {question.id: question for question in case.questions}
            slices = {id: slice_values(case, question) for id, question in questions.items()}
        question, condition = questions[row["question"]], conditions[row["condition"]]
        answer = store.get(Row(bytes.fromhex(row["ask"]), row["trial"], row["turn"]))
        if answer is None:
            continue
        order = option_order(case, question, condition, row["trial"], study.seed)
        judged = judge(answer, question, order, condition, study)
        if judged is not None:
            place = {name: row[name] for name in ("candidate", "case", "question", "condition", "trial", "ask")}
            yield place | {"cluster": case.resampled_as} | judged | slices[question.id]


def judge(
    answer: Answer, question: Question, order: tuple[int, ...], condition: Condition, study: Study
) -> dict[str, Any] | None:
    """What an answer is worth. None for log-probabilities that settle nothing: the votes are marked instead."""
    if question.kind == "open":
        return _open(answer, question, study)
    if condition.confidence == "logprobs" and answer.first_token is not None:
        return _by_logprobs(answer, question, order)
    shown = [question.choices[index] for index in order]
    reading = parse_choice(answer.text, shown)
    option = None if reading.option is None else order[reading.option]
    outcome = "unparsed" if option is None else "right" if option == question.gold else "wrong"
    return {
        "option": option,
        "outcome": outcome,
        "rule": reading.rule,
        "confidence": reading.confidence if condition.confidence == "verbal" else None,
        "parser": PARSER,
        "gold": question.gold,
        "k": len(order),
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
        "parser": PARSER,
        "gold": question.gold,
        "k": len(order),
        "shares": shares,
    }


def _open(answer: Answer, question: Question, study: Study) -> dict[str, Any]:
    confidence = stated_confidence(answer.text)
    if study.judge is None or study.judge.provider != "lexical":
        return {"outcome": "unscored", "rule": "no judge", "confidence": confidence, "parser": PARSER}
    hits = lexical_hits(answer.text, question)
    outcome = "unparsed" if not hits else "right" if hits[0] else "wrong"
    return {
        "outcome": outcome,
        "rule": "names",
        "confidence": confidence,
        "hits": hits,
        "judge": LEXICAL,
        "parser": PARSER,
    }


def write_marks(folder: Path, marks: pl.DataFrame) -> None:
    """Writes marks.parquet whole or not at all."""
    waiting = folder / ".marks.parquet.new"
    marks.write_parquet(waiting)
    waiting.replace(folder / "marks.parquet")
