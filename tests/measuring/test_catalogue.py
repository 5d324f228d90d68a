"""The records of measures: the documentation, unknown sums, and measures of plug-ins."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_marks import all_kinds, made_marks, made_study, mark, row

from wardround import plugins
from wardround.core.errors import WardroundError
from wardround.measuring import measure, write_measures
from wardround.measuring.engine.encode import encode_marks
from wardround.measuring.engine.items import build_items
from wardround.measuring.engine.known_sums import KNOWN_SUMS, RANKED, is_known
from wardround.measuring.measures.catalogue import RECORDS, define_measures, measure_table
from wardround.measuring.measures.record import MeasureContext, MeasureRecord, rate
from wardround.reporting.labels import measure_meaning, measure_title

DOCS = Path(__file__).parents[2] / "docs" / "measures.md"
WORDS = {"label": "Cautious", "meaning": "Share of answers below 50.", "formula_text": "stated < .5", "origin": "test"}
CAUTIOUS = MeasureRecord(name="cautious", mark_value=(pl.col("confidence") < 0.5).cast(pl.Float64), **WORDS)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of plug-ins that the test may fill."""
    monkeypatch.setattr(plugins, "_from_files", {})


def stated_marks(cases: int = 60) -> pl.DataFrame:
    """Two answers a case, half of the cases with a low confidence."""
    stated = np.where(np.arange(cases) % 2, 0.9, 0.2)
    return made_marks(mark(case, trial=trial, confidence=stated[case]) for case in range(cases) for trial in (0, 1))


def test_the_table_of_the_docs_is_made_from_the_records() -> None:
    assert measure_table() in DOCS.read_text(encoding="utf-8")


def test_every_record_has_words_and_its_own_name() -> None:
    assert len({record.name for record in RECORDS}) == len(RECORDS)
    for record in RECORDS:
        assert all((record.label, record.formula_text, record.origin, record.meaning.endswith(".")))
        assert "|" not in record.meaning + record.formula_text + record.origin


def test_the_report_takes_its_words_from_the_records() -> None:
    assert measure_title("swa") == "Stage-wise accuracy"
    assert measure_title("hit@3") == "hit@3"
    assert measure_title("worst@4") == "Right every time (k = 4)"
    assert measure_meaning("hit@1") == "Share of open answers that name the right diagnosis first."


def test_a_misspelt_sum_is_an_error_that_names_the_nearest() -> None:
    record = MeasureRecord(name="x", versions=lambda context: [rate("rigth_choice", "scored_choice")], **WORDS)
    with pytest.raises(
        WardroundError, match=r"measure 'x': there is no sum 'rigth_choice'; did you mean 'right_choice"
    ):
        record.measures(MeasureContext())
    marks, study = stated_marks(), made_study()
    encoded = encode_marks(marks, study)
    with pytest.raises(WardroundError, match="there is no sum 'scord'"):
        build_items(encoded.marks_of(0), study.trials, encoded).frame(["scord"])


def test_the_known_sums_are_those_that_items_have() -> None:
    marks, study = all_kinds(("a", "b"))
    encoded = encode_marks(marks, study)
    sums = build_items(encoded.marks_of(0, 1), study.trials, encoded).sums
    assert [name for name in sums if not is_known(name)] == []
    used = {name for m in define_measures(MeasureContext(16, letters=2)) for name in (*m.sums, m.n, m.group) if name}
    assert [name for name in used if not is_known(name)] == []
    assert {f"{name}:verbal" for name in RANKED} <= KNOWN_SUMS


@pytest.mark.usefixtures("registered")
def test_a_plug_ins_value_per_mark_is_written_with_its_bootstrap_interval(tmp_path: Path) -> None:
    plugins.register("measures", "cautious", CAUTIOUS)
    write_measures(tmp_path, stated_marks(), made_study(trials=2))
    line = row(pl.read_csv(tmp_path / "measures.csv"), "cautious")
    assert (line["value"], line["n"], line["clusters"], line["method"]) == (0.5, 120, 60, "bootstrap")
    assert 0.3 < line["low"] < 0.5 < line["high"] < 0.7
    assert (measure_title("cautious"), measure_meaning("cautious")) == ("Cautious", "Share of answers below 50.")


@pytest.mark.usefixtures("registered")
def test_a_plug_in_may_use_sums_and_be_compared() -> None:
    record = MeasureRecord(name="not_right", versions=lambda context: [rate("wrong", "scored", n="answers")], **WORDS)
    plugins.register("measures", "not_right", lambda: record)
    rows = [mark(case, "wrong" if case % 4 else "right", candidate=name) for case in range(40) for name in ("a", "b")]
    study = made_study("a", "b", comparisons={"f": {"measure": "not_right", "between": "candidate"}})
    assert row(measure(made_marks(rows), study), "not_right", candidate="a")["value"] == 0.75


@pytest.mark.usefixtures("registered")
def test_a_run_without_plug_ins_has_no_line_of_them() -> None:
    assert "cautious" not in set(measure(stated_marks(), made_study(trials=2))["measure"])


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("name", "extension", "problem"),
    [
        ("cautious", 3, "expected a MeasureRecord"),
        ("other", CAUTIOUS, "is named 'cautious'"),
        ("cautious", replace(CAUTIOUS, mark_value=None), "needs either versions or mark_value"),
        ("accuracy", replace(CAUTIOUS, name="accuracy"), "which wardround already has"),
        ("cautious", replace(CAUTIOUS, mark_value=pl.col("no_such") * 1.0), "marks have no column 'no_such'"),
        (
            "cautious",
            replace(CAUTIOUS, mark_value=pl.col("confidence") * 10),
            "has the value 2; expected 0 to 1",
        ),
    ],
)
def test_a_wrong_plug_in_is_refused_in_one_line(name: str, extension: object, problem: str) -> None:
    plugins.register("measures", name, extension)
    with pytest.raises(WardroundError, match=problem):
        measure(stated_marks(), made_study(trials=2))
