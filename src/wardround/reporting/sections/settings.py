"""Settings that took effect: the verdict on every setting of every candidate."""

from markupsafe import Markup

from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.html import as_html
from wardround.reporting.tables.settings_table import TITLE, settings_table
from wardround.running.settings.verdict import verdicts_of

ACCEPTED = Markup(
    "<p>The run was started with <code>--accept-ignored</code>: every section names the settings without effect.</p>\n"
)


def settings(run: RunFiles) -> Section | None:
    """The verdicts of probe questions and of the run's own answers; None for a run without any."""
    table = settings_table({name: verdicts_of(entry) for name, entry in run.candidate_entries.items()})
    if table is None:
        return None
    accepted = ACCEPTED if run.manifest.get("accepted_ignored") else Markup("")
    return Section("settings", TITLE, accepted + as_html(table))
