"""Models compared with people, on the questions that the people answered.

Each answer of a person is compared with the model's mean over its trials of the same question, under the condition of
the people's answers. The difference is the mean over people of each person's mean; its interval and p are by Student's
t over people and cases (see variance.py). Clusters cannot be sign-flipped here, since people are sampled too, so a
family is adjusted by Holm's rule instead of step-down max-T.
"""

import json
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.condition import DEFAULTS
from wardround.core.study import Study
from wardround.measuring.comparing.families import PEOPLE
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.tables import COMPARISONS
from wardround.measuring.people.figures import PERSON, has_people, scored
from wardround.measuring.people.variance import mean_over_people, numbered, p_of_zero, student_interval

COMPARED = {"accuracy": "choice", "hit@1": "open"}
ASKED = ("case", "question", "condition")
Row = dict[str, Any]


def compare_people(marks: pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Lines of comparisons.csv: every model minus every candidate that is people, one family per measure."""
    if not has_people(marks):
        return pl.DataFrame(schema=COMPARISONS)
    answered = scored(marks.filter(PERSON.is_not_null()), study).collect()
    of_models = scored(marks.filter(PERSON.is_null()), study)
    asked = of_models.join(answered.lazy().select(ASKED).unique(), on=ASKED, how="semi")
    own = asked.group_by("candidate", *ASKED).agg(of_model=pl.col("value").mean()).collect()
    people, models = (_in_order(study, table) for table in (answered, own))
    rows: list[Row] = []
    for measure, kind in COMPARED.items():
        theirs = answered.filter(pl.col("kind") == kind)
        rows += _adjusted(
            [
                _line(
                    measure, model, name, study, answers.join(own.filter(candidate=model).drop("candidate"), on=ASKED)
                )
                for name in people
                if len(answers := theirs.filter(candidate=name))
                for model in models
            ]
        )
    return pl.DataFrame(rows, schema=COMPARISONS)


def _in_order(study: Study, table: pl.DataFrame) -> list[str]:
    present = set(table["candidate"])
    return [candidate.name for candidate in study.candidates if candidate.name in present]


def _line(measure: str, model: str, people: str, study: Study, both: pl.DataFrame) -> Row:
    names = {"measure": measure, "a": model, "b": people, "slice": "{}", "family": f"{PEOPLE}: {measure}"}
    row = dict.fromkeys(COMPARISONS) | names | {"n": len(both), "clusters": both["cluster"].n_unique()}
    if both.is_empty():
        return row
    difference = mean_over_people(*numbered(both), (both["of_model"] - both["value"]).to_numpy())
    low, high, method = student_interval(difference, (-1.0, 1.0))
    condition = DEFAULTS | json.loads(both["condition"][0])  # people answered under one
    changed = {axis: condition[axis] for axis, value in study.reference_condition.items() if condition[axis] != value}
    row |= {"slice": canonical_json(changed)}
    row |= {"value": difference.mean, "low": low, "high": high, "p": p_of_zero(difference)}
    return row | {"method": f"mean over {difference.who}; {f'Student, {method}; Holm' if low is not None else method}"}


def _adjusted(rows: list[Row]) -> list[Row]:
    known = [row for row in rows if row["p"] is not None]
    for row, p in zip(known, holm(np.array([row["p"] for row in known])), strict=True):
        row["p_adjusted"] = float(p)
    return rows


def holm(p: Floats) -> Floats:
    """p-values adjusted by Holm: the k-th smallest of m times m - k + 1, never below those before it, at most 1."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted
