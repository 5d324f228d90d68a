"""Adds the paper's figures to a run's table: marked as published, and by one rule for all tables.

Withheld, because the figures would measure something else: a definition that says so; other questions, sampling or
conditions; another severity profile, where images are degraded; other retrievers, under RAG; another agent, under
agent retrieval; the offline judge, for judged measures; another number of trials, for measures of repeated answers;
chains that lack stages.
Printed as a note, because the same is measured by other means: wording, parser, estimated severities, index, another
model as judge, and the number of trials of a mean.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wardround.asking.prompts import OWN
from wardround.benchmarks.engine.literature import other_retrievers
from wardround.benchmarks.engine.named_study import StudyDefinition, StudyTemplate
from wardround.benchmarks.engine.published import PublishedTable
from wardround.marking.parser.choice import STRICT
from wardround.reporting.judge_note import is_judged
from wardround.reporting.numbers import count, join_words
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.measured import ColumnSpec
from wardround.reporting.tables.table import Cell, Table, TableRow
from wardround.reporting.wording import prompts_of_run

# measures of repeated answers: their value depends on the number of trials
OF_REPEATED = ("worst@", "majority", "confidence", "vote_share", "calibration_shift", "dke", "ece", "brier", "auroc")
CLEAN = "L0"
PUBLISHED_NOTE = "Published "  # how notes on published rows begin
ANY_COLUMN = ColumnSpec("", "accuracy", published="")


@dataclass(frozen=True)
class RunProtocol:
    """What a run did, as its study and its manifest say. `lacking` says of measures what its chains lack."""

    settings: Mapping[str, Any]
    manifest: Mapping[str, Any] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_run(cls, run: RunFiles, lacking: Mapping[str, str]) -> "RunProtocol":
        return cls(run.study_settings, run.manifest, lacking)


def add_published_rows(
    table: Table, specs: list[ColumnSpec], definition: StudyDefinition, published: PublishedTable, run: RunProtocol
) -> Table:
    """The table with the published rows below its own, what differs from them, and why some columns have none."""
    reasons = [withholding_reason(spec, definition, run) for spec in specs]
    names = [spec.published if reason is None else None for spec, reason in zip(specs, reasons, strict=True)]
    names = [name if name in published.columns else None for name in names]
    if not any(names):
        listed = list(dict.fromkeys(filter(None, reasons))) or ["no column of this table is in the paper's"]
        return replace(table, notes=[*table.notes, f"Published figures are not shown: {'; '.join(listed)}."])
    rows = [
        TableRow(
            (label, *("" for _ in table.labels[1:])),
            [_cell(published, label, name, spec) for name, spec in zip(names, specs, strict=True)],
            published=True,
        )
        for label in published.labels
    ]
    notes = [f"Published rows are those of {published.source}, {definition.paper}, on the paper's own cases."]
    shown = [spec for name, spec in zip(names, specs, strict=True) if name]
    notes += _difference_notes(shown, definition, run)
    for reason in dict.fromkeys(filter(None, reasons)):
        notes.append(f"No published figures under {_column_names(specs, reasons, reason)}: {reason}.")
    return replace(table, rows=[*table.rows, *rows], notes=[*table.notes, *notes])


def check_published_rows(table: Table, definition: StudyDefinition, run: RunProtocol) -> Table | None:
    """A table that a section function drew: its published rows obey what holds for all columns.

    None if it has published rows alone and these are withheld.
    """
    own = [row for row in table.rows if not row.published]
    if len(own) == len(table.rows) or definition.put is None:
        return table
    changed = changed_protocol(definition.put, run.settings)
    if not own:
        return None if changed else table
    if changed:
        return replace(table, rows=own, notes=[*table.notes, f"Published figures are not shown: {changed}."])
    return replace(table, notes=[*table.notes, *_difference_notes([ANY_COLUMN], definition, run)])


def without_published_rows(table: Table) -> Table | None:
    """The table with the run's own rows, and without the notes on published ones; None if it has no others."""
    own = [row for row in table.rows if not row.published]
    if table.rows and not own:
        return None
    return replace(table, rows=own, notes=[note for note in table.notes if not note.startswith(PUBLISHED_NOTE)])


def withholding_reason(spec: ColumnSpec, definition: StudyDefinition, run: RunProtocol) -> str | None:
    """Why the paper's figures are not shown in a column, or None if they are."""
    if spec.published is None:
        return None
    if not definition.comparable:
        return definition.reason
    for name in (spec.heading, spec.over):
        if name in definition.differs:
            return definition.differs[name]
    template, settings = definition.put, run.settings
    if template is not None and (changed := changed_protocol(template, settings)):
        return changed
    if template is not None and _is_degraded(spec) and (profile := _other_profile(template, run)):
        return f"images were degraded by the profile {profile}, not by {template.severities}"
    if template is not None and spec.slice.get("evidence") == "rag" and (other := other_retrievers(template, settings)):
        return f"the paper searched by {join_words(template.retrievers)}, this run by {join_words(other)}"
    if definition.agent and spec.slice.get("evidence") == "agent":
        return f"the paper's agent was {definition.agent}"
    if is_judged(spec.measure) and _judge(run).get("provider") == "lexical":
        return "the paper's answers were marked by a model, these by the offline judge"
    if spec.measure.startswith(OF_REPEATED) and (trials := _other_trials(definition, run)):
        return trials
    return run.lacking.get(spec.measure)


def differences(spec: ColumnSpec, definition: StudyDefinition, run: RunProtocol) -> list[str]:
    """What else differs between this run and the paper's figures in a column: the notes at the published rows."""
    template, searches = definition.put, str(spec.slice.get("evidence", "")).startswith(("rag", "agent"))
    notes = [_wording_difference(run), _parser_difference(definition, run)]
    if template is not None and _is_degraded(spec) and _severities(run).get("profile"):
        notes.append(f"the paper's severities are not published; this run's are those of {_severities(run)['profile']}")
    if definition.corpus and searches:
        notes.append(f"the paper searched {definition.corpus}, this run {_index_text(run)}")
    if is_judged(spec.measure) and (judge := run.manifest.get("judge") or {}).get("name"):
        notes.append(f"the paper's judge was its own, this run's is {judge['name']}")
    if not spec.measure.startswith(OF_REPEATED):
        notes.append(_other_trials(definition, run))
    return [note for note in notes if note]


def changed_protocol(template: StudyTemplate, settings: Mapping[str, Any]) -> str | None:
    """Questions, sampling or conditions that differ from the paper's; stored degraded images count as assigned."""
    asked = {
        axis: [values] if isinstance(values, str) else values for axis, values in settings.get("conditions", {}).items()
    }
    conditions = dict(template.conditions)
    if template.doses or (conditions.get("degradation"), asked.get("degradation")) == (["assigned"], ["stored"]):
        conditions["degradation"] = asked.get("degradation", [])
    if set(asked.get("evidence", [])) <= set(conditions.get("evidence", [])) and asked.get("evidence"):
        conditions["evidence"] = asked["evidence"]  # searches that the index does not allow are left out
    for part, own, paper in (
        ("questions", settings.get("questions", ["all"]), template.questions),
        ("sampling", settings.get("sampling", {}), template.sampling.explicit_sampling),
        ("conditions", asked, conditions),
    ):
        if own != paper:
            return f"{part} of this run: not as in the paper"
    return None


def _difference_notes(specs: list[ColumnSpec], definition: StudyDefinition, run: RunProtocol) -> list[str]:
    """Every difference once, with the columns that it concerns unless these are all."""
    columns: dict[str, list[ColumnSpec]] = {}
    for spec in specs:
        for difference in differences(spec, definition, run):
            columns.setdefault(difference, []).append(spec)
    notes = []
    for difference, concerned in columns.items():
        place = "" if len(concerned) == len(specs) else f" under {_names(concerned, specs)}"
        notes.append(f"Published figures{place} differ from this run in more than the candidates: {difference}.")
    return notes


def _wording_difference(run: RunProtocol) -> str | None:
    hashes, sources = prompts_of_run(run.manifest, with_judge=False)
    if not hashes:
        return None
    folders = sorted({source for source in sources.values() if source != OWN})
    if folders:
        return f"this run's wording is that of the files of {join_words(folders)}, which may not be the paper's"
    return "the paper's wording is its own, this run's is wardround's"


def _parser_difference(definition: StudyDefinition, run: RunProtocol) -> str | None:
    paper = definition.put.parser if definition.put else None
    own = run.manifest.get("parser", run.settings.get("parser", STRICT))
    if own == (paper or STRICT):
        return None
    stated = f"the paper's choices were read by its rule (`{paper}`)" if paper else "the paper states no such rule"
    return f"{stated}, this run's are read by `{own}`"


def _other_trials(definition: StudyDefinition, run: RunProtocol) -> str | None:
    asked, paper = run.settings.get("trials", 1), definition.put.trials if definition.put else 1
    return f"the paper asked {paper} times, this run {asked}" if asked != paper else None


def _severities(run: RunProtocol) -> Mapping[str, Any]:
    """The profile by which this run degraded images; empty if they were stored degraded."""
    asked = run.settings.get("conditions", {}).get("degradation", [])
    return {} if asked in ("stored", ["stored"]) else run.manifest.get("severities") or {}


def _other_profile(template: StudyTemplate, run: RunProtocol) -> str | None:
    profile = _severities(run).get("profile") or run.settings.get("severities")
    return profile if template.severities and profile not in (None, template.severities) else None


def _is_degraded(spec: ColumnSpec) -> bool:
    """Whether a column is of degraded images."""
    values = [slice.get("severity", CLEAN) for slice in (spec.slice, spec.minus)]
    return any(value != CLEAN for value in values) or bool({"type", "category"} & {*spec.slice, spec.by})


def _judge(run: RunProtocol) -> Mapping[str, Any]:
    return run.manifest.get("judge") or run.settings.get("judge") or {}


def _index_text(run: RunProtocol) -> str:
    documents = (run.manifest.get("literature") or {}).get("documents")
    return "its own index" if documents is None else f"an index of {count(documents)} documents"


def _column_names(specs: list[ColumnSpec], reasons: list[str | None], reason: str) -> str:
    """The columns with this reason."""
    return _names([spec for spec, other in zip(specs, reasons, strict=True) if other == reason], specs)


def _names(concerned: Iterable[ColumnSpec], specs: list[ColumnSpec]) -> str:
    """Columns by heading alone if all columns of that heading are concerned, else with the heading over them."""
    concerned = list(concerned)
    others = {spec.heading for spec in specs if spec not in concerned}
    names = [f"{spec.over} {spec.heading}".strip() if spec.heading in others else spec.heading for spec in concerned]
    return ", ".join(dict.fromkeys(names))


def _cell(published: PublishedTable, label: str, name: str | None, spec: ColumnSpec) -> Cell:
    value = published.value(label, name) if name else None
    if value is None:
        return Cell()
    in_percent = published.info.unit in ("percent", "mixed") and spec.unit == "percent"
    return Cell(value / 100 if in_percent else value)
