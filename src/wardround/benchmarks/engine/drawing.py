"""What a named study makes of a run: the paper's table, its figure, and the output of its function in sections.py."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.literature import literature_notes
from wardround.benchmarks.engine.named_study import NamedStudy, StudyTemplate
from wardround.benchmarks.engine.published_rows import add_published_rows
from wardround.benchmarks.engine.requirements import lacking_stages
from wardround.benchmarks.engine.section_output import Note, write_chart
from wardround.reporting.figures.table_figure import figure
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.image_quality import severity_note
from wardround.reporting.tables.csv_text import as_csv
from wardround.reporting.tables.latex import as_latex
from wardround.reporting.tables.markdown import as_markdown
from wardround.reporting.tables.measured import ColumnSpec, measured_table
from wardround.reporting.tables.table import Table
from wardround.reporting.tables.text_only import mark_text_only


@dataclass(frozen=True)
class Drawing:
    """The paper's table with the run's own rows, and the tables, files and messages of the section function."""

    study: NamedStudy
    run: RunFiles
    table: Table
    specs: list[ColumnSpec]
    extra_tables: list[Table]
    extra_files: list[Path]
    messages: list[str]

    def with_published(self) -> Table:
        """The table with the paper's rows, where there are any."""
        published = self.study.published
        if published is None:
            return self.table
        settings, lacking = self.run.study_settings, lacking_stages(self.run, self.study.definition.chain_stages)
        return add_published_rows(self.table, self.specs, self.study.definition, published, settings, lacking)


def draw(study: NamedStudy, run: RunFiles) -> Drawing:
    """Draws a study from its run; files of the section function are written into the run folder."""
    table, specs = _draw_table(study, run)
    tables: list[Table] = []
    files: list[Path] = []
    messages: list[str] = []
    if study.definition.drawn_from == "run":
        tables, files = study.benchmark.section_function(study.key)(run, run.folder, messages.append)
        tables = [mark_text_only(extra, run) for extra in tables]
    return Drawing(study, run, table, specs, tables, files, messages)


def _draw_table(study: NamedStudy, run: RunFiles) -> tuple[Table, list[ColumnSpec]]:
    title = study.label
    if study.template.doses:
        title = title.replace("one type", run.study_settings["conditions"]["degradation"][-1].partition("@")[0])
    table, specs = measured_table(run, title, tuple(study.definition.rows), study.column_specs)
    severity = severity_note(run)
    notes = [
        *table.notes,
        *([severity] if severity else []),
        *literature_notes(study.template, run.study_settings),
        *study.definition.choices,
    ]
    lacking = lacking_stages(run, study.definition.chain_stages)
    notes += [f"{measure.upper()} is over the stages there are: {reason}." for measure, reason in lacking.items()]
    return replace(table, notes=notes), specs


def write_table(table: Table, study: NamedStudy, folder: Path, note: Note) -> list[Path]:
    """Writes table.csv, table.tex and table.md, and the figure if the study has one."""
    return [*write_table_files(table, folder, "table"), *write_table_figure(table, study, folder, note)]


def write_table_figure(table: Table, study: NamedStudy, folder: Path, note: Note) -> list[Path]:
    """Writes figure.svg and figure.png; without the package that this needs, a message says so."""
    layout = study.definition.figure
    if layout is None:
        return []
    chart = figure(table, **layout.model_dump())
    return write_chart(chart, folder, "figure", note)


def write_table_files(table: Table, folder: Path, stem: str) -> list[Path]:
    """Writes a table as CSV, LaTeX and Markdown."""
    files = []
    for suffix, text in (("csv", as_csv(table)), ("tex", as_latex(table)), ("md", as_markdown(table))):
        files.append(folder / f"{stem}.{suffix}")
        files[-1].write_text(text, encoding="utf-8", newline="\n")
    return files


def changed_protocol(template: StudyTemplate, settings: Mapping[str, Any]) -> str | None:
    """What in a run's study differs from the paper's; images that are stored degraded count as assigned."""
    asked = {
        axis: [values] if isinstance(values, str) else values for axis, values in settings.get("conditions", {}).items()
    }
    conditions = dict(template.conditions)
    if template.doses or (conditions.get("degradation"), asked.get("degradation")) == (["assigned"], ["stored"]):
        conditions["degradation"] = asked.get("degradation", [])
    for part, own, paper in (
        ("questions", settings.get("questions", ["all"]), template.questions),
        ("sampling", settings.get("sampling", {}), template.sampling.explicit_sampling),
        ("conditions", asked, conditions),
    ):
        if own != paper:
            return f"{part} of this run: not as in the paper"
    return None
