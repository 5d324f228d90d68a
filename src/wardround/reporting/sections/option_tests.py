"""Each option as a yes/no test: sensitivity and specificity in two forms, and why no published ones are shown."""

from wardround.reporting.labels import measure_meaning, measure_title
from wardround.reporting.reference_condition import ranked_candidates, reference_values
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.grid import grid
from wardround.reporting.templating import render

OPTION_TESTS = ("sensitivity", "specificity", "precision_by_letter")
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
    context = {"grid": grid(run, "", columns, rows), "fixed": reference_values(run)}
    return Section("option-tests", "Sensitivity and specificity", render("sections/option_tests.html", **context))
