"""Figures of chains: effects of upstream errors, where chains break, what independence would give, self-consistency."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from made_marks import made_marks, made_study, mark, votes

from wardround.measuring import chain_flow, chain_independence, first_broken, self_consistency, upstream_effects

STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
GIVEN = {"IQA": [], "AL": ["IQA"], "LC": ["AL"], "DD": ["LC"], "SG": ["DD"], "CD": ["DD", "SG"]}
NAMES = {"r": "right", "w": "wrong", "u": "unparsed", "s": "unscored"}


def chain(case: int, outcomes: str, stages: tuple[str, ...] = STAGES, **fields: Any) -> list[dict[str, Any]]:
    return [
        mark(case, NAMES[letter], question=stage, stage=stage, chain="c", given=GIVEN[stage], **fields)
        for stage, letter in zip(stages, outcomes, strict=True)
    ]


def drawn(random: np.random.Generator, right: list[float], after_wrong: float | None = None) -> str:
    """A chain whose stages are right with these chances; after a wrong parent with another one."""
    letters: dict[str, str] = {}
    for stage, chance in zip(STAGES, right, strict=True):
        spoilt = after_wrong is not None and any(letters[parent] == "w" for parent in GIVEN[stage])
        letters[stage] = "r" if random.random() < (after_wrong if spoilt else chance) else "w"
    return "".join(letters.values())


def test_the_effect_of_an_upstream_error_is_that_computed_by_hand():
    fields = {
        "gold": ["rrrrrr", "rrrrrr", "wrrrrr"],
        "own": ["rrwrrr", "rrrrrr", "wwrrrr"],
        "wrong": ["rwwwww", "rrwrwr", "wwrrru"],
    }
    rows = [
        line
        for carry, chains in fields.items()
        for case, word in enumerate(chains)
        for line in chain(case, word, at_carry=carry)
    ]
    result = upstream_effects(made_marks(rows), made_study()).rows_by_key("stage", named=True, unique=True)
    assert set(result) == {"", *STAGES[1:]}  # the first stage is given nothing
    assert (result["AL"]["gold"], result["AL"]["own"], result["AL"]["wrong"]) == (
        1.0,
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
    )
    assert result["AL"]["none"] is None
    assert result["AL"]["effect"] == pytest.approx(2 / 3)
    assert result["AL"]["lost"] == pytest.approx(1 / 3)
    assert result["CD"]["wrong"] == pytest.approx(1 / 3)  # what could not be read is not right
    assert result[""]["effect"] == pytest.approx(9 / 15)
    assert (result[""]["n"], result[""]["clusters"]) == (15, 3)


def test_an_effect_is_found_where_planted_and_not_elsewhere():
    random = np.random.default_rng(5)
    rows = []
    for case in range(120):
        for name, chance in (("leaning", {"gold": 0.8, "wrong": 0.3}), ("steady", {"gold": 0.6, "wrong": 0.6})):
            for carry, right in chance.items():
                word = "r" + "".join("r" if random.random() < right else "w" for _ in range(5))
                rows += chain(case, word, candidate=name, at_carry=carry)
    lines = upstream_effects(made_marks(rows), made_study("leaning", "steady")).filter(stage="")
    result = lines.rows_by_key("candidate", named=True, unique=True)
    assert result["leaning"]["low"] < 0.5 < result["leaning"]["high"]
    assert result["leaning"]["p_adjusted"] < 0.001
    assert result["steady"]["low"] < 0 < result["steady"]["high"]
    assert result["steady"]["p"] > 0.05


def test_questions_are_paired_under_otherwise_the_same_condition_only():
    rows = [line for case in range(9) for line in chain(case, "rrrrrr", at_carry="gold", at_confidence="verbal")]
    rows += [line for case in range(9) for line in chain(case, "rwwwww", at_carry="wrong")]
    assert upstream_effects(made_marks(rows), made_study()).is_empty()
    assert upstream_effects(made_marks([]), made_study()).is_empty()


def test_chains_break_where_computed_by_hand():
    words = ["rrrrrr", "rrrrrr", "rwrrrr", "rwwrww", "rrrrru", "wrrrrr", "wwwwww", "rrrrsr"]
    marks = made_marks([line for case, word in enumerate(words) for line in chain(case, word)])
    result = first_broken(marks, made_study()).rows_by_key("stage", named=True, unique=True)
    assert {stage: round(row["share"] * 7) for stage, row in result.items()} == {
        "IQA": 2, "AL": 2, "LC": 0, "DD": 0, "SG": 0, "CD": 1, "": 2,
    }  # fmt: skip
    assert [result[stage]["reached"] for stage in (*STAGES, "")] == [7, 5, 3, 3, 3, 3, 2]
    assert result["AL"]["hazard"] == pytest.approx(2 / 5)
    assert result["CD"]["hazard"] == pytest.approx(1 / 3)
    flow = chain_flow(marks, made_study())
    by_name = {(row["stage"], row["before"], row["state"]): row["chains"] for row in flow.iter_rows(named=True)}
    assert by_name["AL", "intact", "intact"] == 3
    assert by_name["AL", "intact", "wrong"] == 2
    assert by_name["AL", "wrong", "right after a break"] == 1
    assert by_name["LC", "wrong", "right after a break"] == 1
    assert all(sum(many for (at, *_), many in by_name.items() if at == stage) == 7 for stage in STAGES)


def test_chains_with_other_stages_count_where_they_have_them():
    short = ("IQA", "DD")
    rows = chain(0, "rw", short) + chain(1, "rr", short) + chain(2, "rrrrrr")
    result = first_broken(made_marks(rows), made_study()).rows_by_key("stage", named=True, unique=True)
    assert (result["AL"]["reached"], result["DD"]["reached"], result["DD"]["share"]) == (1, 3, pytest.approx(1 / 3))
    assert chain_flow(made_marks(rows), made_study())["chains"].sum() == 6  # of the whole chain only


@pytest.mark.parametrize(("after_wrong", "gathers"), [(None, False), (0.1, True)])
def test_complete_chains_exceed_independence_if_errors_gather(after_wrong, gathers):
    """With dependence errors gather in the same chains: more are complete than the stages' accuracies give."""
    random = np.random.default_rng(8)
    right = [0.95, 0.9, 0.85, 0.85, 0.8, 0.75]
    words = [drawn(random, right, after_wrong) for _ in range(400)]
    marks = made_marks([line for case, word in enumerate(words) for line in chain(case, word)])
    result = chain_independence(marks, made_study()).rows_by_key("figure", named=True, unique=True)
    assert result["found"]["value"] == pytest.approx(np.mean([word == "rrrrrr" for word in words]))
    shares = [np.mean([word[place] == "r" for word in words]) for place in range(6)]
    assert result["expected"]["value"] == pytest.approx(np.prod(shares))
    assert result["beyond"]["value"] == pytest.approx(result["found"]["value"] - result["expected"]["value"])
    assert result["swa on chains"]["value"] == result["swa on all"]["value"] == pytest.approx(np.mean(shares))
    assert (result["beyond"]["low"] > 0.1) == gathers
    assert (result["beyond"]["low"] <= 0 <= result["beyond"]["high"]) == (not gathers)


def test_questions_outside_chains_count_in_swa_on_all_only():
    rows = chain(0, "rrrrrr") + chain(1, "rrrrrw")
    rows += [mark(case, "wrong", question="q", stage="DD") for case in range(2, 6)]
    result = chain_independence(made_marks(rows), made_study()).rows_by_key("figure", named=True, unique=True)
    assert result["swa on chains"]["value"] == pytest.approx((5 + 0.5) / 6)
    assert result["swa on all"]["value"] == pytest.approx((4 + 2 / 6 + 0.5) / 6)


def test_self_consistency_is_the_share_of_equal_pairs():
    random = np.random.default_rng(2)
    ballots = ["".join(random.choice(list("0123-"), 5, p=[0.5, 0.2, 0.1, 0.1, 0.1])) for _ in range(60)]
    rows = [line for case, ballot in enumerate(ballots) for line in votes(case, ballot, stage=STAGES[case % 6])]
    result = self_consistency(made_marks(rows), made_study(trials=5)).rows_by_key("stage", named=True, unique=True)

    def share(ballot: str) -> float:
        pairs = list(combinations(ballot, 2))
        return sum(a == b != "-" for a, b in pairs) / len(pairs)

    assert result[""]["share"] == pytest.approx(np.mean([share(part) for part in ballots]))
    for place, stage in enumerate(STAGES):
        assert result[stage]["share"] == pytest.approx(np.mean([share(part) for part in ballots[place::6]]))
    assert Counter(row["n"] for row in result.values()) == {60: 1, 10: 6}
    steady = [line for case in range(20) for line in votes(case, "2222", stage="DD")]
    assert self_consistency(made_marks(steady), made_study(trials=4))["share"].to_list() == [1.0, 1.0]
    assert self_consistency(made_marks(rows), made_study()).is_empty()  # one trial has no pairs
