"""Tables of chains, for the report of any run and for X-PCR's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from wardround.measuring import (
    chain_independence,
    first_broken,
    self_consistency,
    upstream_effects,
    upstream_errors,
)
from wardround.measuring.chains.carry import CARRIED
from wardround.measuring.chains.independence import BEYOND, EXPECTED, FOUND, ON_ALL, ON_CHAINS
from wardround.reporting.reference_condition import marks_at_reference, ranked
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

TOO_FEW = "too few cases"
ALL = "all"


def own_chains(run: RunFolder) -> pl.LazyFrame:
    """The marks of the reference condition in which candidates were told their own earlier answers."""
    return marks_at_reference(run, {"carry": "own"})


def effect_table(run: RunFolder) -> Table | None:
    """What an upstream error does: needs `carry` = gold and wrong."""
    told = upstream_effects(marks_at_reference(run, over=("carry",)), run.as_study)
    if told.is_empty():
        return None
    rows = []
    for row in _in_order(told, ranked(run)):
        shares = [Cell(row[value], said="not asked") for value in CARRIED]
        lost = Cell(row["lost"], row["lost_low"], row["lost_high"], said="not asked")
        effect = Cell(row["effect"], row["low"], row["high"], row["n"], row["clusters"])
        tested = [Cell(row["p"]), Cell(row["p_adjusted"])]
        rows.append(Row((row["candidate"], row["stage"] or ALL), [*shares, effect, *tested, lost, Cell(row["n"])]))
    columns = [
        *(Column(name, "Accuracy with this carried") for name in ("right", "own", "wrong", "nothing")),
        Column("Effect"),
        Column("p", unit="fraction", decimals=4),
        Column("p adjusted", unit="fraction", decimals=4),
        Column("Lost by own errors"),
        Column("n", unit="count"),
    ]
    notes = [
        "Effect: accuracy after the right earlier answers less accuracy after wrong ones, on the same questions. The "
        "wrong ones are options drawn once. Lost: right less own. Stages that build on none are left out.",
        "p by sign flips over clusters, adjusted for all rows here.",
    ]
    return Table("What an upstream error does", ("Candidate", "Stage"), columns, rows, notes)


def association_table(run: RunFolder) -> Table | None:
    """How errors go together along the chain."""
    told = upstream_errors(own_chains(run), run.as_study)
    if told.is_empty():
        return None
    rows = []
    for row in _in_order(told, ranked(run)):
        whole = Cell(
            row["difference"], row["low"], row["high"], row["n"], row["clusters"], said="no difference to take"
        )
        shares = [Cell(row["after_wrong"]), Cell(row["after_right"])]
        counts = [Cell(row["n_after_wrong"]), Cell(row["n"])]
        rows.append(Row((row["candidate"], row["stage"] or ALL), [*shares, whole, *counts]))
    columns = [
        Column("an earlier one wrong", "Wrong after"),
        Column("all right", "Wrong after"),
        Column("Difference"),
        Column("after wrong", "n", "count"),
        Column("all", "n", "count"),
    ]
    notes = ["An association, not an effect: a hard case makes all its stages hard."]
    return Table("Errors that go together", ("Candidate", "Stage"), columns, rows, notes)


def broken_table(run: RunFolder) -> Table | None:
    """Where chains break first."""
    told = first_broken(own_chains(run), run.as_study)
    if told.is_empty():
        return None
    stages = list(dict.fromkeys(told["stage"]))
    rows = []
    for name in _named(told, ranked(run)):
        own = told.filter(candidate=name).rows_by_key("stage", named=True, unique=True)
        first = [_cell(own[stage], "share") for stage in stages]
        hazards = [
            Cell(own[stage]["hazard"], own[stage]["hazard_low"], own[stage]["hazard_high"], own[stage]["reached"])
            for stage in stages
            if stage
        ]
        rows.append(Row((name,), [*first, *hazards, Cell(own[stages[0]]["n"])]))
    columns = [
        *(Column(stage or "never", "Breaks first at") for stage in stages),
        *(Column(stage, "Of those that get there, break at") for stage in stages if stage),
        Column("Chains", unit="count"),
    ]
    notes = [
        "A chain breaks at its first stage that is not right, what cannot be read included; it is asked to its end."
    ]
    return Table("Where chains break", ("Candidate",), columns, rows, notes)


def independence_table(run: RunFolder) -> Table | None:
    """Complete chains beside those of independent stages, and SWA on chains beside SWA on all."""
    told = chain_independence(own_chains(run), run.as_study)
    if told.is_empty():
        return None
    headings = {
        FOUND: ("found", "Complete chains"),
        EXPECTED: ("if stages were independent", "Complete chains"),
        BEYOND: ("difference", "Complete chains"),
        ON_ALL: ("all questions", "Mean over stages"),
        ON_CHAINS: ("questions of chains", "Mean over stages"),
    }
    rows = []
    for name in _named(told, ranked(run)):
        own = told.filter(candidate=name).rows_by_key("figure", named=True, unique=True)
        cells = [_cell(own[figure], "value") for figure in headings]
        rows.append(Row((name,), [*cells, Cell(own[FOUND]["n"])]))
    columns = [*(Column(heading, over) for heading, over in headings.values()), Column("Chains", unit="count")]
    notes = [
        "If stages were independent: the product of their shares right. Far above it errors gather in the same chains; "
        "far below it chains and stages are not the same questions, or are not asked alike."
    ]
    return Table("Chains and their stages", ("Candidate",), columns, rows, notes)


def consistency_table(run: RunFolder) -> Table | None:
    """Whether a candidate chooses the same option again: needs two trials or more."""
    told = self_consistency(own_chains(run), run.as_study)
    if told.is_empty():
        return None
    stages = list(dict.fromkeys(told["stage"]))
    rows = []
    for name in _named(told, ranked(run)):
        own = told.filter(candidate=name).rows_by_key("stage", named=True, unique=True)
        rows.append(Row((name,), [_cell(own[stage], "share") if stage in own else Cell() for stage in stages]))
    columns = [Column(stage or "all", "Pairs of trials with the same option") for stage in stages]
    notes = [
        f"Of the {run.as_study.trials} trials of each question. What cannot be read agrees with nothing. In a chain a "
        "later stage may differ because an earlier one did."
    ]
    return Table("Self-consistency", ("Candidate",), columns, rows, notes)


def _cell(row: Mapping[str, Any], value: str) -> Cell:
    return Cell(row[value], row["low"], row["high"], row["n"], row["clusters"])


def _named(told: pl.DataFrame, order: Sequence[str]) -> list[str]:
    there = set(told["candidate"])
    return [name for name in order if name in there]


def _in_order(told: pl.DataFrame, order: Sequence[str]) -> list[dict[str, Any]]:
    return [row for name in _named(told, order) for row in told.filter(candidate=name).iter_rows(named=True)]
