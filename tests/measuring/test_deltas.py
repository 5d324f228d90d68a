"""Degradation: measures at each severity, and changes from every record's own L0."""

import json
from typing import Any

import polars as pl
import pytest
from flip_oracle import exact_p
from interval_oracle import scipy_ratio_interval
from made_marks import at, frame, made_study, row, votes

from wardround.core.errors import WardroundError
from wardround.measuring import compare, measure

FAMILY = {"worn": {"measure": "accuracy", "between": "severity", "reference": "L0"}}


def clean(case: int, word: str, **fields: Any) -> list[dict[str, Any]]:
    return votes(case, word, **{"question": "mcq", "severity": "L0", "condition": at(degradation="assigned")} | fields)


def worn(case: int, level: str, word: str, kind: str = "noise", **fields: Any) -> list[dict[str, Any]]:
    about = {"question": f"{kind}-{level}", "of": "mcq", "severity": level, "type": kind, "category": kind.title()}
    return votes(case, word, **about | {"condition": at(degradation="assigned")} | fields)


def changes(rows: list[dict[str, Any]], trials: int, family: dict[str, Any] = FAMILY) -> pl.DataFrame:
    return compare(frame(rows), made_study(trials=trials, comparisons=family))


def change(table: pl.DataFrame, severity: str, **slice: str) -> dict[str, Any]:
    name = json.dumps({**slice, "candidate": "one"}, sort_keys=True, separators=(",", ":"))
    (result,) = table.filter(a=severity, b="L0", slice=name).to_dicts()
    return result


def test_a_change_is_the_mean_over_records_of_the_difference_from_their_own_original():
    """The original of case 0 counts for each of its three records, that of case 1 for one."""
    rows = [*clean(0, "0001"), *worn(0, "L1", "0011"), *worn(0, "L2", "1111"), *worn(0, "L2", "0111", "blur")]
    rows += [*clean(1, "0000"), *worn(1, "L2", "0000"), *clean(2, "1111")]
    table = changes(rows, 4)
    first, second = change(table, "L1"), change(table, "L2")
    assert (first["value"], first["n"], first["clusters"]) == (pytest.approx(-1 / 4), 4, 1)
    assert (second["value"], second["n"], second["clusters"]) == (pytest.approx((-3 / 4 - 2 / 4 + 0) / 3), 12, 2)
    pooled = change(table, "L1+L2")
    assert (pooled["value"], pooled["n"]) == (pytest.approx((-1 / 4 - 3 / 4 - 2 / 4 + 0) / 4), 16)
    assert change(table, "L2", type="blur")["value"] == pytest.approx(-2 / 4)
    assert change(table, "L1+L2", type="noise")["value"] == pytest.approx((-1 / 4 - 3 / 4 + 0) / 3)
    assert change(table, "L1", type="blur")["value"] is None
    assert set(table["family"]) == {"worn"}


def test_a_change_is_tested_by_flips_of_clusters_and_its_interval_is_paired():
    words = ["0001", "0011", "0111", "0000", "1111", "0100", "0101"]
    rows, difference = [], []
    for case in range(60):
        before, after = words[case % 7], words[(3 * case) % 5]
        rows += [*clean(case, before), *worn(case, "L2", after)]
        difference.append((after.count("0") - before.count("0")) / 4)
    result = change(changes(rows, 4), "L2")
    assert result["value"] == pytest.approx(sum(difference) / 60)
    assert (result["low"], result["high"]) == pytest.approx(scipy_ratio_interval(difference, [1] * 60), abs=0.01)
    assert result["method"] == "sign-flip (10000 flips), bootstrap"
    few = changes([line for line in rows if int(line["case"].removeprefix("case-")) < 12], 4)
    assert change(few, "L2")["p"] == float(exact_p([round(4 * part) for part in difference[:12]]))


def test_the_original_is_the_same_question_undegraded_where_the_condition_degrades():
    """The question that it is `of` is degraded too under TYPE@S: it is no original."""
    rows = []
    for case in range(9):
        for question, of, words in (("mcq", None, ("0001", "0111")), ("again", "mcq", ("0000", "1111"))):
            result = {"question": question, "of": of}
            rows += votes(case, words[0], condition=at(degradation="none"), severity="L0", **result)
            degraded = {"severity": "L2", "type": "noise", "category": "Noise"}
            rows += votes(case, words[1], condition=at(degradation="noise@L2"), **degraded, **result)
    result = change(changes(rows, 4), "L2")
    assert (result["value"], result["n"]) == (pytest.approx((-2 / 4 - 4 / 4) / 2), 72)
    fall = row(
        measure(frame(rows), made_study(trials=4)),
        "dke_intra_fall_in_accuracy",
    )
    assert (fall["value"], fall["n"]) == (pytest.approx(3 / 4), 18)


def test_the_clean_twin_may_have_been_asked_undegraded_only():
    rows = []
    for case in range(9):
        rows += [*clean(case, "0000", condition=at(degradation="none")), *worn(case, "L1", "0001")]
    result = change(changes(rows, 4), "L1")
    assert (result["value"], result["clusters"]) == (-0.25, 9)
    assert result["method"] == "sign-flip (all flips), all clusters alike"


def test_other_axes_must_be_alike():
    rows = []
    for case in range(9):
        rows += clean(case, "0000", condition=at(degradation="assigned", images="blank"))
        rows += worn(case, "L1", "0001")
    result = change(changes(rows, 4), "L1")
    assert (result["value"], result["n"], result["method"]) == (None, 0, "9 records without their L0")


def test_records_without_their_original_are_counted():
    rows = [line for case in range(9) for line in (*clean(case, "00"), *worn(case, "L1", "01"))]
    rows += [line for case in range(9, 12) for line in worn(case, "L1", "11", "blur")]
    table = changes(rows, 2)
    result = change(table, "L1")
    assert (result["value"], result["n"]) == (-0.5, 18)
    assert result["method"] == "sign-flip (all flips), all clusters alike; 3 records without their L0"
    assert change(table, "L1", type="noise")["method"] == "sign-flip (all flips), all clusters alike"
    assert change(table, "L1", type="blur")["method"] == "3 records without their L0"


def test_a_trial_that_was_not_answered_on_both_sides_is_left_out():
    rows = [line for case in range(9) for line in (*clean(case, "0011"), *worn(case, "L1", "01"))]
    result = change(changes(rows, 4), "L1")
    assert (result["value"], result["n"]) == (pytest.approx(1 / 2 - 2 / 2), 18)


def test_the_mean_over_capabilities_does_not_weigh_them():
    rows, flipped = [], []
    for case in range(12):
        capability = "reading" if case < 3 else "reasoning"
        after = ("1111", "0001", "0011")[case % 3]
        rows += clean(case, "0000", capability=capability)
        rows += worn(case, "L2", after, capability=capability)
        flipped.append(-after.count("1") * (3 if case < 3 else 1))  # 3 against 9 records: each weighs 3 times
    rows += [*clean(12, "0000", capability="alone"), *clean(12, "0000", capability="alone", question="more")]
    parts = {"reading": -(4 + 1 + 2) / 12, "reasoning": -(4 + 1 + 2) / 12}
    table = changes([line for line in rows if line["capability"] != "alone"], 4)
    for capability, value in parts.items():
        assert change(table, "L2", capability=capability)["value"] == pytest.approx(value)
    result = change(table, "L2", capability="mean")
    assert result["value"] == pytest.approx(sum(parts.values()) / 2)
    assert (result["n"], result["clusters"], result["p"]) == (48, 12, float(exact_p(flipped)))
    without = change(changes(rows, 4), "L2", capability="mean")
    assert (without["value"], without["n"]) == (None, 0), "nothing of one capability was degraded"


def test_groups_of_unlike_size_have_the_same_weight():
    rows = []
    for case in range(20):
        capability, after = ("few", "1111") if case < 4 else ("many", "0001")
        rows += [*clean(case, "0000", capability=capability), *worn(case, "L2", after, capability=capability)]
    table = changes(rows, 4)
    result = change(table, "L2", capability="mean")
    assert result["value"] == pytest.approx((-1 - 1 / 4) / 2)
    assert (result["low"] <= result["value"] <= result["high"], result["high"] < 0, result["p"] < 0.05) == (True,) * 3
    family = row(measure(frame(rows), made_study(trials=4)), "accuracy", '{"capability":"mean","severity":"L2"}')
    assert (family["value"], family["n"], family["clusters"]) == (pytest.approx((0 + 3 / 4) / 2), 80, 20)


def test_a_family_is_adjusted_over_all_its_slices():
    rows = []
    for case in range(40):
        kind = ("noise", "blur")[case % 2]
        rows += [*clean(case, "0011"), *worn(case, "L1", ("0111", "0001")[case % 3 == 0], kind)]
        rows += worn(case, "L2", ("1111", "0011")[case % 4 == 0], kind)
    table = changes(rows, 4)
    assert len(table) == 3 * (1 + 2 + 2 + 1)  # whole, types, categories, mean over categories
    assert (table["p_adjusted"] >= table["p"]).all()
    assert (table["p_adjusted"] > table["p"]).any()


def test_shifts_have_changes_too():
    rows = [line for case in range(9) for line in (*clean(case, "0000"), *worn(case, "L2", "1111"))]
    family = {"overrating": {"measure": "calibration_shift", "between": "severity"}}
    assert change(changes(rows, 4, family), "L2")["value"] == pytest.approx(1.0)


def test_only_l0_is_a_reference():
    family = {"worn": {"measure": "accuracy", "between": "severity", "reference": "L1"}}
    with pytest.raises(WardroundError, match="expected one of L0"):
        changes(clean(0, "0"), 1, family)


def test_nothing_degraded_has_no_changes():
    assert changes(clean(0, "0000"), 4).is_empty()


def test_levels_are_pooled_and_crossed():
    rows = []
    for case in range(4):
        about = {"capability": f"c{case % 2}", "modality": [("CT", "MRI")[case // 2]], "skill": f"s{case}"}
        rows += [*clean(case, "0000", **about), *worn(case, "L1", "0001", **about)]
        rows += worn(case, "L2", ("1111", "0011")[case % 2], "blur", **about)
    table = measure(frame(rows), made_study(trials=4))
    levels = [slice for slice in table.filter(measure="accuracy")["slice"] if set(json.loads(slice)) == {"severity"}]
    assert [json.loads(slice)["severity"] for slice in levels] == ["L0", "L1", "L2", "L1+L2"]
    expected = {
        '{"severity":"L1+L2"}': (3 * 4 + 2 * 2) / 32,
        '{"capability":"c1","severity":"L1+L2"}': (3 * 2 + 2 * 2) / 16,
        '{"capability":"mean","severity":"L2"}': (0 + 1 / 2) / 2,
        '{"modality":"MRI","severity":"L2"}': 2 / 8,
        '{"severity":"L1","skill":"s3"}': 3 / 4,
        '{"severity":"L2","type":"blur"}': 4 / 16,
        '{"category":"Noise","severity":"L1+L2"}': 3 / 4,
        '{"category":"mean","severity":"L1+L2"}': (3 / 4 + 4 / 16) / 2,
    }
    for slice, value in expected.items():
        assert row(table, "accuracy", slice)["value"] == pytest.approx(value), slice
    assert row(table, "confidence", '{"severity":"L2","type":"blur"}')["value"] == pytest.approx(3 / 4)
    shift = row(table, "calibration_shift", '{"capability":"mean","severity":"L2"}')
    assert shift["value"] == pytest.approx((1 + 0) / 2)
    slices = set(table["slice"])
    assert not any("L0" in slice and ("type" in slice or "category" in slice) for slice in slices)
    assert "worst@2" not in set(table.filter(slice='{"capability":"c1","severity":"L1+L2"}')["measure"])


def test_severities_that_are_numbers_are_ordered_as_numbers():
    rows = clean(0, "0000", condition=at())
    for severity in ("10", "0.5", "2", "L2"):
        rows += worn(0, severity, "0001", condition=at(degradation=f"noise@{severity}"))
    table = measure(frame(rows), made_study(trials=4)).filter(measure="accuracy")
    levels = [json.loads(slice)["severity"] for slice in table["slice"] if "severity" in slice and "," not in slice]
    assert levels == ["L0", "L2", "0.5", "2", "10"]


def test_means_of_few_cases_have_the_interval_of_their_kind():
    rows = []
    for case in range(12):
        about = {"capability": f"c{case % 2}"}
        rows += [*clean(case, "0000", **about), *worn(case, "L2", ("1111", "0011", "0001")[case % 3], **about)]
    table = measure(frame(rows), made_study(trials=4))
    mean = '{"capability":"mean","severity":"L2"}'
    accuracy, shift = row(table, "accuracy", mean), row(table, "calibration_shift", mean)
    assert (accuracy["method"], shift["method"]) == ("wilson", "student")
    for part in (accuracy, shift):
        assert part["low"] < part["value"] < part["high"]
