"""How accuracy falls from stage to stage: each candidate, and the mean over candidates."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from wardround.benchmarks.engine.group_means import CaseValues, combined_cell, group_means
from wardround.benchmarks.engine.published import PublishedTable, load_published
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import MeasureKind
from wardround.measuring.engine.reference import marks_at_reference
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
STEPS = tuple(pairwise(STAGES))
PHYSICIANS = ("Residents", "Attendings", "Specialists")
MEAN = "mean over candidates"
PAPER_CARRY = "own"  # with other earlier answers the protocol is not the paper's
ByStage = dict[str, CaseValues]


def drops_table(run: RunFiles) -> Table | None:
    """Accuracy at each stage and the drop to the next, by candidate and as the mean over candidates."""
    values = {name: _values_by_stage(run, name) for name in ranked_candidates(run) if name not in run.people}
    values = {name: by_stage for name, by_stage in values.items() if by_stage}
    if not values:
        return None
    rows = [_row(name, [by_stage], run) for name, by_stage in values.items()]
    averaged = [by_stage for name, by_stage in values.items() if name not in run.text_only]
    if len(averaged) > 1:
        rows.append(_row(MEAN, averaged, run))
    notes = [
        "A drop is accuracy at the earlier stage minus accuracy at the later one; both are resampled together over "
        f"clusters of cases. {MEAN.capitalize()}: unweighted; candidates that do not see images and people are not "
        "in it.",
    ]
    if run.declared_values("carry") == [PAPER_CARRY]:
        paper = load_published("xpcr/table2")
        rows.append(_published_row(paper))
        notes.append(f"Published row: {paper.source}, Table 2, on the paper's own cases, averaged by us.")
    columns = [
        *(Column(stage, "Stage-wise accuracy", decimals=2) for stage in STAGES),
        *(Column(f"{earlier} to {later}", "Drop (points)", decimals=2) for earlier, later in STEPS),
    ]
    return Table("Accuracy along the chain, and its drops", ("Candidate",), columns, rows, notes)


def _values_by_stage(run: RunFiles, candidate: str) -> ByStage:
    marks = (
        marks_at_reference(run.marks, run.study)
        .filter(pl.col("candidate") == candidate, pl.col("kind") == "choice", pl.col("stage").is_in(STAGES))
        .filter(pl.col("outcome").is_in(run.study.scored_outcomes))
        .select("cluster", "stage", right=(pl.col("outcome") == "right").cast(pl.Float64))
        .collect()
    )
    parts = {stage: marks.filter(stage=stage) for stage in STAGES}
    return {stage: CaseValues(part["cluster"], part["right"]) for stage, part in parts.items() if len(part)}


def _row(label: str, candidates: Sequence[ByStage], run: RunFiles) -> TableRow:
    """The mean over these candidates: of one candidate its own figures."""
    cells = [_mean_over_candidates(candidates, (stage,), run) for stage in STAGES]
    return TableRow((label,), [*cells, *(_mean_over_candidates(candidates, step, run) for step in STEPS)])


def _mean_over_candidates(candidates: Sequence[ByStage], stages: Sequence[str], run: RunFiles) -> Cell:
    """Accuracy at one stage, or the difference between two, as the mean over candidates that have them."""
    having = [by_stage for by_stage in candidates if all(stage in by_stage for stage in stages)]
    groups = [by_stage[stage] for by_stage in having for stage in stages]
    if len(groups) == 1:  # with the interval that the main table has
        return group_means({"": groups[0]}, MeasureKind.RATE, run.clusters, run.study.seed)[""]

    def formula(*means: Floats) -> Floats:
        earlier = np.stack(means[:: len(stages)]).mean(axis=0)
        result: Floats = earlier if len(stages) == 1 else earlier - np.stack(means[1::2]).mean(axis=0)
        return result

    bounds = (0.0, 1.0) if len(stages) == 1 else (-1.0, 1.0)
    return combined_cell(groups, formula, run.clusters, run.study.seed, bounds)


def _published_row(paper: PublishedTable) -> TableRow:
    models = [label for label in paper.labels if label not in PHYSICIANS]
    means = {
        stage: sum(value for model in models if (value := paper.value(model, stage)) is not None) / len(models) / 100
        for stage in STAGES
    }
    cells = [Cell(mean) for mean in means.values()]
    drops = [Cell(means[earlier] - means[later]) for earlier, later in STEPS]
    return TableRow((f"mean over {len(models)} models",), [*cells, *drops], published=True)
