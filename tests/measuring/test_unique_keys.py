"""Every table that is written has a key: no two lines differ only in a column that a pivot would not know."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_marks import NAMES, all_kinds, at, frame, made_study, mark, measure_rows, row, votes

from wardround import plugins
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings, Study
from wardround.measuring import MeasureRecord, measure, write_measures
from wardround.measuring.engine.measure import from_any_source
from wardround.measuring.measures.record import rate

KEYS = {
    "measures": ("measure", "candidate", "slice"),
    "comparisons": ("family", "measure", "slice", "a", "b"),
    "effects": ("measure", "candidate", "axis", "value", "with_axis", "with_value"),
}
PEOPLE = "human/attending"
CONDITIONS = {
    "confidence": ["votes", "verbal", "logprobs"],
    "without": ["none", "OCT"],
    "prompt": ["paper", "short"],
}
COMPARISONS = {
    "right": {"measure": "accuracy", "between": "candidate"},
    "sure": {"measure": "confidence", "between": "candidate"},
    "overrating": {"measure": "calibration_shift", "between": "severity", "reference": "L0"},
    "prompts": {"measure": "worst@2", "between": "prompt"},
}


def marks_of_many_axes() -> tuple[pl.DataFrame, Study]:
    """Three axes that are crossed, all three sources of confidence, degradation, chains, open questions and people."""
    random = np.random.default_rng(4)
    rows = []
    for name in NAMES:
        for case in range(12):
            fields = {"candidate": name, "severity": f"L{case % 3}", "type": ("blur", "noise")[case % 2]}
            for axes in crossings():
                shares = (random.dirichlet(np.ones(4)) * 0.97).tolist()
                more = {"shares": shares} if axes["confidence"] == "logprobs" else {"confidence": 0.7}
                one = [mark(case, condition=at(**axes), **fields, **more)]
                several = votes(case, "0010012-", condition=at(**axes), **fields)
                rows += several if axes["confidence"] == "votes" else one
    for person in ("ann", "bob"):
        rows += [mark(case, candidate=PEOPLE, person=person, confidence=0.6) for case in range(12)]
    marks, _ = all_kinds(NAMES, cases=12)
    study = made_study(*NAMES, PEOPLE, trials=8, conditions=CONDITIONS, comparisons=COMPARISONS)
    people = [replace_provider(candidate) for candidate in study.candidates]
    return pl.concat([marks, frame(rows)], rechunk=True), study.model_copy(update={"candidates": people})


def crossings() -> list[dict[str, str]]:
    return [dict(zip(CONDITIONS, values, strict=True)) for values in product(*CONDITIONS.values())]


def replace_provider(candidate: CandidateSettings) -> CandidateSettings:
    return candidate.model_copy(update={"provider": "people"}) if candidate.name == PEOPLE else candidate


def test_every_table_has_a_key(tmp_path: Path) -> None:
    marks, study = marks_of_many_axes()
    write_measures(tmp_path, marks, study)
    crossed = tmp_path / "crossed"  # effects need every combination of values
    crossed.mkdir()
    write_measures(crossed, marks.filter(pl.col("condition").is_in([at(**axes) for axes in crossings()])), study)
    for folder, (name, key) in product((tmp_path, crossed), KEYS.items()):
        table = pl.read_csv(folder / f"{name}.csv", infer_schema=False)
        assert len(table) > 30 or (folder, name) == (tmp_path, "effects")
        assert table.filter(table.select(key).is_duplicated()).select(key).rows() == []
    measures = pl.read_csv(tmp_path / "measures.csv", infer_schema=False)
    names = (*from_any_source("confidence"), *from_any_source("ece_debiased"))
    from_choices = [name for name in names if not name.endswith("_open")]
    assert {*from_choices, "worst@2_in_the_limit"} <= set(measures["measure"])
    assert PEOPLE in set(measures["candidate"])


def test_a_pivot_by_measure_has_one_value_in_each_cell() -> None:
    marks, study = marks_of_many_axes()
    table = measure(marks.filter(pl.col("person").is_null()), study).filter(slice="{}", candidate="a")
    wide = table.pivot(on="measure", index="candidate", values="value", aggregate_function=None)
    assert wide["worst@2"].item() == row(table, "worst@2")["value"]


def test_a_name_means_the_same_in_every_study() -> None:
    """The confidence of votes is `confidence`, whether numbers are stated beside them or not."""
    cast = [line for case in range(9) for line in votes(case, "001", condition=at(confidence="votes"))]
    stated = [mark(case, confidence=0.9, condition=at(confidence="verbal")) for case in range(9)]
    alone, both = measure_rows(cast, 3), measure_rows([*cast, *stated], 3)
    assert row(alone, "confidence")["value"] == row(both, "confidence")["value"]
    assert row(both, "confidence_stated")["value"] == pytest.approx(0.9)
    assert "confidence" not in set(measure_rows(stated)["measure"])


@pytest.mark.parametrize(("variants", "is_refused"), [(("", ""), True), (("", "strictly"), False)])
def test_two_versions_of_a_plug_in_need_names_of_their_own(
    variants: tuple[str, str], is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_from_files", {})
    words = {"label": "Not right", "meaning": "Share wrong.", "formula_text": "wrong / all", "origin": "test"}
    one = rate("wrong", "scored", n="answers")
    record = MeasureRecord(name="not_right", versions=lambda _: [replace(one, variant=v) for v in variants], **words)
    plugins.register("measures", "not_right", record)
    if is_refused:
        with pytest.raises(WardroundError, match="'not_right' has two versions of this name"):
            measure_rows([mark(0)])
    else:
        assert {"not_right", "not_right_strictly"} <= set(measure_rows([mark(0)])["measure"])
