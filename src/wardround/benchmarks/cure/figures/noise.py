"""The answers that irrelevant abstracts changed, and whether the new diagnosis comes from them."""

from pathlib import Path

import polars as pl

from wardround.benchmarks.cure.figures.answers import IMAGES, answers_by_case, open_answers, paired_answers
from wardround.benchmarks.engine.group_means import CaseValues, group_means
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.measuring.engine.measure import MeasureKind
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Column, Table, TableRow

REFERENCE = "reference"


def noise(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The shares of right answers lost and of wrong ones gained, by number of irrelevant abstracts."""
    answers = open_answers(run)
    clusters = run.clusters
    clean = answers_by_case(answers, IMAGES, REFERENCE)
    conditions = [condition for condition in run.study_settings["conditions"]["evidence"] if condition != REFERENCE]
    rows = []
    for candidate in run.candidates:
        for condition in conditions:
            noisy = answers_by_case(answers, IMAGES, condition)
            paired = paired_answers(noisy, clean).filter(pl.col("candidate") == candidate)
            were_right, were_wrong = paired.filter(pl.col("right_b") > 0.5), paired.filter(pl.col("right_b") <= 0.5)
            losses = 1 - were_right["right"]
            values = {
                "lost": CaseValues(were_right["cluster"], losses),
                "led": CaseValues(were_right["cluster"], losses * were_right["grounded"].fill_null(0.0)),
                "gained": CaseValues(were_wrong["cluster"], were_wrong["right"]),
            }
            means = group_means(values, MeasureKind.RATE, clusters, run.study.seed)
            rows.append(TableRow((candidate, condition.removeprefix("reference+")), list(means.values())))
    columns = [
        Column("Lost", "Of those right with references alone"),
        Column("Led away", "Of those right with references alone"),
        Column("Gained", "Of those wrong"),
    ]
    notes = [
        "Led away: lost, and the documents contain the diagnosis that was named instead. Chance and another order of "
        "documents produce gains, too; the effect of noise is what is lost beyond that.",
    ]
    labels = ("Candidate", "Irrelevant abstracts")
    return [Table("Answers that noise turned", labels, columns, rows, notes)], []
