"""Consistency: are grade and decision consistent with the candidate's own diagnosis, and its trials with each other?

Consistent is what the schema of the case set (schema.toml in its folder) admits for the diagnosis that the candidate
named, right or wrong: a grade of that disease, and a management that is right at the grade it named.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from wardround.benchmarks.engine.group_means import CaseValues, group_means
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.building.sources.ophthalmic.schema import EyeDisease, EyeSchema, read_tables
from wardround.building.sources.ophthalmic.severity import grades_by_option
from wardround.cases.set import CaseSet
from wardround.measuring.engine.measure import MeasureKind
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.chain_tables import consistency_table, own_chains
from wardround.reporting.tables.table import Cell, Column, Table, TableRow
from wardround.running.inputs.run_inputs import MissingInput

SCHEMA = "schema.toml"
DIAGNOSIS, GRADE, DECISION = "DD", "SG", "CD"
CHAIN = ("candidate", "case", "cluster", "chain", "condition", "trial")


class AskedQuestion(NamedTuple):
    """One question: the option chosen (None: unparsed or refused), and all options."""

    chosen: str | None
    options: list[str]


class ChainConsistency(NamedTuple):
    """Whether the grade and the decision of one chain in one trial fit its diagnosis (None: not asked)."""

    candidate: str
    cluster: str
    diagnosis_right: bool
    grade: bool | None
    decision: bool | None
    is_possible: bool  # whether the options of both include something consistent

    @property
    def both(self) -> bool:
        return self.grade is not False and self.decision is not False


def consistency(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """Two tables: along the chain, and from trial to trial."""
    return [table for table in (longitudinal_table(run, note), consistency_table(run)) if table is not None], []


def _schema_file(run: RunFiles) -> Path | None:
    """The schema in the folder of the case set, if there is one."""
    try:
        file = Path(run.cases_file).parent / SCHEMA
    except MissingInput:
        return None
    return file if file.is_file() else None


def longitudinal_table(run: RunFiles, note: Note) -> Table | None:
    """The share of chains whose grade and decision are admissible for the candidate's own diagnosis."""
    schema = _schema_file(run)
    if schema is None:
        note(f"whether later stages follow from the diagnosis is checked only with {SCHEMA} in the case set's folder")
        return None
    chains = list(chain_consistencies(run, read_tables(schema).schema_))
    if not chains:
        note(f"no chain has a diagnosis that {SCHEMA} names, with a grade or a decision after it")
        return None
    clusters = sorted({chain.cluster for chain in chains})
    rows = []
    for candidate in ranked_candidates(run):
        candidate_chains = [chain for chain in chains if chain.candidate == candidate]
        if not candidate_chains:
            continue
        possible_chains = [chain for chain in candidate_chains if chain.is_possible]
        groups = {
            "grade": _values([(chain.cluster, chain.grade) for chain in candidate_chains]),
            "decision": _values([(chain.cluster, chain.decision) for chain in candidate_chains]),
            "both": _values([(chain.cluster, chain.both) for chain in candidate_chains]),
            "could": _values([(chain.cluster, chain.both) for chain in possible_chains]),
            "wrong": _values([(chain.cluster, chain.both) for chain in possible_chains if not chain.diagnosis_right]),
        }
        means = group_means(groups, MeasureKind.RATE, clusters, run.study.seed)
        rows.append(TableRow((candidate,), [*means.values(), Cell(len(candidate_chains)), Cell(len(possible_chains))]))
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
        "that is right at the grade it named (at any grade of the disease, if that grade is not one of its grades). "
        "Unparsed and refused answers are inadmissible. Chains whose diagnosis the schema does not name are left out. "
        "For chains without a grade or a decision, both is the one that they have.",
        "The options of a question are made for the right diagnosis: after a wrong one they may include nothing "
        "admissible. The columns on the right leave such chains out.",
    ]
    return Table("Longitudinal consistency", ("Candidate",), columns, rows, notes)


def chain_consistencies(run: RunFiles, schema: EyeSchema) -> Iterator[ChainConsistency]:
    """Every chain with a diagnosis and a later stage."""
    texts = _texts(run)
    marks = (
        own_chains(run)
        .filter(pl.col("stage").is_in([DIAGNOSIS, GRADE, DECISION]), pl.col("chain").is_not_null())
        .filter(pl.col("outcome").is_in(run.study.scored_outcomes))
        .select(*CHAIN, "question", "stage", "option", "outcome")
        .collect()
        .sort(*CHAIN, "question")
    )
    for (candidate, _, cluster, *_), chain in marks.group_by(CHAIN, maintain_order=True):
        questions_by_stage: dict[str, list[AskedQuestion]] = {}
        is_right = True
        for row in chain.iter_rows(named=True):
            options = texts[row["case"], row["question"]]
            chosen = None if row["option"] is None else options[row["option"]]
            questions_by_stage.setdefault(row["stage"], []).append(AskedQuestion(chosen, options))
            is_right = is_right and (row["stage"] != DIAGNOSIS or row["outcome"] == "right")
        if DIAGNOSIS not in questions_by_stage or len(questions_by_stage) < 2:
            continue
        diagnosis = questions_by_stage[DIAGNOSIS][0].chosen
        disease = schema.diseases.get(schema.disease_by_name.get((diagnosis or "").strip().lower(), ""))
        if disease is None and diagnosis is not None:
            continue
        checks = check_chain(disease, questions_by_stage.get(GRADE), questions_by_stage.get(DECISION))
        yield ChainConsistency(str(candidate), str(cluster), is_right, *checks)


def check_chain(
    disease: EyeDisease | None, grades: Sequence[AskedQuestion] | None, decisions: Sequence[AskedQuestion] | None
) -> tuple[bool | None, bool | None, bool]:
    """Whether grades and decisions are consistent with a disease (None: not asked), and whether they could be."""
    by_option = grades_by_option(disease) if disease else {}
    chosen_grades = by_option.get(grades[0].chosen or "", []) if grades else []
    admitted: set[str] = set()
    if disease is not None:
        # a grade that is not one of the disease's, and none, leave any of its management
        admitted = {text for grade in chosen_grades or disease.grades for text in disease.management_at(grade)}
        admitted |= set(disease.management_at(None))
    checks = [(grades, by_option.keys()), (decisions, admitted)]
    grade, decision = (
        None if questions is None else all(question.chosen in fitting for question in questions)
        for questions, fitting in checks
    )
    is_possible = all(
        any(option in fitting for option in question.options)
        for questions, fitting in checks
        for question in questions or ()
    )
    return grade, decision, is_possible


def _texts(run: RunFiles) -> dict[tuple[str, str], list[str]]:
    """The options of the questions of the three stages."""
    return {
        (case.id, question.id): question.choices
        for case in CaseSet.open(run.cases_file, check_images=False)
        for question in case.questions
        if question.options and question.stage in (DIAGNOSIS, GRADE, DECISION)
    }


def _values(flags: list[tuple[str, bool | None]]) -> CaseValues:
    known = [(cluster, float(flag)) for cluster, flag in flags if flag is not None]
    return CaseValues(
        pl.Series([cluster for cluster, _ in known], dtype=pl.String),
        pl.Series([value for _, value in known], dtype=pl.Float64),
    )
