"""The reference condition: the first value of each axis that a study varies, which scores are told for."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

import polars as pl

from wardround.reporting.run_files import RunFolder


def reference(run: RunFolder) -> dict[str, str]:
    return {axis: values[0] for axis, values in run.varied_axes.items()}


def at_reference(run: RunFolder, measure: str, changed: Mapping[str, str] | None = None) -> dict[str, str]:
    """The slice of the reference condition, with some axes changed.

    Where only the changed axes alone have figures, it is their slice, over all values of the others.
    """
    pooled = dict(changed or {})
    slice = reference(run) | pooled
    return pooled if run.has_values(measure, pooled) and not run.has_values(measure, slice) else slice


def marks_at_reference(
    run: RunFolder, changed: Mapping[str, str] | None = None, *, over: Container[str] = ()
) -> pl.LazyFrame:
    """The marks of the reference condition, with some axes changed, over all values of others.

    Where there are none, those of the changed axes alone. They stay in their file until they are used.
    """
    pooled = dict(changed or {})
    held = {axis: value for axis, value in reference(run).items() if axis not in over} | pooled
    for wanted in (held, pooled):
        if chosen := [condition for condition, axes in run.conditions.items() if wanted.items() <= axes.items()]:
            return run.marks.filter(pl.col("condition").is_in(chosen))
    return run.marks.head(0)


def by_part(run: RunFolder, measure: str, key: str) -> list[dict[str, str]]:
    """The slices in which a measure is told by a key, in the reference condition, as the file has them."""
    held = {axis: value for axis, value in reference(run).items() if axis != key}
    there = {
        tuple(line.slice.items()): dict(line.slice)
        for line in run.lines
        if line.measure == measure and key in line.slice
    }
    others = [{name: value for name, value in slice.items() if name != key} for slice in there.values()]
    chosen = held if held in others else {}
    return [slice for slice, rest in zip(there.values(), others, strict=True) if rest == chosen]


def scores(run: RunFolder) -> list[str]:
    """The measures that say how good a candidate is: accuracy, and the strictest hit@k of open questions."""
    there = list(dict.fromkeys(line.measure for line in run.lines))
    hits = sorted((name for name in there if name.startswith("hit@")), key=lambda name: int(name[4:]))
    return [name for name in ("accuracy", *hits[:1]) if name in there] or there[:1]


def ranked(run: RunFolder) -> list[str]:
    """The candidates, the highest score first: their order in every table."""
    if not (measures := scores(run)):
        return run.candidates
    slice = at_reference(run, measures[0])

    def score(name: str) -> float:
        line = run.line(measures[0], name, slice)
        return -1.0 if line is None or line.value is None else line.value

    return sorted(run.candidates, key=lambda name: -score(name))


def chance(run: RunFolder, measure: str) -> float | None:
    """The accuracy of guessing, where the manifest knows it."""
    known = run.manifest.get("chance")
    return float(known) if measure == "accuracy" and isinstance(known, int | float) else None


def asked_under(run: RunFolder, measure: str, candidate: str, slices: Iterable[Mapping[str, str]]) -> int:
    """Under how many of these slices a candidate has answers."""
    lines = (run.line(measure, candidate, slice) for slice in slices)
    return sum(line is not None and bool(line.n) for line in lines)
