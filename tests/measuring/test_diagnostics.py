"""What stands around the measures: diagrams, curves, gaps, letters, prompts, items to review, ranks and power."""

import numpy as np
import polars as pl
import pytest
from made_marks import at, frame, made_marks, made_study, mark, random_marks, row, votes
from measure_oracle import standard_deviation
from scipy.stats import binom, pearsonr

from wardround.core.errors import WardroundError
from wardround.measuring import (
    compare,
    items_to_review,
    letter_bias,
    measure,
    power_from_guesses,
    power_from_marks,
    prompt_sensitivity,
    rank_intervals,
    risk_coverage,
    subgroup_gaps,
)
from wardround.measuring.comparing.signflip import sign_flip
from wardround.measuring.measures.reliability import reliability


def stated(claims: list[tuple[float, bool]]) -> pl.DataFrame:
    return frame(
        [
            mark(case, "right" if right else "wrong", confidence=number, condition=at(confidence="verbal"))
            for case, (number, right) in enumerate(claims)
        ]
    )


def test_a_reliability_diagram_has_the_bins_computed_by_hand():
    claims = [(0.0, False), (0.1, True), (0.11, False), (0.85, True), (0.9, True), (0.9, False), (1.0, True)]
    lines = reliability(stated(claims), made_study()).select("bin_low", "n", "confidence", "accuracy").rows()
    assert [line[:2] for line in lines] == [(0.0, 2), (0.1, 1), (0.8, 3), (0.9, 1)]
    assert lines[2][2:] == (pytest.approx((0.85 + 0.9 + 0.9) / 3), pytest.approx(2 / 3))
    assert lines[0][2:] == (pytest.approx(0.05), pytest.approx(0.5))


def test_the_diagram_adds_up_to_the_measure():
    random = np.random.default_rng(4)
    marks = stated([(float(c), bool(random.random() < c)) for c in random.random(400).round(2)])
    bins = reliability(marks, made_study())
    ece = ((bins["accuracy"] - bins["confidence"]).abs() * bins["n"]).sum() / 400
    table = measure(marks, made_study())
    lines = table.filter(measure="ece_stated", slice="{}")["value"][0]
    assert ece == pytest.approx(lines, abs=1e-8)
    assert set(bins["method"]) <= {"bootstrap", "wilson"}
    assert ((bins["low"] <= bins["accuracy"]) & (bins["accuracy"] <= bins["high"])).all()


def test_a_risk_coverage_curve_has_the_points_computed_by_hand():
    claims = [(0.9, True), (0.9, True), (0.6, True), (0.6, False), (0.2, False)]
    lines = risk_coverage(stated(claims), made_study()).select("threshold", "coverage", "accuracy").rows()
    assert lines == [
        (pytest.approx(0.9), pytest.approx(0.4), 1.0),
        (pytest.approx(0.6), pytest.approx(0.8), 0.75),
        (pytest.approx(0.2), 1.0, pytest.approx(0.6)),
    ]


def test_no_marks_have_no_diagrams():
    nothing, study = made_marks([]), made_study()
    for table in (reliability(nothing, study), risk_coverage(nothing, study), letter_bias(nothing, study)):
        assert table.is_empty()
    assert subgroup_gaps(nothing, study).is_empty()
    assert items_to_review(nothing).is_empty()
    only_open = frame([mark(1, kind="open", gold=None, option=None, hits=[True])])
    assert letter_bias(only_open, study).is_empty()
    sexes = frame([mark(case, sex="FM"[case % 2]) for case in range(20)])
    assert subgroup_gaps(sexes, study, measure="hit@1").is_empty()


def grouped(random: np.random.Generator, chances: dict[str, float], values: int) -> pl.DataFrame:
    return made_marks(
        mark(f"{group}-{case}", "right" if random.random() < chance else "wrong", sex=group, tag=["rare"] * (case % 2))
        for group, chance in chances.items()
        for case in range(values)
    )


def test_a_gap_that_was_planted_is_found():
    random = np.random.default_rng(6)
    table = subgroup_gaps(grouped(random, {"F": 0.9, "M": 0.6}, 200), made_study())
    by_name = {line["key"]: line for line in table.to_dicts()}
    assert set(by_name) == {"sex", "tag"}
    assert (by_name["sex"]["worst"], by_name["sex"]["best"]) == ('{"sex":"M"}', '{"sex":"F"}')
    assert by_name["sex"]["difference_high"] < 0 < by_name["sex"]["gap_within_chance"] < by_name["sex"]["gap"]
    assert by_name["sex"]["p_adjusted"] < 0.001
    assert by_name["sex"]["worst_low"] < 0.6 < by_name["sex"]["worst_high"]
    assert by_name["tag"]["gap"] < by_name["tag"]["gap_within_chance"]
    assert by_name["tag"]["difference_low"] < 0 < by_name["tag"]["difference_high"]


def test_the_worst_group_has_the_interval_that_measures_csv_gives_it():
    """Of fewer than 30 clusters it is Wilson's, which reaches below what resampling would give."""
    marks = made_marks(
        mark(f"{sex}-{case}", "right" if case % 5 else "wrong", sex=sex)
        for sex in "FM"
        for case in range(12 + 4 * (sex == "F"))
    )
    (result,) = subgroup_gaps(marks, made_study(), ["sex"]).to_dicts()
    line = row(measure(marks, made_study()), "accuracy", result["worst"])
    assert line["method"] == "wilson"
    assert (result["worst_low"], result["worst_high"]) == (line["low"], line["high"])


@pytest.mark.slow
def test_the_gap_of_equal_groups_is_within_noise():
    """Over 30 sets without any gap the mean gap is what permutation says it is, and few reach its 95% point."""
    random = np.random.default_rng(7)
    tables = [subgroup_gaps(grouped(random, dict.fromkeys("FMX", 0.7), 60), made_study(), ["sex"]) for _ in range(30)]
    result = pl.concat(tables)
    assert result["gap"].mean() == pytest.approx(result["gap_by_chance"].mean(), abs=0.02)
    assert (result["gap"] > result["gap_within_chance"]).sum() <= 5
    assert (result["p_adjusted"] <= 0.05).sum() <= 5
    assert (result["difference_low"] <= result["difference"]).all()
    assert (result["difference"] <= result["difference_high"]).all()


def test_a_group_of_few_clusters_is_left_out():
    marks = made_marks(mark(case, sex="F" if case < 7 else "M" if case < 30 else "X") for case in range(60))
    assert subgroup_gaps(marks, made_study(), ["sex"])["groups"].to_list() == [2]


def test_a_better_prompt_shows_as_a_gap():
    rows = [
        mark(case, "right" if case % 4 or prompt == "paper" else "wrong", at_prompt=prompt)
        for case in range(60)
        for prompt in ("paper", "short")
    ]
    line = prompt_sensitivity(made_marks(rows), made_study(conditions={"prompt": ["paper", "short"]})).to_dicts()[0]
    assert (line["worst"], line["gap"]) == ('{"prompt":"short"}', pytest.approx(0.25))
    assert (line["difference"], line["difference_high"] < -0.1) == (pytest.approx(-0.25), True)
    assert line["gap"] > line["gap_within_chance"]


def test_a_candidate_that_always_says_b_has_a_bias_to_b():
    rows = [mark(case, "right" if case % 4 == 1 else "wrong", option=1, gold=case % 4) for case in range(80)]
    result = letter_bias(made_marks(rows), made_study()).rows_by_key("letter", named=True, unique=True)
    assert (result["B"]["chosen"], result["B"]["right"], result["B"]["difference"]) == (1.0, 0.25, 0.75)
    assert result["A"]["difference"] == -0.25
    assert result["B"]["low"] > 0 > result["A"]["high"]


def test_shuffled_answers_count_only_with_their_place():
    rows = [mark(case, option=0, gold=0, at_options="shuffled") for case in range(40)]
    study = made_study(conditions={"options": ["shuffled"]})
    plain = made_marks(rows).drop("place", "gold_place", strict=False)
    assert letter_bias(plain, study).is_empty()
    shown = frame([line | {"place": case % 3, "gold_place": case % 3} for case, line in enumerate(rows)])
    assert letter_bias(shown, study)["difference"].abs().max() == 0


def test_a_wrong_key_is_found():
    """Twelve candidates of rising strength: the key of one question is wrong, another is a coin toss."""
    random = np.random.default_rng(9)
    rows = []
    for number in range(12):
        for case in range(60):
            right = random.random() < 0.3 + 0.05 * number
            if case == 5:
                right = False if number >= 3 else random.random() < 0.6
            rows.append(mark(case, "right" if right else "wrong", candidate=f"m{number:02}", option=0 if right else 2))
    result = items_to_review(made_marks(rows))
    first = result.to_dicts()[0]
    assert (first["case"], first["favourite"], first["strong_right"]) == ("case-5", 2, 0.0)
    assert first["reason"] == "all strong candidates miss it"
    rest = [
        np.mean([m["outcome"] == "right" for m in rows if m["candidate"] == f"m{n:02}" and m["case"] != "case-5"])
        for n in range(12)
    ]
    here = [
        next(m["outcome"] == "right" for m in rows if m["candidate"] == f"m{n:02}" and m["case"] == "case-5")
        for n in range(12)
    ]
    assert first["item_total"] == pytest.approx(pearsonr(here, rest).statistic)
    assert len(result) < 20


def test_ranks_follow_from_significant_differences():
    marks = random_marks(4, {"a": 0.9, "b": 0.62, "c": 0.6, "d": 0.2}, cases=150)
    result = rank_intervals(compare(marks, made_study(*"abcd")))
    places = {name: (first, last) for _, _, name, first, last in result.rows()}
    assert places == {"a": (1, 1), "b": (2, 3), "c": (2, 3), "d": (4, 4)}


def test_a_family_with_a_reference_gives_no_ranks():
    family = {"f": {"measure": "accuracy", "between": "candidate", "reference": "a"}}
    marks = random_marks(4, dict.fromkeys("abc", 0.5), cases=40)
    assert rank_intervals(compare(marks, made_study(*"abc", comparisons=family))).is_empty()


def test_power_agrees_with_simulation():
    """The number of cases that is told, drawn 150 times, shows the difference in about 80%."""
    needed = power_from_guesses(0.1, accuracy=0.6, correlation=0.4)
    random = np.random.default_rng(3)
    low, high, rho = 0.55, 0.65, 0.4
    both = low * high + rho * np.sqrt(low * (1 - low) * high * (1 - high))
    cells = [both, low - both, high - both, 1 - low - high + both]
    result = 0
    for _ in range(150):
        drawn = random.choice(4, needed.clusters, p=cells)
        difference = (drawn == 2).astype(float) - (drawn == 1)
        result += sign_flip(difference[:, None], 0).p[0] <= 0.05
    assert binom.ppf(0.001, 150, 0.78) <= result <= binom.ppf(0.999, 150, 0.82)
    assert needed.power_with(needed.clusters) == pytest.approx(0.8, abs=0.005)
    assert needed.power_with(needed.clusters // 2) < 0.6


def test_power_from_a_run_uses_its_spread():
    marks = random_marks(2, {"a": 0.6, "b": 0.5}, cases=120, trials=2)
    needed = power_from_marks(marks, made_study("a", "b", trials=2), 0.05)
    right = (pl.col("outcome") == "right").cast(pl.Int64)
    sums = marks.group_by("cluster", "candidate").agg(right.sum()).pivot("candidate", index="cluster")
    spread = standard_deviation(((sums["a"] - sums["b"]) / 2).to_list())
    assert needed.spread == pytest.approx(spread, rel=1e-6)
    assert needed.clusters == int(np.ceil(((1.959964 + 0.841621) * spread / 0.05) ** 2))
    assert needed.pairs == 1


def test_power_takes_the_level_of_the_family():
    """Three candidates are three pairs: z of .05 / 6 is 2.394; against a reference they are two: .05 / 4 is 2.2414."""
    marks = random_marks(2, {"a": 0.6, "b": 0.5, "c": 0.5}, cases=120, trials=2)
    together = power_from_marks(marks, made_study(*"abc", trials=2), 0.05)
    assert together.comparisons == 3
    assert together.clusters == int(np.ceil(((2.393980 + 0.841621) * together.spread / 0.05) ** 2))
    assert together.power_with(together.clusters) == pytest.approx(0.8, abs=0.005)
    family = {"f": {"measure": "accuracy", "between": "candidate", "reference": "a"}}
    against_a = power_from_marks(marks, made_study(*"abc", trials=2, comparisons=family), 0.05, family="f")
    assert (against_a.comparisons, against_a.pairs) == (2, 2)
    assert against_a.clusters == int(np.ceil(((2.241403 + 0.841621) * against_a.spread / 0.05) ** 2))
    assert power_from_guesses(0.1, comparisons=3).clusters > power_from_guesses(0.1).clusters
    with pytest.raises(WardroundError, match="no family 'g'; expected one of f"):
        power_from_marks(marks, made_study(*"abc", trials=2, comparisons=family), 0.05, family="g")


def test_power_is_at_the_reference_condition():
    """Answers to a control that are all alike would halve the spread."""
    marks = random_marks(2, {"a": 0.6, "b": 0.5}, cases=60)
    control = marks.with_columns(condition=pl.lit(at(images="blank")), outcome=pl.lit("wrong"), option=pl.lit(1))
    study = made_study("a", "b", conditions={"images": ["as-is", "blank"]})
    both = pl.concat([marks, control.cast(dict(marks.schema))])
    assert power_from_marks(both, study, 0.1).spread == power_from_marks(marks, made_study("a", "b"), 0.1).spread


def test_power_of_a_family_has_the_spread_of_what_it_compares():
    """Between values of an axis the pairs are within each candidate, and the measure is the family's own."""
    first, second = (random_marks(seed, {"a": 0.6, "b": 0.5}, cases=60, trials=2) for seed in (2, 3))
    marks = pl.concat([first, second.with_columns(condition=pl.lit(at(images="blank")).cast(first["condition"].dtype))])
    family = {
        "control": {"measure": "accuracy_parsed", "between": "images"},
        "where": {"measure": "accuracy", "between": "candidate", "where": {"images": "blank"}},
    }
    study = made_study("a", "b", trials=2, conditions={"images": ["as-is", "blank"]}, comparisons=family)
    right = pl.col("outcome") == "right"

    def share(own: pl.DataFrame, candidate: str) -> pl.Series:
        return own.filter(candidate=candidate).group_by("cluster").agg(right.mean()).sort("cluster")["outcome"]

    where = power_from_marks(marks, study, 0.1, family="where")
    assert where.spread == pytest.approx((share(second, "a") - share(second, "b")).std())
    parsed = power_from_marks(marks, study, 0.1, family="control")
    assert (parsed.comparisons, parsed.pairs) == (2, 2)
    made_alike = marks.with_columns(
        outcome=pl.when(pl.col("outcome") == "unparsed").then(pl.lit("wrong")).otherwise("outcome")
    )
    within = power_from_marks(made_alike, study, 0.1, family="control")
    variances = [(share(first, name) - share(second, name)).var() for name in "ab"]
    assert within.spread == pytest.approx(np.sqrt(np.mean(variances)))
    assert parsed.spread > within.spread


@pytest.mark.parametrize(
    "guess", [{"difference": 0.0}, {"difference": 0.3, "accuracy": 0.9}, {"difference": 0.1, "power": 1.0}]
)
def test_impossible_guesses_for_power_are_refused_in_one_line(guess):
    with pytest.raises(WardroundError) as error:
        power_from_guesses(**guess)
    assert "\n" not in str(error.value)


def test_one_candidate_has_no_power():
    with pytest.raises(WardroundError, match="no two sides to compare"):
        power_from_marks(made_marks(votes(0, "00")), made_study(trials=2), 0.1)


def test_holm_over_780_pairs_cannot_go_below_039():
    """2,000 resamples resolve 1/2000; times 780 pairs that is .39. Max-T of the joint flips has no such floor."""
    smallest, pairs = 1 / 2000, 40 * 39 // 2
    assert round(smallest * pairs, 2) == 0.39
    random = np.random.default_rng(1)
    differences = np.round(random.normal(0, 1, (60, 780)) * 2**20) / 2**20
    differences[:, 0] += 1.5
    assert sign_flip(differences, 0).p_adjusted[0] < 0.001
