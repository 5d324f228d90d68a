"""Every entry of studies.toml is what the schema says, and leads to things that are there."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from wardround.benchmarks.engine.folders import BENCHMARKS, folder_of, read_toml
from wardround.benchmarks.engine.literature import asks_for_literature, rungs
from wardround.benchmarks.engine.named_study import Entry, Studies, entries, find, headings_of
from wardround.benchmarks.engine.published import load, names
from wardround.benchmarks.engine.study_file import as_toml, study_table
from wardround.core.condition import AXES
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import study_from

ENTRIES = entries()
MEASURES = {
    "confidence_missing",
    "uas",
    "kappa",
    "vote_share",
    "dke_inter",
    "calibration_shift",
    "unscored",
    "swa",
    "ppl",
    "esa",
    "grounded",
    "rouge_l",
    "ece",
    "auroc",
    "dke_intra",
    "bits_per_byte",
    "confidence",
    "coverage",
    "brier",
    "accuracy_parsed",
    "majority_accuracy",
    "knowledge_based_correct",
    "hallucination",
    "sensitivity",
    "eds",
    "accuracy",
    "ccr",
    "evidence_misled",
    "specificity",
    "map",
    "evidence_based_correct",
    "mcs",
    "unparsed",
    "mrr",
}
WITH_K = ("hit@", "recall@", "precision@", "ndcg@", "worst@")


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_who_has_read_one_folder_has_read_all_four(benchmark: str) -> None:
    there = {path.name for path in folder_of(benchmark).iterdir() if not path.name.startswith("__")}
    always = {"README.md", "studies.toml", "published"}
    assert always <= there <= always | {"sections.py", "figures", "skills.toml"}


@pytest.mark.parametrize("name", ENTRIES)
def test_measures_are_those_of_the_design(name: str) -> None:
    for column in ENTRIES[name].columns:
        assert column.measure in MEASURES or column.measure.startswith(WITH_K)


@pytest.mark.parametrize("name", ENTRIES)
def test_published_columns_are_there(name: str) -> None:
    entry, benchmark = ENTRIES[name], name.partition("/")[0]
    if entry.published:
        table = load(f"{benchmark}/{entry.published}")
        headings = headings_of(benchmark)
        for column in entry.columns:
            if column.published and column.by is None:
                assert column.published in table.columns
            elif column.published and column.by in headings:
                filled = {column.published.replace("{}", short) for short in headings[column.by].values()}
                assert filled <= set(table.columns)
    for block in entry.blocks:
        if block.published:
            assert block.column in load(f"{benchmark}/{block.published}").columns


def test_every_published_table_stands_beside_a_study() -> None:
    used = set()
    for name, entry in ENTRIES.items():
        benchmark = name.partition("/")[0]
        used |= {f"{benchmark}/{each.published}" for each in (entry, *entry.blocks) if each.published}
    assert used == set(names())
    shipped = {f"{b}/{path.stem}" for b in BENCHMARKS for path in (folder_of(b) / "published").glob("*.csv")}
    assert shipped == set(names())


def test_every_note_is_about_something_that_is_there() -> None:
    noted = 0
    for name in names():
        table = load(name)
        for note in table.notes:
            assert note.column is None or note.column in table.columns
            assert note.row is None or (note.row in table.labels and note.column is not None)
            noted += 1
    told = sum(len(tomllib.loads((folder_of(b) / "published/notes.toml").read_text())["notes"]) for b in BENCHMARKS)
    assert noted == told  # none names a table that is not there


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.cannot is None and entry.columns])
def test_what_can_be_run_is_a_study(name: str, tmp_path: Path) -> None:
    put = ENTRIES[name].put
    assert put is not None
    literature = (
        {"index": "here", "searches": rungs(["bm25", "wordllama"], "cross")} if asks_for_literature(put) else None
    )
    if literature:
        literature["searches"] = {rung.removeprefix("rag@"): told for rung, told in literature["searches"].items()}
    told = study_table(
        name, put, tmp_path, [{"name": "r", "provider": "random"}], type="ghosting", literature=literature
    )
    study = study_from(tomllib.loads(as_toml(told)), tmp_path / "bench.toml")
    assert study.trials == put.trials
    doses = {"degradation": ["none", *(f"ghosting@{dose:g}" for dose in put.doses)]} if put.doses else {}
    assert study.conditions == put.conditions | doses
    assert study.comparisons == put.comparisons
    assert study.sampling == put.sampling
    asked = {axis: values for axis, values in study.conditions.items() if len(values) > 1}
    for column in ENTRIES[name].columns:
        for key, value in {**column.slice, **column.minus}.items():
            assert key not in AXES or value in asked[key]


def test_what_cannot_be_run_says_what_is_lacking() -> None:
    _, table1 = find("cure/table1")
    assert table1.cannot is None
    lacking = Entry(title="t", paper="Table 1", needs=["a case set"], lacks="a time machine")
    assert lacking.cannot == "needs a time machine, which this version lacks"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"colour": "red"}, "studies.x.colour: unknown key"),
        (
            {"columns": [{"heading": "a", "measure": "accuracy", "colour": 1}]},
            "studies.x.columns[0].colour: unknown key",
        ),
        ({"comparable": False}, "comparable = false needs a reason"),
        ({"reason": "why not"}, "comparable = false needs a reason"),
        ({"columns": []}, "an entry has columns, or blocks"),
        ({"put": None}, "columns need a study"),
        ({"rows": ["evidence"]}, "the first of rows is candidate"),
        ({"differs": {"Hit": "other"}}, "differs names no column: Hit"),
        ({"put": {"conditions": {"inputs": ["smell"]}}}, "inputs has no value 'smell'"),
        ({"put": {"conditions": {"weather": ["sun"]}}}, "unknown axis 'weather'"),
        ({"columns": [{"heading": "a", "measure": "accuracy", "published": "a"}]}, "names no published table"),
    ],
)
def test_a_wrong_entry_is_one_line(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    right = {
        "title": "t",
        "paper": "Table 1",
        "needs": ["a case set"],
        "columns": [{"heading": "a", "measure": "accuracy"}],
        "put": {"questions": ["choice"]},
    }
    Entry.model_validate(right)
    told = {key: value for key, value in {**right, **change}.items() if value is not None}
    file = tmp_path / "studies.toml"
    file.write_text(as_toml({"studies": {"x": told}}))
    with pytest.raises(BadInput, match=r"studies\.toml") as error:
        read_toml(file, Studies)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_that_is_not_there_says_which_come_close() -> None:
    with pytest.raises(WardroundError, match=r"no study 'cure/tabel2'; did you mean cure/table2"):
        find("cure/tabel2")
    with pytest.raises(WardroundError, match=r"no study 'qqqq'; `wardround bench list` lists them"):
        find("qqqq")
    assert find("MEDQ_DEG/table6")[0] == "medq-deg/table6"
