"""The sections that every report has, in the order in which they stand."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable

import polars as pl

from wardround.core.condition import AXES
from wardround.reporting import svg
from wardround.reporting.forest import Forest, forest
from wardround.reporting.numbers import number, percent, span
from wardround.reporting.render import render
from wardround.reporting.run import Measure, RunFolder
from wardround.reporting.section import Section, SectionMaker
from wardround.reporting.sentences import sentence
from wardround.reporting.words import (
    CONFIDENCE,
    measure_meaning,
    measure_title,
    slice_title,
    value_meaning,
)

OUTCOMES = ("right", "wrong", "unparsed", "unscored")
COUNTS = {
    "asks": "asks",
    "stored": "already stored",
    "new": "newly asked",
    "calls": "calls",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
    "cost": "cost",
    "failed": "failed",
    "cut": "cut to fit",
}


def scores(run: RunFolder) -> list[str]:
    """The measures that say how good a candidate is: accuracy, and the strictest hit@k of open questions."""
    there = list(dict.fromkeys(line.measure for line in run.lines))
    hits = sorted((name for name in there if name.startswith("hit@")), key=lambda name: int(name[4:]))
    return [name for name in ("accuracy", *hits[:1]) if name in there] or there[:1]


def chance(run: RunFolder, measure: str) -> float | None:
    """The accuracy of guessing, where the manifest knows it."""
    known = run.manifest.get("chance")
    return float(known) if measure == "accuracy" and isinstance(known, int | float) else None


def headline(run: RunFolder) -> Section:
    """Every candidate's score over everything that it was asked."""
    parsed = {line.candidate: line.value for line in run.lines if line.measure == "accuracy_parsed" and not line.slice}
    tables = []
    for measure in scores(run):
        whole = {line.candidate: line for line in run.lines if line.measure == measure and not line.slice}
        ranked = sorted(run.candidates, key=lambda name: -_value(whole.get(name)))
        tables.append(
            forest(
                run,
                measure_title(measure),
                measure,
                [(name, _kind(run, name), whole.get(name)) for name in ranked],
                chance=chance(run, measure),
                beside=(
                    ("when parsed", lambda line: parsed.get(line.candidate))
                    if measure == "accuracy" and parsed
                    else None
                ),
            )
        )
    axes = {key: _values(run, (key,)) for key in AXES if any(tuple(line.slice) == (key,) for line in run.lines)}
    told = {"axes": axes, "chance": chance(run, "accuracy"), "compared": bool(run.compared)}
    return Section("scores", "Scores", render("headline.html", tables=tables, **told))


def by_condition(run: RunFolder) -> Section | None:
    """One block per axis: how each candidate changes with the condition."""
    chosen = [(measure, keys) for measure, keys in _slicings(run) if set(keys) <= set(AXES)]
    return _sliced(run, "conditions", "By condition", chosen, _per_candidate)


def by_slice(run: RunFolder) -> Section | None:
    """One block per slice key: which cases and questions are hard for whom."""
    chosen = [(measure, keys) for measure, keys in _slicings(run) if not set(keys) <= set(AXES)]
    return _sliced(run, "slices", "By case and question", chosen, _per_value)


def confidence(run: RunFolder) -> Section | None:
    """What the candidates' confidence is worth. Versions (numbers of votes) never share a table."""
    chosen = [line for line in run.lines if line.measure in CONFIDENCE and set(line.slice) <= {"confidence"}]
    split = {line.measure for line in chosen if line.slice}
    lines = [line for line in chosen if line.slice or line.measure not in split]
    tables = _by_measure(run, sorted(lines, key=lambda line: CONFIDENCE.index(line.measure)))
    return Section("confidence", "Confidence", render("tables.html", tables=tables)) if tables else None


def other_measures(run: RunFolder) -> Section | None:
    """What else was measured over the whole."""
    elsewhere = {*scores(run), *CONFIDENCE, "accuracy_parsed", "unparsed"}
    lines = [line for line in run.lines if not line.slice and line.measure not in elsewhere]
    tables = _by_measure(run, lines)
    return Section("measures", "Other measures", render("tables.html", tables=tables)) if tables else None


def comparisons(run: RunFolder) -> Section | None:
    """Paired differences, a family at a time."""
    if not run.compared:
        return None
    try:
        declared = tomllib.loads(run.study).get("comparisons", {})
    except tomllib.TOMLDecodeError:
        declared = {}
    families = []
    for family in dict.fromkeys(line.family for line in run.compared):
        lines = [line for line in run.compared if line.family == family]
        between = declared.get(family, {}).get("between", "candidate")
        scale = svg.around_zero(end for line in lines for end in (line.low, line.high, line.value) if end is not None)
        rows = []
        for line in lines:
            said = sentence(line, between)
            drawn = (
                svg.nothing(scale, said)
                if line.value is None
                else svg.interval(line.value, line.low, line.high, scale=scale, title=said)
            )
            shown = percent(line.value), span(line.measure, line.low, line.high)
            rows.append((line, said, drawn, *shown, run.cases_behind(line.slice)))
        families.append((family, lines[0].measure, svg.axis(scale), rows))
    return Section("comparisons", "Differences", render("comparisons.html", families=families))


def asked(run: RunFolder) -> Section:
    """What was asked and what came back, in counts."""
    counted = run.marks.group_by("candidate", "outcome").agg(pl.len()).collect()
    by_candidate: dict[str, dict[str, int]] = {}
    for candidate, outcome, many in counted.iter_rows():
        by_candidate.setdefault(str(candidate), {})[str(outcome)] = many
    outcomes = []
    for name in dict.fromkeys([*run.candidates, *sorted(by_candidate)]):
        parts = [(outcome, by_candidate.get(name, {}).get(outcome, 0)) for outcome in OUTCOMES]
        told = ", ".join(f"{many:,} {outcome}" for outcome, many in parts)
        drawn = svg.shares([(f"outcome {outcome}", many) for outcome, many in parts], f"{name}: {told}")
        outcomes.append((name, parts, drawn, run.cases_behind({"candidate": name})))
    columns = {key: title for key, title in COUNTS.items() if any(key in told for told in run.about.values())}
    return Section(
        "asked",
        "What was asked",
        render(
            "asked.html",
            outcomes=outcomes,
            columns=columns,
            about=run.about,
            totals={key: sum(told.get(key) or 0 for told in run.about.values()) for key in columns},
            money=lambda value: "–" if value is None else number(value, 2),
            cases=run.manifest.get("cases") or {},
            inapplicable=run.manifest.get("inapplicable") or {},
            sentinel=run.manifest.get("sentinel") or {},
        ),
    )


def reading(run: RunFolder) -> Section:
    return Section("reading", "How to read this page", render("reading.html"))


def manifest(run: RunFolder) -> Section:
    """Everything that is needed to repeat the run."""
    return Section(
        "manifest",
        "Manifest",
        render(
            "manifest.html",
            manifest=run.manifest,
            study=run.study,
            whole=json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=False),
        ),
    )


FIRST: tuple[SectionMaker, ...] = (headline, by_condition, comparisons, by_slice, confidence, other_measures)
LAST: tuple[SectionMaker, ...] = (asked, reading, manifest)


def _value(line: Measure | None) -> float:
    return -1.0 if line is None or line.value is None else line.value


def _kind(run: RunFolder, candidate: str) -> str:
    """What a candidate is, in a line: its provider and model, and that it is blind if it is."""
    told = run.about.get(candidate, {})
    parts = [
        told.get("provider"),
        told.get("model"),
        None if told.get("sees", True) else "does not see images",
    ]
    return " · ".join(dict.fromkeys(str(part) for part in parts if part and part != candidate))


def _slicings(run: RunFolder) -> list[tuple[str, tuple[str, ...]]]:
    """Each score with each set of slice keys that it was measured over."""
    chosen = scores(run)
    there = ((line.measure, tuple(line.slice)) for line in run.lines if line.slice)
    return [pair for pair in dict.fromkeys(there) if pair[0] in chosen]


def _values(run: RunFolder, keys: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The values of a slicing in the order of the file, unweighted means last."""
    there = dict.fromkeys(tuple(line.slice.values()) for line in run.lines if tuple(line.slice) == keys)
    return sorted(there, key=lambda values: "mean" in values)


def _found(run: RunFolder, measure: str, keys: tuple[str, ...]) -> dict[tuple[str, tuple[str, ...]], Measure]:
    return {
        (line.candidate, tuple(line.slice.values())): line
        for line in run.lines
        if line.measure == measure and tuple(line.slice) == keys
    }


def _meaning(keys: tuple[str, ...], values: tuple[str, ...]) -> str:
    return "; ".join(filter(None, map(value_meaning, keys, values)))


def _per_candidate(run: RunFolder, measure: str, keys: tuple[str, ...]) -> list[Forest]:
    found, values = _found(run, measure, keys), _values(run, keys)
    return [
        forest(
            run,
            name,
            measure,
            [(" · ".join(value), _meaning(keys, value), found.get((name, value))) for value in values],
            chance=chance(run, measure),
        )
        for name in run.candidates
        if any(candidate == name for candidate, _ in found)
    ]


def _per_value(run: RunFolder, measure: str, keys: tuple[str, ...]) -> list[Forest]:
    found = _found(run, measure, keys)
    return [
        forest(
            run,
            " · ".join(value),
            measure,
            [(name, "", found.get((name, value))) for name in run.candidates],
            note=_meaning(keys, value),
            chance=chance(run, measure),
        )
        for value in _values(run, keys)
    ]


def _by_measure(run: RunFolder, lines: Iterable[Measure]) -> list[Forest]:
    groups: dict[tuple[str, str | None], list[Measure]] = {}
    for line in lines:
        groups.setdefault((line.measure, line.version), []).append(line)
    return [
        forest(
            run,
            measure_title(measure),
            measure,
            [(line.candidate, line.slice.get("confidence", ""), line) for line in group],
            note=measure_meaning(measure) + (f" Version {version}." if version else ""),
        )
        for (measure, version), group in groups.items()
    ]


def _sliced(
    run: RunFolder,
    id: str,
    title: str,
    chosen: list[tuple[str, tuple[str, ...]]],
    tables: Callable[[RunFolder, str, tuple[str, ...]], list[Forest]],
) -> Section | None:
    if not chosen:
        return None
    several = len(scores(run)) > 1
    blocks = [
        (
            " × ".join(map(slice_title, keys)) + (f": {measure_title(measure)}" if several else ""),
            " × ".join(keys),
            "-".join([id, measure, *keys]),
            tables(run, measure, keys),
        )
        for measure, keys in chosen
    ]
    return Section(id, title, render("sliced.html", blocks=blocks))
