"""Evidence: how the literature shown affected the answers, by candidate and kind of evidence."""

from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from wardround.measuring.measures.mark_totals import DEPTHS
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judging_note
from wardround.reporting.labels import measure_meaning, measure_title, value_meaning
from wardround.reporting.numbers import count, number, percent
from wardround.reporting.reference_condition import ranked_candidates, reference_values
from wardround.reporting.run_files import MeasureLine, RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.figure_cell import FigureCell, format_line
from wardround.reporting.tables.grid import Grid, grid
from wardround.reporting.templating import render
from wardround.running.used_answers import EVIDENCE

OUTCOMES = ("evidence_based_correct", "knowledge_based_correct", "evidence_misled", "hallucination")
SEARCH_MEASURES = (f"recall@{DEPTHS[-1]}", "mrr")
BY_DOCUMENTS = ("coverage", "grounded")
CARD_MEASURES = (*OUTCOMES, *BY_DOCUMENTS, *SEARCH_MEASURES)
RETRIEVAL = ("recall", "precision", "ndcg", "mrr", "map")
MAX_OPEN = 6  # further candidates are folded


@dataclass(frozen=True)
class EvidenceCard:
    """One candidate with one kind of evidence: outcomes as a bar, figures, and a sentence."""

    candidate: str
    n: str
    unparsed: str
    refused: str  # empty if none was
    bar: Markup
    outcomes: list[tuple[str, str, FigureCell]]  # measure, its title, its figure
    figures: list[tuple[str, str, FigureCell]]
    sentence: str
    cases: str | None


@dataclass(frozen=True)
class EvidenceKind:
    """One value of the axis `evidence`."""

    value: str
    meaning: str
    shown: list[EvidenceCard]
    folded: list[EvidenceCard]
    search_figures: Grid | None


def is_evidence_measure(measure: str) -> bool:
    """Whether this section shows a measure."""
    return measure.partition("@")[0] in RETRIEVAL or measure in (*OUTCOMES, *BY_DOCUMENTS)


def evidence(run: RunFiles) -> Section | None:
    """None if no literature was shown."""
    if not (kinds := [kind for value in run.declared_values("evidence") if (kind := _kind(run, value)).shown]):
        return None
    counts, missing = _counts(run, [kind.value for kind in kinds])
    context = {
        "kinds": kinds,
        "fixed": reference_values(run, without="evidence"),
        "legend": [(name, measure_title(name), measure_meaning(name)) for name in (*OUTCOMES, *BY_DOCUMENTS)],
        "judged": judging_note(run, (*OUTCOMES, *BY_DOCUMENTS)),
        "agent": any(kind.value == "agent" for kind in kinds),
        "counts": counts,
        "missing": missing,
        "cut": {name: entry["cut"] for name, entry in run.candidate_entries.items() if entry.get("cut")},
    }
    return Section("evidence", "Evidence", render("sections/evidence.html", **context))


def _kind(run: RunFiles, value: str) -> EvidenceKind:
    changed = {"evidence": value} if "evidence" in run.varied_axes else {}

    def line(measure: str, name: str) -> MeasureLine | None:
        return run.find_line(measure, name, changed)

    names = [name for name in ranked_candidates(run) if (coverage := line("coverage", name)) is not None and coverage.n]
    cards = [_card(run, {measure: line(measure, name) for measure in CARD_MEASURES}, name) for name in names]
    search_measures = [f"{stem}@{k}" for stem in ("recall", "precision", "ndcg") for k in DEPTHS] + ["mrr", "map"]
    rows = [
        (measure_title(measure), measure_meaning(measure), [line(measure, name) for name in names])
        for measure in search_measures
        if any((own := line(measure, name)) is not None and own.value is not None for name in names)
    ]
    search_figures = grid(run, "", names, rows) if rows else None
    return EvidenceKind(value, value_meaning("evidence", value), cards[:MAX_OPEN], cards[MAX_OPEN:], search_figures)


def _card(run: RunFiles, lines: dict[str, MeasureLine | None], name: str) -> EvidenceCard:
    shares = {measure: line.value for measure, line in lines.items() if line is not None and line.value is not None}
    parts = [(f"evidence {measure}", round(10_000 * shares.get(measure, 0.0))) for measure in OUTCOMES]
    title = ", ".join(
        f"{measure_title(measure)} {number(100 * shares[measure])}%" for measure in OUTCOMES if measure in shares
    )
    figures = [(measure, measure_title(measure), format_line(line)) for measure, line in lines.items()]
    shown = [figure for figure in figures if figure[2].value is not None or figure[0] not in SEARCH_MEASURES]
    line = lines["grounded"] or lines["coverage"]
    return EvidenceCard(
        name,
        count(line.n if line else None),
        percent(line.unparsed if line else None),
        percent(line.refused) if line and line.refused else "",
        svg.stacked_bar(parts, f"{name}: {title}") if any(size for _, size in parts) else Markup(""),
        [figure for figure in shown if figure[0] in OUTCOMES],
        [figure for figure in shown if figure[0] not in OUTCOMES],
        _sentence(lines),
        run.line_cases_link(line),
    )


def _sentence(lines: dict[str, MeasureLine | None]) -> str:
    """The outcomes in counts; empty if the answers could not be judged."""
    known = [line for measure in OUTCOMES if (line := lines[measure]) is not None and line.value is not None]
    if len(known) < len(OUTCOMES):
        return ""
    answers = known[0].n or 0
    by_evidence, by_knowledge, misled, invented = (count((line.value or 0) * answers) for line in known)
    sentence = (
        f"Of {count(answers)} answers, {by_evidence} were right and supported by a document, {by_knowledge} right "
        f"without support, {misled} wrong but supported by a document, and {invented} wrong without support."
    )
    coverage = lines["coverage"]
    if coverage is None or coverage.value is None or not coverage.n:
        return sentence
    covered = f"{count(coverage.value * coverage.n)} of {count(coverage.n)}"
    return f"{sentence} The documents contained the true diagnosis in {covered}."


def _counts(run: RunFiles, values: list[str]) -> tuple[list[dict[str, Any]], int]:
    """Counts of documents and searches by candidate and kind of evidence, and of cited articles not in the index."""
    file = run.folder / EVIDENCE
    if not file.exists():
        return [], 0
    kind_by_condition = {condition: axes["evidence"] for condition, axes in run.conditions.items()}
    kind_column = pl.col("condition").replace_strict(kind_by_condition, default="none").alias("kind")
    table = pl.read_parquet(file).with_columns(kind_column)
    rows = [
        _count_row(own, kind, name)
        for kind in values
        for name in ranked_candidates(run)
        if len(own := table.filter(kind=kind, candidate=name))
    ]
    return rows, table["missing"].explode().drop_nulls().n_unique()


def _count_row(table: pl.DataFrame, kind: str, name: str) -> dict[str, Any]:
    searches = table["queries"].list.len()
    ends = table["ended"].drop_nulls().value_counts().sort("count", "ended", descending=[True, False])
    return {
        "kind": kind,
        "candidate": name,
        "answers": len(table),
        "documents": table["documents"].list.len().mean(),
        "without": (table["documents"].list.len() == 0).sum(),
        "missing": table["missing"].explode().drop_nulls().n_unique(),
        "searches": searches.mean() if searches.max() else None,
        "max_searches": searches.max(),
        "ends": list(ends.iter_rows()),
    }
