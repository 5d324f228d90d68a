"""Each option as a yes/no test: sensitivity and specificity, why no published ones are shown, and decision curves."""

import polars as pl

from wardround.measuring.measures.votes import THRESHOLDS
from wardround.reporting.labels import measure_meaning, measure_title
from wardround.reporting.numbers import percent
from wardround.reporting.reference_condition import ranked_candidates, reference_values
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.grid import Grid, grid
from wardround.reporting.templating import render

NET_BENEFITS = tuple(f"net_benefit@{threshold}" for threshold in THRESHOLDS)
OPTION_TESTS = ("sensitivity", "specificity", "precision_by_letter", *NET_BENEFITS)
FORMS = {  # in the order in which they are shown; those over all options have words of their own
    "sensitivity": (
        "Sensitivity, option by option",
        "Share of right options that were chosen. With one right option per question this is accuracy.",
    ),
    "specificity": (
        "Specificity, option by option",
        "Share of wrong options that were not chosen. With many options it is high for every candidate.",
    ),
    **{
        name: (measure_title(name), measure_meaning(name))
        for name in ("sensitivity_by_letter", "specificity_by_letter", "precision_by_letter")
    },
}


def option_tests(run: RunFiles) -> Section | None:
    columns = ranked_candidates(run)
    rows = []
    for measure, (label, meaning) in FORMS.items():
        lines = [run.find_line(measure, name, {}) for name in columns]
        if any(line is not None and line.value is not None for line in lines):
            rows.append((label, meaning, lines))
    if not rows:
        return None
    context = {"grid": grid(run, "", columns, rows), "fixed": reference_values(run), "curve": _decision_curve(run)}
    return Section("option-tests", "Sensitivity and specificity", render("sections/option_tests.html", **context))


def _decision_curve(run: RunFiles) -> Grid | None:
    """The net benefit of every candidate at each threshold, beside that of acting on all options."""
    columns = ranked_candidates(run)
    wrong_options = _mean_wrong_options(run)
    rows = []
    for threshold, measure in zip(THRESHOLDS, NET_BENEFITS, strict=True):
        lines = [run.find_line(measure, name, {}) for name in columns]
        if wrong_options is not None and any(line is not None and line.value is not None for line in lines):
            of_all = 1 - threshold / (100 - threshold) * wrong_options
            rows.append((f"{threshold}%", f"acting on all options: {percent(of_all)}", lines))
    return grid(run, "Threshold", columns, rows) if rows else None


def _mean_wrong_options(run: RunFiles) -> float | None:
    """The mean number of wrong options of the questions, in the reference condition."""
    marks = run.reference_marks
    if "k" not in marks.collect_schema():
        return None
    questions = marks.filter(pl.col("k").is_not_null()).select("case", "question", "k").unique(("case", "question"))
    count = questions.select(pl.col("k").cast(pl.Float64).mean()).collect().item()
    return None if count is None else float(count) - 1
