"""Models beside people: paired by question, with an interval and a test over people and cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from made_marks import made_marks, made_study, mark
from scipy import stats

from wardround.core.study import Study
from wardround.measuring import write_measures
from wardround.measuring.engine.tables import COMPARISONS
from wardround.measuring.people.against_models import compare_people, holm
from wardround.measuring.people.variance import ALIKE, mean_over_people, p_of_zero, student_interval

OUTCOMES = {"1": "right", "0": "wrong", "-": "unparsed", "?": "unscored"}


def study_of(models: tuple[str, ...] = ("model",), trials: int = 1, **keys: Any) -> Study:
    study = made_study(*models, "human/attending", "human/student", trials=trials, **keys)
    named = [
        candidate.model_copy(update={"provider": "people"}) if candidate.name.startswith("human") else candidate
        for candidate in study.candidates
    ]
    return study.model_copy(update={"candidates": named})


def answers(candidate: str, values: str, trial: int = 0, person: str | None = None, **more: Any) -> Iterator[dict]:
    """One mark a case, in their order: 1 right, 0 wrong, - unparsed, ? unscored, and a blank where nobody answered."""
    for case, letter in enumerate(values):
        if letter != " ":
            yield mark(case, OUTCOMES[letter], trial, candidate=candidate, person=person, **more)


def lines(marks: pl.DataFrame, study: Study) -> dict[tuple[str, str, str], dict[str, Any]]:
    result = compare_people(marks.lazy(), study)
    assert result.schema == pl.Schema(COMPARISONS)
    return {(row["measure"], row["a"], row["b"]): row for row in result.iter_rows(named=True)}


def test_the_difference_from_people_is_that_computed_by_hand() -> None:
    """Three trials of the model; ann answers eight cases, bob four of them."""
    marks = made_marks(
        [
            *answers("model", "11101100"),
            *answers("model", "11001010", 1),
            *answers("model", "1000-100", 2),
            *answers("human/attending", "1010110-", person="ann"),
            *answers("human/attending", "0 1 0 1 ", 1, person="bob"),
        ]
    )
    line = lines(marks, study_of(trials=3))["accuracy", "model", "human/attending"]
    model = np.array([3, 2, 1, 0, 2, 2, 1, 0]) / 3
    ann, bob = model - [1, 0, 1, 0, 1, 1, 0, 0], model[::2] - [0, 1, 0, 1]
    value = (ann.mean() + bob.mean()) / 2
    assert line["value"] == pytest.approx(value)
    a, b = (ann - value) / 16, (bob - value) / 8
    by_person = 2 * (a.sum() ** 2 + b.sum() ** 2)
    both = a.copy()
    both[::2] += b
    by_case = 8 / 7 * (both**2).sum()
    variance = max(by_person + by_case - (a**2).sum() - (b**2).sum(), by_person, by_case)
    freedom = variance**2 / (by_person**2 / 1 + (variance - by_person) ** 2 / 7)
    low, high = stats.t.interval(0.95, freedom, value, np.sqrt(variance))
    assert (line["low"], line["high"]) == pytest.approx((max(low, -1), min(high, 1)))
    assert line["p"] == pytest.approx(2 * stats.t.sf(abs(value) / np.sqrt(variance), freedom))
    assert line["p_adjusted"] == line["p"]  # alone in its family
    assert (line["n"], line["clusters"], line["slice"]) == (12, 8, "{}")
    assert line["family"] == "models and people: accuracy"
    assert line["method"] == "mean over 2 people; Student, people and cases; Holm"


def test_of_one_person_it_is_the_paired_t_test_over_cases() -> None:
    model, cem = "1110110111001011", "1010110001001010"
    marks = made_marks([*answers("model", model), *answers("human/student", cem, person="cem")])
    line = lines(marks, study_of())["accuracy", "model", "human/student"]
    oracle = stats.ttest_rel([int(part) for part in model], [int(part) for part in cem])
    assert line["p"] == pytest.approx(oracle.pvalue)
    assert (line["low"], line["high"]) == pytest.approx(tuple(oracle.confidence_interval()))
    assert line["method"] == "mean over 1 person; Student, one person: cases only; Holm"


def test_only_questions_that_both_answered_under_the_same_condition_are_compared() -> None:
    study = study_of(conditions={"telling": ["text", "multimodal"]})
    marks = made_marks(
        [
            *answers("model", "11111111?1", at_telling="text"),
            *answers("model", "0000000000", at_telling="multimodal"),
            *answers("human/student", " 01010101?", person="cem", at_telling="text"),
        ]
    )
    line = lines(marks, study)["accuracy", "model", "human/student"]
    assert (line["value"], line["n"]) == (pytest.approx(1 - 3 / 7), 7)  # without what either has no verdict on
    assert line["slice"] == "{}"
    elsewhere = study.model_copy(update={"reference": {"telling": "multimodal"}})
    assert lines(marks, elsewhere)["accuracy", "model", "human/student"]["slice"] == '{"telling":"text"}'


def test_every_model_with_every_role_adjusted_together_and_measures_apart() -> None:
    random = np.random.default_rng(5)

    def drawn(chance: float) -> str:
        return "".join("01"[random.random() < chance] for _ in range(40))

    open = {"kind": "open", "question": "dx", "option": None}
    marks = made_marks(
        [
            *answers("one", drawn(0.9)),
            *answers("two", drawn(0.5)),
            *answers("one", drawn(0.7), **open),
            *answers("human/attending", drawn(0.6), 0, "ann"),
            *answers("human/attending", drawn(0.6), 1, "bob"),
            *answers("human/attending", drawn(0.4), 0, "ann", **open),
            *answers("human/student", drawn(0.3), 0, "cem"),
        ]
    )
    result = lines(marks, study_of(("one", "two")))
    choice = [("accuracy", model, role) for role in ("human/attending", "human/student") for model in ("one", "two")]
    assert list(result) == [*choice, ("hit@1", "one", "human/attending"), ("hit@1", "two", "human/attending")]
    p, adjusted = (np.array([result[key][name] for key in choice]) for name in ("p", "p_adjusted"))
    assert adjusted == pytest.approx(stepped(p))
    assert result["hit@1", "one", "human/attending"]["p_adjusted"] == result["hit@1", "one", "human/attending"]["p"]
    lacking = result["hit@1", "two", "human/attending"]
    assert (lacking["n"], lacking["value"], lacking["p_adjusted"]) == (0, None, None)


def stepped(p: np.ndarray) -> list[float]:
    """Holm as he states it: reject from the smallest on, each against alpha over the number left."""
    order, least, result = sorted(range(len(p)), key=lambda place: p[place]), 0.0, [0.0] * len(p)
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(p) - rank) * float(p[place])))
        result[place] = least
    return result


def test_holm_by_hand() -> None:
    assert holm(np.array([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert holm(np.array([0.9, 0.5])) == pytest.approx([1.0, 1.0])
    assert len(holm(np.array([]))) == 0


def test_few_cases_and_differences_without_any_variance_have_neither_interval_nor_p() -> None:
    few = made_marks([*answers("model", "1101100"), *answers("human/student", "1001010", person="cem")])
    line = lines(few, study_of())["accuracy", "model", "human/student"]
    assert (line["low"], line["p"], line["method"]) == (None, None, "mean over 1 person; too few cases")
    alike = made_marks([*answers("model", "1" * 9), *answers("human/student", "0" * 9, person="cem")])
    line = lines(alike, study_of())["accuracy", "model", "human/student"]
    assert (line["value"], line["low"], line["p"]) == (1.0, None, None)
    assert line["method"] == f"mean over 1 person; {ALIKE}"


def test_people_are_in_no_other_family_and_runs_without_them_have_none_of_theirs(tmp_path: Any) -> None:
    marks = made_marks(
        [
            *answers("one", "1101100101"),
            *answers("two", "1001101101"),
            *answers("human/student", "1001010110", person="cem"),
        ]
    )
    write_measures(tmp_path, marks, study_of(("one", "two")))
    written = pl.read_csv(tmp_path / "comparisons.csv")
    assert written.select("a", "b", "family").rows() == [
        ("one", "two", "default (not declared)"),
        ("one", "human/student", "models and people: accuracy"),
        ("two", "human/student", "models and people: accuracy"),
    ]
    write_measures(tmp_path, marks.filter(pl.col("person").is_null()), made_study("one", "two"))
    assert pl.read_csv(tmp_path / "comparisons.csv")["family"].to_list() == ["default (not declared)"]


def sampled_answers(
    seed: int, people: int, cases: int, per_person: int, between: float, trials: int = 3
) -> tuple[np.ndarray, ...]:
    """People of their own skill and a model of its own strengths, on cases of their own difficulty; both right 60%."""
    random = np.random.default_rng(seed)
    skill, ease, own = (
        random.uniform(-reach, reach, many) for reach, many in ((between, people), (0.2, cases), (0.15, cases))
    )
    model = (random.random((trials, cases)) < 0.6 + ease + own).mean(axis=0)
    person = np.repeat(np.arange(people), per_person)
    case = np.concatenate([random.choice(cases, per_person, replace=False) for _ in range(people)])
    right = random.random(len(person)) < 0.6 + skill[person] + ease[case]
    return person, np.unique(case, return_inverse=True)[1], model[case] - right


@pytest.mark.parametrize(
    ("people", "cases", "per_person", "between"),
    [(12, 120, 60, 0.15), (5, 200, 40, 0.15), (4, 60, 60, 0.0), (1, 80, 80, 0.0)],
)
def test_a_null_difference_is_covered_and_seldom_significant(
    people: int, cases: int, per_person: int, between: float
) -> None:
    value, ps = 0, []
    for seed in range(1000):
        result = mean_over_people(*sampled_answers(seed, people, cases, per_person, between))
        low, high, _ = student_interval(result, (-1.0, 1.0))
        assert low is not None
        assert high is not None
        p = p_of_zero(result)
        assert p is not None
        value += low <= 0 <= high
        ps.append(p)
        assert (low <= 0 <= high) == (p >= 0.05 - 1e-9)
    assert 0.93 <= value / 1000 <= 0.985
    assert np.mean(np.array(ps) < 0.2) <= 0.24
