"""The open form of disease diagnosis: whether the answer names a finding that the image was labelled with.

The diagnoses are marked by the study's judge. Evidence is looked up by its words: a labelled lesion counts as named if
the reply contains its name, or nearly all of its words close together. Findings in other words are missed.
"""

from pathlib import Path

import polars as pl

from wardround.benchmarks.engine.group_means import CaseValues, group_means
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.building.audit.mentions import find_mention, split_words
from wardround.core.case import Question
from wardround.core.errors import WardroundError
from wardround.marking.judges.judge import answer_key, scored_answers
from wardround.measuring.engine.measure import MeasureKind
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow
from wardround.running.stored_run import StoredRun
from wardround.running.used_answers import scan_used

PLACE = ("candidate", "case", "question", "condition", "trial")


def differential(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The share of answers that name a labelled finding, of all and of those whose first diagnosis is right."""
    try:
        named = _named_evidence(folder)
    except WardroundError as error:
        note(f"whether the evidence is named cannot be read: {error}")
        return [], []
    marks = run.marks.filter(pl.col("kind") == "open", pl.col("outcome").is_in(run.study.scored_outcomes))
    answers = marks.select(*PLACE, "cluster", right=pl.col("outcome") == "right").collect()
    answers = answers.join(named, on=PLACE, maintain_order="left")
    if answers.is_empty():
        note("no open question has labelled lesions: whether the evidence is named cannot be read")
        return [], []
    rows = []
    for candidate in ranked_candidates(run):
        own_answers = answers.filter(candidate=candidate)
        groups = {"all": own_answers, "right": own_answers.filter("right")}
        values = {name: CaseValues(part["cluster"], part["named"]) for name, part in groups.items()}
        means = group_means(values, MeasureKind.RATE, run.clusters, run.study.seed)
        rows.append(TableRow((candidate,), [*means.values(), Cell(len(own_answers))]))
    columns = [
        Column("all answers", "Names a labelled finding"),
        Column("first diagnosis right", "Names a labelled finding"),
        Column("Answers", unit="count"),
    ]
    notes = [
        "A labelled lesion counts as named if the reply contains its name, or nearly all of its words close together. "
        "Findings in other words are missed: these shares are lower bounds. Our choice; the paper states no marking.",
    ]
    return [Table("Evidence named in the differential", ("Candidate",), columns, rows, notes)], []


def _named_evidence(folder: Path) -> pl.DataFrame:
    """Each stored answer to a question with labelled lesions: 1 if it names one of them, else 0."""
    rows = []
    with StoredRun.open(folder) as stored:
        for row, _, question in scored_answers(scan_used(folder), stored.cases):
            answer = stored.store.get(answer_key(row)) if _lesions(question) else None
            if answer is not None:
                text = split_words(answer.text)
                is_named = any(find_mention(lesion, text) for lesion in _lesions(question))
                rows.append((*(row[name] for name in PLACE), float(is_named)))
    texts = dict.fromkeys(PLACE[:-1], pl.String())
    return pl.DataFrame(rows, schema={**texts, "trial": pl.Int32(), "named": pl.Float64()}, orient="row")


def _lesions(question: Question) -> list[str]:
    lesions: list[str] = (question.model_extra or {}).get("lesions", []) if question.kind == "open" else []
    return lesions
