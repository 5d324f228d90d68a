"""Why answers were wrong: three contrasts on the same cases, and the table of cases by what would have mended them.

Seeing: the radiologist's findings in place of the images. Finding: the cited literature in place of retrieved. Using:
wrong although the references that were shown hold the diagnosis. They overlap and do not add up to the errors.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import polars as pl

from wardround.benchmarks.cure.figures.answers import ASKED, FINDINGS, IMAGES, both, by_case, open_answers
from wardround.benchmarks.engine.group_means import Values, means, tested
from wardround.core.errors import WardroundError
from wardround.measuring.engine.measure import Kind
from wardround.reporting.figures.table_figure import figure, write_figure
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

Shown = tuple[str, str]  # inputs and evidence
CONTRASTS: dict[str, tuple[Shown, Shown]] = {
    "Seeing, without evidence": ((FINDINGS, "none"), (IMAGES, "none")),
    "Seeing, with RAG": ((FINDINGS, "rag"), (IMAGES, "rag")),
    "Finding, from images": ((IMAGES, "reference"), (IMAGES, "rag")),
    "Finding, from findings": ((FINDINGS, "reference"), (FINDINGS, "rag")),
}
USING = {"images": IMAGES, "findings": FINDINGS}
AS_IT_IS, SEEN, FOUND = (IMAGES, "rag"), (FINDINGS, "rag"), (IMAGES, "reference")
SAYS: dict[tuple[bool, bool, bool], str] = {
    (False, False, False): "neither mends it: using, or not to be known",
    (False, False, True): "references mend it: finding",
    (False, True, False): "findings mend it: seeing",
    (False, True, True): "either mends it",
    (True, False, False): "lost with either",
    (True, False, True): "lost with findings",
    (True, True, False): "lost with references",
    (True, True, True): "right however it is shown",
}
NOT_PARTS = "The three overlap: they are no parts that add up to the errors."
WORDS = {True: "right", False: "wrong"}


def why(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """The three contrasts, each of them in detail, and the 2 x 2 x 2 table of cases."""
    answers = open_answers(run)
    clusters = sorted(set(answers["cluster"]))
    contrasts, using = _contrasts(run, answers, clusters), _using(run, answers, clusters)
    first = _three(run, contrasts, using)
    files: list[Path] = []
    chart = figure(first, "dots", x="", y="Points, or percent of cases")
    try:
        files = write_figure(chart, folder, "why") if chart is not None else []
    except WardroundError as error:
        note(str(error))
    return [first, contrasts, using, _cases(run, answers)], files


def _three(run: RunFolder, contrasts: Table, using: Table) -> Table:
    """The figure of each contrast that changes one thing alone."""
    told = {(table.title, *row.labels): row.cells for table in (contrasts, using) for row in table.rows}
    rows = [
        Row(
            (candidate,),
            [
                told[contrasts.title, candidate, "Seeing, without evidence"][2],
                told[contrasts.title, candidate, "Finding, from images"][2],
                told[using.title, candidate, "images"][1],
            ],
        )
        for candidate in run.candidates
    ]
    columns = [Column("Seeing"), Column("Finding"), Column("Using")]
    notes = [
        "Seeing: Hit@1 with findings minus Hit@1 with images, without evidence. Finding: Hit@1 with references minus "
        "Hit@1 with RAG, from images. Using: of the cases whose references hold the diagnosis, the share wrong.",
        NOT_PARTS,
    ]
    return Table("Seeing, finding, using", ("Candidate",), columns, rows, notes)


def _contrasts(run: RunFolder, answers: pl.DataFrame, clusters: list[str]) -> Table:
    seed = run.as_study.seed
    met = {name: both(by_case(answers, *a), by_case(answers, *b)) for name, (a, b) in CONTRASTS.items()}
    pairs = {
        (candidate, name): frame.filter(pl.col("candidate") == candidate)
        for candidate in run.candidates
        for name, frame in met.items()
    }
    changes = {key: Values(frame["cluster"], frame["right"] - frame["right_b"]) for key, frame in pairs.items()}
    found, p = means(changes, Kind.SIGNED, clusters, seed), tested(changes, clusters, seed)
    rows = []
    for key, frame in pairs.items():
        alone = [(frame[a] > frame[b]).sum() for a, b in (("right", "right_b"), ("right_b", "right"))]
        sides = [Cell(_mean(frame[side]), said="not asked") for side in ("right", "right_b")]
        plain = [Cell(each, said="not asked") for each in p.get(key, (None, None))]
        rows.append(Row(key, [*sides, found[key], *plain, *(Cell(int(each)) for each in alone), Cell(len(frame))]))
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
        "Paired on the same cases. Seeing: findings given, minus what it sees in the images. Finding: references "
        "given, minus what RAG finds. p: sign flips over clusters, adjusted for all rows here.",
        NOT_PARTS,
    ]
    return Table("Seeing and finding", ("Candidate", "Contrast"), columns, rows, notes)


def _using(run: RunFolder, answers: pl.DataFrame, clusters: list[str]) -> Table:
    rows = []
    for candidate, (name, inputs) in product(run.candidates, USING.items()):
        own = by_case(answers, inputs, "reference").filter(pl.col("candidate") == candidate)
        covered, bare = (own.filter(pl.col("covered").fill_null(False) == held) for held in (True, False))
        groups = {
            "wrong": Values(covered["cluster"], 1 - covered["right"]),
            "misled": Values(covered["cluster"], (1 - covered["right"]) * covered["grounded"].fill_null(0.0)),
            "bare": Values(bare["cluster"], 1 - bare["right"]),
        }
        found = means(groups, Kind.RATE, clusters, run.as_study.seed)
        rows.append(Row((candidate, name), [Cell(len(covered)), found["wrong"], found["misled"], found["bare"]]))
    columns = [
        Column("Cases", "References hold the diagnosis", unit="count"),
        Column("wrong", "References hold the diagnosis"),
        Column("misled", "References hold the diagnosis"),
        Column("wrong", "They do not"),
    ]
    notes = [
        "Using: wrong although the documents that were shown hold the diagnosis, by the test of support. Misled: "
        "wrong, and the diagnosis that was named instead stands in them too."
    ]
    return Table("Using", ("Candidate", "Shown"), columns, rows, notes)


def _cases(run: RunFolder, answers: pl.DataFrame) -> Table:
    found = cases_by_outcome(answers)
    rows = []
    for candidate in run.candidates:
        whole = sum(many for (name, *_), (many, _) in found.items() if name == candidate)
        for outcome in SAYS:
            many, covered = found.get((candidate, *outcome), (0, 0))
            share = Cell(many / whole) if whole else Cell(said="not asked")
            labels = (candidate, *(WORDS[each] for each in outcome))
            rows.append(Row(labels, [Cell(many), share, Cell(covered), Cell(said=SAYS[outcome])]))
    columns = [
        Column("Cases", unit="count"),
        Column("Share"),
        Column("References hold the diagnosis", unit="count"),
        Column("It says", unit="text"),
    ]
    notes = [
        "Each case by three outcomes: as it is (images and RAG), with findings in place of the images, with references "
        "in place of RAG. Right in several trials: in more than half of them.",
        "A count of cases, not of causes: one case may need both.",
    ]
    labels = ("Candidate", "Images and RAG", "Findings and RAG", "Images and references")
    return Table("Cases by what would have mended them", labels, columns, rows, notes)


def cases_by_outcome(answers: pl.DataFrame) -> dict[tuple[str, bool, bool, bool], tuple[int, int]]:
    """By candidate and the three outcomes: how many cases, and of how many the references hold the diagnosis."""
    first, second, third = (by_case(answers, *shown) for shown in (AS_IT_IS, SEEN, FOUND))
    met = (
        first.select(*ASKED, is_=pl.col("right") > 0.5)
        .join(second.select(*ASKED, seen=pl.col("right") > 0.5), on=ASKED)
        .join(third.select(*ASKED, found=pl.col("right") > 0.5, covered=pl.col("covered").fill_null(False)), on=ASKED)
    )
    counted = met.group_by("candidate", "is_", "seen", "found").agg(many=pl.len(), covered=pl.col("covered").sum())
    return {(name, a, b, c): (many, covered) for name, a, b, c, many, covered in counted.iter_rows()}


def _mean(values: pl.Series) -> float | None:
    return float(values.to_numpy().mean()) if len(values) else None
