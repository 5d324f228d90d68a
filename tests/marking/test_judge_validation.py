"""Validating a judge: against independent figures, and against judges whose errors are planted."""

from __future__ import annotations

import json
import random

import numpy as np
import polars as pl
import pytest
from exam_study import wardround, write_cases, write_study
from judged_study import run
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score, recall_score

from wardround.core.errors import BadInput
from wardround.marking.judges.judge import VERDICT_SCHEMA, read_verdicts, write_verdicts
from wardround.measuring.engine.wilson import wilson
from wardround.measuring.validation import agreement as agreement_module
from wardround.measuring.validation.agreement import (
    confusion_cells,
    estimate_rate,
    kappa,
    sensitivity,
    specificity,
)
from wardround.measuring.validation.corrected_hits import corrected, listed
from wardround.measuring.validation.judge_labels import read_labels
from wardround.measuring.validation.judge_validation import compare_judges, judge_note, match, measure_judge
from wardround.pipeline import mark_run, validate_judge

SENSITIVITY, SPECIFICITY = 0.9, 0.8


def items(rows: list[tuple[str, bool, bool]]) -> pl.DataFrame:
    """Judged and labelled diagnoses: cluster, judge, label."""
    return pl.DataFrame(rows, schema=["cluster", "same", "label"], orient="row").with_columns(weight=pl.lit(1.0))


def test_agreement_is_what_scikit_learn_says():
    numbers = random.Random(3)
    for _ in range(200):
        share = numbers.random()
        rows = [(f"c{numbers.randrange(5)}", numbers.random() < share, numbers.random() < 0.5) for _ in range(40)]
        judge, label = [row[1] for row in rows], [row[2] for row in rows]
        table = confusion_cells(items(rows), [f"c{n}" for n in range(5)]).sum(axis=0)
        expected = cohen_kappa_score(judge, label, labels=[False, True])
        assert float(kappa(table)) == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert float(sensitivity(table)) == pytest.approx(recall_score(label, judge))
        assert float(specificity(table)) == pytest.approx(recall_score(label, judge, pos_label=False))


def test_kappa_is_undefined_where_nobody_could_disagree():
    assert np.isnan(kappa(np.array([7.0, 0, 0, 0])))
    assert np.isnan(kappa(np.zeros(4)))
    assert float(kappa(np.array([5.0, 0, 0, 5]))) == 1.0
    assert float(kappa(np.array([0.0, 5, 5, 0]))) == -1.0


def test_a_share_that_is_extreme_has_wilsons_interval():
    part, whole = np.array([1.0] * 35 + [0.0] * 5), np.ones(40)
    rate = estimate_rate(part, whole, 1)
    expected = binomtest(35, 40).proportion_ci(method="wilson")
    assert rate["method"] == "wilson"
    assert (rate["low"], rate["high"]) == pytest.approx((expected.low, expected.high), abs=1e-3)  # deff 40/39
    assert wilson(np.array(0.3), np.array(50.0)) == pytest.approx(
        tuple(binomtest(15, 50).proportion_ci(method="wilson"))
    )
    assert estimate_rate(part[:7], whole[:7], 1)["method"] == "too few cases"


def test_rogan_and_gladen_by_hand():
    """800 of 1000 first diagnoses called right, by a judge of 0.9 and 0.75: (0.8 - 0.25) / 0.65."""
    errors, lists = [90, 10, 25, 75], [800, 1000, 1000, 0, 0]
    assert float(corrected(np.array([*errors, *lists], float))) == pytest.approx((0.8 + 0.75 - 1) / (0.9 + 0.75 - 1))
    assert float(corrected(np.array([*errors, 100, 1000, 1000, 0, 0], float))) == 0.0  # fewer than its false alarms
    assert float(corrected(np.array([*errors, 1000, 1000, 1000, 0, 0], float))) == 1.0
    assert np.isnan(corrected(np.array([50, 50, 50, 50, *lists], float)))  # a coin corrects nothing
    assert np.isnan(corrected(np.array([0, 0, 25, 75, *lists], float)))
    empty = corrected(np.array([*errors, 800, 2000, 1000, 0, 0], float))  # half of the lists are empty: no hits
    assert float(empty) == pytest.approx(0.5 * 0.55 / 0.65)


def test_lists_count_as_hit_at_k_does():
    rows = [
        ("a", "right", [True, False, None]),
        ("a", "wrong", [False, None, True]),
        ("a", "wrong", [False, None, False]),
        ("b", "unscored", [None, False, False]),
        ("b", "unparsed", None),
        ("b", "unscored", None),
        ("b", "wrong", [False, False]),
    ]
    lists = pl.DataFrame(
        rows, schema={"cluster": pl.String, "outcome": pl.String, "hits": pl.List(pl.Boolean)}, orient="row"
    )
    first, third = listed(lists, 1, ["a", "b"]), listed(lists, 3, ["a", "b"])
    assert first.tolist() == [[1, 3, 3, 0, 0], [0, 2, 1, 0, 0]]
    assert third.tolist() == [[2, 2, 0, 0, 2], [0, 2, 0, 1, 0]]


def test_planted_errors_are_recovered_by_intervals_that_cover_them(monkeypatch):
    """200 cases, 100 of them labelled; lists of three with the right one first (.5), later (.2) or not at all."""
    monkeypatch.setattr(agreement_module, "RESAMPLES", 200)
    numbers = np.random.default_rng(11)
    covered = {"se": 0, "sp": 0, 1: 0, 3: 0}
    means: dict[int, list[float]] = {1: [], 3: []}
    repeats = 120
    for _ in range(repeats):
        place = numbers.choice([0, 1, 2, 3], p=[0.5, 0.1, 0.1, 0.3], size=200)
        truth = place[:, None] == np.arange(3)
        said = np.where(truth, numbers.random((200, 3)) < SENSITIVITY, numbers.random((200, 3)) >= SPECIFICITY)
        clusters = [f"c{n}" for n in range(200)]
        labelled = items([(clusters[n], bool(said[n, m]), bool(truth[n, m])) for n in range(100) for m in range(3)])
        errors = confusion_cells(labelled, clusters)
        found_se, found_sp = (
            estimate_rate(errors[:, 0], errors[:, :2].sum(1), 1),
            estimate_rate(errors[:, 3], errors[:, 2:].sum(1), 1),
        )
        covered["se"] += found_se["low"] <= SENSITIVITY <= found_se["high"]
        covered["sp"] += found_sp["low"] <= SPECIFICITY <= found_sp["high"]
        lists = pl.DataFrame({"cluster": clusters, "outcome": "wrong", "hits": said.tolist()})
        for k, planted in ((1, 0.5), (3, 0.7)):
            sums = np.concatenate([errors, listed(lists, k, clusters)], axis=1)
            means[k].append(float(corrected(sums.sum(axis=0))))
            low, high = np.nanquantile(corrected(agreement_module.resampled(sums, 1)), [0.025, 0.975])
            covered[k] += low <= planted <= high
    print(covered)
    assert all(0.88 * repeats <= count for count in covered.values())
    assert np.mean(means[1]) == pytest.approx(0.5, abs=0.02)
    assert np.mean(means[3]) == pytest.approx(0.7, abs=0.03)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A run of 400 cases whose simulated judge has planted errors, and the truth about every diagnosis."""
    folder = tmp_path_factory.mktemp("judged")
    question = {"id": "open", "kind": "open"}
    cases = [
        {"id": f"case-{n}", "questions": [question | {"prompt": f"Patient {n}?", "gold": f"illness number {n}"}]}
        for n in range(400)
    ]
    write_cases(folder / "cases", cases)
    study = write_study(
        folder,
        candidate={"provider": "simulated", "extra_body": {"hit1": 0.5, "hit3": 0.7}},
        more=f"""
[judge]
provider = "simulated"
[judge.extra_body]
accuracy = {SENSITIVITY}
by = [{{ when = {{ task = "not same" }}, accuracy = {SPECIFICITY} }}]""",
    )
    ended = run(study)
    verdicts = read_verdicts(ended.folder)
    lines = [
        json.dumps({"case": case, "question": "open", "diagnosis": diagnosis, "same": gold == diagnosis})
        for case, gold, diagnosis in verdicts.select("case", "gold", "diagnosis").iter_rows()
        if int(case[5:]) < 200
    ]
    labels = folder / "labels.jsonl"
    labels.write_text("\n".join(lines))
    return ended, labels


def test_a_planted_judge_is_recovered_through_the_whole_path(judged):
    ended, labels = judged
    (ended.folder / "judge.json").unlink(missing_ok=True)
    assert judge_note(ended.folder).endswith(": not validated")
    validated = measure_judge(ended.folder, labels)
    assert validated["sensitivity"]["low"] <= SENSITIVITY <= validated["sensitivity"]["high"]
    assert validated["specificity"]["low"] <= SPECIFICITY <= validated["specificity"]["high"]
    assert (validated["items"], validated["clusters"], validated["unmatched"], validated["unscored"]) == (
        600,
        200,
        [],
        0,
    )
    for hit, planted in zip(validated["hits"], (0.5, 0.7), strict=True):
        assert hit["low"] <= planted <= hit["high"]
        assert hit["low"] < hit["corrected"] < hit["high"]
    measured = pl.read_csv(ended.folder / "measures.csv").filter(pl.col("slice") == "{}")
    for hit in validated["hits"]:
        (row,) = measured.filter(pl.col("measure") == f"hit@{hit['k']}").iter_rows(named=True)
        assert (hit["raw"], hit["n"]) == (pytest.approx(row["value"], abs=1e-9), row["n"])
    assert validated["hits"][1]["raw"] > 0.75  # an uncorrected judge of this kind flatters
    kept = json.loads((ended.folder / "judge.json").read_text())
    assert kept == validated
    assert f"kappa {validated['kappa']['value']:.2f} (" in judge_note(ended.folder)
    assert measure_judge(ended.folder, labels) == validated


def test_marks_carry_the_labels_and_keep_them(judged):
    ended, labels = judged
    validated = validate_judge(ended.folder, labels)
    marks = pl.read_parquet(ended.folder / "marks.parquet")
    carried = marks.filter(pl.col("labels").is_not_null())
    assert sorted(set(carried["case"])) == sorted(f"case-{n}" for n in range(200))
    assert set(carried["labels"].list.len()) == {3}
    flat = carried.explode("hits", "labels")
    both = flat.select((pl.col("hits") & pl.col("labels")).sum()).item()
    assert both == validated["confusion"]["both"]
    measured = pl.read_csv(ended.folder / "measures.csv").filter(pl.col("measure") == "kappa", pl.col("slice") == "{}")
    assert measured["value"].item() == pytest.approx(validated["kappa"]["value"], abs=1e-8)
    assert measured["n"].item() == validated["items"]
    mark_run(ended.folder, note=lambda line: None)
    assert pl.read_parquet(ended.folder / "marks.parquet").equals(marks)


def test_another_judge_is_not_validated_by_the_first_ones_labels(judged):
    ended, labels = judged
    measure_judge(ended.folder, labels)
    rule = ended.folder / "rule.toml"
    rule.write_text('[judge]\nprovider = "lexical"\n')
    mark_run(ended.folder, judge=rule, note=lambda line: None)
    assert judge_note(ended.folder) == "judge lexical-4: not validated"
    assert measure_judge(ended.folder, labels)["kappa"]["value"] == 1.0  # it is the truth here
    comparison = compare_judges(ended.folder)
    judge = read_verdicts(ended.folder).filter(pl.col("judge") != "lexical-4")
    rule_says = read_verdicts(ended.folder).filter(pl.col("judge") == "lexical-4")
    assert comparison["kappa"]["value"] == pytest.approx(cohen_kappa_score(judge["same"], rule_says["same"]))
    assert {comparison["a"], comparison["b"]} == {"lexical-4", judge["judge"][0]}
    assert len(comparison["disagreements"]) == comparison["table"]["a_only"] + comparison["table"]["b_only"]
    assert all(pair["a"] != pair["b"] for pair in comparison["disagreements"])
    mark_run(ended.folder, note=lambda line: None)


def test_the_command_prints_the_table_and_names_what_does_not_match(judged, tmp_path):
    ended, _ = judged
    labels = tmp_path / "labels.csv"
    first = read_verdicts(ended.folder).row(0, named=True)
    labels.write_text(
        "case,question,diagnosis,same\n"
        f"{first['case']},open,{first['diagnosis'].upper().title()},{first['gold'] == first['diagnosis']}\n"
        "case-3,open,The Plague,no\n"
    )
    process = wardround("judge", "validate", ended.folder, "--labels", labels, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert "1 labels match nothing that was judged: line 3: case-3/open: 'the plague'" in process.stdout
    assert "kappa" in process.stdout


def verdicts(rows: list[tuple[str, str, str, str, bool | None]]) -> pl.DataFrame:
    """Verdicts: case, question, gold, diagnosis, same."""
    blank = dict.fromkeys(VERDICT_SCHEMA)
    records = [
        blank | {"case": c, "cluster": c, "question": q, "gold": g, "diagnosis": d, "same": s, "judge": "j", "rank": 1}
        for c, q, g, d, s in rows
    ]
    return pl.DataFrame(records, schema=VERDICT_SCHEMA)


def labels_of(tmp_path, text: str, name: str = "labels.csv"):
    file = tmp_path / name
    file.write_text(text)
    return read_labels(file)


def test_labels_by_gold_count_for_every_question_with_it_and_labels_by_case_win(tmp_path):
    judged = verdicts(
        [
            ("1", "open", "gout", "podagra", True),
            ("1", "open", "gout", "podagra", True),
            ("2", "open", "gout", "podagra", True),
            ("3", "open", "lupus", "podagra", None),
        ]
    )
    lines = ("Gout,,,Podagra.,1", ",2,,podagra,false", ",3,open,podagra,0", ",1,other,podagra,1")
    text = "\n".join(["gold,case,question,diagnosis,same", *lines])
    labelled, unmatched = match(labels_of(tmp_path, text), judged)
    assert labelled.select("case", "same", "label").rows() == [
        ("1", True, True),
        ("2", True, False),
        ("3", None, False),
    ]
    assert [str(label) for label in unmatched] == ["line 5: 1/other: 'podagra'"]


def test_weights_of_a_stratified_sample_count(tmp_path):
    judged = verdicts([(str(n), "open", "gout", "podagra", n == 0) for n in range(2)])
    text = "case,question,diagnosis,same,weight\n0,open,podagra,1,3\n1,open,podagra,1,\n"
    labelled, _ = match(labels_of(tmp_path, text), judged)
    assert confusion_cells(labelled, ["0", "1"]).tolist() == [[3, 0, 0, 0], [0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("l.csv", "case,question,diagnosis,same\n1,open,gout,maybe\n", r"l\.csv:2: same: expected true or false"),
        ("l.csv", "case,question,diagnosis,same\n1,open,,1\n", r"l\.csv:2: diagnosis: is required"),
        ("l.csv", "diagnosis,same\ngout,1\n", r"l\.csv:2: expected case .* or gold"),
        ("l.csv", "gold,diagnosis,same\na,b,1\na,B.,0\n", r"l\.csv:3: same: contradicts line 2"),
        ("l.csv", "gold,diagnosis,same,weight\na,b,1,-2\n", r"l\.csv:2: weight: expected a positive number"),
        ("l.csv", "", "contains no labels"),
        ("l.jsonl", '{"gold": "a", "diagnosis": "b", "same": true}\n[]\n', r"l\.jsonl:2: expected an object"),
        ("l.jsonl", "{\n", r"l\.jsonl:1: is not JSON"),
    ],
)
def test_labels_that_are_wrong_are_one_line(tmp_path, name, text, complaint):
    with pytest.raises(BadInput, match=complaint):
        labels_of(tmp_path, text, name)


def test_a_run_without_a_judge_cannot_be_validated(tmp_path):
    write_cases(tmp_path / "cases", 2)
    ended = run(write_study(tmp_path, candidate={"provider": "simulated"}))
    labels = tmp_path / "labels.csv"
    labels.write_text("gold,diagnosis,same\na,b,1\n")
    with pytest.raises(BadInput, match="has no judge"):
        measure_judge(ended.folder, labels)
    assert judge_note(ended.folder) == "no judge"
    with pytest.raises(BadInput, match="is not a run folder"):
        measure_judge(tmp_path, labels)


def test_verdicts_of_several_judges_are_kept_apart(tmp_path):
    write_verdicts(tmp_path, verdicts([("1", "open", "gout", "podagra", True)]), "j")
    other = verdicts([("1", "open", "gout", "podagra", False)]).with_columns(judge=pl.lit("k"))
    write_verdicts(tmp_path, other, "k")
    write_verdicts(tmp_path, verdicts([("1", "open", "gout", "podagra", None)]), "j")
    assert sorted(read_verdicts(tmp_path).select("judge", "same").rows()) == [("j", None), ("k", False)]
    with pytest.raises(BadInput, match="was not judged by 'x'; its judges are"):
        compare_judges(tmp_path, judges=["j", "x"])
