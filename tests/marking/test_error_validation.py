"""The judge of errors against people: kappa over all classes and of each, against scikit-learn."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from wardround.core.errors import BadInput
from wardround.marking.judges.error_classes import CLASSES, UNREADABLE
from wardround.measuring.validation.error_validation import error_judge_note, read_error_labels, validate_errors

HEAD = "candidate,case,question,trial,class"


def judged(folder, kinds, conditions=("{}",)):
    """A run folder whose wrong answers have these classes."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"candidate": "m", "case": f"c{n}", "cluster": f"c{n}", "question": "q", "trial": 0, "condition": condition}
        | {"error_class": kind}
        for condition in conditions
        for n, kind in enumerate(kinds)
    ]
    pl.DataFrame(rows).write_parquet(folder / "marks.parquet")
    return folder


def labelled(file, kinds):
    file.write_text("\n".join([HEAD, *(f"m,c{n},q,0,{kind}" for n, kind in enumerate(kinds))]))
    return file


def drawn(seed=5, many=120):
    numbers = random.Random(seed)
    people = [numbers.choice(CLASSES) for _ in range(many)]
    return people, [kind if numbers.random() < 0.6 else numbers.choice(CLASSES) for kind in people]


def test_kappas_are_those_of_scikit_learn(tmp_path):
    people, judge = drawn()
    agreement = validate_errors(judged(tmp_path / "run", judge), labelled(tmp_path / "labels.csv", people))
    assert agreement["kappa"]["value"] == pytest.approx(cohen_kappa_score(people, judge))
    assert agreement["kappa"]["low"] < agreement["kappa"]["value"] < agreement["kappa"]["high"]
    assert agreement["agreement"]["value"] == pytest.approx(
        sum(a == b for a, b in zip(people, judge, strict=True)) / 120
    )
    for name in CLASSES:
        own = [[kind == name for kind in kinds] for kinds in (people, judge)]
        kappa = agreement["classes"][name]
        assert kappa["value"] == pytest.approx(cohen_kappa_score(*own))
        assert kappa["low"] < kappa["value"] < kappa["high"]
        assert (kappa["labelled"], kappa["named"]) == (people.count(name), judge.count(name))
    assert sum(map(sum, (row.values() for row in agreement["confusion"].values()))) == 120
    assert json.loads((tmp_path / "run" / "error_judge.json").read_text()) == agreement
    assert "agrees with people by kappa" in error_judge_note(tmp_path / "run")


def test_chance_is_no_agreement_and_equals_are_all(tmp_path):
    people, _ = drawn(many=400)
    other, _ = drawn(seed=6, many=400)
    by_chance = validate_errors(judged(tmp_path / "a", other), labelled(tmp_path / "l.csv", people))
    assert by_chance["kappa"]["low"] < 0 < by_chance["kappa"]["high"]
    alike = validate_errors(judged(tmp_path / "b", people), labelled(tmp_path / "l.csv", people))
    assert alike["kappa"]["value"] == 1


def test_what_the_judge_did_not_name_is_left_out_and_counted(tmp_path):
    people = [*CLASSES, *CLASSES]
    judge = [*CLASSES, *[UNREADABLE] * 5]
    file = labelled(tmp_path / "l.csv", people)
    file.write_text(file.read_text() + "\nm,nobody,q,0,1\n")
    agreement = validate_errors(judged(tmp_path / "run", judge), file)
    assert (agreement["items"], agreement["unscored"], len(agreement["unmatched"])) == (5, 5, 1)
    assert agreement["kappa"]["low"] is None  # of five cases


def test_one_answer_may_be_wrong_for_two_reasons_under_two_conditions(tmp_path):
    run = judged(tmp_path / "run", CLASSES, conditions=('{"images":"as-is"}', '{"images":"none"}'))
    file = tmp_path / "labels.jsonl"
    rows = [
        {"candidate": "m", "case": f"c{n}", "question": "q", "condition": condition, "class": CLASSES[(n + shift) % 5]}
        for shift, condition in enumerate(('{"images":"as-is"}', '{"images":"none"}', '{"images":"blank"}'))
        for n in range(5)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    agreement = validate_errors(run, file)
    assert (agreement["items"], agreement["agreement"]["value"], len(agreement["unmatched"])) == (10, 0.5, 5)
    with pytest.raises(BadInput, match="condition: is required"):
        validate_errors(run, labelled(tmp_path / "labels.csv", CLASSES))


@pytest.mark.parametrize(
    "kind", ["Priority Judgment Error", "priority_judgment_error", "4", "priority judgement error"]
)
def test_people_may_write_a_class_in_several_ways(tmp_path, kind):
    (label,) = read_error_labels(labelled(tmp_path / "l.csv", [kind]))
    assert label.kind == "priority_judgment_error"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "contains no labels"),
        (f"{HEAD}\nm,c,q,0,bad luck", ":2: class: expected one of key information omission"),
        (f"{HEAD}\nm,,q,0,1", "case.*is required"),
        (f"{HEAD}\nm,c,q,first,1", "trial.*expected a number from 0"),
        (f"{HEAD}\nm,c,q,0,1\nm,c,q,0,2", ":3: class: contradicts line 2"),
    ],
)
def test_labels_that_cannot_be_read(tmp_path, text, said):
    file = tmp_path / "l.csv"
    file.write_text(text)
    with pytest.raises(BadInput, match=said):
        read_error_labels(file)


def test_a_run_without_named_errors_is_refused(tmp_path):
    with pytest.raises(BadInput, match="mark RUN --errors"):
        validate_errors(judged(tmp_path / "run", pl.Series([None, None], dtype=pl.String)), tmp_path / "l.csv")
    with pytest.raises(BadInput, match="is not a run folder"):
        validate_errors(tmp_path, tmp_path / "l.csv")
    assert error_judge_note(tmp_path).startswith("The judge of errors is not validated")
