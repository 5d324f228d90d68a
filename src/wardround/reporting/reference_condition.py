"""The reference condition: all scores are reported at it. In measures.csv its slice is `{}`."""

from collections.abc import Iterable, Mapping

from wardround.reporting.run_files import RunFiles


def reference_values(run: RunFiles, *, without: str | None = None) -> dict[str, str]:
    """The value of each varied axis in the condition of the figures; `without` leaves one axis out."""
    values = {**(run.condition or {}), **run.study.reference_condition}
    return {axis: value for axis, value in values.items() if axis != without}


def slices_by_key(run: RunFiles, measure: str, key: str) -> list[dict[str, str]]:
    """The slices of a measure by one key, in the reference condition, in the order of the file."""
    slices = [line.slice for line in run.measure_lines if line.measure == measure and [*line.slice] == [key]]
    return [{key: value} for value in dict.fromkeys(slice[key] for slice in slices)]


def score_measures(run: RunFiles) -> list[str]:
    """The score measures: accuracy, the strictest hit@k of open questions, and the score of rubrics."""
    names = run.measure_names
    hits = sorted((name for name in names if name.startswith("hit@")), key=lambda name: int(name[4:]))
    scores = ("accuracy", *hits[:1], "rubric_score", "rubric_score_unclipped")
    return [name for name in scores if name in names] or names[:1]


def ranked_candidates(run: RunFiles) -> list[str]:
    """The candidates by score, highest first: their order in every table."""
    if not (measures := score_measures(run)):
        return run.candidates

    def score(name: str) -> float:
        line = run.find_line(measures[0], name, {})
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
