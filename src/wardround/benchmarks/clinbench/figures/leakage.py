"""Leakage: the contrasts of each probe, and the conclusion that they allow for each candidate."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wardround.asking.probes import GOLD
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.measuring.comparing.leakage_contrasts import (
    BEFORE,
    BITS_MARGIN,
    LIKENESS_MARGIN,
    MASKED_BITS,
    ORDER,
    LeakageContrast,
    leakage_contrasts,
)
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

TITLE = "What could be leakage, compared with what could not"
REQUIREMENTS = {
    MASKED_BITS.name: "a published rationale and its paraphrase per question, and the probability of a text",
    ORDER: "the probability of a text",
    BEFORE: "a cutoff of the candidate, and cases published before and after it",
}
NOTES = [
    "Differences are positive if they point to leakage; brackets are 95% intervals over clusters of cases.",
    "A candidate that knows the disease gives its explanation, and the same patient's continuation, a higher "
    "log-likelihood than another case's; paraphrases as a whole may be more or less usual than the originals; and "
    "rationales quote the stem, from which a candidate copies. So none of these contrasts shows leakage. The lead of a "
    "question's own words over other words, beyond that of another case's text, can show it where nothing can be "
    "copied: words that the texts share with the stem and the options are masked in the prompt, or left out of both "
    "texts.",
    "Leakage is claimed only if a difference that can show it stays above 0, with a joint error rate of 5%; leads must "
    f"stay above {BITS_MARGIN:g} bits per byte or a similarity of {LIKENESS_MARGIN:g} (our choice), since usual words "
    "lead a little without any memory.",
    "Cases before and after a cutoff are different cases, so that difference may also be one of difficulty. The order "
    "of options says nothing if a set sorts them.",
]


def table8(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The paired differences of every probed candidate, and the conclusion."""
    cutoffs = {candidate.name: candidate.cutoff for candidate in run.study.candidates}
    probes = {condition: axes["probe"] for condition, axes in run.conditions.items() if axes["probe"] != "none"}
    marks = run.marks.collect()
    rows, notes = [], [*NOTES, *_substitution_notes(marks, probes)]
    for candidate in run.candidates:
        own_marks = marks.filter(pl.col("candidate") == candidate)
        scored, cutoff = run.study.scored_outcomes, cutoffs.get(candidate)
        own_contrasts = leakage_contrasts(own_marks, probes, cutoff, run.study.seed, scored)
        rows += [TableRow((candidate, contrast.name), _cells(contrast)) for contrast in own_contrasts]
        notes += [f"{candidate}: {line}" for line in leakage_verdict(own_contrasts)]
    columns = [
        *(Column(name, unit="fraction", decimals=3) for name in ("First", "Second", "Difference")),
        Column("Can show leakage", unit="text"),
    ]
    return [Table(TITLE, ("Candidate", "First and second"), columns, rows, notes)], []


def leakage_verdict(contrasts: Sequence[LeakageContrast]) -> list[str]:
    """The conclusion for a candidate, and the contrasts that could not be made."""
    informative = [contrast for contrast in contrasts if contrast.shows and contrast.low is not None]
    positive = [contrast for contrast in informative if contrast.beyond]
    if positive:
        listed = "; ".join(
            f"{contrast.name} {contrast.value:+.3f} [{contrast.low:.3f}, {contrast.high:.3f}]" for contrast in positive
        )
        verdict = f"signs of leakage: {listed}."
    elif informative:
        comparisons = "the one comparison" if len(informative) == 1 else f"{len(informative)} comparisons"
        verdict = f"no sign of leakage in {comparisons} that can show it; that does not prove that there is none."
    else:
        verdict = "nothing can be said about leakage: no comparison that can show it was possible."
    names = {contrast.name for contrast in contrasts}
    missing = [f"{name} needs {requirement}" for name, requirement in REQUIREMENTS.items() if name not in names]
    return [verdict, *([f"not compared: {'; '.join(missing)}."] if missing else [])]


def _substitution_notes(marks: pl.DataFrame, probes: dict[str, str]) -> list[str]:
    """How many questions use the gold answer because they have no rationale."""
    references = [condition for condition, probe in probes.items() if probe == "reference"]
    questions = marks.filter(pl.col("condition").is_in(references)).select("case", "question", "rule").unique()
    count = questions.filter(pl.col("rule") == GOLD).height
    if not count:
        return []
    return [
        f"{count} of {questions.height} questions have no published rationale; a sentence with the gold answer is used "
        "instead. The prompt shows it among the options, which alone makes it more probable than another case's."
    ]


def _cells(contrast: LeakageContrast) -> list[Cell]:
    difference = Cell(contrast.value, contrast.low, contrast.high, contrast.n, contrast.clusters)
    return [Cell(contrast.own), Cell(contrast.counter), difference, Cell(text="yes" if contrast.shows else "no")]
