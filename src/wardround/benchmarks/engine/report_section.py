"""The report section of a run that `wardround bench` made: the paper's table and figures.

Named studies and drawing are imported on demand: every report asks for this section, and most have none.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from markupsafe import Markup

from wardround.benchmarks.engine.benchmark import STUDY_FILE, benchmark_at
from wardround.reporting.run_files import RunFiles, read_run
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.html import as_html
from wardround.reporting.tables.table import Table

if TYPE_CHECKING:
    from wardround.benchmarks.engine.drawing import Drawing
    from wardround.benchmarks.engine.named_study import NamedStudy

BEYOND = "Beyond the paper"


def paper_table(run: RunFiles) -> Section | None:
    """The section; None for a run of another kind."""
    study = study_of_run(run)
    if study is None or not study.definition.columns:
        return None
    from wardround.benchmarks.engine.drawing import draw

    return make_section(draw(study, run))


def study_of_run(run: RunFiles) -> NamedStudy | None:
    """The named study that a run was made for, as its manifest says."""
    entry = run.manifest.get("named_study")
    name = _name_in_comment(run.folder) if entry is None else entry["name"]
    if not name:
        return None
    from wardround.benchmarks.engine.named_study import find_study, named_studies, studies_of

    if entry is None:
        return named_studies().get(name)
    if folder := entry.get("folder"):
        return studies_of(benchmark_at(Path(folder))).get(name)
    return find_study(name)


def table_of_run(name: str, folder: Path) -> Table:
    """The table of a named study drawn from any run, with published rows where the protocol is the same."""
    from wardround.benchmarks.engine.drawing import draw
    from wardround.benchmarks.engine.named_study import find_study

    return report_table(draw(find_study(name), read_run(folder)))


def _name_in_comment(folder: Path) -> str:
    """The name in the first line of bench.toml, for runs whose manifest has no `named_study`; else empty."""
    file = folder / STUDY_FILE
    first = file.read_text(encoding="utf-8").partition("\n")[0] if file.is_file() else ""
    return first.removeprefix("# ").partition(":")[0]


def report_table(drawing: Drawing) -> Table:
    """The table as reports show it: with published rows."""
    return drawing.with_published()


def make_section(drawing: Drawing, figures: Sequence[Path] | None = None) -> Section:
    """The section with its figures embedded. `figures` are those of the report's table, if they are written already."""
    from wardround.benchmarks.engine.drawing import write_table_figure

    study, table = drawing.study, report_table(drawing)
    with TemporaryDirectory() as scratch:
        if figures is None:
            figures = write_table_figure(table, study, Path(scratch), lambda message: None)
        images = Markup("").join(
            Markup('<p><img alt="{}" src="data:image/svg+xml;base64,{}"></p>').format(
                study.definition.title, b64encode(file.read_bytes()).decode()
            )
            for file in [*figures, *drawing.extra_files]
            if file.suffix == ".svg"
        )
    extra = Markup("").join(
        Markup("<h3>{}</h3>").format(table.title) + as_html(table) for table in drawing.extra_tables
    )
    return Section("paper-table", study.name, _introduction(study, table) + as_html(table) + images + extra)


def _introduction(study: NamedStudy, table: Table) -> Markup:
    definition = study.definition
    has_published = any(row.published for row in table.rows)
    published = ", whose own figures stand below, on the paper's own cases" if has_published else ""
    layout = "" if definition.paper.startswith(BEYOND) else f" Laid out as {definition.paper} of the paper{published}."
    return Markup("<p>{}.{}</p>").format(definition.title, layout)
