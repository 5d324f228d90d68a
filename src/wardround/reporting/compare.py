"""Several runs on one page, side by side for the measures that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wardround.core.errors import WardroundError
from wardround.measuring.validation.judge_validation import judge_note
from wardround.reporting.judge_note import is_judged, supported_note
from wardround.reporting.labels import measure_meaning, measure_title, slice_words
from wardround.reporting.run_files import Measure, RunFolder, read_run
from wardround.reporting.tables.forest import said
from wardround.reporting.templating import page, write_page


@dataclass(frozen=True)
class Cell:
    line: Measure | None
    value: str | None
    interval: str | None
    note: str | None


@dataclass(frozen=True)
class SideBySide:
    """One candidate in one slice over the runs; `differs` says why the figures are kept apart."""

    candidate: str
    slice: str
    cells: list[Cell]
    differs: str | None


def compare(folders: Sequence[Path], out: Path) -> Path:
    """Writes one page that compares runs. Figures of another version or method are never put side by side."""
    if len(folders) < 2:
        raise WardroundError("a comparison needs at least two run folders")
    runs = [read_run(folder) for folder in folders]
    labels = _labels(runs)
    return write_page(
        out,
        page(
            "compare.html",
            runs=list(zip(labels, runs, strict=True)),
            labels=labels,
            measures=side_by_side(runs, labels),
            alone=_alone(runs, labels),
            same_cases=len({(run.manifest.get("cases") or {}).get("hash") for run in runs}) == 1,
        ),
    )


def side_by_side(runs: Sequence[RunFolder], labels: Sequence[str]) -> list[tuple[str, str, str, list[SideBySide]]]:
    """Per measure that at least two runs have: its name, title, meaning and rows."""
    tables = []
    for measure in _measures(runs):
        found = [{(line.candidate, _key(line)): line for line in run.lines if line.measure == measure} for run in runs]
        shared = Counter(key for lines in found for key in {slice for _, slice in lines})
        order = dict.fromkeys(key for lines in found for key in lines if shared[key[1]] > 1)
        rows = [
            _row(candidate, slice, [lines.get((candidate, slice)) for lines in found], labels)
            for candidate, slice in sorted(order, key=lambda key: key[1] != ())
        ]
        if rows:
            tables.append((measure, measure_title(measure), _meaning(measure, runs, labels), rows))
    return tables


def _meaning(measure: str, runs: Sequence[RunFolder], labels: Sequence[str]) -> str:
    """What a measure says and, where a judge made it, what is known of the judge of each run."""
    judges = [f"{label}, {judge_note(run.folder)}" for label, run in zip(labels, runs, strict=True)]
    told = [measure_meaning(measure), f"Judged: {'; '.join(judges)}." if is_judged(measure) else ""]
    told += dict.fromkeys(supported_note(run, [measure]) for run in runs)
    return " ".join(filter(None, told))


def _row(
    candidate: str, slice: tuple[tuple[str, str], ...], lines: list[Measure | None], labels: Sequence[str]
) -> SideBySide:
    there = [(label, line) for label, line in zip(labels, lines, strict=True) if line is not None]
    differs = None
    for what in ("version", "method"):
        if len({getattr(line, what) for _, line in there}) > 1:
            told = ", ".join(f"{getattr(line, what) or 'none'} in {label}" for label, line in there)
            differs = f"not comparable: {what} {told}"
            break
    cells = [
        Cell(line, *said(line)) if line is not None else Cell(None, None, None, "not in this run") for line in lines
    ]
    return SideBySide(candidate, slice_words(dict(slice)), cells, differs)


def _key(line: Measure) -> tuple[tuple[str, str], ...]:
    return tuple(line.slice.items())


def _measures(runs: Sequence[RunFolder]) -> list[str]:
    """The measures that at least two runs have, in the order of the files."""
    per_run = [dict.fromkeys(line.measure for line in run.lines) for run in runs]
    many = Counter(name for names in per_run for name in names)
    return [name for name in dict.fromkeys(name for names in per_run for name in names) if many[name] > 1]


def _alone(runs: Sequence[RunFolder], labels: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Per run the measures that no other has."""
    shared = set(_measures(runs))
    alone = [
        (label, list(dict.fromkeys(line.measure for line in run.lines if line.measure not in shared)))
        for label, run in zip(labels, runs, strict=True)
    ]
    return [(label, names) for label, names in alone if names]


def _labels(runs: Sequence[RunFolder]) -> list[str]:
    """The runs' names, numbered where two are the same."""
    many = Counter(run.name for run in runs)
    return [f"{run.name} ({place})" if many[run.name] > 1 else run.name for place, run in enumerate(runs, 1)]
