"""The reference condition: the first value of each varied axis. Scores are reported under it."""

from collections.abc import Iterable, Mapping

import polars as pl

from wardround.reporting.run_files import RunFiles


def reference_slice(run: RunFiles, *, without: str | None = None) -> dict[str, str]:
    """The reference condition; `without` leaves one axis open."""
    return {axis: values[0] for axis, values in run.varied_axes.items() if axis != without}


def slice_at_reference(run: RunFiles, measure: str, changed: Mapping[str, str] | None = None) -> dict[str, str]:
    """The slice of the reference condition, with some axes changed.

    If only the changed axes by themselves have figures, their slice, over all values of the other axes.
    """
    pooled = dict(changed or {})
    slice = reference_slice(run) | pooled
    return pooled if run.has_values(measure, pooled) and not run.has_values(measure, slice) else slice


def marks_at_reference(
    run: RunFiles, changed: Mapping[str, str] | None = None, *, over: str | None = None
) -> pl.LazyFrame:
    """The marks of the reference condition, with some axes changed and all values of the axis `over`.

    If there are none, the marks of the changed axes alone. Lazy: nothing is read yet.
    """
    pooled = dict(changed or {})
    fixed = reference_slice(run, without=over) | pooled
    for slice in (fixed, pooled):
        if conditions := [condition for condition, axes in run.conditions.items() if slice.items() <= axes.items()]:
            return run.marks.filter(pl.col("condition").is_in(conditions))
    return run.marks.head(0)


def slices_by_key(run: RunFiles, measure: str, key: str) -> list[dict[str, str]]:
    """The slices of a measure by one key, in the reference condition, in the order of the file."""
    fixed = reference_slice(run, without=key)
    slices = {
        tuple(line.slice.items()): dict(line.slice)
        for line in run.measure_lines
        if line.measure == measure and key in line.slice
    }
    others = [{name: value for name, value in slice.items() if name != key} for slice in slices.values()]
    chosen = fixed if fixed in others else {}
    return [slice for slice, rest in zip(slices.values(), others, strict=True) if rest == chosen]


def score_measures(run: RunFiles) -> list[str]:
    """The score measures: accuracy, and the strictest hit@k of open questions."""
    names = list(dict.fromkeys(line.measure for line in run.measure_lines))
    hits = sorted((name for name in names if name.startswith("hit@")), key=lambda name: int(name[4:]))
    return [name for name in ("accuracy", *hits[:1]) if name in names] or names[:1]


def ranked_candidates(run: RunFiles) -> list[str]:
    """The candidates by score, highest first: their order in every table."""
    if not (measures := score_measures(run)):
        return run.candidates
    slice = slice_at_reference(run, measures[0])

    def score(name: str) -> float:
        line = run.find_line(measures[0], name, slice)
        return -1.0 if line is None or line.value is None else line.value

    return sorted(run.candidates, key=lambda name: -score(name))


def chance_accuracy(run: RunFiles, measure: str) -> float | None:
    """The accuracy of guessing, if the manifest has it."""
    accuracy = run.manifest.get("chance")
    return float(accuracy) if measure == "accuracy" and isinstance(accuracy, int | float) else None


def answered_slice_count(run: RunFiles, measure: str, candidate: str, slices: Iterable[Mapping[str, str]]) -> int:
    """The number of these slices in which a candidate has answers."""
    lines = (run.find_line(measure, candidate, slice) for slice in slices)
    return sum(line is not None and bool(line.n) for line in lines)
