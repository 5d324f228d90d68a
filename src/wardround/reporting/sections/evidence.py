"""Evidence: what the literature that was shown did to the answers, for each candidate and kind of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from wardround.measuring.measures.retrieval import DEPTHS
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judged_note
from wardround.reporting.labels import measure_meaning, measure_title, value_meaning
from wardround.reporting.numbers import count, number, percent
from wardround.reporting.reference_condition import at_reference, ranked, reference
from wardround.reporting.run_files import Measure, RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.forest import said
from wardround.reporting.tables.grid import Grid, grid
from wardround.reporting.templating import render
from wardround.running.used_answers import EVIDENCE

OUTCOMES = ("evidence_based_correct", "knowledge_based_correct", "evidence_misled", "hallucination")
FOUND = (f"recall@{DEPTHS[-1]}", "mrr")
_RETRIEVAL = ("recall", "precision", "ndcg", "mrr", "map")
MANY = 6  # candidates whose figures are open


@dataclass(frozen=True)
class Figure:
    """One figure of a card."""

    measure: str
    title: str
    value: str | None
    interval: str | None
    note: str | None


@dataclass(frozen=True)
class Card:
    """One candidate with one kind of evidence: its answers as a bar, its figures, and a sentence."""

    candidate: str
    n: str
    unparsed: str
    bar: Markup
    outcomes: list[Figure]
    figures: list[Figure]
    sentence: str
    cases: str | None


@dataclass(frozen=True)
class Kind:
    """One value of the axis evidence."""

    value: str
    meaning: str
    shown: list[Card]
    folded: list[Card]
    searched: Grid | None


def is_of_evidence(measure: str) -> bool:
    """Whether a measure is told in this section."""
    name = measure.partition("@")[0]
    return name in _RETRIEVAL or measure in (*OUTCOMES, "coverage", "grounded")


def evidence(run: RunFolder) -> Section | None:
    """None where no literature was shown."""
    declared = (run.declared.get("conditions") or {}).get("evidence", "none")
    kinds = [_kind(run, value) for value in (declared if isinstance(declared, list) else [declared])]
    kinds = [kind for kind in kinds if kind.shown]
    if not kinds:
        return None
    counts, missing = _counts(run, [kind.value for kind in kinds])
    told = {
        "kinds": kinds,
        "held": {axis: value for axis, value in reference(run).items() if axis != "evidence"},
        "legend": [(name, measure_title(name), measure_meaning(name)) for name in (*OUTCOMES, "coverage", "grounded")],
        "judged": judged_note(run, (*OUTCOMES, "coverage", "grounded")),
        "agent": any(kind.value == "agent" for kind in kinds),
        "counts": counts,
        "missing": missing,
        "cut": {name: about["cut"] for name, about in run.about.items() if about.get("cut")},
    }
    return Section("evidence", "Evidence", render("evidence.html", **told))


def _kind(run: RunFolder, value: str) -> Kind:
    changed = {"evidence": value} if "evidence" in run.varied_axes else {}

    def line(measure: str, name: str) -> Measure | None:
        return run.line(measure, name, at_reference(run, measure, changed))

    names = [name for name in ranked(run) if (found := line("coverage", name)) is not None and found.n]
    cards = [_card(run, {measure: line(measure, name) for measure in _of_card()}, name) for name in names]
    there = [f"{each}@{k}" for each in ("recall", "precision", "ndcg") for k in DEPTHS] + ["mrr", "map"]
    rows = [
        (measure_title(measure), measure_meaning(measure), [line(measure, name) for name in names])
        for measure in there
        if any((found := line(measure, name)) is not None and found.value is not None for name in names)
    ]
    searched = grid(run, "", names, rows) if rows else None
    return Kind(value, value_meaning("evidence", value), cards[:MANY], cards[MANY:], searched)


def _of_card() -> tuple[str, ...]:
    return (*OUTCOMES, "coverage", "grounded", *FOUND)


def _card(run: RunFolder, lines: dict[str, Measure | None], name: str) -> Card:
    shares = {measure: line.value for measure, line in lines.items() if line is not None and line.value is not None}
    parts = [(f"evidence {measure}", round(10_000 * shares.get(measure, 0.0))) for measure in OUTCOMES]
    title = ", ".join(f"{measure_title(each)} {number(100 * shares[each])}%" for each in OUTCOMES if each in shares)
    figures = [Figure(measure, measure_title(measure), *said(line)) for measure, line in lines.items()]
    known = [figure for figure in figures if figure.value is not None or figure.measure not in FOUND]
    grounding = lines["grounded"] or lines["coverage"]
    return Card(
        name,
        count(grounding.n if grounding else None),
        percent(grounding.unparsed if grounding else None),
        svg.shares(parts, f"{name}: {title}") if any(many for _, many in parts) else Markup(""),
        [figure for figure in known if figure.measure in OUTCOMES],
        [figure for figure in known if figure.measure not in OUTCOMES],
        _sentence(lines),
        run.behind(grounding),
    )


def _sentence(lines: dict[str, Measure | None]) -> str:
    """The outcomes as a clinician would tell them, in counts; empty where the answers could not be judged."""
    known = [line for measure in OUTCOMES if (line := lines[measure]) is not None and line.value is not None]
    if len(known) < len(OUTCOMES):
        return ""
    answers = known[0].n or 0
    by_evidence, by_knowledge, misled, invented = (count((line.value or 0) * answers) for line in known)
    told = (
        f"Of {count(answers)} answers, {by_evidence} were right with a document behind them, {by_knowledge} without; "
        f"{misled} were wrong and yet supported by a document, {invented} were wrong with no support at all."
    )
    covered = lines["coverage"]
    if covered is None or covered.value is None or not covered.n:
        return told
    there = f"The true diagnosis stood in the documents of {count(covered.value * covered.n)} of {count(covered.n)}."
    return f"{told} {there}"


def _counts(run: RunFolder, values: list[str]) -> tuple[list[dict[str, Any]], int]:
    """What was shown and searched, by candidate and kind of evidence; and how many cited articles the index lacks."""
    file = run.folder / EVIDENCE
    if not file.exists():
        return [], 0
    kinds = {condition: axes["evidence"] for condition, axes in run.conditions.items()}
    told = pl.read_parquet(file).with_columns(pl.col("condition").replace_strict(kinds, default="none").alias("kind"))
    rows = []
    for kind in values:
        for name in ranked(run):
            found = told.filter(kind=kind, candidate=name)
            if len(found):
                rows.append(_counted(found, kind, name))
    return rows, told["missing"].explode().drop_nulls().n_unique()


def _counted(found: pl.DataFrame, kind: str, name: str) -> dict[str, Any]:
    searches = found["queries"].list.len()
    ends = found["ended"].drop_nulls().value_counts().sort("count", "ended", descending=[True, False])
    return {
        "kind": kind,
        "candidate": name,
        "answers": len(found),
        "documents": found["documents"].list.len().mean(),
        "without": (found["documents"].list.len() == 0).sum(),
        "missing": found["missing"].explode().drop_nulls().n_unique(),
        "searches": searches.mean() if searches.max() else None,
        "most": searches.max(),
        "ends": [(end, many) for end, many in ends.iter_rows()],
    }
