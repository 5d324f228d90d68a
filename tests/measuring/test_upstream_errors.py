"""Errors of earlier and later stages: what goes together, by hand and against plain counting."""

import numpy as np
import pytest
from made_marks import made_marks, made_study, mark

from wardround.measuring import upstream_errors

STAGES = ("IQA", "AL", "LC")


def chain(case, outcomes, **fields):
    """One chain of three stages, each given the one before."""
    return [
        mark(
            case, outcome, question=stage, stage=stage, chain="c", given=[STAGES[place - 1]] if place else [], **fields
        )
        for place, (stage, outcome) in enumerate(zip(STAGES, outcomes, strict=True))
    ]


def test_upstream_errors_are_those_computed_by_hand():
    words = ["rrr", "rrw", "rww", "wwr", "wrr", "wuw", "wsr", "rrr", "rwr"]
    names = {"r": "right", "w": "wrong", "u": "unparsed", "s": "unscored"}
    rows = [line for case, word in enumerate(words) for line in chain(case, [names[letter] for letter in word])]
    result = upstream_errors(made_marks(rows), made_study()).rows_by_key("stage", named=True, unique=True)
    assert set(result) == {"", "AL", "LC"}  # the first stage has nothing before it
    # after a wrong IQA: AL wrong in wwr, wuw of wwr, wrr, wuw (wsr has no AL); after a right one in rww, rwr of 5
    assert (result["AL"]["after_wrong"], result["AL"]["after_right"]) == (pytest.approx(2 / 3), pytest.approx(2 / 5))
    assert (result["AL"]["n"], result["AL"]["n_after_wrong"]) == (8, 3)
    # after a wrong AL: LC wrong in rww, wuw of rww, wwr, wuw, rwr; after a right one in rrw of rrr, rrw, wrr, rrr
    assert (result["LC"]["after_wrong"], result["LC"]["after_right"]) == (pytest.approx(2 / 4), pytest.approx(1 / 4))
    assert result[""]["difference"] == pytest.approx(4 / 7 - 3 / 9)
    assert result[""]["clusters"] == 8  # wsr tells nothing
    assert result["LC"]["low"] < result["LC"]["difference"] < result["LC"]["high"]


def test_what_goes_together_is_found_and_what_does_not_is_not():
    random = np.random.default_rng(3)
    rows = []
    for case in range(200):
        drawn = random.random(3)
        rows += chain(case, ["right" if d < 0.7 else "wrong" for d in drawn], candidate="apart")
        ill = drawn[0] >= 0.7
        later = [("wrong" if random.random() < (0.8 if ill else 0.1) else "right") for _ in range(2)]
        rows += chain(case, ["wrong" if ill else "right", *later], candidate="together")
    lines = upstream_errors(made_marks(rows), made_study("apart", "together")).filter(stage="")
    result = lines.rows_by_key("candidate", named=True, unique=True)
    assert result["apart"]["low"] < 0 < result["apart"]["high"]
    assert result["together"]["low"] > 0.3


def test_only_own_answers_count_and_nothing_gives_nothing():
    rows = [line for case in range(9) for line in chain(case, ["right", "wrong", "wrong"])]
    study = made_study()
    assert len(upstream_errors(made_marks(rows), study)) == 3
    gold = [{**row, "condition": row["condition"].replace('"carry":"own"', '"carry":"gold"')} for row in rows]
    assert upstream_errors(made_marks(gold), study).is_empty()
    assert upstream_errors(made_marks([]), study).is_empty()
    assert upstream_errors(made_marks([mark(1)]), study).is_empty()
    # without anything wrong before there is no difference, and it is not zero
    right = [line for case in range(9) for line in chain(case, ["right", "right", "wrong"])]
    result = upstream_errors(made_marks(right), study).rows_by_key("stage", named=True, unique=True)
    assert result["AL"]["difference"] is None
    assert result["AL"]["n_after_wrong"] == 0
