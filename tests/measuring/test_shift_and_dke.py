"""MedQ-Deg's calibration shift and DKE, compared with oracles, planted truths and docs/statistics.md."""

import measure_oracle as oracle
import numpy as np
import polars as pl
import pytest
from made_marks import NAMES, at, ballot, mark, measure_rows, row, votes
from scipy.stats import t


def test_the_shift_and_its_companions_are_those_computed_by_hand():
    words = ["0001", "0111", "222-", "1---", "0000"]
    table = measure_rows([line for case, word in enumerate(words) for line in votes(case, word)], 4)
    shifts = [name for name in table["measure"].unique(maintain_order=True) if name.startswith("calibration_shift")]
    assert shifts == [
        "calibration_shift",
        "calibration_shift_of_vote_share",
        "calibration_shift_if_calibrated",
        "calibration_shift_unparsed_counted",
        "calibration_shift_all_items",
    ]
    share = [0.75, 0.75, 0.75, 1.0]
    result = row(table, "calibration_shift_of_vote_share")
    assert (result["value"], result["n"]) == (pytest.approx(np.mean(share) - 2 / 4), 4)
    certainty = row(table, "confidence")["value"]
    result = row(table, "calibration_shift_if_calibrated")["value"]
    assert result == pytest.approx(certainty - np.mean(share), abs=1e-8)


def test_a_shift_of_claims_that_are_neither_all_right_nor_all_wrong_has_students_interval():
    """Every case has right and wrong votes: the share right is no rare event, for which the interval would be wider."""
    certainty = {"0001": 1 - (0.75 * np.log(4 / 3) + 0.25 * np.log(4)) / np.log(4), "0111": None, "0011": 0.5}
    certainty["0111"] = certainty["0001"]
    words = ["0001", "0111", "0011", "0001"] * 6
    table = measure_rows([line for case, word in enumerate(words) for line in votes(case, word)], 4)
    shifts = np.array([certainty[word] - word.count("0") / 4 for word in words])
    line, reach = row(table, "calibration_shift"), t.ppf(0.975, 23) * np.std(shifts, ddof=1) / np.sqrt(24)
    assert (line["low"], line["high"]) == pytest.approx((shifts.mean() - reach, shifts.mean() + reach), abs=1e-6)
    eight = measure_rows([line for case, word in enumerate(words[:8]) for line in votes(case, word)], 4)
    line, reach = row(eight, "calibration_shift"), t.ppf(0.975, 7) * np.std(shifts[:8], ddof=1) / np.sqrt(8)
    assert line["high"] - line["low"] == pytest.approx(2 * reach, abs=1e-6)


def test_a_calibrated_respondent_has_a_shift():
    """The example of docs/statistics.md: p = (.7, .1, .1, .1) has C = .32 in the limit against accuracy .70."""
    rows = [mark(case, shares=[0.7, 0.1, 0.1, 0.1], condition=at(confidence="logprobs")) for case in range(9)]
    table = measure_rows(rows)
    assert row(table, "confidence_in_the_limit")["value"] == pytest.approx(0.32, abs=0.005)
    line = row(table, "calibration_shift_if_calibrated_in_the_limit")["value"]
    assert line == pytest.approx(0.32 - 0.70, abs=0.005)


def test_unparsed_votes_counted_as_an_outcome_make_refusals_certain():
    words = ["----", "00--", "0000"]
    table = measure_rows([line for case, word in enumerate(words) for line in votes(case, word)], 4)
    first_line = row(table, "confidence_unparsed_counted")
    assert first_line["value"] == pytest.approx((1 + 0.5 + 1) / 3)  # H of two halves is log 2 of log 4
    assert row(table, "confidence")["n"] == 2


def test_equations_3_and_4_are_over_all_items_with_shares_of_all_answers():
    """Of four options, H in units of log 4: of no share 0; of one half 1/4; of 3/4 and 1/4 .811/2; of one whole 0."""
    words = ["----", "00--", "0001", "0000"]
    table = measure_rows([line for case, word in enumerate(words) for line in votes(case, word)], 4)
    shares = ([], [0.5], [0.75, 0.25], [1.0])
    certainty = [1 + sum(p * np.log(p) for p in own) / np.log(4) for own in shares]
    assert certainty[:2] == pytest.approx([1, 0.75])
    confidence, shift = row(table, "confidence_all_items"), row(table, "calibration_shift_all_items")
    assert (confidence["value"], confidence["n"]) == (pytest.approx(np.mean(certainty), abs=1e-8), 4)
    assert shift["value"] == pytest.approx(np.mean(certainty) - (0 + 0.5 + 0.75 + 1) / 4, abs=1e-8)
    assert row(table, "calibration_shift")["n"] == 3, "without the item that has no valid vote"


def test_equation_3_from_probabilities_is_the_mean_over_the_votes_that_they_give():
    shares = [0.6, 0.2, 0.1]  # a tenth of the answers names no option
    rows = [mark(case, shares=[*shares, 0.0], condition=at(confidence="logprobs")) for case in range(9)]
    table = measure_rows(rows, 4)
    drawn = np.random.default_rng(0).multinomial(4, [*shares, 0.1], 40_000)[:, :3] / 4
    entropy = -np.where(drawn > 0, drawn * np.log(np.where(drawn > 0, drawn, 1)), 0).sum(axis=1)
    expected = 1 - entropy.mean() / np.log(4)
    assert row(table, "confidence_all_items")["value"] == pytest.approx(expected, abs=0.004)


def test_intra_model_dke_has_both_differences(whole):
    marks, table = whole
    own = marks.filter(pl.col("candidate") == "a", pl.col("severity").is_not_null())
    accuracy = dict(own.group_by("severity").agg((pl.col("outcome") == "right").mean()).rows())
    fall = row(table, "dke_intra_fall_in_accuracy", candidate="a")
    assert fall["value"] == pytest.approx(accuracy["L0"] - accuracy["L2"])
    assert (fall["n"], fall["method"]) == (45, "bootstrap")
    assert 0 <= row(table, "dke_intra", candidate="a")["value"] <= 1
    assert row(table, "dke_intra_all_originals", candidate="a")["method"] == "share of resamples"
    noise = row(table, "dke_intra_fall_in_accuracy", '{"type":"noise"}', candidate="a")
    assert noise["n"] == 22


def test_dke_holds_where_it_was_planted_and_only_there():
    def degraded_votes(name: str, shaken: str) -> list[dict[str, object]]:
        rows = []
        for case in range(40):
            clean = "0000000000" if case % 4 else "0000011111"
            for level, word in (("L0", clean), ("L2", shaken)):
                fields = {"severity": level, "question": level, "of": None if level == "L0" else "L0"}
                rows += votes(case, word, candidate=name, condition=at(confidence="votes"), **fields)
        return rows

    table = measure_rows(
        [*degraded_votes("sure", "1111111111"), *degraded_votes("doubts", "0000011123")], 10, "sure", "doubts"
    )
    for name in ("dke_intra", "dke_intra_all_originals"):
        assert row(table, name, candidate="sure")["value"] == 1.0
        assert row(table, name, candidate="doubts")["value"] == 0.0
    shift = row(table, "dke_intra_rise_in_shift", candidate="doubts")
    assert shift["value"] < 0
    assert (shift["low"], shift["method"]) == (None, "no interval")  # all clusters are alike


def test_dke_of_too_few_cases_has_no_value():
    rows = [
        line
        for case in range(5)
        for level in ("L0", "L2")
        for line in votes(case, "0000" if level == "L0" else "1111", severity=level, question=level,
                          of=None if level == "L0" else "L0")
    ]  # fmt: skip
    first_line = row(measure_rows(rows, 4), "dke_intra")
    assert (first_line["value"], first_line["method"]) == (None, "too few cases")


def test_inter_model_dke_agrees_with_the_oracle(whole):
    table = whole[1]
    figures = {
        name: [row(table, measure_name, candidate=who)["value"] for who in NAMES]
        for name, measure_name in (
            ("accuracy", "accuracy"),
            ("shift", "calibration_shift"),
            ("certainty", "confidence"),
        )
    }
    line = row(table, "dke_inter")
    assert (line["candidate"], line["n"]) == ("*", 6)
    assert line["value"] == pytest.approx(oracle.dke_share(figures["accuracy"], figures["shift"]))
    for variant, other in (("shift", "shift"), ("confidence", "certainty")):
        first_line = row(table, f"dke_inter_spearman_{variant}")["value"]
        assert first_line == pytest.approx(oracle.rank_correlation(figures["accuracy"], figures[other]))


@pytest.mark.filterwarnings("error")
def test_candidates_that_do_not_differ_have_no_share_of_pairs():
    names = ["a", "b", "c"]
    rows = [
        line
        for name in names
        for case in range(20)
        for line in votes(case, "0011", candidate=name, condition=at(confidence="votes"))
    ]
    lines = measure_rows(rows, 4, *names).filter(pl.col("measure").str.starts_with("dke_inter"))
    assert len(lines)
    assert lines["value"].is_null().all()


@pytest.mark.slow
def test_pure_noise_between_19_candidates_looks_like_dke():
    """Nobody differs from anybody: the cross-fitted share is a half, and the permuted one says what coupling gives."""
    random = np.random.default_rng(1)
    names = [f"m{number:02}" for number in range(19)]
    fields: dict[str, list[float]] = {}
    for _ in range(25):
        rows = [
            line
            for name in names
            for case in range(60)
            for line in votes(case, ballot(random, 0.5), candidate=name, condition=at(confidence="votes"))
        ]
        table = measure_rows(rows, 10, *names)
        for name in ("dke_inter_by_chance", "dke_inter_cross_fitted"):
            fields.setdefault(name, []).append(row(table, name)["value"])
    mean = {name: float(np.mean(values)) for name, values in fields.items()}
    assert mean["dke_inter_by_chance"] == pytest.approx(0.74, abs=0.03)
    assert mean["dke_inter_cross_fitted"] == pytest.approx(0.5, abs=0.03)


def test_coupling_alone_gives_the_figures_of_docs_statistics():
    """Accuracy and C of 19 candidates drawn independently, the former with .94 of the latter's spread."""
    from wardround.measuring.engine.correlation import spearman
    from wardround.measuring.measures.dke import share_of_pairs

    random = np.random.default_rng(2)
    accuracy, certainty = 0.94 * random.normal(size=(4000, 19)), random.normal(size=(4000, 19))
    assert float(share_of_pairs(accuracy, certainty - accuracy).mean()) == pytest.approx(0.74, abs=0.01)
    assert float(spearman(accuracy, certainty - accuracy).mean()) == pytest.approx(-0.64, abs=0.01)


def test_degradations_of_the_axis_have_types_and_severities():
    how = {"none": "0000", "noise@L1": "0001", "noise@L2": "0111", "blur@L2": "1111"}
    rows = [
        line
        for case in range(9)
        for name, word in how.items()
        for kind, _, level in [name.partition("@")]
        for line in votes(
            case,
            word,
            condition=at(degradation=name),
            type=kind if level else None,
            severity=level or "L0",
        )
    ]
    table = measure_rows(rows, 4)
    assert row(table, "accuracy", '{"severity":"L2"}')["value"] == pytest.approx(1 / 8)
    assert row(table, "accuracy", '{"type":"noise"}')["value"] == pytest.approx(4 / 8)
    first_line = row(table, "dke_intra_fall_in_accuracy", '{"type":"blur"}')
    assert (first_line["value"], first_line["n"]) == (1.0, 9)
