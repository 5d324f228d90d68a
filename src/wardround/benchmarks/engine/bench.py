"""Runs a named study: the paper's table on any cases and candidates, with intervals, in every format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from wardround.api import run_study
from wardround.benchmarks.engine.bench_sets import run_on_each
from wardround.benchmarks.engine.composition import composed
from wardround.benchmarks.engine.fitting import lacking
from wardround.benchmarks.engine.inventory import Holds
from wardround.benchmarks.engine.literature import asks_for_literature, literature_notes, literature_of
from wardround.benchmarks.engine.named_study import Entry, find, headings_of
from wardround.benchmarks.engine.published import load
from wardround.benchmarks.engine.published_rows import with_published
from wardround.benchmarks.engine.study_file import as_toml, study_table
from wardround.cases.set import CaseSet
from wardround.cases.splitting import DEV
from wardround.core.errors import WardroundError
from wardround.core.study import study_from
from wardround.degrade.types import type_named
from wardround.reporting.figures.table_figure import figure, write_figure
from wardround.reporting.run_files import read_run
from wardround.reporting.tables.csv_text import as_csv
from wardround.reporting.tables.latex import as_latex
from wardround.reporting.tables.markdown import as_markdown
from wardround.reporting.tables.measured import measured_table
from wardround.reporting.tables.table import Table

STUDY_FILE = "bench.toml"  # what was asked for; the run keeps its own copy as study.toml


@dataclass(frozen=True)
class Benched:
    """What came of a named study: its tables, the files written, and how the run ended."""

    name: str
    tables: list[Table]
    folder: Path | None = None
    files: list[Path] = field(default_factory=list)
    exit_code: int = 0
    status: str = "complete"
    why: str | None = None

    def told(self) -> dict[str, Any]:
        """As JSON: every cell with its figure, interval and n."""
        return {
            "study": self.name,
            "run": str(self.folder) if self.folder else None,
            "status": self.status,
            "why": self.why,
            "tables": [asdict(table) for table in self.tables],
            "files": [str(file) for file in self.files],
        }


def bench(
    name: str,
    *,
    cases: Path,
    candidates: list[dict[str, Any]],
    judge: Mapping[str, Any] | None = None,
    runs: Path | None = None,
    answers: Path | None = None,
    trials: int | None = None,
    type: str | None = None,
    encoder: str | None = None,
    index: str | None = None,
    reranker: str | None = None,
    logprobs: bool = False,
    published: bool = False,
    note: Callable[[str], None] = print,
) -> Benched:
    """Runs a named study or goes on with it, and writes its table (and figure) into the run folder.

    `type` is the degradation of a dose-response curve, `encoder` what looks at the images of a feature map, `index`
    where evidence comes from, `reranker` what reads its hits again. With `logprobs` votes are not cast but expected
    from one request's log-probabilities.
    """
    name, entry = find(name)
    if entry.cannot:
        raise WardroundError(f"{name} {entry.cannot}")
    if entry.composition:
        return Benched(name, composed(CaseSet.open(cases), name, entry, published=published))
    if entry.drawn_from == "cases":
        folder = (runs or Path("runs")) / name.replace("/", "-")
        tables, files = drawer(name)(CaseSet.open(cases), folder, encoder, note)
        return Benched(name, [replace(each, notes=[*each.notes, *entry.choices]) for each in tables], folder, files)
    assert entry.put is not None
    if not candidates:
        raise WardroundError(f"{name} needs a candidate: --candidate NAME=PROVIDER, or --candidates FILE")
    if entry.drawn_from == "sets":
        return _on_sets(name, entry, cases, candidates, runs=runs, answers=answers, trials=trials, note=note)
    if entry.put.errors and judge is None:
        raise WardroundError(f"{name} needs a judge that is a model: --judge ADDRESS,model=...")
    if entry.put.doses:
        if type is None:
            raise WardroundError(f"{name} needs a type of degradation: --type gaussian_noise")
        type = type_named(type)
    literature = None
    if asks_for_literature(entry.put):
        if index is None:
            raise WardroundError(f"{name} needs literature: --index INDEX (`wardround literature build` makes one)")
        literature = literature_of(entry.put, index, reranker)
    held = Holds.of(CaseSet.open(cases))
    if lacks := lacking(entry, held, index=index is not None, type=type is not None):
        note(f"{name} asks for more than the case set has: {lacks}")
    if held.has("split", DEV) and len(held.counts["split"]) > 1:
        dev = held.counts["split"][DEV]
        note(f"{dev} cases are for development; `wardround cases convert --split test` leaves them out")
    told = study_table(
        *(name, entry.put, cases, candidates),
        trials=trials,
        judge=judge,
        type=type,
        stored=held.has("degraded", "stored"),
        logprobs=logprobs,
        literature=literature,
    )
    folder = (runs or Path("runs")) / told["name"]
    study_from(told, folder / STUDY_FILE)  # what is wrong with it is said before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STUDY_FILE).write_text(f"# {name}: {entry.title}\n{as_toml(told)}", encoding="utf-8")
    ended = run_study(folder / STUDY_FILE, runs=runs, answers=answers, note=note)
    if not read_run(ended.folder).all_marks.head(1).collect().height and ended.exit_code == 0:
        raise WardroundError(f"{name}: nothing of this case set can be asked so{f': {lacks}' if lacks else ''}")
    tables = [drawn(name, entry, ended.folder, published=published)]
    files = written(tables[0], entry, ended.folder, note)
    if entry.drawn_from == "run":
        more = drawn_beside(name, ended.folder)
        for number, table in enumerate(more.tables, 2):
            files += table_files(table, ended.folder, f"table-{number}")
        tables, files = [*tables, *more.tables], [*files, *more.files]
        for text in more.notes:
            note(text)
    manifest = ended.manifest
    return Benched(name, tables, ended.folder, files, ended.exit_code, manifest["status"], manifest["why"])


def _on_sets(
    name: str,
    entry: Entry,
    cases: Path,
    candidates: list[dict[str, Any]],
    *,
    runs: Path | None,
    note: Callable[[str], None],
    **given: Any,
) -> Benched:
    """One study on every case set of a folder, and the drawing of all of them together."""
    runs = runs or Path("runs")
    each = run_on_each(name, entry, cases, candidates, STUDY_FILE, runs=runs, note=note, **given)
    folder = runs / name.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    tables, files = drawer(name)([(set_name, run) for set_name, run, _ in each], folder, note)
    tables = [replace(table, notes=[*table.notes, *entry.choices]) for table in tables]
    files = [*table_files(tables[0], folder, "table"), *files]
    worst = max((ended for _, _, ended in each), key=lambda ended: ended.exit_code)
    return Benched(name, tables, folder, files, worst.exit_code, worst.manifest["status"], worst.manifest["why"])


def drawer(name: str) -> Callable[..., tuple[list[Table], list[Path]]]:
    """The function of the study's name in its benchmark's sections.py."""
    benchmark, _, study = name.replace("-", "_").partition("/")
    found: Callable[..., tuple[list[Table], list[Path]]] = getattr(
        import_module(f"wardround.benchmarks.{benchmark}.sections"), study
    )
    return found


class Beside(NamedTuple):
    """What a study draws beside its table, and what was said meanwhile."""

    tables: list[Table]
    files: list[Path]
    notes: list[str]


def drawn_beside(name: str, folder: Path) -> Beside:
    """What the drawer of a study makes of a run; once, though the report and bench both show it."""
    return _drawn_beside(name, folder, (folder / "marks.parquet").stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _drawn_beside(name: str, folder: Path, marked: int) -> Beside:
    notes: list[str] = []
    tables, files = drawer(name)(read_run(folder), folder, notes.append)
    return Beside(tables, files, notes)


def drawn(name: str, entry: Entry, folder: Path, *, published: bool = False) -> Table:
    """The paper's table from a run folder."""
    run = read_run(folder)
    benchmark = name.partition("/")[0]
    wanted = [column.wanted(headings_of(benchmark)) for column in entry.columns]
    title = f"{name}: {entry.title}"
    if entry.put is not None and entry.put.doses:
        title = title.replace("one type", run.declared["conditions"]["degradation"][-1].partition("@")[0])
    table, shown = measured_table(run, title, tuple(entry.rows), wanted)
    searched = literature_notes(entry.put, run.declared) if entry.put is not None else []
    table = replace(table, notes=[*table.notes, *searched, *entry.choices])
    if published and entry.published:
        table = with_published(table, shown, entry, load(f"{benchmark}/{entry.published}"), run.declared)
    return table


def written(table: Table, entry: Entry, folder: Path, note: Callable[[str], None]) -> list[Path]:
    """Writes table.csv, table.tex and table.md, and the figure where the study is one."""
    files = table_files(table, folder, "table")
    if entry.figure is not None:
        look = entry.figure
        chart = figure(table, look.mark, x=look.x, y=look.y, leave_out=look.leave_out)
        try:
            files += write_figure(chart, folder) if chart is not None else []
        except WardroundError as error:  # the table is there all the same
            note(str(error))
    return files


def table_files(table: Table, folder: Path, stem: str) -> list[Path]:
    """Writes a table as CSV, LaTeX and Markdown."""
    files = []
    for suffix, text in (("csv", as_csv(table)), ("tex", as_latex(table)), ("md", as_markdown(table))):
        files.append(folder / f"{stem}.{suffix}")
        files[-1].write_text(text, encoding="utf-8", newline="\n")
    return files
