"""Why answers were wrong: three contrasts on the same cases, and the cases by what would have corrected them.

Seeing: the radiologist's findings instead of the images. Finding: the cited literature instead of retrieved. Using:
wrong although the references shown contain the diagnosis. The three overlap and do not add up to the errors.
"""

from itertools import product
from pathlib import Path

import polars as pl

from wardround.benchmarks.cure.figures.answers import (
    ASKED,
    FINDINGS,
    IMAGES,
    answers_by_case,
    open_answers,
    paired_answers,
)
from wardround.benchmarks.engine.group_means import CaseValues, group_means, mean_value, sign_flip_p_values
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.measuring.engine.measure import MeasureKind
from wardround.reporting.absence import NOT_ASKED
from wardround.reporting.figures.table_figure import figure
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

Setting = tuple[str, str]  # inputs and evidence
CONTRASTS: dict[str, tuple[Setting, Setting]] = {
    "Seeing, without evidence": ((FINDINGS, "none"), (IMAGES, "none")),
    "Seeing, with RAG": ((FINDINGS, "rag"), (IMAGES, "rag")),
    "Finding, from images": ((IMAGES, "reference"), (IMAGES, "rag")),
    "Finding, from findings": ((FINDINGS, "reference"), (FINDINGS, "rag")),
}
USING = {"images": IMAGES, "findings": FINDINGS}
AS_IS, WITH_FINDINGS, WITH_REFERENCES = (IMAGES, "rag"), (FINDINGS, "rag"), (IMAGES, "reference")
CONCLUSIONS: dict[tuple[bool, bool, bool], str] = {
    (False, False, False): "neither corrects it: using, or not to be known",
    (False, False, True): "references correct it: finding",
    (False, True, False): "findings correct it: seeing",
    (False, True, True): "either corrects it",
    (True, False, False): "lost with either",
    (True, False, True): "lost with findings",
    (True, True, False): "lost with references",
    (True, True, True): "right however it is shown",
}
OVERLAP = "The three overlap: they do not add up to the errors."
WORDS = {True: "right", False: "wrong"}


def why(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The three contrasts, each of them in detail, and the 2 x 2 x 2 table of cases."""
    answers = open_answers(run)
    clusters = run.clusters
    contrasts, using = _contrasts(run, answers, clusters), _using(run, answers, clusters)
    first = _summary(run, contrasts, using)
    chart = figure(first, "dots", x="", y="Points, or percent of cases")
    return [first, contrasts, using, _cases(run, answers)], write_chart(chart, folder, "why", note)


def _summary(run: RunFiles, contrasts: Table, using: Table) -> Table:
    """One figure of each contrast: the one that changes nothing else."""
    cells_by_row = {(table.title, *row.labels): row.cells for table in (contrasts, using) for row in table.rows}
    rows = [
        TableRow(
            (candidate,),
            [
                cells_by_row[contrasts.title, candidate, "Seeing, without evidence"][2],
                cells_by_row[contrasts.title, candidate, "Finding, from images"][2],
                cells_by_row[using.title, candidate, "images"][1],
            ],
        )
        for candidate in run.candidates
    ]
    columns = [Column("Seeing"), Column("Finding"), Column("Using")]
    notes = [
        "Seeing: Hit@1 with findings minus Hit@1 with images, without evidence. Finding: Hit@1 with references minus "
        "Hit@1 with RAG, from images. Using: the share wrong among the cases whose references contain the diagnosis.",
        OVERLAP,
    ]
    return Table("Seeing, finding, using", ("Candidate",), columns, rows, notes)


def _contrasts(run: RunFiles, answers: pl.DataFrame, clusters: list[str]) -> Table:
    seed = run.study.seed
    paired = {
        name: paired_answers(answers_by_case(answers, *first), answers_by_case(answers, *second))
        for name, (first, second) in CONTRASTS.items()
    }
    pairs = {
        (candidate, name): frame.filter(pl.col("candidate") == candidate)
        for candidate in run.candidates
        for name, frame in paired.items()
    }
    changes = {key: CaseValues(frame["cluster"], frame["right"] - frame["right_b"]) for key, frame in pairs.items()}
    means = group_means(changes, MeasureKind.SIGNED, clusters, seed)
    p_values = sign_flip_p_values(changes, clusters, seed)
    rows = []
    for key, frame in pairs.items():
        only_counts = [(frame[a] > frame[b]).sum() for a, b in (("right", "right_b"), ("right_b", "right"))]
        sides = [Cell(mean_value(frame[side]), text=NOT_ASKED) for side in ("right", "right_b")]
        p_cells = [Cell(value, text=NOT_ASKED) for value in p_values.get(key, (None, None))]
        counts = [Cell(int(count)) for count in (*only_counts, len(frame))]
        rows.append(TableRow(key, [*sides, means[key], *p_cells, *counts]))
    columns = [
        Column("given", "Hit@1"),
        Column("own", "Hit@1"),
        Column("Difference"),
        Column("p", unit="fraction", decimals=4),
        Column("p adjusted", unit="fraction", decimals=4),
        Column("given", "Right only with", unit="count"),
        Column("own", "Right only with", unit="count"),
        Column("Cases", unit="count"),
    ]
    notes = [
        "Paired on the same cases. Seeing: with the findings (given) minus with the images (own). Finding: with the "
        "references (given) minus with RAG (own). p: sign flips over clusters, adjusted for all rows of the table.",
        OVERLAP,
    ]
    return Table("Seeing and finding", ("Candidate", "Contrast"), columns, rows, notes)


def _using(run: RunFiles, answers: pl.DataFrame, clusters: list[str]) -> Table:
    rows = []
    for candidate, (name, inputs) in product(run.candidates, USING.items()):
        own_answers = answers_by_case(answers, inputs, "reference").filter(pl.col("candidate") == candidate)
        is_covered = pl.col("covered").fill_null(False)
        covered, bare = own_answers.filter(is_covered), own_answers.filter(~is_covered)
        values = {
            "wrong": CaseValues(covered["cluster"], 1 - covered["right"]),
            "misled": CaseValues(covered["cluster"], (1 - covered["right"]) * covered["grounded"].fill_null(0.0)),
            "bare": CaseValues(bare["cluster"], 1 - bare["right"]),
        }
        means = group_means(values, MeasureKind.RATE, clusters, run.study.seed)
        rows.append(TableRow((candidate, name), [Cell(len(covered)), means["wrong"], means["misled"], means["bare"]]))
    columns = [
        Column("Cases", "References hold the diagnosis", unit="count"),
        Column("wrong", "References hold the diagnosis"),
        Column("misled", "References hold the diagnosis"),
        Column("wrong", "They do not"),
    ]
    notes = [
        "Using: wrong although the documents shown contain the diagnosis, by the test of support. Misled: wrong, and "
        "they contain the diagnosis that was named instead, too."
    ]
    return Table("Using", ("Candidate", "Shown"), columns, rows, notes)


def _cases(run: RunFiles, answers: pl.DataFrame) -> Table:
    counts_by_outcome = cases_by_outcome(answers)
    rows = []
    for candidate in run.candidates:
        total = sum(count for (name, *_), (count, _) in counts_by_outcome.items() if name == candidate)
        for outcome in CONCLUSIONS:
            count, covered = counts_by_outcome.get((candidate, *outcome), (0, 0))
            share = Cell(count / total) if total else Cell(text=NOT_ASKED)
            labels = (candidate, *(WORDS[is_right] for is_right in outcome))
            rows.append(TableRow(labels, [Cell(count), share, Cell(covered), Cell(text=CONCLUSIONS[outcome])]))
    columns = [
        Column("Cases", unit="count"),
        Column("Share"),
        Column("References hold the diagnosis", unit="count"),
        Column("It says", unit="text"),
    ]
    notes = [
        "Cases by three outcomes: as they are (images and RAG), with findings instead of the images, and with "
        "references instead of RAG. With several trials, right means right in more than half of them.",
        "A count of cases, not of causes: one case may need both.",
    ]
    labels = ("Candidate", "Images and RAG", "Findings and RAG", "Images and references")
    return Table("Cases by what would have corrected them", labels, columns, rows, notes)


def cases_by_outcome(answers: pl.DataFrame) -> dict[tuple[str, bool, bool, bool], tuple[int, int]]:
    """Cases by candidate and the three outcomes, and those whose references contain the diagnosis."""
    settings = (AS_IS, WITH_FINDINGS, WITH_REFERENCES)
    as_is, with_findings, with_references = (answers_by_case(answers, *setting) for setting in settings)
    is_right = pl.col("right") > 0.5
    outcomes = (
        as_is.select(*ASKED, as_is=is_right)
        .join(with_findings.select(*ASKED, findings=is_right), on=ASKED)
        .join(with_references.select(*ASKED, references=is_right, covered=pl.col("covered").fill_null(False)), on=ASKED)
    )
    keys = ("candidate", "as_is", "findings", "references")
    counts = outcomes.group_by(keys).agg(count=pl.len(), covered=pl.col("covered").sum())
    return {(name, a, b, c): (count, covered) for name, a, b, c, count, covered in counts.iter_rows()}
