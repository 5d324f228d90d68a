"""When published rows stand beside a run: each difference of protocol is a note at them, or keeps them away."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.asking.prompts import OWN
from wardround.benchmarks.engine.named_study import NamedStudy, find_study
from wardround.benchmarks.engine.published_rows import (
    RunProtocol,
    add_published_rows,
    check_published_rows,
    differences,
    withholding_reason,
    without_published_rows,
)
from wardround.reporting.tables.measured import ColumnSpec
from wardround.reporting.tables.splitting import split_columns
from wardround.reporting.tables.table import Cell, Column, Table, TableRow


def protocol(study: NamedStudy, manifest: dict[str, Any] | None = None, **settings: Any) -> RunProtocol:
    """A run that does what the study says, but for these settings and this manifest."""
    put = study.template
    as_defined = {"trials": put.trials, "questions": put.questions, "conditions": put.conditions}
    as_defined |= {"sampling": put.sampling.explicit_sampling, "severities": put.severities}
    by_default = {"parser": put.parser or "strict", "severities": {"profile": put.severities}}
    return RunProtocol(as_defined | settings, by_default | (manifest or {}))


def column(study: NamedStudy, published: str) -> ColumnSpec:
    return next(spec for spec in study.column_specs if spec.published == published)


MEDQ_DEG, BASE, TABLE1 = (find_study(name) for name in ("medq-deg/table6", "cure/base", "cure/table1"))


@pytest.mark.parametrize(
    ("study", "published", "changed", "reason"),
    [
        (MEDQ_DEG, "L0", {"questions": ["mcq"]}, "questions of this run: not as in the paper"),
        (MEDQ_DEG, "L0", {"sampling": {"temperature": 0.0}}, "sampling of this run: not as in the paper"),
        (MEDQ_DEG, "L0", {"conditions": {"prompt": ["paper"]}}, "conditions of this run: not as in the paper"),
        (MEDQ_DEG, "L2", {"manifest": {"severities": {"profile": "clinical-1"}}}, "by the profile clinical-1, not by"),
        (MEDQ_DEG, "L2-L0", {"manifest": {"severities": {"profile": "clinical-1"}}}, "by the profile clinical-1"),
        (BASE, "base_hit1", {"judge": {"provider": "lexical"}}, "marked by a model, these by the offline judge"),
        (TABLE1, "rag_mcq", {"literature": {"retrievers": ["bm25"]}}, "the paper searched by bge-large-en-v1.5 and"),
        (TABLE1, "ar_mcq", {}, "the paper's agent was MiroFlow, which searched the live web"),
    ],
)
def test_what_changes_the_thing_measured_withholds_the_figures(
    study: NamedStudy, published: str, changed: dict[str, Any], reason: str
) -> None:
    withheld_for = withholding_reason(column(study, published), study.definition, protocol(study, **changed))
    assert withheld_for is not None
    assert reason in withheld_for


@pytest.mark.parametrize(
    ("study", "published", "changed"),
    [
        (MEDQ_DEG, "L0", {}),
        (MEDQ_DEG, "L0", {"manifest": {"severities": {"profile": "clinical-1"}}}),  # clean images
        (MEDQ_DEG, "L2", {"conditions": {"degradation": ["stored"], "prompt": ["medq-deg"]}}),
        (MEDQ_DEG, "L2", {"trials": 1}),
        (BASE, "base_hit1", {"judge": {"provider": "openai"}}),
        (BASE, "base_mcq", {"judge": {"provider": "lexical"}}),
        (TABLE1, "base_mcq", {"literature": {"retrievers": ["bm25"]}}),
        (TABLE1, "pr_mcq", {"conditions": {"inputs": ["history+images"], "evidence": ["none", "reference"]}}),
    ],
)
def test_what_does_not_change_it_leaves_them(study: NamedStudy, published: str, changed: dict[str, Any]) -> None:
    assert withholding_reason(column(study, published), study.definition, protocol(study, **changed)) is None


def test_the_number_of_trials_withholds_measures_of_repeated_answers_alone() -> None:
    once = protocol(MEDQ_DEG, trials=1)
    said = "the paper asked 3 times, this run 1"
    for measure in ("worst@2", "confidence", "calibration_shift", "majority_accuracy"):
        spec = ColumnSpec("x", measure, published="L0")
        assert withholding_reason(spec, MEDQ_DEG.definition, once) == said
        assert said not in differences(spec, MEDQ_DEG.definition, once)
    assert said in differences(column(MEDQ_DEG, "L0"), MEDQ_DEG.definition, once)


def test_stages_that_a_run_lacks_and_what_a_definition_says_withhold() -> None:
    xpcr, sensitivity = find_study("xpcr/table2"), find_study("clinbench/table10_11")
    lacking = RunProtocol(protocol(xpcr).settings, {}, {"ccr": "3 of 4 chains lack CD"})
    assert withholding_reason(ColumnSpec("CCR", "ccr", published="CCR"), xpcr.definition, lacking) == (
        "3 of 4 chains lack CD"
    )
    uas = ColumnSpec("UAS", "uas", published="UAS")
    assert withholding_reason(uas, xpcr.definition, protocol(xpcr)) == "weights and threshold were not published"
    spec = ColumnSpec("Sensitivity", "sensitivity", published="sensitivity")
    assert withholding_reason(spec, sensitivity.definition, protocol(sensitivity)) == (
        "the paper's figures cannot come from the formula it states"
    )


OURS = {"prompts": {"medq-deg/choice": "1f"}, "prompt_sources": {"medq-deg/choice": OWN}}
THEIRS = {"prompts": {"medq-deg/choice": "2e"}, "prompt_sources": {"medq-deg/choice": "printed"}}


@pytest.mark.parametrize(
    ("study", "published", "changed", "note"),
    [
        (MEDQ_DEG, "L0", {"manifest": OURS}, "the paper's wording is its own, this run's is wardround's"),
        (MEDQ_DEG, "L0", {"manifest": THEIRS}, "wording is that of the files of printed, which may not be the paper's"),
        (MEDQ_DEG, "L0", {"manifest": {"parser": "strict"}}, "by its rule (`medq-deg-paper`), this run's are read by"),
        (BASE, "base_mcq", {"manifest": {"parser": "clinbench-paper"}}, "this run's are read by `clinbench-paper`"),
        (MEDQ_DEG, "L1", {}, "severities are not published; this run's are those of medq-deg-estimated"),
        (TABLE1, "rag_mcq", {"manifest": {"literature": {"documents": 1200}}}, "this run an index of 1,200 documents"),
        (BASE, "base_hit1", {"manifest": {"judge": {"name": "openai/x#1"}}}, "own, this run's is openai/x#1"),
        (MEDQ_DEG, "L0", {"trials": 5}, "the paper asked 3 times, this run 5"),
    ],
)
def test_what_is_done_by_other_means_is_a_note(
    study: NamedStudy, published: str, changed: dict[str, Any], note: str
) -> None:
    notes = differences(column(study, published), study.definition, protocol(study, **changed))
    assert sum(note in line for line in notes) == 1


def test_a_run_as_the_paper_s_has_no_note() -> None:
    stored = {"degradation": ["stored"], "prompt": ["medq-deg"]}
    run = protocol(MEDQ_DEG, conditions=stored)
    assert [differences(spec, MEDQ_DEG.definition, run) for spec in MEDQ_DEG.column_specs] == [[]] * 7


def test_notes_stand_at_the_rows_with_the_columns_that_they_concern() -> None:
    specs = MEDQ_DEG.column_specs
    own = [TableRow(("a",), [Cell(0.5)] * len(specs))]
    table = Table("t", ("Candidate",), [spec.column for spec in specs], own)
    assert MEDQ_DEG.published is not None
    run = protocol(MEDQ_DEG, OURS)
    drawn = add_published_rows(table, specs, MEDQ_DEG.definition, MEDQ_DEG.published, run)
    assert sum(row.published for row in drawn.rows) == 40
    assert drawn.notes[1:] == [
        "Published figures differ from this run in more than the candidates: the paper's wording is its own, this "
        "run's is wardround's.",
        "Published figures under L1, L2, L1-L0, L2-L0 differ from this run in more than the candidates: the paper's "
        "severities are not published; this run's are those of medq-deg-estimated.",
    ]


def test_rows_that_a_section_function_adds_obey_the_rule() -> None:
    rows = [TableRow(("own",), [Cell(0.5)]), TableRow(("theirs",), [Cell(0.75)], published=True)]
    table = Table("t", ("Candidate",), [Column("one")], rows)
    changed = check_published_rows(table, MEDQ_DEG.definition, protocol(MEDQ_DEG, sampling={}))
    assert changed is not None
    assert changed.rows == rows[:1]
    assert changed.notes == ["Published figures are not shown: sampling of this run: not as in the paper."]
    noted = check_published_rows(table, MEDQ_DEG.definition, protocol(MEDQ_DEG, OURS, trials=1))
    assert noted is not None
    assert noted.rows == rows
    assert [note.rpartition(": ")[2] for note in noted.notes] == [
        "the paper's wording is its own, this run's is wardround's.",
        "the paper asked 3 times, this run 1.",
    ]
    alone = Table("t", ("Candidate",), [Column("one")], rows[1:])
    assert check_published_rows(alone, MEDQ_DEG.definition, protocol(MEDQ_DEG)) == alone
    assert check_published_rows(alone, MEDQ_DEG.definition, protocol(MEDQ_DEG, sampling={})) is None
    assert without_published_rows(alone) is None
    bare = without_published_rows(noted)
    assert bare is not None
    assert (bare.rows, bare.notes) == (rows[:1], [])


def test_a_part_of_a_wide_table_leaves_out_published_rows_without_a_figure() -> None:
    columns = [Column("one", unit="fraction"), Column("two", unit="fraction")]
    rows = [TableRow(("own",), [Cell(0.5), Cell(0.25)]), TableRow(("theirs",), [Cell(0.75), Cell()], published=True)]
    table = Table("t", ("Candidate",), columns, rows)
    first, second = split_columns(table, lambda start, end: 20 + 10 * (end - start), 30)
    assert [row.labels[0] for row in first.rows] == ["own", "theirs"]
    assert [row.labels[0] for row in second.rows] == ["own"]
    assert split_columns(table, lambda start, end: 20 + 10 * (end - start), 60)[0].rows == rows
