"""Every measure in one run, compared with oracles that are independent of the code."""

import json
from fractions import Fraction

import measure_oracle as oracle
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_marks import STAGES, at, frame, made_study, mark, measure_rows, row, votes

from wardround.measuring import measure
from wardround.measuring.measures.catalogue import RECORDS, find_record

AT_REFERENCE = pl.col("condition").str.json_path_match("$.without") == "none"


def test_every_record_is_written_and_nothing_else(whole):
    written = {record.name for name in whole[1]["measure"].unique() if (record := find_record(name))}
    assert written == {record.name for record in RECORDS} == set(oracle.NAMES.split())
    assert all(find_record(name) for name in whole[1]["measure"].unique())


def test_values_stay_in_their_range(whole):
    lines = whole[1].filter(pl.col("value").is_not_null(), ~pl.col("measure").is_in(["ppl", "bits_per_byte"]))
    signed = pl.col("measure").str.contains("^(uas|net_benefit|mcs|calibration_shift|kappa|dke_intra|dke_inter)")
    assert lines.filter(~signed)["value"].is_between(0, 1).all()
    assert lines["value"].is_between(-1, 1).all()
    inside = lines.filter(pl.col("low").is_not_null(), pl.col("method") != "bootstrap")
    assert ((inside["low"] <= inside["value"] + 1e-9) & (inside["value"] <= inside["high"] + 1e-9)).all()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=4, max_size=60))
def test_measures_of_stated_confidence_agree_with_the_oracle(expected):
    claims = [(number / 20, right) for number, right in expected]
    rows = [
        mark(case, "right" if right else "wrong", confidence=stated, condition=at(confidence="verbal"))
        for case, (stated, right) in enumerate(claims)
    ]
    table = measure_rows(rows)
    assert row(table, "ece_stated")["value"] == pytest.approx(oracle.ece(claims), abs=1e-8)
    assert row(table, "brier_stated")["value"] == pytest.approx(oracle.brier(claims), abs=1e-8)
    kept = oracle.kept_accuracy(claims, 0.8)
    assert row(table, "accuracy@80_stated")["value"] == pytest.approx(kept, abs=1e-8)
    assert row(table, "aurc_stated")["value"] == pytest.approx(oracle.aurc(claims), abs=1e-7)
    coverage = oracle.coverage_at_risk(claims, Fraction(1, 10))
    assert row(table, "coverage@risk10_stated")["value"] == pytest.approx(coverage)
    if len({right for _, right in claims}) == 2:
        assert row(table, "auroc_stated")["value"] == pytest.approx(oracle.auroc(claims), abs=1e-7)
    else:
        assert row(table, "auroc_stated")["value"] is None


def test_confidence_of_votes_is_their_share_and_ties_count_by_their_part():
    words = ["0000", "0001", "0011", "1122", "1110", "00--"]
    table = measure_rows([line for case, word in enumerate(words) for line in votes(case, word)], 4)
    # a tie of two that holds the right one is right by half
    claims = [(1.0, 1.0), (0.75, 1.0), (0.5, 0.5), (0.5, 0.0), (0.75, 0.0), (0.5, 1.0)]
    squared = [r * (1 - c) ** 2 + (1 - r) * c**2 for c, r in claims]
    assert row(table, "brier")["value"] == pytest.approx(sum(squared) / 6)
    gaps = [0.0, (0.75 + 0.75) - 1, 1.5 - 1.5]
    assert row(table, "ece")["value"] == pytest.approx(sum(map(abs, gaps)) / 6)
    double = [(c, True) for c, r in claims for _ in range(int(2 * r))]
    double += [(c, False) for c, r in claims for _ in range(2 - int(2 * r))]
    assert row(table, "auroc")["value"] == pytest.approx(oracle.auroc(double), abs=1e-8)


def test_the_null_of_ece_is_what_calibrated_candidates_show():
    random = np.random.default_rng(3)
    confidences = random.uniform(0.3, 1, 300).round(4)
    rows = [
        mark(
            case, "right" if random.random() < stated else "wrong", confidence=stated, condition=at(confidence="verbal")
        )
        for case, stated in enumerate(confidences.tolist())
    ]
    line = row(measure_rows(rows), "ece_if_calibrated_stated")
    simulated = oracle.expected_plug_in(confidences, 4000, 1)
    assert line["value"] == pytest.approx(simulated, abs=0.002)
    assert round(simulated, 3) == pytest.approx(0.051, abs=0.002)  # docs/statistics.md
    assert (line["low"], line["method"]) == (None, "no interval")


@pytest.mark.parametrize(("off", "most"), [(0.0, 0.036), (0.15, 0.155)])
def test_the_debiased_ece_is_nearer_to_the_truth(off, most):
    """Calibrated, and over-confident by .15: mean of 60 candidates with 300 answers each."""
    random = np.random.default_rng(5)
    stated = random.uniform(0.3, 0.99, 300).round(4)
    rows = [
        mark(case, "right" if random.random() < stated[case] - off else "wrong", candidate=f"m{number}",
             confidence=float(stated[case]), condition=at(confidence="verbal"))
        for number in range(60)
        for case in range(300)
    ]  # fmt: skip
    table = measure_rows(rows)
    plug_in, debiased = (
        table.filter(measure=name, slice="{}")["value"].mean() for name in ("ece_stated", "ece_debiased_stated")
    )
    assert debiased < plug_in
    assert off - 0.005 < debiased < most
    assert plug_in > (off or 0.045)


def test_uas_agrees_with_the_oracle(whole):
    marks, table = whole
    own = marks.filter(pl.col("candidate") == "b", pl.col("stage").is_not_null(), AT_REFERENCE)
    scale = sum(range(1, 7)) / 6
    values = [
        (line["confidence"], line["outcome"] == "right", line["grade"], line["importance"] / scale)
        for line in own.iter_rows(named=True)
    ]
    first_line = row(table, "uas_stated", candidate="b")
    assert first_line["version"] == "xpcr-uas/local-1, importance / 3.5"
    assert first_line["value"] == pytest.approx(oracle.uas(values), abs=1e-7)
    assert first_line["n"] == len(values)


def test_honest_reports_pay_best():
    """At any importance, saying confident where p >= tau and unsure below is the best of all rules."""
    from wardround.measuring.measures.confidence import uas_score

    for importance in (0.3, 1.0, 2.5, 9.0):
        for chance in np.linspace(0.05, 0.95, 19):
            both = np.array([1.0, 0.0])
            pay = {stated: uas_score(np.full(2, stated), both, np.full(2, importance)) for stated in (0.0, chance, 1.0)}
            mean = {stated: chance * pay[stated][0] + (1 - chance) * pay[stated][1] for stated in pay}
            assert mean[chance] == pytest.approx(max(mean.values()))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text("0123-", min_size=8, max_size=8), min_size=1, max_size=12))
def test_worst_of_k_agrees_with_listing_all_subsets(words):
    table = measure_rows([line for case, word in enumerate(words) for line in votes(case, word)], 8)
    for k in (1, 2, 4, 8):
        expected = oracle.worst([[vote == "0" for vote in word] for word in words], k)
        assert row(table, f"worst@{k}")["value"] == pytest.approx(expected, abs=1e-8)
    assert row(table, "worst@1")["value"] == pytest.approx(row(table, "accuracy")["value"], abs=1e-8)
    assert "worst@16" not in table["measure"]


def test_worst_of_k_from_probabilities_is_a_power():
    shares = [[0.5, 0.5, 0.0, 0.0], [0.9, 0.05, 0.05, 0.0]]
    rows = [mark(case, shares=part, condition=at(confidence="logprobs")) for case, part in enumerate(shares)]
    table = measure_rows(rows, 4)
    for k, source in ((4, ""), (4, "_in_the_limit"), (16, "_in_the_limit")):
        line = row(table, f"worst@{k}{source}")["value"]
        assert line == pytest.approx((0.5**k + 0.9**k) / 2, abs=1e-8)


def test_options_as_tests_agree_with_the_oracle():
    random = np.random.default_rng(8)
    answers = []
    rows = []
    for case in range(80):
        options = int(random.integers(3, 7))
        gold = int(random.integers(0, options))
        chosen = None if random.random() < 0.1 else int(random.integers(0, options)) if random.random() < 0.5 else gold
        outcome = "unparsed" if chosen is None else "right" if chosen == gold else "wrong"
        answers.append((chosen, gold, options))
        rows.append(mark(case, outcome, option=chosen, gold=gold, k=options))
    table, expected = measure_rows(rows), oracle.options_as_tests(answers)
    for name in ("sensitivity", "specificity"):
        assert row(table, name)["value"] == pytest.approx(expected[name])
        assert row(table, f"{name}_by_letter")["value"] == pytest.approx(expected[f"{name} macro"])
    assert row(table, "precision_by_letter")["value"] == pytest.approx(expected["precision macro"])
    assert row(table, "sensitivity")["value"] == row(table, "accuracy")["value"]


def test_evidence_outcomes_add_up_to_one(whole):
    marks, table = whole
    own = marks.filter(pl.col("candidate") == "c", pl.col("kind") == "open")
    right, grounded = (own["outcome"] == "right").to_list(), own["grounded"].to_list()
    cells = {
        "evidence_based_correct": (True, True),
        "knowledge_based_correct": (True, False),
        "evidence_misled": (False, True),
        "hallucination": (False, False),
    }
    both = list(zip(right, grounded, strict=True))
    for name, cell in cells.items():
        assert row(table, name, candidate="c")["value"] == pytest.approx(both.count(cell) / 45)
    assert sum(row(table, name, candidate="c")["value"] for name in cells) == pytest.approx(1)
    assert row(table, "grounded", candidate="c")["value"] == pytest.approx(grounded.count(True) / 45)
    assert row(table, "coverage", candidate="c")["value"] == pytest.approx(own["covered"].mean())


def test_an_unscored_answer_has_no_evidence_outcome():
    fields = {"kind": "open", "gold": None, "k": None, "option": None, "judge": "j", "grounded": True}
    rows = [
        mark(0, "unscored", **fields),
        mark(1, "right", hits=[True], **fields),
        mark(2, "wrong", hits=[False], **fields),
    ]
    table = measure_rows([*rows, mark(3, "unparsed", hits=[], **(fields | {"grounded": None}))])
    assert (row(table, "grounded")["value"], row(table, "grounded")["n"]) == (1.0, 2)
    assert row(table, "evidence_based_correct")["value"] == 0.5


def test_retrieval_agrees_with_the_oracle(whole):
    marks, table = whole
    own = marks.filter(pl.col("candidate") == "a", pl.col("relevant") > 0)
    for k in (1, 5, 10):
        values = [oracle.retrieval(line["relevant_ranks"], line["relevant"], k) for line in own.iter_rows(named=True)]
        for name in ("recall", "precision", "ndcg", "mrr", "map"):
            first_line = row(table, name if name in ("mrr", "map") else f"{name}@{k}", candidate="a")
            assert first_line["value"] == pytest.approx(np.mean([figures[name] for figures in values]), abs=1e-8), name
            assert first_line["n"] == len(own)


def test_a_search_without_anything_to_find_has_no_value():
    table = measure_rows([mark(0, relevant=0, relevant_ranks=[]), mark(1, relevant=2, relevant_ranks=[]), mark(2)])
    assert (row(table, "recall@5")["value"], row(table, "recall@5")["n"]) == (0.0, 1)


def test_stages_grades_and_chains_are_those_counted_from_marks(whole):
    marks, table = whole
    own = marks.filter(pl.col("candidate") == "d", pl.col("stage").is_not_null(), AT_REFERENCE)
    right = own.with_columns(right=pl.col("outcome") == "right")
    for measure_name, key in (("swa", "stage"), ("esa", "grade")):
        by = dict(right.group_by(key).agg(pl.col("right").mean()).rows())
        for value, mean in by.items():
            line = row(table, measure_name, json.dumps({key: value}, separators=(",", ":")), candidate="d")
            assert line["value"] == pytest.approx(mean)
        line = row(table, measure_name, f'{{"{key}":"mean"}}', candidate="d")
        assert line["value"] == pytest.approx(np.mean(list(by.values())))
        assert (line["n"], line["clusters"], line["method"]) == (len(own), 45, "bootstrap")
        assert line["low"] < line["value"] < line["high"]
    chains = right.group_by("case", "condition").agg(pl.col("right").all())["right"]
    line = row(table, "ccr", candidate="d")
    assert (line["value"], line["n"]) == (pytest.approx(chains.mean()), 45)
    assert not table.filter(pl.col("measure") == "ccr", pl.col("slice").str.contains("stage|grade")).height


def test_each_carry_has_its_own_mean_over_stages():
    rows = [
        mark(case, "right" if (case + place) % (3 if carry == "own" else 4) else "wrong",
             stage=stage, question=stage, chain="c", condition=at(carry=carry))
        for case in range(12)
        for place, stage in enumerate(STAGES)
        for carry in ("own", "gold")
    ]  # fmt: skip
    study = made_study().model_copy(update={"conditions": {"carry": ["own", "gold"]}})
    table = measure(frame(rows), study)
    for carry, every in (("own", 3), ("gold", 4)):
        by_stage = [np.mean([bool((case + place) % every) for case in range(12)]) for place in range(6)]
        line = row(table, "swa", f'{{"carry":"{carry}","stage":"mean"}}')
        assert line["value"] == pytest.approx(np.mean(by_stage))
        assert line["method"] == "wilson"
        assert row(table, "swa", f'{{"carry":"{carry}","stage":"DD"}}')["value"] == pytest.approx(by_stage[3])


def test_an_incomplete_chain_is_left_out():
    """Of four chains one lacks an answer that another candidate has, one is unscored at its end, one has an error."""
    rows = [
        mark(case, "right", stage=s, question=s, chain="c", candidate=c)
        for c in "ab"
        for case in range(4)
        for s in STAGES
    ]
    changed = {("case-1", "CD"): "unscored", ("case-3", "IQA"): "unparsed"}
    own = [line | {"outcome": changed.get((line["case"], line["stage"]), "right")} for line in rows[:24]]
    own = [line for line in own if (line["case"], line["stage"]) != ("case-0", "SG")]
    table = measure_rows([*own, *rows[24:]], 1, "a", "b")
    assert [row(table, "ccr", candidate=name)["n"] for name in "ab"] == [2, 4]
    assert [row(table, "ccr", candidate=name)["value"] for name in "ab"] == [0.5, 1.0]


def test_chains_of_known_probabilities_are_right_by_their_product():
    rows = [
        mark(case, stage=s, question=s, chain="c", shares=[p, 1 - p], k=2, condition=at(confidence="logprobs"))
        for case in range(3)
        for s, p in (("AL", 0.5), ("DD", 0.75))
    ]
    assert row(measure_rows(rows), "ccr")["value"] == pytest.approx(0.375)


def test_mcs_is_paired_and_leaves_cases_with_one_modality_out():
    rows = []
    for case in range(20):
        several = {"modality": ["CT", "MRI"] if case < 15 else ["CT"]}
        rows.append(mark(case, "right" if case % 3 else "wrong", condition=at(), **several))
        if case != 4:
            rows.append(mark(case, "right" if case % 2 else "wrong", condition=at(without="MRI"), **several))
    study = made_study().model_copy(update={"conditions": {"without": ["none", "MRI"]}})
    table = measure(frame(rows), study)
    there = [case for case in range(15) if case != 4]
    expected = np.mean([bool(case % 3) - bool(case % 2) for case in there])
    line = row(table, "mcs", '{"without":"MRI"}')
    assert (line["value"], line["n"]) == (pytest.approx(expected), 14)
    assert row(table, "mcs", '{"without":"none"}')["n"] == 0
    assert "{}" not in table.filter(measure="mcs")["slice"].to_list()


def test_leakage_agrees_with_the_oracle(whole):
    marks, table = whole
    own = marks.filter(pl.col("candidate") == "a", pl.col("logprob").is_not_null())
    texts = own.select("logprob", "tokens").rows()
    assert row(table, "ppl", candidate="a")["value"] == pytest.approx(oracle.perplexity(texts), rel=1e-6)
    line = row(table, "bits_per_byte", candidate="a")["value"]
    assert line == pytest.approx(oracle.bits_per_byte(own.select("logprob", "bytes").rows()), rel=1e-6)
    for name in ("rouge_l", "eds"):
        assert row(table, name, candidate="a")["value"] == pytest.approx(own[name].mean(), abs=1e-8)


def test_kappa_agrees_with_the_oracle(whole):
    marks, table = whole
    own = marks.filter(pl.col("candidate") == "b", pl.col("labels").is_not_null())
    judge, reader = (own[name].explode().to_list() for name in ("hits", "labels"))
    line = row(table, "kappa", candidate="b")
    assert (line["value"], line["n"]) == (pytest.approx(oracle.kappa(judge, reader)), len(judge))
    assert line["low"] < line["value"] < line["high"]


def test_kappa_counts_only_what_both_judged():
    fields = {"kind": "open", "gold": None, "k": None, "option": None}
    rows = [
        mark(0, hits=[True, None, False], labels=[True, True], **fields),
        mark(1, hits=[False], labels=[False], **fields),
    ]
    line = row(measure_rows(rows), "kappa")
    assert (line["value"], line["n"]) == (1.0, 2)
    same = measure_rows([mark(0, hits=[True], labels=[True], **fields)])
    assert row(same, "kappa")["value"] is None
