"""Several runs on one page, side by side, for the measures that they share."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wardround.core.condition import AXES
from wardround.core.errors import WardroundError
from wardround.measuring.validation.judge_validation import judge_note
from wardround.reporting.judge_note import is_judged, support_test_note
from wardround.reporting.labels import measure_meaning, measure_title, slice_words
from wardround.reporting.refusals import refusals_note
from wardround.reporting.run_files import MeasureLine, RunFiles, read_run
from wardround.reporting.setting_labels import setting_notes
from wardround.reporting.tables.figure_cell import FigureCell, format_line
from wardround.reporting.templating import page, write_page


@dataclass(frozen=True)
class ComparedRow:
    """One candidate in one slice, a cell per run; `differs` says why the figures cannot be compared."""

    candidate: str
    slice: str
    cells: list[FigureCell]
    differs: str | None


def compare(folders: Sequence[Path], out: Path) -> Path:
    """Writes one page that compares runs. Figures of different versions are not shown side by side."""
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
            unshared=_unshared(runs, labels),
            refusals=[(label, refusals_note(run)) for label, run in zip(labels, runs, strict=True)],
            other_conditions=_other_conditions(runs, labels),
            same_cases=len({(run.manifest.get("cases") or {}).get("hash") for run in runs}) == 1,
        ),
    )


def _other_conditions(runs: Sequence[RunFiles], labels: Sequence[str]) -> list[tuple[str, str]]:
    """For each run the values of its reference condition in which the runs differ; empty if they do not."""
    references = [run.study.conditions_from_reference[0].values for run in runs]
    differing = [axis for axis in AXES if len({values[axis] for values in references}) > 1]
    values_in_words = (", ".join(f"{axis} {values[axis]}" for axis in differing) for values in references)
    return [*zip(labels, values_in_words, strict=True)] if differing else []


def side_by_side(runs: Sequence[RunFiles], labels: Sequence[str]) -> list[tuple[str, str, str, list[ComparedRow]]]:
    """For each measure that at least two runs have: name, title, meaning and rows."""
    tables = []
    for measure in _shared_measures(runs):
        lines_by_run = [
            {(line.candidate, tuple(line.slice.items())): line for line in run.measure_lines if line.measure == measure}
            for run in runs
        ]
        run_count = Counter(slice for lines in lines_by_run for slice in {slice for _, slice in lines})
        keys = dict.fromkeys(key for lines in lines_by_run for key in lines if run_count[key[1]] > 1)
        rows = [
            _row(candidate, slice, [lines.get((candidate, slice)) for lines in lines_by_run], labels)
            for candidate, slice in sorted(keys, key=lambda key: key[1] != ())
        ]
        if rows:
            tables.append((measure, measure_title(measure), _meaning(measure, runs, labels), rows))
    return tables


def _meaning(measure: str, runs: Sequence[RunFiles], labels: Sequence[str]) -> str:
    """The meaning of a measure and, if it rests on a judge, the validation of each run's judge."""
    judges = [f"{label}, {judge_note(run.folder)}" for label, run in zip(labels, runs, strict=True)]
    settings = [f"{label}: {note}" for label, run in zip(labels, runs, strict=True) for note in setting_notes(run)]
    notes = [*settings, measure_meaning(measure), f"Judged: {'; '.join(judges)}." if is_judged(measure) else ""]
    notes += dict.fromkeys(support_test_note(run, [measure]) for run in runs)
    return " ".join(filter(None, notes))


def _row(
    candidate: str, slice: tuple[tuple[str, str], ...], lines: list[MeasureLine | None], labels: Sequence[str]
) -> ComparedRow:
    labelled = [(label, line) for label, line in zip(labels, lines, strict=True) if line is not None]
    # not the method: whether an interval is Wilson's or resampled depends on the answers, not on what they mean
    versions = ", ".join(f"{line.version or 'none'} in {label}" for label, line in labelled)
    differs = f"not comparable: version {versions}" if len({line.version for _, line in labelled}) > 1 else None
    cells = [FigureCell(None, note="not in this run") if line is None else format_line(line) for line in lines]
    return ComparedRow(candidate, slice_words(dict(slice)), cells, differs)


def _shared_measures(runs: Sequence[RunFiles]) -> list[str]:
    """The measures that at least two runs have, in the order of the files."""
    per_run = [dict.fromkeys(line.measure for line in run.measure_lines) for run in runs]
    run_count = Counter(name for names in per_run for name in names)
    return [name for name, count in run_count.items() if count > 1]


def _unshared(runs: Sequence[RunFiles], labels: Sequence[str]) -> list[tuple[str, list[str]]]:
    """For each run the measures that no other run has."""
    shared = set(_shared_measures(runs))
    unshared = [
        (label, list(dict.fromkeys(line.measure for line in run.measure_lines if line.measure not in shared)))
        for label, run in zip(labels, runs, strict=True)
    ]
    return [(label, names) for label, names in unshared if names]


def _labels(runs: Sequence[RunFiles]) -> list[str]:
    """The names of the runs, numbered if two are the same."""
    count = Counter(run.name for run in runs)
    return [f"{run.name} ({number})" if count[run.name] > 1 else run.name for number, run in enumerate(runs, 1)]
