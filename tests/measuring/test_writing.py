"""The tables as files: the same bytes on every run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_marks import all_kinds, made_marks, made_study, mark, random_marks, votes

from wardround.core.study import Family, Study
from wardround.measuring import compare, measure, write_measures
from wardround.measuring.comparing.groups import GROUPS
from wardround.measuring.engine.tables import DIGITS
from wardround.measuring.measures.catalogue import find_record

OUTCOMES = st.sampled_from(["right", "wrong", "unparsed", "refused", "unscored"])


def everything(cases: int = 60) -> pl.DataFrame:
    """Votes, probabilities, stated numbers and open questions of two candidates."""
    rows = []
    for name, turn in (("a", 1), ("b", 2)):
        for case in range(cases):
            about = {"candidate": name, "specialty": "neuro" if case % 3 else "chest", "tag": ["x", "y"][: case % 3]}
            ballot = f"{case * turn % 4}{case * turn % 3}0{'-' if case % 7 == turn else '1'}"
            rows += votes(case, ballot, at_confidence="votes", **about)
            part = (1 + case * turn % 9) / 10
            rows.append(
                mark(case, shares=[part, (1 - part) / 3, (1 - part) / 7, 0.0], at_confidence="logprobs", **about)
            )
            rows.append(mark(case, confidence=part / 1.7, at_confidence="verbal", **about))
            hits = [[False, case % 5 == turn], None, [True]][case % 3]
            outcome = "unscored" if hits is None else "right" if hits[0] else "wrong"
            result = about | {"question": "open", "kind": "open", "k": None, "gold": None, "option": None}
            rows.append(mark(case, outcome, hits=hits, judge="lexical-1", at_confidence="votes", **result))
    return made_marks(rows)


STUDY = made_study("a", "b", trials=4, conditions={"confidence": ["votes", "logprobs", "verbal"]})


def test_all_tables_are_written(tmp_path):
    write_measures(tmp_path, everything(), STUDY)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["comparisons.csv", "groups.csv", "measures.csv"]
    groups = pl.read_csv(tmp_path / "groups.csv")
    assert groups.columns == list(GROUPS)
    measures = pl.read_csv(tmp_path / "measures.csv").select("measure", "candidate", "slice", "value", "low", "high")
    own = groups.filter(~pl.col("slice").str.contains("not ")).select(measures.columns)
    assert len(own) > 0
    assert own.join(measures, on=measures.columns, nulls_equal=True).height == len(own)  # one interval
    header = (tmp_path / "measures.csv").read_text().splitlines()[0]
    assert header == "measure,candidate,slice,value,low,high,n,clusters,unparsed,refused,method,version"
    header = (tmp_path / "comparisons.csv").read_text().splitlines()[0]
    assert header == "measure,a,b,slice,value,low,high,p,p_adjusted,family,n,clusters,method"
    records = {
        record.name for name in set(pl.read_csv(tmp_path / "measures.csv")["measure"]) if (record := find_record(name))
    }
    assert records == {
        *("accuracy", "accuracy_parsed", "majority_accuracy", "unparsed", "refused", "unscored", "hit@k", "worst@k"),
        *("confidence", "confidence_missing", "vote_share", "calibration_shift", "sensitivity", "specificity"),
        *("ece", "brier", "auroc", "accuracy@80", "aurc", "coverage@risk10", "net_benefit@k", "precision_by_letter"),
    }


def test_no_marks_give_two_tables_without_rows(tmp_path):
    write_measures(tmp_path, made_marks([]), STUDY)
    assert [len(path.read_text().splitlines()) for path in tmp_path.iterdir()] == [1, 1]


def test_the_order_of_marks_changes_no_byte(tmp_path):
    marks = everything()
    written = []
    for number, result in enumerate((marks, marks.sample(fraction=1.0, shuffle=True, seed=3), marks.reverse())):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_measures(folder, result, STUDY)
        written.append([(folder / name).read_bytes() for name in ("measures.csv", "comparisons.csv")])
    assert written[0] == written[1] == written[2]


def test_many_marks_read_column_by_column_give_the_same_bytes(tmp_path, monkeypatch):
    marks, written = everything().reverse(), []
    for few in (50_000, 0):
        monkeypatch.setattr("wardround.measuring.engine.encode.FEW_MARKS", few)
        (folder := tmp_path / str(few)).mkdir()
        write_measures(folder, marks, STUDY)
        written.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert len(written[0]) == 3
    assert written[0] == written[1]


def of_all_kinds() -> tuple[pl.DataFrame, Study]:
    """Also chains, degradation, retrieval, leakage; candidates and severities compared."""
    compared = {
        "between": Family(measure="accuracy", between="candidate"),
        "worn": Family(measure="calibration_shift", between="severity", reference="L0"),
    }
    marks, study = all_kinds("abc", 120)
    return marks, study.model_copy(update={"comparisons": compared})


@pytest.mark.parametrize("made", ["everything(400), STUDY", pytest.param("*of_all_kinds()", marks=pytest.mark.slow)])
def test_the_number_of_threads_changes_no_byte(tmp_path, made):
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from test_writing import everything, of_all_kinds, STUDY; from wardround.measuring import write_measures;"
        f"write_measures(Path(sys.argv[1]), {made})"
    )
    written = []
    for threads in ("1", "2"):
        folder = tmp_path / threads
        folder.mkdir()
        limits = dict.fromkeys(("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        path = os.pathsep.join(sys.path)
        subprocess.run(
            [sys.executable, "-c", script, str(folder), str(Path(__file__).parent)],
            check=True,
            env={**os.environ, **limits, "PYTHONPATH": path},
        )
        written.append([(folder / name).read_bytes() for name in ("measures.csv", "comparisons.csv")])
    assert written[0] == written[1]


def test_the_marks_of_all_kinds_give_every_family_of_measures():
    marks, study = of_all_kinds()
    names = {re.sub(r"@\d+", "", name) for name in measure(marks, study)["measure"]}
    assert names >= {
        "ccr",
        "swa",
        "mcs",
        "dke_intra",
        "dke_inter",
        "recall",
        "ndcg",
        "ppl",
        "rouge_l",
        "grounded",
        "kappa",
    }
    assert set(compare(marks, study)["family"]) == {"between", "worn", "worn (calibration_shift_stated)"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(OUTCOMES, st.integers(0, 3)), min_size=1, max_size=25))
def test_every_cluster_twice_keeps_the_values(expected):
    rows = [
        mark(f"{cluster}-{place}", outcome, cluster=f"c{cluster}") for place, (outcome, cluster) in enumerate(expected)
    ]
    again = [{**line, "case": line["case"] + "'", "cluster": line["cluster"] + "'"} for line in rows]
    once, twice = (measure(made_marks(lines), made_study()) for lines in (rows, rows + again))
    assert once["value"].to_list() == twice["value"].to_list()
    assert [2 * n for n in once["n"]] == twice["n"].to_list()


@pytest.mark.parametrize("kinds", ["choices", pytest.param("all", marks=pytest.mark.slow)])
def test_candidates_are_measured_alike_alone_and_together(monkeypatch, kinds):
    """Candidates are looked at some at a time; how many changes nothing."""
    marks, study = random_marks(1, dict.fromkeys("abc", 0.5), cases=50, trials=2), made_study(*"abc", trials=2)
    if kinds == "all":
        marks, study = all_kinds("abc", 20)
    together = as_written(measure(marks, study))
    monkeypatch.setattr("wardround.measuring.engine.measurement.CHUNK", 1)
    assert as_written(measure(marks, study)).equals(together)
    monkeypatch.setattr("wardround.measuring.engine.resampling.estimates.MAX_PENDING_BYTES", 1)
    assert as_written(measure(marks, study)).equals(together)


def as_written(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(pl.Float64).round(DIGITS))


def test_another_seed_moves_only_the_intervals():
    marks = random_marks(2, {"a": 0.5, "b": 0.6}, cases=60)
    first, second = (measure(marks, made_study("a", "b", seed=seed)) for seed in (0, 1))
    assert first.drop("low", "high").equals(second.drop("low", "high"))
    assert not first.equals(second)
    tests = [compare(marks, made_study("a", "b", seed=seed))["p"][0] for seed in (0, 1)]
    assert tests[0] == pytest.approx(tests[1], abs=0.03)
