"""Image quality: what degraded images do to each candidate's accuracy, in a table and in sentences."""

from __future__ import annotations

from markupsafe import Markup

from wardround.measuring.engine.slices import in_order
from wardround.reporting.numbers import number
from wardround.reporting.run_files import Comparison, RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.html import as_html
from wardround.reporting.tables.measured import Lines, Wanted, measured_table

CLEAN = "L0"


def image_quality(run: RunFolder) -> Section | None:
    """Accuracy at each severity and its change from each question's own clean twin; None where nothing was degraded."""
    there = {
        line.slice["severity"]
        for line in run.lines
        if line.measure == "accuracy" and list(line.slice) == ["severity"] and "+" not in line.slice["severity"]
    }
    severities = in_order("severity", there)
    if not there - {CLEAN}:
        return None
    wanted = [Wanted(each, "accuracy", "Accuracy (%)", {"severity": each}) for each in severities]
    lines = Lines(run)
    changes = [
        Wanted(each, "accuracy", f"Change from {CLEAN} (points)", {"severity": each}, {"severity": CLEAN})
        for each in severities
        if each != CLEAN
    ]
    changes = [each for each in changes if any(lines.change(each, name) for name in run.candidates)]
    table, _ = measured_table(run, "", ("candidate",), [*wanted, *changes])
    worst = changes[-1] if changes else None
    said = filter(None, [_said(run, name, lines.change(worst, name) if worst else None) for name in run.candidates])
    told = f"{CLEAN} is the image as it was."
    if changes:
        told += " Each change is from the same question on the clean image."
    listed = Markup("").join(Markup("<li>{}</li>").format(each) for each in said)
    shown = Markup("<p>{}</p>{}").format(told, Markup("<ul>{}</ul>").format(listed) if listed else "")
    return Section("image-quality", "Image quality", shown + as_html(table))


def _said(run: RunFolder, name: str, change: Comparison | None) -> str:
    if not run.about.get(name, {}).get("sees", True):
        return (
            f"{name} does not see images. It gets the same text whatever the image is like, "
            "so its score stays the same: a floor for the others."
        )
    if change is None or change.value is None or change.low is None or change.high is None:
        return ""
    points = f"{number(100 * abs(change.value))} points"
    if change.low <= 0 <= change.high:
        return f"{name}: at {change.a} no change beyond chance ({points} {'more' if change.value > 0 else 'less'})."
    return f"{name} {'gains' if change.value > 0 else 'loses'} {points} of accuracy at {change.a}."
