"""Each option as a yes/no test: sensitivity and specificity in both forms, and why no paper's stand beside them."""

from __future__ import annotations

from wardround.reporting.reference_condition import at_reference, ranked, reference
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.grid import grid
from wardround.reporting.templating import render

OPTION_TESTS = ("sensitivity", "specificity")
FORMS = {
    ("sensitivity", "micro over options"): (
        "Sensitivity, option by option",
        "Right options that were chosen, over all right options. With one right option a question this is accuracy.",
    ),
    ("specificity", "micro over options"): (
        "Specificity, option by option",
        "Wrong options that were not chosen, over all wrong options. With many options it is high for anyone.",
    ),
    ("sensitivity", "macro by letter"): (
        "Sensitivity, mean over letters",
        "By the place of an option in the case's own order.",
    ),
    ("specificity", "macro by letter"): ("Specificity, mean over letters", "The same of the options that are wrong."),
    ("specificity", "macro precision by letter"): (
        "Precision, mean over letters",
        "Share right where a letter was chosen: of the size that ClinBench prints as specificity.",
    ),
}


def option_tests(run: RunFolder) -> Section | None:
    columns = ranked(run)
    rows = []
    for (measure, version), (label, meaning) in FORMS.items():
        slice = at_reference(run, measure)
        lines = {
            line.candidate: line
            for line in run.lines
            if (line.measure, line.version) == (measure, version) and line.slice == slice
        }
        if any(line.value is not None for line in lines.values()):
            rows.append((label, meaning, [lines.get(name) for name in columns]))
    if not rows:
        return None
    told = {"grid": grid(run, "", columns, rows), "held": reference(run)}
    return Section("option-tests", "Sensitivity and specificity", render("option_tests.html", **told))
