"""The scorer of a task: each reply becomes a mark, and the marks of all epochs our measures with their intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wardround.candidates.inspect.conversion import answer_of
from wardround.core.ask import Answer
from wardround.core.study import Study
from wardround.exporting.single_asks import CANDIDATE, SingleAsk, SingleAsks
from wardround.marking.judges.judge import Judge
from wardround.marking.judges.lexical_judge import make_lexical_judge
from wardround.marking.marks import MARKS_SCHEMA, mark_answer
from wardround.marking.slice_values import degradation_values, slice_values
from wardround.measuring.engine.measure import from_any_source
from wardround.measuring.engine.measurement import measure

SCORER = "wardround"
NO_REPLY = "the model gave no reply"


class Figure(NamedTuple):
    """A measure over a slice that the metrics show; with `by`, over each value of that key."""

    measure: str
    slice: Mapping[str, str] = {}
    by: str | None = None


OVERALL = (Figure("accuracy"), Figure("hit@1"), Figure("unparsed"), Figure("refused"))


def make_scorer(asks: SingleAsks, asked_by_id: Mapping[str, SingleAsk], figures: Sequence[Figure] = ()) -> Any:
    """The scorer: C if right, I otherwise, with the outcome and the rule; its metrics are our measures."""
    from inspect_ai.scorer import Score, metric, scorer

    study = asks.study
    judge = make_lexical_judge(study.judge, Path()) if study.judge is not None else None

    def measures() -> Any:
        def compute(scores: list[Any]) -> dict[str, float]:  # Inspect reads the annotation
            marks = [sample.score.metadata["mark"] for sample in scores]
            return measured_figures(marks, study, [*OVERALL, *figures])

        return compute

    def marks() -> Any:
        async def score(state: Any, target: Any) -> Any:
            asked, trial = asked_by_id[str(state.sample_id)], state.epoch - 1
            order = asks.render(asked, trial).order
            choices = state.output.choices
            answer = answer_of(choices[0], state.output) if choices else Answer("", "error", refusal=NO_REPLY)
            mark = mark_single(asked, answer, order, trial, study, judge)
            option = mark.get("option")
            read = asked.question.choices[option] if option is not None else None
            note = f"{mark['outcome']}: {mark['rule']}" if mark.get("rule") else mark["outcome"]
            value = "C" if mark["outcome"] == "right" else "I"
            return Score(value=value, answer=read, explanation=note, metadata={"mark": mark})

        return score

    all_epochs = metric(name="measures", scores="unreduced")(measures)
    return scorer(metrics=[all_epochs()], name=SCORER)(marks)()


def mark_single(
    asked: SingleAsk, answer: Answer, order: tuple[int, ...], trial: int, study: Study, judge: Judge | None
) -> dict[str, Any]:
    """The row of marks.parquet for an answer."""
    case, question, condition = asked.case, asked.question, asked.condition
    values = mark_answer(answer, question, order, condition, study.parser, judge)
    assert values is not None, "only log-probabilities give no mark, and no task asks for them"
    key = {"candidate": CANDIDATE.name, "case": case.id, "cluster": case.cluster_id, "question": question.id}
    mark: dict[str, Any] = {**key, "condition": condition.json, "trial": trial, "ask": ""}
    mark |= values | slice_values(case, question)
    if any(other.degradation != "none" for other in study.all_conditions):
        mark |= degradation_values(case, question, condition)
    return mark


def measured_figures(marks: Iterable[dict[str, Any]], study: Study, figures: Iterable[Figure]) -> dict[str, float]:
    """The figures of marks by name (`accuracy`, `accuracy/severity:L1`), each with the ends of its 95% interval."""
    table = measure(pl.DataFrame(list(marks), schema=MARKS_SCHEMA), study)
    values: dict[str, float] = {}
    for line in table.iter_rows(named=True):
        slice = json.loads(line["slice"])
        if line["value"] is None or not any(_is_shown(line["measure"], slice, figure) for figure in figures):
            continue
        name = "/".join([line["measure"], *(f"{key}:{value}" for key, value in slice.items())])
        values[name] = line["value"]
        values |= {f"{name}_{end}": line[end] for end in ("low", "high") if line[end] is not None}
    return values


def _is_shown(measure: str, slice: Mapping[str, str], figure: Figure) -> bool:
    stem = figure.measure.removesuffix("k")
    is_measure = (
        measure.startswith(stem) if figure.measure.endswith("@k") else measure in from_any_source(figure.measure)
    )
    others = {key: value for key, value in slice.items() if key != figure.by}
    return is_measure and others == figure.slice and (figure.by is None or figure.by in slice)
