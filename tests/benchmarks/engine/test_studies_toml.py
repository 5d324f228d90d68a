"""Every definition in studies.toml fits the schema, and what it refers to exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from wardround.benchmarks.engine.benchmark import BUILT_IN, benchmarks
from wardround.benchmarks.engine.literature import named_searches, needs_literature
from wardround.benchmarks.engine.named_study import StudyDefinition, StudyList, find_study, named_studies
from wardround.benchmarks.engine.published import load_published, published_names
from wardround.benchmarks.engine.study_file import study_settings
from wardround.core.condition import AXES
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import parse_study
from wardround.core.toml_table import parse_table, read_toml
from wardround.reporting.labels import measure_base

STUDIES = named_studies()
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
    "precision_by_letter",
    "map",
    "evidence_based_correct",
    "mcs",
    "unparsed",
    "mrr",
}
WITH_K = ("hit@", "recall@", "precision@", "ndcg@", "worst@")


@pytest.mark.parametrize("benchmark", BUILT_IN)
def test_all_four_folders_have_the_same_files(benchmark: str) -> None:
    there = {path.name for path in benchmarks()[benchmark].folder.iterdir() if not path.name.startswith("__")}
    always = {"README.md", "studies.toml", "fidelity.toml", "published"}
    assert always <= there <= always | {"sections.py", "figures", "skills.toml"}


@pytest.mark.parametrize("name", STUDIES)
def test_measures_are_those_of_the_design(name: str) -> None:
    for column in STUDIES[name].definition.columns:
        base = measure_base(column.measure)
        assert base in MEASURES or base.startswith(WITH_K)


@pytest.mark.parametrize("name", STUDIES)
def test_published_columns_are_there(name: str) -> None:
    definition, benchmark = STUDIES[name].definition, name.partition("/")[0]
    if definition.published:
        table = load_published(f"{benchmark}/{definition.published}")
        headings = STUDIES[name].headings
        for column in definition.columns:
            if column.published and column.by is None:
                assert column.published in table.columns
            elif column.published and column.by in headings:
                filled = {column.published.replace("{}", short) for short in headings[column.by].values()}
                assert filled <= set(table.columns)
    for block in definition.blocks:
        if block.published:
            assert block.column in load_published(f"{benchmark}/{block.published}").columns


def test_every_published_table_stands_beside_a_study() -> None:
    used = set()
    for name, study in STUDIES.items():
        benchmark, blocks = name.partition("/")[0], study.definition.blocks
        used |= {f"{benchmark}/{part.published}" for part in (study.definition, *blocks) if part.published}
    assert used == set(published_names())
    shipped = {
        f"{b.name}/{path.stem}" for b in benchmarks().values() for path in (b.folder / "published").glob("*.csv")
    }
    assert shipped == set(published_names())


def test_every_note_is_about_something_that_is_there() -> None:
    noted = 0
    for name in published_names():
        table = load_published(name)
        for note in table.notes:
            assert note.column is None or note.column in table.columns
            assert note.row is None or (note.row in table.labels and note.column is not None)
            noted += 1
    files = [benchmark.folder / "published/notes.toml" for benchmark in benchmarks().values()]
    assert noted == sum(
        len(tomllib.loads(file.read_text())["notes"]) for file in files
    )  # none names a table that is not there


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, study in STUDIES.items()
        if study.definition.unavailable_reason is None and study.definition.columns
    ],
)
def test_every_runnable_definition_makes_a_valid_study(name: str, tmp_path: Path) -> None:
    put = STUDIES[name].template
    literature = (
        {"index": "here", "searches": named_searches(["bm25", "wordllama"], "cross")} if needs_literature(put) else None
    )
    if literature:
        literature["searches"] = {
            search.removeprefix("rag@"): settings for search, settings in literature["searches"].items()
        }
    settings = study_settings(
        name, put, tmp_path, [{"name": "r", "provider": "random"}], type="ghosting", literature=literature
    )
    study = parse_study(tomllib.loads(tomli_w.dumps(settings)), tmp_path / "bench.toml")
    assert study.trials == put.trials
    doses = {"degradation": ["none", *(f"ghosting@{dose:g}" for dose in put.doses)]} if put.doses else {}
    assert study.conditions == put.conditions | doses
    assert study.comparisons == put.comparisons
    assert study.sampling == put.sampling
    for column in STUDIES[name].definition.columns:
        for key, value in {**column.slice, **column.minus}.items():
            assert key not in AXES or value in study.conditions[key]


def test_an_unavailable_study_says_what_it_needs() -> None:
    assert find_study("cure/table1").definition.unavailable_reason is None
    lacking = StudyDefinition(title="t", paper="Table 1", needs=["a case set"], lacks="a time machine")
    assert lacking.unavailable_reason == "needs a time machine, which this version lacks"


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
        ({"columns": []}, "expected one of columns, blocks or facts"),
        ({"put": None}, "columns need the study that fills them"),
        ({"rows": ["evidence"]}, "rows = ['evidence']: expected candidate, then axes"),
        ({"differs": {"Hit": "other"}}, "differs names a column that is not there: Hit"),
        ({"put": {"conditions": {"inputs": ["smell"]}}}, "inputs = 'smell': expected one of all, "),
        ({"put": {"conditions": {"weather": ["sun"]}}}, "unknown axis 'weather'"),
        ({"columns": [{"heading": "a", "measure": "accuracy", "published": "a"}]}, "names no published table"),
    ],
)
def test_a_mistake_in_a_definition_is_one_line(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    right = {
        "title": "t",
        "paper": "Table 1",
        "needs": ["a case set"],
        "columns": [{"heading": "a", "measure": "accuracy"}],
        "put": {"questions": ["choice"]},
    }
    StudyDefinition.model_validate(right)
    settings = {key: value for key, value in {**right, **change}.items() if value is not None}
    file = tmp_path / "studies.toml"
    file.write_text(tomli_w.dumps({"studies": {"x": settings}}))
    with pytest.raises(BadInput, match=r"studies\.toml") as error:
        parse_table(StudyList, read_toml(file, "studies"), file)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_that_is_not_there_says_which_come_close() -> None:
    with pytest.raises(WardroundError, match=r"no study 'cure/tabel2'; did you mean cure/table2"):
        find_study("cure/tabel2")
    with pytest.raises(WardroundError, match=r"no study 'qqqq'; `wardround bench list` lists them"):
        find_study("qqqq")
    assert find_study("MEDQ_DEG/table6").name == "medq-deg/table6"


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("clinbench/table6", "did you mean clinbench/cost (Table 6)?"),
        ("medq-deg/table5", "(Tables 4 and 5)?"),
        ("medq-deg/figure10", "(Figures 9 to 11)?"),
        ("medq-deg/table99", "did you mean medq-deg/table"),
    ],
)
def test_a_table_of_the_paper_names_the_study_that_makes_it(typed: str, hint: str) -> None:
    with pytest.raises(WardroundError, match=rf"there is no study '{typed}'; .*{re.escape(hint)}"):
        find_study(typed)


def test_no_study_says_in_advance_whose_prompts_were_used() -> None:
    """`--prompts` may replace ours: the note on wording says it of each run."""
    for name, study in named_studies().items():
        claims = [choice for choice in study.definition.choices if "ours" in choice and "prompt" in choice.lower()]
        assert not claims, name
