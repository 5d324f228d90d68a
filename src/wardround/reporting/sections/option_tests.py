"""Each option as a yes/no test: sensitivity and specificity in two forms, and why no published ones are shown."""

from wardround.reporting.reference_condition import ranked_candidates, reference_slice, slice_at_reference
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.grid import grid
from wardround.reporting.templating import render

OPTION_TESTS = ("sensitivity", "specificity")
FORMS = {
    ("sensitivity", "micro over options"): (
        "Sensitivity, option by option",
        "Share of right options that were chosen. With one right option per question this is accuracy.",
    ),
    ("specificity", "micro over options"): (
        "Specificity, option by option",
        "Share of wrong options that were not chosen. With many options it is high for every candidate.",
    ),
    ("sensitivity", "macro by letter"): (
        "Sensitivity, mean over letters",
        "By the position of an option in the case's own order.",
    ),
    ("specificity", "macro by letter"): ("Specificity, mean over letters", "The same for wrong options."),
    ("specificity", "macro precision by letter"): (
        "Precision, mean over letters",
        "Share right among choices of a letter: similar in size to the specificity that ClinBench prints.",
    ),
}


def option_tests(run: RunFiles) -> Section | None:
    columns = ranked_candidates(run)
    rows = []
    for (measure, version), (label, meaning) in FORMS.items():
        slice = slice_at_reference(run, measure)
        lines = {
            line.candidate: line
            for line in run.measure_lines
            if (line.measure, line.version) == (measure, version) and line.slice == slice
        }
        if any(line.value is not None for line in lines.values()):
            rows.append((label, meaning, [lines.get(name) for name in columns]))
    if not rows:
        return None
    context = {"grid": grid(run, "", columns, rows), "fixed": reference_slice(run)}
    return Section("option-tests", "Sensitivity and specificity", render("sections/option_tests.html", **context))
