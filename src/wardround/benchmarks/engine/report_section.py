"""What a named study prints and draws, in the report of the run that `wardround bench` made of it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from markupsafe import Markup

from wardround.benchmarks.engine.bench import STUDY_FILE, Beside, drawn, drawn_beside, written
from wardround.benchmarks.engine.named_study import Entry, entries
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.html import as_html
from wardround.reporting.tables.table import Table

BEYOND = "Beyond the paper"


def paper_table(run: RunFolder) -> Section | None:
    """Nothing for a run of another kind; without published rows where its study is not the paper's any more."""
    name = _named(run)
    entry = entries().get(name)
    if entry is None or not entry.columns:
        return None
    changed = changed_protocol(entry, run.declared)
    table = drawn(name, entry, run.folder, published=changed is None)
    if changed is not None and entry.published:
        table = replace(table, notes=[*table.notes, f"Published figures are not shown: {changed}."])
    beside = ", whose own figures stand below, on the paper's own cases" if any(r.published for r in table.rows) else ""
    laid_out = "" if entry.paper.startswith(BEYOND) else f" Laid out as {entry.paper} of the paper{beside}."
    told = Markup("<p>{}.{}</p>").format(entry.title, laid_out)
    return Section("paper-table", name, told + as_html(table) + _drawings(name, entry, table, run))


def _drawings(name: str, entry: Entry, table: Table, run: RunFolder) -> Markup:
    """The figure of the table, and what the study draws beside it; without figures where their package is missing."""
    beside = drawn_beside(name, run.folder) if entry.drawn_from == "run" else Beside([], [], [])
    shown = Markup("")
    with TemporaryDirectory() as scratch:
        own = written(table, entry, Path(scratch), lambda text: None) if entry.figure is not None else []
        for file in [*own, *beside.files]:
            if file.suffix == ".svg":
                data = b64encode(file.read_bytes()).decode()
                shown += Markup('<p><img alt="{}" src="data:image/svg+xml;base64,{}"></p>').format(entry.title, data)
    for each in beside.tables:
        shown += Markup("<h3>{}</h3>").format(each.title) + as_html(each)
    return shown


def _named(run: RunFolder) -> str:
    """The study's name, as the first line of the file that bench wrote has it; empty where there is none."""
    file = run.folder / STUDY_FILE
    if not file.is_file():
        return ""
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition(":")[0]


def changed_protocol(entry: Entry, declared: Mapping[str, Any]) -> str | None:
    """What of a study is not as the paper has it; images that are stored degraded count as assigned."""
    assert entry.put is not None
    asked = {
        axis: [values] if isinstance(values, str) else values for axis, values in declared.get("conditions", {}).items()
    }
    wanted = dict(entry.put.conditions)
    if entry.put.doses or (wanted.get("degradation"), asked.get("degradation")) == (["assigned"], ["stored"]):
        wanted["degradation"] = asked.get("degradation", [])
    for what, own, paper in (
        ("questions", declared.get("questions", ["all"]), entry.put.questions),
        ("sampling", declared.get("sampling", {}), entry.put.sampling.given),
        ("conditions", asked, wanted),
    ):
        if own != paper:
            return f"{what} of this run: not as in the paper"
    return None
