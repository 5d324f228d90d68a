"""What tables and sections say of settings that a candidate's server ignored or refused."""

from dataclasses import replace

from markupsafe import Markup

from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section

NOTE = Markup('<p class="setting-label" role="note">{}</p>\n')


def setting_notes(run: RunFiles) -> list[str]:
    """One sentence per candidate whose figures were made without a setting that the study asks for."""
    notes = []
    for name, verdicts in run.missing_settings.items():
        labels = "; ".join(f"{verdict.label} (asked for: {verdict.asked}; {verdict.evidence})" for verdict in verdicts)
        notes.append(f"Settings without effect, {name}: {labels}.")
    return notes


def with_setting_notes(section: Section, run: RunFiles) -> Section:
    """The section, headed by the settings that had no effect."""
    notes = Markup("").join(NOTE.format(note) for note in setting_notes(run))
    return replace(section, html=notes + section.html)
