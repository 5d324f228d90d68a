"""Refused answers: not right, exactly as unparsed ones, or left out as if they had not been asked; with a rate."""

from math import comb
from typing import Any

import measure_oracle as oracle
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_marks import STAGES, at, frame, made_study, mark, row, votes

from wardround.measuring import compare, first_broken, measure, self_consistency
from wardround.measuring.comparing.effects import effects
from wardround.measuring.people.figures import measure_people
from wardround.measuring.validation.item_review import items_to_review

BEST = "accuracy_if_unparsed_right"
COUNTED, LEFT_OUT = "wrong", "left out"
RATES = ("unparsed", "refused", "unscored")
FIGURES = ("measure", "candidate", "slice", "value", "low", "high", "n", "clusters", "method")
OUTCOMES = ["right"] * 3 + ["wrong"] * 4 + ["unparsed"] * 2 + ["refused"] + ["unscored"]


def measured(rows: list[dict[str, Any]], refusals: str = COUNTED, trials: int = 1, **keys: Any) -> pl.DataFrame:
    return measure(frame(rows), made_study(trials=trials, refusals=refusals, **keys))


def ballots(*words: str, **fields: Any) -> list[dict[str, Any]]:
    return [line for case, word in enumerate(words) for line in votes(case, word, **fields)]


def figures(table: pl.DataFrame) -> list[tuple[Any, ...]]:
    """All lines but those of the rates."""
    return table.filter(~pl.col("measure").is_in(RATES)).select(FIGURES).rows()


@pytest.mark.parametrize(
    ("refusals", "values", "n"),
    [
        (COUNTED, {"accuracy": 3 / 10, "accuracy_parsed": 3 / 7, "unparsed": 2 / 10, BEST: 6 / 10}, 10),
        (LEFT_OUT, {"accuracy": 3 / 9, "accuracy_parsed": 3 / 7, "unparsed": 2 / 9, BEST: 5 / 9}, 9),
    ],
)
def test_the_five_outcomes_and_their_denominators(refusals: str, values: dict[str, float], n: int) -> None:
    table = measured([mark(case, outcome) for case, outcome in enumerate(OUTCOMES)], refusals)
    assert {name: row(table, name)["value"] for name in values} == pytest.approx(values)
    line = row(table, "accuracy")
    assert (line["n"], line["refused"]) == (n, pytest.approx(1 / 10))
    assert line["unparsed"] == pytest.approx(values["unparsed"])
    refused = row(table, "refused")
    assert (refused["value"], refused["n"]) == (pytest.approx(1 / 10), 10)
    assert row(table, "unscored")["value"] == pytest.approx(1 / 11)
    assert row(table, "sensitivity")["value"] == pytest.approx(values["accuracy"])


def test_without_refusals_the_rate_is_zero_and_both_rules_agree() -> None:
    rows = ballots("001-", "0111", "----")
    assert figures(measured(rows, COUNTED, 4)) == figures(measured(rows, LEFT_OUT, 4))
    assert row(measured(rows, COUNTED, 4), "refused")["value"] == 0.0


def test_refused_votes_by_hand() -> None:
    """Four trials. Counted: 000x is 3 of 4 right, xxxx 0 of 4, 00x1 2 of 4. Left out: 3 of 3, nothing, 2 of 3.

    C needs two valid votes: 000 has C = 1, 001 has 1 - H(2/3, 1/3) / log 4.
    """
    words = ("000x", "xxxx", "00x1")
    counted, left_out = (measured(ballots(*words), rule, 4) for rule in (COUNTED, LEFT_OUT))
    assert row(counted, "accuracy")["value"] == pytest.approx(5 / 12)
    assert row(left_out, "accuracy")["value"] == pytest.approx(5 / 6)
    assert row(counted, "worst@2")["value"] == pytest.approx((comb(3, 2) / comb(4, 2) + 0 + 1 / comb(4, 2)) / 3)
    assert row(left_out, "worst@2")["value"] == pytest.approx((1 + 1 / comb(3, 2)) / 2)
    assert (row(counted, "worst@4")["value"], row(counted, "worst@4")["n"]) == (0.0, 3)
    assert (row(left_out, "worst@4")["value"], row(left_out, "worst@4")["n"]) == (None, 0)
    assert row(counted, "majority_accuracy")["value"] == pytest.approx(2 / 3)
    assert row(left_out, "majority_accuracy")["value"] == pytest.approx(1.0)
    assert row(counted, "confidence_missing")["value"] == pytest.approx(1 / 3)
    assert (row(left_out, "confidence_missing")["value"], row(left_out, "confidence_missing")["n"]) == (0.0, 2)
    certainty = (1 + 1 + (2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3)) / np.log(4)) / 2
    for table in (counted, left_out):
        assert row(table, "confidence")["value"] == pytest.approx(certainty, abs=1e-8)
        assert row(table, "majority_accuracy")["refused"] == row(table, "refused")["value"] == pytest.approx(6 / 12)
    assert row(counted, "vote_share")["value"] == pytest.approx((3 / 4 + 2 / 4) / 2)
    assert row(left_out, "vote_share")["value"] == pytest.approx((1 + 2 / 3) / 2)
    assert row(counted, "calibration_shift")["value"] == pytest.approx(certainty - (3 / 4 + 2 / 4) / 2, abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text("012-x", min_size=4, max_size=4), min_size=1, max_size=12))
def test_worst_of_k_agrees_with_listing_all_subsets(words: list[str]) -> None:
    for rule in (COUNTED, LEFT_OUT):
        tried = [[vote == "0" for vote in word if rule == COUNTED or vote != "x"] for word in words]
        table = measured(ballots(*words), rule, 4)
        for k in (1, 2, 4):
            known = [trials for trials in tried if len(trials) >= k]
            if known:
                assert row(table, f"worst@{k}")["value"] == pytest.approx(oracle.worst(known, k), abs=1e-8)


def test_counted_is_exactly_as_unparsed_and_left_out_exactly_as_not_asked() -> None:
    """Of every measure: values, intervals and n. Votes, stated numbers, chains and open answers."""
    random = np.random.default_rng(7)
    rows = []
    for case in range(40):
        word = "".join(random.choice(list("0012-x"), 4))
        rows += votes(case, word, condition=at(confidence="votes"), specialty="ab"[case % 2])
        for stage in STAGES[:3]:
            outcome = str(random.choice(["right", "wrong", "refused"], p=[0.7, 0.2, 0.1]))
            fields = {"stage": stage, "question": stage, "chain": "c", "grade": "RAS"[case % 3], "importance": 2.0}
            stated = None if outcome == "refused" else 0.8
            rows.append(mark(case, outcome, confidence=stated, condition=at(confidence="verbal"), **fields))
        outcome = str(random.choice(["right", "wrong", "refused", "unscored"]))
        hits = {"right": [True], "wrong": [False, True], "unscored": [None]}.get(outcome)
        fields = {"question": "open", "kind": "open", "k": None, "gold": None, "option": None, "hits": hits}
        rows.append(mark(case, outcome, condition=at(confidence="none"), **fields))
    rows += [
        line | {"candidate": "two", "outcome": "right", "hits": None, "option": line["gold"]} for line in rows
    ]  # chains have all stages
    unparsed = [line | {"outcome": "unparsed"} if line["outcome"] == "refused" else line for line in rows]
    answered = [line for line in rows if line["outcome"] != "refused"]
    assert len(answered) < len(rows)
    assert figures(measured(rows, COUNTED, 4)) == figures(measured(unparsed, COUNTED, 4))
    assert figures(measured(rows, LEFT_OUT, 4)) == figures(measured(answered, COUNTED, 4))
    assert (measured(rows, COUNTED, 4)["refused"].drop_nulls() > 0).any()


@pytest.mark.parametrize("trials", [1, 4])
def test_a_refused_question_for_log_probabilities_weighs_as_much_as_an_answered_one(trials: int) -> None:
    """One mark stands for all trials: half of the questions are refused, the other is right with .8."""
    how = {"condition": at(confidence="logprobs")}
    rows = [mark(0, shares=[0.8, 0.2, 0.0, 0.0], **how), mark(1, "refused", **how)]
    counted, left_out = (measured(rows, rule, trials) for rule in (COUNTED, LEFT_OUT))
    assert row(counted, "accuracy")["value"] == pytest.approx(0.4)
    assert row(left_out, "accuracy")["value"] == pytest.approx(0.8)
    assert (row(counted, "accuracy")["n"], row(left_out, "accuracy")["n"]) == (2, 1)
    assert row(counted, "worst@1_in_the_limit")["value"] == pytest.approx(0.4)
    assert row(left_out, "worst@1_in_the_limit")["value"] == pytest.approx(0.8)
    assert row(counted, "majority_accuracy_in_the_limit")["value"] == pytest.approx(0.5)
    assert row(left_out, "majority_accuracy_in_the_limit")["value"] == pytest.approx(1.0)
    assert row(counted, "confidence_missing_in_the_limit")["value"] == pytest.approx(0.5)
    assert row(left_out, "confidence_missing_in_the_limit")["value"] == pytest.approx(0.0)
    for table in (counted, left_out):
        assert row(table, "refused")["value"] == row(table, "accuracy")["refused"] == pytest.approx(0.5)
        assert row(table, "unparsed")["value"] == 0.0


def test_refused_votes_beside_log_probabilities_stay_single_votes() -> None:
    how = {"condition": at(confidence="logprobs")}
    rows = [mark(0, shares=[1.0, 0.0, 0.0, 0.0], **how), *votes(1, "0xx1", **how)]
    assert row(measured(rows, COUNTED, 4), "accuracy")["value"] == pytest.approx((1 + 1 / 4) / 2)
    assert row(measured(rows, COUNTED, 4), "refused")["value"] == pytest.approx(2 / 8)


def chain(case: int, outcomes: tuple[str, ...]) -> list[dict[str, Any]]:
    fields = {"chain": "c", "condition": at(carry="own")}
    return [
        mark(case, outcome, question=stage, stage=stage, given=[STAGES[place - 1]] if place else None, **fields)
        for place, (stage, outcome) in enumerate(zip(STAGES, outcomes, strict=False))
    ]


def test_a_chain_with_a_refused_stage_is_broken_there_or_left_out() -> None:
    rows = chain(0, ("right",) * 3) + chain(1, ("right", "refused", "right"))
    counted, left_out = (measured(rows, rule) for rule in (COUNTED, LEFT_OUT))
    assert (row(counted, "ccr")["value"], row(counted, "ccr")["n"]) == (0.5, 2)
    assert (row(left_out, "ccr")["value"], row(left_out, "ccr")["n"]) == (1.0, 1)
    assert row(counted, "swa", '{"stage":"AL"}')["value"] == 0.5
    assert row(left_out, "swa", '{"stage":"AL"}')["value"] == 1.0
    broken = first_broken(frame(rows), made_study())
    assert broken.filter(stage="AL")["share"].item() == pytest.approx(0.5)
    assert first_broken(frame(rows), made_study(refusals=LEFT_OUT)).filter(stage="AL")["share"].item() == 0.0


def test_a_comparison_pairs_what_both_answered() -> None:
    """b is refused on half of the cases: counted it loses there, left out they are not compared."""
    rows = []
    for case in range(20):
        rows += [mark(case, candidate="a"), mark(case, "refused" if case % 2 else "right", candidate="b")]
    counted, left_out = (compare(frame(rows), made_study("a", "b", refusals=rule)) for rule in (COUNTED, LEFT_OUT))
    assert (counted["value"].item(), counted["n"].item()) == (0.5, 20)
    assert (left_out["value"].item(), left_out["n"].item()) == (0.0, 10)


def test_a_refused_trial_agrees_with_no_other() -> None:
    counted, left_out = (
        self_consistency(frame(ballots("00x")), made_study(trials=3, refusals=rule)) for rule in (COUNTED, LEFT_OUT)
    )
    assert (counted["share"][0], left_out["share"][0]) == (pytest.approx(2 / 6), 1.0)


def test_effects_follow_the_rule() -> None:
    conditions = {"images": ["as-is", "none"], "stem": ["full", "options-only"]}
    rows = [
        mark(case, "refused" if images == "as-is" and case % 2 else "right", at_images=images, at_stem=stem)
        for case in range(10)
        for images in conditions["images"]
        for stem in conditions["stem"]
    ]
    values = []
    for rule in (COUNTED, LEFT_OUT):
        table = effects(frame(rows), made_study(conditions=conditions, refusals=rule))
        main = table.filter(measure="accuracy", axis="images").filter(pl.col("with_axis").is_null())
        values.append((main["effect"].item(), main["n"].item()))
    assert values == [(pytest.approx(0.5), 10), (0.0, 5)]


def test_a_refused_question_says_nothing_about_its_key() -> None:
    rows = [mark(case, candidate=name, outcome="right") for name in "abcd" for case in range(9)]
    rows += [mark(9, "refused", candidate=name) for name in "abcd"]
    assert items_to_review(frame(rows)).is_empty()


def test_people_are_compared_by_the_same_rule() -> None:
    rows = [mark(case, candidate="human/x", person="ann") for case in range(9)]
    table = measure_people(frame(rows).lazy(), made_study("human/x"))
    assert row(table, "accuracy")["refused"] == 0.0


def test_the_key_is_left_out_of_the_hash_at_its_default() -> None:
    plain = made_study()
    assert plain.hash == made_study(refusals=COUNTED).hash != made_study(refusals=LEFT_OUT).hash
    assert "refusals" not in plain.to_toml()
    assert plain.scored_outcomes == ("right", "wrong", "unparsed", "refused")
    assert made_study(refusals=LEFT_OUT).scored_outcomes == ("right", "wrong", "unparsed")
