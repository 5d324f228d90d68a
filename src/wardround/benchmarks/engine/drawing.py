"""What a named study makes of a run: the paper's table, its figure, and the output of its function in sections.py."""

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from wardround.benchmarks.engine.literature import literature_notes, name_agents
from wardround.benchmarks.engine.named_study import NamedStudy
from wardround.benchmarks.engine.published_rows import (
    RunProtocol,
    add_published_rows,
    check_published_rows,
    without_published_rows,
)
from wardround.benchmarks.engine.requirements import lacking_stages
from wardround.benchmarks.engine.section_output import Note, write_chart
from wardround.marking.parser.choice import STRICT
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.image_quality import severity_note
from wardround.reporting.tables.candidate_groups import add_averages, candidate_groups, group_published
from wardround.reporting.tables.csv_text import as_csv
from wardround.reporting.tables.latex import as_latex
from wardround.reporting.tables.markdown import as_markdown
from wardround.reporting.tables.measured import ColumnSpec, measured_table
from wardround.reporting.tables.remarks import add_remarks
from wardround.reporting.tables.run_notes import cutoff_notes, image_size_note, own_article_notes
from wardround.reporting.tables.table import Cell, Table
from wardround.reporting.wording import wording_note

READ_STRICTLY, READ_DIFFERENTLY = "Read strictly", "Read differently"  # headings of the columns of readings
CARRIED = {
    "own": "the candidate's own earlier answers",
    "gold": "correct earlier answers, so that an error cannot spread",
    "wrong": "wrong earlier answers, drawn once",
    "none": "no earlier answers",
}


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

    def extra_tables_without_published(self) -> list[Table]:
        """The tables of the section function that have rows of the run, with these alone."""
        return [own for table in self.extra_tables if (own := without_published_rows(table))]

    def with_published(self) -> Table:
        """The table with the paper's rows, or why it has none."""
        published = self.study.published
        if published is None:
            return self.table
        definition = self.study.definition
        protocol = RunProtocol.of_run(self.run, lacking_stages(self.run, definition.chain_stages))
        table = add_published_rows(self.table, self.specs, definition, published, protocol)
        return group_published(table, published.groups, self.study.groups)


def draw(study: NamedStudy, run: RunFiles) -> Drawing:
    """Draws a study from its run; files of the section function are written into the run folder."""
    study = name_agents(study, run)
    table, specs = _draw_table(study, run)
    tables: list[Table] = []
    files: list[Path] = []
    messages: list[str] = []
    if study.definition.drawn_from == "run":
        tables, files = study.benchmark.section_function(study.key)(run, run.folder, messages.append)
        protocol = RunProtocol.of_run(run, {})
        tables = [kept for extra in tables if (kept := check_published_rows(extra, study.definition, protocol))]
        cutoffs = cutoff_notes(run) if "cutoffs" in study.run_notes else []
        notes = [*cutoffs, severity_note(run), wording_note(run.manifest)]
        tables = [
            add_remarks(replace(extra, notes=[*extra.notes, *filter(None, notes)]), run) if _has_own(extra) else extra
            for extra in tables
        ]
    return Drawing(study, run, table, specs, tables, files, messages)


def _has_own(table: Table) -> bool:
    """Whether a table has rows of the run."""
    return not table.rows or any(not row.published for row in table.rows)


def _draw_table(study: NamedStudy, run: RunFiles) -> tuple[Table, list[ColumnSpec]]:
    title = study.label
    if study.template.doses:
        title = title.replace("one type", run.study_settings["conditions"]["degradation"][-1].partition("@")[0])
    table, specs = measured_table(run, title, tuple(study.definition.rows), _with_readings(study.column_specs, run))
    groups, over_all = candidate_groups(run, study.groups), study.definition.average
    table = add_averages(table, specs, run, groups, over_all=over_all)
    severity = severity_note(run)
    notes = [
        *table.notes,
        *filter(None, (severity, wording_note(run.manifest), _parser_note(study, run))),
        *literature_notes(study.template, run.study_settings),
        *_carry_notes(study, run),
        *(image_size_note(run) if "image_size" in study.run_notes else []),
        *(cutoff_notes(run) if "cutoffs" in study.run_notes else []),
        *(own_article_notes(run) if "own_articles" in study.run_notes else []),
        *study.definition.choices,
    ]
    lacking = lacking_stages(run, study.definition.chain_stages)
    notes += [f"{measure.upper()} is over the stages there are: {reason}." for measure, reason in lacking.items()]
    return replace(_count_readings(table), notes=notes), specs


def _with_readings(specs: list[ColumnSpec], run: RunFiles) -> list[ColumnSpec]:
    """If a paper's rule marks: after the paper's columns, accuracies read strictly and the answers read differently.

    A table by capability or the like gets the strict column of its mean alone.
    """
    if run.manifest.get("parser", STRICT) == STRICT:
        return specs
    strict = [
        replace(spec, over=READ_STRICTLY, heading=spec.over or spec.heading, measure="accuracy_strict", published=None)
        for spec in specs
        if spec.measure == "accuracy" and not spec.minus and spec.by is None
    ]
    strict.append(ColumnSpec("Answers", "parsers_differ", over=READ_DIFFERENTLY, unit="count"))
    end = max((place for place, spec in enumerate(specs, 1) if spec.published), default=len(specs))
    return [*specs[:end], *strict, *specs[end:]]


def _count_readings(table: Table) -> Table:
    """The rate of answers that are read differently as their number."""
    places = [place for place, column in enumerate(table.columns) if column.over == READ_DIFFERENTLY]
    rows = []
    for row in table.rows:
        cells = list(row.cells)
        for place in places:
            value, n = cells[place].value, cells[place].n
            cells[place] = Cell() if value is None or n is None or row.is_average else Cell(round(value * n), n=n)
        rows.append(replace(row, cells=cells))
    return replace(table, rows=rows)


def _parser_note(study: NamedStudy, run: RunFiles) -> str:
    """Which rule read the choices, if it is not ours or not the paper's, and how often ours reads otherwise."""
    parser, paper = run.manifest.get("parser", STRICT), study.template.parser
    if parser == STRICT:
        columns = "the paper's columns have the strict reading"
        return f"Choices are read by `{STRICT}`, not by the paper's rule (`{paper}`): {columns}." if paper else ""
    readings = run.marks.filter(pl.col("strict_option").is_not_null())
    differ = pl.col("strict_option") != pl.col("option").fill_null(-1)
    count, total = readings.select(differ.sum(), pl.len()).collect().row(0)
    if parser == paper:
        rule = f"the rule that the paper states (`{parser}`)"
    elif parser == f"{study.benchmark.name}-paper":
        rule = f"`{parser}`: only as the paper's prompt demands them, for which the paper states no rule"
    else:
        rule = f"`{parser}`, which is not the rule of this paper"
    return f"Choices are read by {rule}; the strict parser reads {count:,} of {total:,} answers differently."


def _carry_notes(study: NamedStudy, run: RunFiles) -> list[str]:
    """Which earlier answers the stages of chains were given, if the study does not vary it."""
    if (
        "carry" in study.template.conditions
        or not run.all_marks.select(pl.col("chain").is_not_null().any()).collect().item()
    ):
        return []
    (carry,) = run.declared_values("carry")
    return [f"Each stage of a chain is given {CARRIED[carry]} (`--carry {carry}`)."]


def write_table(table: Table, study: NamedStudy, folder: Path, note: Note) -> list[Path]:
    """Writes table.csv, table.tex and table.md, and the figure if the study has one."""
    return [*write_table_files(table, folder, "table"), *write_table_figure(table, study, folder, note)]


def write_table_figure(table: Table, study: NamedStudy, folder: Path, note: Note) -> list[Path]:
    """Writes figure.svg and figure.png, and figure-2 if there are two ways to draw it.

    If there is too little for the first way, a message says so and the second is the figure. Without the package that
    this needs, a message says so.
    """
    layout = study.definition.figure
    if layout is None:
        return []
    from wardround.reporting.figures.table_figure import figure

    shown, settings = _without_readings(table), layout.model_dump(exclude={"mark", "also"})
    charts = [figure(shown, mark, **settings) for mark in (layout.mark, layout.also) if mark is not None]
    drawn = [chart for chart in charts if chart is not None]
    if charts[0] is None and drawn:
        note(f"{study.name}: no {layout.mark} chart: it needs three candidates, or three headings, with figures")
    files: list[Path] = []
    for stem, chart in zip(("figure", "figure-2"), drawn, strict=False):
        files += write_chart(chart, folder, stem, note)
    return files


def _without_readings(table: Table) -> Table:
    """The table without the columns of another reading, which no figure shows."""
    kept = [place for place, c in enumerate(table.columns) if c.over not in (READ_STRICTLY, READ_DIFFERENTLY)]
    rows = [replace(row, cells=[row.cells[place] for place in kept]) for row in table.rows]
    return replace(table, columns=[table.columns[place] for place in kept], rows=rows)


def write_table_files(table: Table, folder: Path, stem: str) -> list[Path]:
    """Writes a table as CSV, LaTeX and Markdown."""
    files = []
    for suffix, text in (("csv", as_csv(table)), ("tex", as_latex(table)), ("md", as_markdown(table))):
        files.append(folder / f"{stem}.{suffix}")
        files[-1].write_text(text, encoding="utf-8", newline="\n")
    return files
