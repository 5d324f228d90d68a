"""Image quality: the effect of degraded images on accuracy, as a table and in sentences."""

from markupsafe import Markup

from wardround.measuring.engine.slices import in_order
from wardround.reporting.numbers import number
from wardround.reporting.run_files import ComparisonLine, RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.html import as_html
from wardround.reporting.tables.measured import ColumnSpec, RunLines, measured_table

CLEAN = "L0"


def image_quality(run: RunFiles) -> Section | None:
    """Accuracy at each severity and its paired change from the clean image; None if nothing was degraded."""
    measured = {
        line.slice["severity"]
        for line in run.measure_lines
        if line.measure == "accuracy" and list(line.slice) == ["severity"] and "+" not in line.slice["severity"]
    }
    severities = in_order("severity", measured)
    if not measured - {CLEAN}:
        return None
    columns = [ColumnSpec(severity, "accuracy", "Accuracy (%)", {"severity": severity}) for severity in severities]
    lines = RunLines(run)
    changes = [
        ColumnSpec(severity, "accuracy", f"Change from {CLEAN} (points)", {"severity": severity}, {"severity": CLEAN})
        for severity in severities
        if severity != CLEAN
    ]
    changes = [spec for spec in changes if any(lines.find_change(spec, name) for name in run.candidates)]
    table, _ = measured_table(run, "", ("candidate",), [*columns, *changes])
    worst = changes[-1] if changes else None
    sentences = [_sentence(run, name, lines.find_change(worst, name) if worst else None) for name in run.candidates]
    intro = f"{CLEAN} is the original image."
    if changes:
        intro += " Changes are paired by question with the clean image."
    if note := severity_note(run):
        intro += f" {note}"
    items = Markup("").join(Markup("<li>{}</li>").format(sentence) for sentence in sentences if sentence)
    text = Markup("<p>{}</p>{}").format(intro, Markup("<ul>{}</ul>").format(items) if items else "")
    return Section("image-quality", "Image quality", text + as_html(table))


def severity_note(run: RunFiles) -> str | None:
    """The severity profile with which images were degraded; None if none were."""
    values = run.study_settings.get("conditions", {}).get("degradation", "none")
    if set([values] if isinstance(values, str) else values) <= {"none"}:
        return None
    severities = run.manifest.get("severities") or {}
    if not severities.get("profile"):
        return "Severity profile of the degraded images: not recorded (they are stored degraded)."
    note = f"Severity profile of the degraded images: {severities['profile']}, version {severities['version']}"
    if stored := severities.get("stored"):
        note += f"; of those that were stored degraded: {stored['profile']}, version {stored['version']}"
    return f"{note}."


def _sentence(run: RunFiles, name: str, change: ComparisonLine | None) -> str:
    if name in run.text_only:
        return f"{name} does not see images, so degraded ones are not asked of it."
    if change is None or change.value is None or change.low is None or change.high is None:
        return ""
    points = f"{number(100 * abs(change.value))} points"
    if change.low <= 0 <= change.high:
        return f"{name}: no change beyond chance at {change.a} ({points} {'more' if change.value > 0 else 'less'})."
    return f"{name} {'gains' if change.value > 0 else 'loses'} {points} of accuracy at {change.a}."
