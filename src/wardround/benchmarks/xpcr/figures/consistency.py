"""Consistency: does a candidate's grade and decision follow from its own diagnosis, and does it repeat itself?

What follows is what the schema of the case set (schema.toml in its folder) admits for the diagnosis that the candidate
named, right or wrong: a grade of that disease, and a management that is right at the grade it named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from wardround.benchmarks.engine.group_means import Values, means
from wardround.building.sources.ophthalmic.schema import Disease, Schema, read_tables
from wardround.cases.set import CaseSet
from wardround.measuring.engine.measure import Kind
from wardround.reporting.reference_condition import ranked
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.chain_tables import consistency_table, own_chains
from wardround.reporting.tables.table import Cell, Column, Row, Table

SCHEMA = "schema.toml"
NAMED, GRADED, DECIDED = "DD", "SG", "CD"
CHAIN = ("candidate", "case", "cluster", "chain", "condition", "trial")


class Asked(NamedTuple):
    """One question: what was chosen (None: it could not be read), and what there was to choose."""

    chosen: str | None
    options: list[str]


class Followed(NamedTuple):
    """Of one chain in one trial: whether grade and decision follow from its diagnosis (None: not asked)."""

    candidate: str
    cluster: str
    diagnosis_right: bool
    grade: bool | None
    decision: bool | None
    possible: bool  # whether the options of both held something that follows

    @property
    def both(self) -> bool:
        return self.grade is not False and self.decision is not False


def consistency(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """Two tables: along the chain, and from trial to trial."""
    return [table for table in (follows_table(run, note), consistency_table(run)) if table is not None], []


def follows_table(run: RunFolder, note: Callable[[str], None]) -> Table | None:
    """The share of chains whose grade and decision are admissible for the candidate's own diagnosis."""
    place = Path(run.manifest["cases"]["folder"])
    if not (place / SCHEMA).is_file():
        note(f"whether later stages follow from the diagnosis needs {SCHEMA} in the folder of the case set")
        return None
    chains = list(followed(run, read_tables(place / SCHEMA).schema_))
    if not chains:
        note(f"no chain has a diagnosis that {SCHEMA} names, with a grade or a decision after it")
        return None
    clusters = sorted({chain.cluster for chain in chains})
    rows = []
    for name in ranked(run):
        own = [chain for chain in chains if chain.candidate == name]
        if not own:
            continue
        could = [each for each in own if each.possible]
        groups = {
            "grade": _values([(each.cluster, each.grade) for each in own]),
            "decision": _values([(each.cluster, each.decision) for each in own]),
            "both": _values([(each.cluster, each.both) for each in own]),
            "could": _values([(each.cluster, each.both) for each in could]),
            "wrong": _values([(each.cluster, each.both) for each in could if not each.diagnosis_right]),
        }
        found = means(groups, Kind.RATE, clusters, run.as_study.seed)
        rows.append(Row((name,), [*found.values(), Cell(len(own)), Cell(len(could))]))
    columns = [
        Column("grade", "Follows from its own diagnosis"),
        Column("decision", "Follows from its own diagnosis"),
        Column("both", "Follows from its own diagnosis"),
        Column("all", "Both, where the options allow it"),
        Column("diagnosis wrong", "Both, where the options allow it"),
        Column("all", "Chains", "count"),
        Column("that allow it", "Chains", "count"),
    ]
    notes = [
        "Admissible by the schema of the case set: a grade of the disease that the candidate named, and a management "
        "that is right at the grade it named (at any grade of the disease, where that grade is none of its). What "
        "cannot be read follows from nothing. Chains whose diagnosis the schema does not name are left out. Of chains "
        "that lack a grade or a decision, both is what they have.",
        "The options of a question are made for the right diagnosis: after a wrong one they may hold nothing that "
        "follows. The columns on the right leave such chains out.",
    ]
    return Table("Longitudinal consistency", ("Candidate",), columns, rows, notes)


def followed(run: RunFolder, schema: Schema) -> Iterator[Followed]:
    """Every chain with a diagnosis and something after it."""
    texts = _texts(run)
    marks = (
        own_chains(run)
        .filter(pl.col("stage").is_in([NAMED, GRADED, DECIDED]), pl.col("chain").is_not_null())
        .select(*CHAIN, "question", "stage", "option", "outcome")
        .collect()
        .sort(*CHAIN, "question")
    )
    for (candidate, _, cluster, *_), chain in marks.group_by(CHAIN, maintain_order=True):
        asked: dict[str, list[Asked]] = {}
        right = True
        for row in chain.iter_rows(named=True):
            options = texts[row["case"], row["question"]]
            chosen = None if row["option"] is None else options[row["option"]]
            asked.setdefault(row["stage"], []).append(Asked(chosen, options))
            right = right and (row["stage"] != NAMED or row["outcome"] == "right")
        if NAMED not in asked or len(asked) < 2:
            continue
        named = asked[NAMED][0].chosen
        disease = schema.diseases.get(schema.called.get((named or "").strip().lower(), ""))
        if disease is None and named is not None:
            continue
        yield Followed(str(candidate), str(cluster), right, *follows(disease, asked.get(GRADED), asked.get(DECIDED)))


def follows(
    disease: Disease | None, grades: Sequence[Asked] | None, decisions: Sequence[Asked] | None
) -> tuple[bool | None, bool | None, bool]:
    """Whether grades and decisions are admissible for a disease (None: not asked), and whether they could be."""
    codes = {text: code for code, text in disease.grades.items()} if disease else {}
    own = codes.get(grades[0].chosen or "") if grades else None
    admitted: set[str] = set()
    if disease is not None:
        at_any = {each for right in disease.management.values() for each in right}
        admitted = at_any if own is None else set(disease.right_at(own))
    held = [(grades, codes.keys()), (decisions, admitted)]
    grade, decision = (None if asked is None else all(each.chosen in right for each in asked) for asked, right in held)
    possible = all(any(option in right for option in each.options) for asked, right in held for each in asked or ())
    return grade, decision, possible


def _texts(run: RunFolder) -> dict[tuple[str, str], list[str]]:
    """The options of the questions that matter here."""
    return {
        (case.id, question.id): question.choices
        for case in CaseSet.open(run.cases_file)
        for question in case.questions
        if question.options and question.stage in (NAMED, GRADED, DECIDED)
    }


def _values(told: list[tuple[str, bool | None]]) -> Values:
    kept = [(cluster, float(holds)) for cluster, holds in told if holds is not None]
    return Values(
        pl.Series([cluster for cluster, _ in kept], dtype=pl.String),
        pl.Series([value for _, value in kept], dtype=pl.Float64),
    )
