"""Leakage: what probes are held against, and the one sentence about each candidate that they allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from wardround.asking.probes import GOLD
from wardround.measuring.comparing.leakage_contrasts import BEFORE, HELD, ORDER, Contrast, contrasts
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

TITLE = "What could be leakage, held against what could not"
LACKING = {
    HELD[2].name: "a published rationale and its paraphrase per question, and the probability of a text",
    ORDER: "the probability of a text",
    BEFORE: "a cutoff of the candidate, and cases published before and after it",
}
NOTES = [
    "Differences are positive where they point to leakage; brackets are 95% intervals over clusters of cases.",
    "Whoever knows the disease foretells its explanation, and goes on about the same patient, better than another "
    "case's; and paraphrases may as a whole be more or less usual than what they paraphrase. So neither shows leakage. "
    "The lead of a question's own words over other words, beyond that of another case's text, can.",
    "Leakage is claimed only where a difference that can show it stays above 0, all of these erring in 5% together.",
    "Before and after a cutoff are different cases: that difference may also be one of difficulty. The order of "
    "options tells nothing where a set sorts them.",
]


def table8(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """Paired differences of every candidate that was probed, and what follows."""
    cutoffs = {candidate.name: candidate.cutoff for candidate in run.as_study.candidates}
    probes = {condition: told["probe"] for condition, told in run.conditions.items() if told["probe"] != "none"}
    marks = run.marks.collect()
    rows, notes = [], [*NOTES, *_stood_in(marks, probes)]
    for candidate in run.candidates:
        own = marks.filter(pl.col("candidate") == candidate)
        found = contrasts(own, probes, cutoffs.get(candidate), run.as_study.seed)
        rows += [Row((candidate, each.name), _cells(each)) for each in found]
        notes += [f"{candidate}: {line}" for line in verdict(found)]
    columns = [
        *(Column(name, unit="fraction", decimals=3) for name in ("First", "Second", "Difference")),
        Column("Can show leakage", unit="text"),
    ]
    return [Table(TITLE, ("Candidate", "First and second"), columns, rows, notes)], []


def verdict(found: Sequence[Contrast]) -> list[str]:
    """What may be said of a candidate, and what was lacking to say more."""
    showing = [each for each in found if each.shows and each.low is not None]
    beyond = [each for each in showing if each.beyond]
    if beyond:
        told = "; ".join(f"{each.name} {each.value:+.3f} [{each.low:.3f}, {each.high:.3f}]" for each in beyond)
        said = f"signs of leakage: {told}."
    elif showing:
        looked = "the one comparison" if len(showing) == 1 else f"{len(showing)} comparisons"
        said = f"no sign of leakage in {looked} that can show it; that is no proof of none."
    else:
        said = "nothing can be said about leakage: no comparison that can show it could be made."
    there = {each.name for each in found}
    lacking = [f"{name} asks for {what}" for name, what in LACKING.items() if name not in there]
    return [said, *([f"not compared: {'; '.join(lacking)}."] if lacking else [])]


def _stood_in(marks: pl.DataFrame, probes: dict[str, str]) -> list[str]:
    """Says of how many questions the gold stood in for a rationale."""
    references = [condition for condition, probe in probes.items() if probe == "reference"]
    asked = marks.filter(pl.col("condition").is_in(references)).select("case", "question", "rule").unique()
    many = asked.filter(pl.col("rule") == GOLD).height
    if not many:
        return []
    return [
        f"{many} of {asked.height} questions have no published rationale: the gold in a sentence stood in for it. It "
        "stands among the options that the prompt shows, which alone makes it more probable than another case's."
    ]


def _cells(each: Contrast) -> list[Cell]:
    difference = Cell(each.value, each.low, each.high, each.n, each.clusters)
    return [Cell(each.own), Cell(each.counter), difference, Cell(said="yes" if each.shows else "no")]
