"""Section `answer_counts`: the number of marked answers of each candidate."""

from __future__ import annotations

from markupsafe import Markup

from wardround.reporting import RunFiles, Section


def answer_counts(run: RunFiles) -> Section | None:
    counts = run.all_marks.group_by("candidate").len().sort("candidate").collect()
    if counts.is_empty():
        return None
    rows = Markup("").join(Markup("<tr><th>{}</th><td>{}</td></tr>").format(*row) for row in counts.iter_rows())
    return Section("answer-counts", "Marked answers", Markup("<table>{}</table>").format(rows))
