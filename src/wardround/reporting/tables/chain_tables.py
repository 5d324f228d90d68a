"""Tables about chains, for every report and for X-PCR's own tables."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
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
from wardround.measuring.chains.independence import BEYOND, EXPECTED, OBSERVED, ON_ALL, ON_CHAINS
from wardround.measuring.engine.reference import marks_at_reference
from wardround.reporting.absence import NOT_ASKED
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

ALL = "all"
SAME = 1e-9  # the rounding of sums


def own_chains(run: RunFiles) -> pl.LazyFrame:
    """The marks of the reference condition in which candidates see their own earlier answers."""
    return marks_at_reference(run.marks, run.study, {"carry": "own"})


def effect_table(run: RunFiles) -> Table | None:
    """The effect of an upstream error; needs `carry` = gold and wrong."""
    effects = upstream_effects(marks_at_reference(run.marks, run.study, over="carry"), run.study)
    if effects.is_empty():
        return None
    rows = []
    for row in _ranked_rows(run, effects):
        shares = [Cell(row[value], text=NOT_ASKED) for value in CARRIED]
        lost = Cell(row["lost"], row["lost_low"], row["lost_high"], text=NOT_ASKED)
        effect = Cell(row["effect"], row["low"], row["high"], row["n"], row["clusters"])
        tested = [Cell(row["p"]), Cell(row["p_adjusted"])]
        rows.append(TableRow((row["candidate"], row["stage"] or ALL), [*shares, effect, *tested, lost, Cell(row["n"])]))
    columns = [
        *(Column(name, "Accuracy with this carried") for name in ("right", "own", "wrong", "nothing")),
        Column("Effect"),
        Column("p", unit="fraction", decimals=4),
        Column("p adjusted", unit="fraction", decimals=4),
        Column("Lost by own errors"),
        Column("n", unit="count"),
    ]
    notes = [
        "Effect: accuracy after right earlier answers minus accuracy after wrong ones, on the same questions. The "
        "wrong answers are options drawn once. Lost: right minus own. Stages without an earlier stage are omitted.",
        "p from a sign-flip test over clusters, adjusted for all rows of this table.",
    ]
    return Table("Effect of an upstream error", ("Candidate", "Stage"), columns, rows, notes)


def association_table(run: RunFiles) -> Table | None:
    """The association between errors along the chain."""
    errors = upstream_errors(own_chains(run), run.study)
    if errors.is_empty():
        return None
    rows = []
    for row in _ranked_rows(run, errors):
        difference = Cell(row["difference"], row["low"], row["high"], row["n"], row["clusters"], text="no difference")
        shares = [Cell(row["after_wrong"]), Cell(row["after_right"])]
        counts = [Cell(row["n_after_wrong"]), Cell(row["n"])]
        rows.append(TableRow((row["candidate"], row["stage"] or ALL), [*shares, difference, *counts]))
    columns = [
        Column("an earlier one wrong", "Wrong after"),
        Column("all right", "Wrong after"),
        Column("Difference"),
        Column("after wrong", "n", "count"),
        Column("all", "n", "count"),
    ]
    notes = ["An association, not an effect: a hard case makes all its stages hard."]
    return Table("Association between errors", ("Candidate", "Stage"), columns, rows, notes)


def first_error_table(run: RunFiles) -> Table | None:
    """The first wrong stage of each chain."""
    breaks = first_broken(own_chains(run), run.study)
    if breaks.is_empty():
        return None
    stages = list(dict.fromkeys(breaks["stage"]))
    rows = []
    for name, own in _rows_by_candidate(run, breaks, "stage"):
        first = [_cell(own[stage], "share") for stage in stages]
        hazards = [
            Cell(row["hazard"], row["hazard_low"], row["hazard_high"], row["reached"])
            for row in (own[stage] for stage in stages if stage)
        ]
        rows.append(TableRow((name,), [*first, *hazards, Cell(own[stages[0]]["n"])]))
    columns = [
        *(Column(stage or "never", "Breaks first at") for stage in stages),
        *(Column(stage, "Of those that get there, break at") for stage in stages if stage),
        Column("Chains", unit="count"),
    ]
    notes = ["A chain breaks at its first stage that is wrong, unparsed or refused. The later stages are still asked."]
    return Table("Where chains break", ("Candidate",), columns, rows, notes)


def independence_table(run: RunFiles) -> Table | None:
    """Complete chains compared with independent stages, and SWA on chains compared with SWA on all questions."""
    figures = chain_independence(own_chains(run), run.study)
    if figures.is_empty():
        return None
    headings = {
        OBSERVED: ("found", "Complete chains"),
        EXPECTED: ("if stages were independent", "Complete chains"),
        BEYOND: ("difference", "Complete chains"),
        ON_ALL: ("all questions", "Mean over stages"),
        ON_CHAINS: ("questions of chains", "Mean over stages"),
    }
    rows = []
    for name, own in _rows_by_candidate(run, figures, "figure"):
        cells = [_as_measured(run, name, _cell(own[figure], "value"), figure) for figure in headings]
        rows.append(TableRow((name,), [*cells, Cell(own[OBSERVED]["n"])]))
    columns = [*(Column(heading, over) for heading, over in headings.values()), Column("Chains", unit="count")]
    notes = [
        "If stages were independent: the product of their accuracies. Far more complete chains mean that errors "
        "cluster in the same chains; far fewer, that chains and stages were asked differently or on other questions."
    ]
    return Table("Chains and their stages", ("Candidate",), columns, rows, notes)


def consistency_table(run: RunFiles) -> Table | None:
    """Whether a candidate chooses the same option in other trials; needs at least two."""
    agreement = self_consistency(own_chains(run), run.study)
    if agreement.is_empty():
        return None
    stages = list(dict.fromkeys(agreement["stage"]))
    rows = []
    for name, own in _rows_by_candidate(run, agreement, "stage"):
        rows.append(TableRow((name,), [_cell(own[stage], "share") if stage in own else Cell() for stage in stages]))
    columns = [Column(stage or "all", "Pairs of trials with the same option") for stage in stages]
    notes = [
        f"Over the {run.study.trials} trials of each question. An unparsed or refused answer agrees with no other. A "
        "later stage of a chain may differ because an earlier one did."
    ]
    return Table("Self-consistency", ("Candidate",), columns, rows, notes)


def _as_measured(run: RunFiles, candidate: str, cell: Cell, figure: str) -> Cell:
    """The cell with the interval of measures.csv, if that has the same figure over the same answers."""
    measure, slice = ("ccr", {}) if figure == OBSERVED else ("swa", {"stage": "mean"})
    line = None if figure in (EXPECTED, BEYOND) else run.find_line(measure, candidate, slice)
    if line is None or line.value is None or cell.value is None or abs(line.value - cell.value) > SAME:
        return cell
    return replace(cell, low=line.low, high=line.high)


def _cell(row: Mapping[str, Any], value: str) -> Cell:
    return Cell(row[value], row["low"], row["high"], row["n"], row["clusters"])


def _ranked_rows(run: RunFiles, table: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for name in ranked_candidates(run):
        yield from table.filter(candidate=name).iter_rows(named=True)


def _rows_by_candidate(run: RunFiles, table: pl.DataFrame, key: str) -> Iterator[tuple[str, dict[Any, dict[str, Any]]]]:
    """The candidates in their order, each with its rows by the values of `key`."""
    for name in ranked_candidates(run):
        if not (own := table.filter(candidate=name)).is_empty():
            yield name, own.rows_by_key(key, named=True, unique=True)
