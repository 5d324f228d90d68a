"""The Python interface: commands as functions, and a run as tables (`import wardround as wr`)."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl
from markupsafe import Markup

from wardround.cases.readers import CaseSource, reader_for
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput, WardroundError, require_path, show_value
from wardround.core.interrupt import interrupt_runs
from wardround.core.store.location import StoreLocation, read_location
from wardround.core.study import CandidateSettings, Study, load_study
from wardround.marking.marks import MARKS_FILE
from wardround.measuring import power_from_guesses, power_from_marks
from wardround.measuring.comparing.power import SampleSize
from wardround.measuring.engine.tables import restore_texts
from wardround.pipeline import mark_run, report_runs, run_study
from wardround.reporting.answer_records import AnswerRecords
from wardround.reporting.compare import compare as write_comparison
from wardround.reporting.notebook import Page
from wardround.running.parquet import open_table
from wardround.running.run_folder import RunFolder, require_run
from wardround.running.stored_run import StoredRun

if TYPE_CHECKING:
    from wardround.asking.imported_table import ImportedTable
    from wardround.benchmarks.engine.bench import BenchResult
    from wardround.benchmarks.engine.grid import GridResult
    from wardround.preflight import CheckResult
    from wardround.reporting.tables.table import Table

SHOWN_MEASURES = ("accuracy", "hit@1", "rubric_score")
Result = TypeVar("Result")
AnyPath = Path | str
StudySource = Study | AnyPath


class Run:
    """A run that was made: its tables, its answers and its report."""

    def __init__(
        self,
        folder: AnyPath,
        *,
        answers: AnyPath | None = None,
        cases: AnyPath | None = None,
        accept_changed_cases: bool = False,
    ) -> None:
        self.folder = require_path(folder, "the folder of a run")
        self._answers, self._cases, self._accept = _location(answers), _path(cases), accept_changed_cases
        require_run(self.folder)

    @property
    def manifest(self) -> dict[str, Any]:
        return RunFolder(self.folder).manifest

    @property
    def status(self) -> str:
        """`complete` or `incomplete`; the manifest's `why` says why."""
        return str(self.manifest["status"])

    @property
    def measures(self) -> pl.DataFrame:
        """measures.csv: one line per measure, candidate and slice, with interval and n."""
        return self._table("measures.csv")

    @property
    def comparisons(self) -> pl.DataFrame:
        """comparisons.csv: paired differences with tests, by family."""
        return self._table("comparisons.csv")

    @property
    def acceptance(self) -> pl.DataFrame:
        """acceptance.csv: the verdict on every candidate for each endpoint of `[acceptance]`, with what decides it."""
        return self._table("acceptance.csv")

    @property
    def marks(self) -> pl.DataFrame:
        """marks.parquet: how each answer was marked."""
        return self._table(MARKS_FILE)

    def answers(self, **filters: Any) -> AnswerRecords:
        """Answers with what was shown and replied, filtered by columns of the marks.

        `run.answers(outcome="wrong", candidate="qwen", condition={"images": "as-is"})`. A record is rendered when it is
        read, so a large run costs nothing until then.
        """
        return AnswerRecords(self._stored, self.marks, filters)

    @property
    def report(self) -> Page:
        """The report, shown inside a notebook."""
        return Page(self.folder / "report.html")

    def table(self, name: str) -> Table:
        """The table of a paper drawn from this run, such as `cure/table2`."""
        from wardround.benchmarks.engine.report_section import table_of_run

        return table_of_run(name, self.folder)

    def _table(self, name: str) -> pl.DataFrame:
        file = self.folder / name
        if not file.exists():
            raise BadInput(self.folder, f"has no {name}; write it by `wardround mark RUN`")
        if file.suffix == ".parquet":
            return open_table(file, "write it by `wardround mark RUN`").collect()
        return restore_texts(pl.read_csv(file, infer_schema_length=None))

    @cached_property
    def _stored(self) -> StoredRun:
        stored = StoredRun.open(self.folder, self._answers, self._cases)
        stored.verify_inputs(accept=self._accept, as_marked=True)
        weakref.finalize(stored, stored.store.close)  # answers may outlive the Run they were asked of
        return stored

    def __repr__(self) -> str:
        return f"<Run {self.folder} ({self.status})>"

    def _repr_html_(self) -> str:
        columns = "^(measure|candidate|value|low|high|n|unparsed|refused)$"  # earlier runs have no `refused`
        scores = self.measures.filter(pl.col("slice") == "{}", pl.col("measure").is_in(SHOWN_MEASURES)).select(columns)
        return Markup("<p><b>{}</b>: {}</p>").format(self.manifest["study"]["name"], self.status) + scores._repr_html_()


def run(study: StudySource, *, runs: AnyPath | None = None, answers: AnyPath | None = None, **options: Any) -> Run:
    """Runs a study or continues it, then marks, measures and reports; `options` are those of `run_study`.

    It also works inside a running event loop, as in Jupyter: the study then runs in a thread of its own.
    """
    from wardround.benchmarks.redrawn_sections import redrawn_sections

    options.setdefault("sections", redrawn_sections(options.get("note", print)))
    ended = _outside_event_loop(
        "run", partial(run_study, _study(study), runs=_path(runs), answers=_location(answers), **options)
    )
    return Run(ended.folder, answers=answers)


async def arun(study: StudySource, **options: Any) -> Run:
    """Like `run`, without blocking the event loop. Cancelling it stops the run; its answers are kept."""
    try:
        return await asyncio.to_thread(run, study, **options)
    except asyncio.CancelledError:
        interrupt_runs()
        raise


def check(
    study: StudySource, *, runs: AnyPath | None = None, answers: AnyPath | None = None, **options: Any
) -> CheckResult:
    """Checks a study before money is spent: the hardest Asks of each candidate, counts, tokens and cost."""
    from wardround.preflight import check_study

    return _outside_event_loop(
        "check", partial(check_study, _study(study), runs=_path(runs), answers=_location(answers), **options)
    )


def mark(
    run: Run | AnyPath,
    *,
    answers: AnyPath | None = None,
    cases: AnyPath | None = None,
    judge: AnyPath | None = None,
    **options: Any,
) -> Run:
    """Marks, measures and reports a run again from its stored answers; `options` are those of `mark_run`."""
    from wardround.benchmarks.redrawn_sections import redrawn_sections

    folder = _folder(run)
    options |= {"answers": _location(answers), "cases": _path(cases), "judge": _path(judge)}
    options.setdefault("sections", redrawn_sections(options.get("note", print)))
    _outside_event_loop("mark", partial(mark_run, folder, **options))
    return Run(folder, answers=answers, cases=cases)


def report(
    run: Run | AnyPath,
    *,
    with_cases: bool = False,
    answers: AnyPath | None = None,
    cases: AnyPath | None = None,
    accept_changed_cases: bool = False,
    out: AnyPath | None = None,
) -> Page:
    """Writes the report of a run again, with a page per case if wanted."""
    from wardround.benchmarks.redrawn_sections import redrawn_sections

    page = report_runs(
        [_folder(run)],
        with_cases=with_cases,
        answers=_location(answers),
        cases=_path(cases),
        accept_changed_cases=accept_changed_cases,
        out=_path(out),
        sections=redrawn_sections(print),
    )
    return Page(page)


def compare(*runs: Run | AnyPath, out: AnyPath = "comparison.html") -> Page:
    """Compares runs on one page, for the measures that they share."""
    return Page(write_comparison([_folder(run) for run in runs], require_path(out, "`out`")))


def load_run(
    folder: AnyPath,
    *,
    answers: AnyPath | None = None,
    cases: AnyPath | None = None,
    accept_changed_cases: bool = False,
) -> Run:
    """A run that exists, by its folder. Its answers and its case set need names only if they were moved."""
    return Run(folder, answers=answers, cases=cases, accept_changed_cases=accept_changed_cases)


def load_cases(path: AnyPath, layout: str = "wardround") -> CaseSource:
    """The cases of a case set, or of a published layout."""
    if not isinstance(layout, str):
        raise WardroundError(f"expected the name of a layout, not {show_value(layout)}")
    return reader_for(layout)(require_path(path, "the folder or file of a case set"))


def import_cases(
    table: AnyPath, out: AnyPath | None = None, *, table_map: AnyPath | None = None, strict: bool = False
) -> ImportedTable:
    """Makes a case set of any table of questions. `table_map`: a TOML file, or the name of a public set's map.

    Without a map the columns are guessed; without `out` nothing is written, and the result shows what would be asked.
    """
    from wardround.asking.imported_table import import_table_to

    table = require_path(table, "the file or folder of a table")
    return import_table_to(table, _path(out), None if table_map is None else str(table_map), strict=strict)


def starter_cases(folder: AnyPath) -> CaseSet:
    """Builds the starter case set (24 invented cases with public images) in a folder, and opens it."""
    from wardround.building.sources.starter.build import build_starter

    path = require_path(folder, "a folder for the set")
    build_starter(path)
    return CaseSet.open(path)


def bench(name: str, *, candidates: Sequence[CandidateSettings] = (), **options: Any) -> BenchResult:
    """Runs a named study of a benchmark, such as `medq-deg/table6`, and returns its tables.

    `options` are those of `wardround.benchmarks.engine.bench.bench`: cases, runs, answers, trials and others.
    """
    from wardround.benchmarks.engine.bench import bench as run_bench

    if not isinstance(name, str):
        raise WardroundError(f"expected the name of a study, such as cure/table2, not {show_value(name)}")
    settings = _all_settings(candidates)
    return _outside_event_loop("bench", partial(run_bench, name, candidates=settings, **_with_paths(options)))


def grid(*, candidates: Sequence[CandidateSettings], **options: Any) -> GridResult:
    """Crosses evidence, degradation and chains in one study; `options` are those of the engine's `grid`."""
    from wardround.benchmarks.engine.grid import grid as run_grid

    settings = _all_settings(candidates)
    return _outside_event_loop("grid", partial(run_grid, candidates=settings, **_with_paths(options)))


def power(
    difference: float,
    *,
    run: Run | AnyPath | None = None,
    measure: str = "accuracy",
    accuracy: float = 0.5,
    correlation: float = 0.3,
    questions: int = 1,
    within: float = 0.0,
    power: float = 0.8,
    comparisons: int = 1,
    family: str | None = None,
) -> SampleSize:
    """The number of clusters of cases needed to detect a difference, from a run or from guesses.

    The level is adjusted for the number of comparisons that are tested together: those of the run's family, or so many.
    """
    fractions = {"difference": difference, "accuracy": accuracy, "correlation": correlation, "within": within}
    numbers = fractions | {"power": power, "questions": questions, "comparisons": comparisons}
    for name, value in numbers.items():
        if not isinstance(value, int | float):
            raise WardroundError(f"wr.power: expected a number for `{name}`, not {show_value(value)}")
    if run is None:
        return power_from_guesses(difference, accuracy, correlation, questions, within, power, comparisons)
    folder = _folder(run)
    return power_from_marks(Run(folder).marks, load_study(folder / "study.toml"), difference, measure, power, family)


def _path(path: AnyPath | None) -> Path | None:
    return None if path is None else require_path(path, "a path")


def _location(answers: AnyPath | None) -> StoreLocation | None:
    return None if answers is None else read_location(answers)


def _with_paths(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with paths for texts."""
    names = [name for name in ("cases", "runs", "prompts") if options.get(name)]
    paths = {name: require_path(options[name], f"`{name}`") for name in names}
    return options | paths | ({"answers": read_location(options["answers"])} if options.get("answers") else {})


def _folder(run: Run | AnyPath) -> Path:
    return run.folder if isinstance(run, Run) else require_path(run, "a run or its folder")


def _study(study: StudySource) -> Study | Path:
    return study if isinstance(study, Study) else require_path(study, "a Study or its file")


def _all_settings(candidates: Sequence[CandidateSettings]) -> list[dict[str, Any]]:
    if not isinstance(candidates, list | tuple):
        raise WardroundError(f"expected a list of candidates, not {show_value(candidates)}")
    return [_settings(candidate) for candidate in candidates]


def _settings(candidate: CandidateSettings) -> dict[str, Any]:
    if not isinstance(candidate, CandidateSettings):
        raise WardroundError(f"expected wr.Candidate(name=..., provider=...), not {show_value(candidate)}")
    return candidate.with_files_in(Path.cwd()).model_dump(mode="json", exclude_defaults=True)


def _outside_event_loop(name: str, function: partial[Result]) -> Result:
    """Calls a function that starts an event loop; in a thread, if one runs here. Ctrl-C there stops the run.

    Options that it lacks or does not have are refused; `name` is that of the function that the user called.
    """
    try:
        signature(function.func).bind(*function.args, **function.keywords)
    except TypeError as problem:
        raise WardroundError(f"wr.{name}: {problem}") from None
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return function()
    with ThreadPoolExecutor(max_workers=1) as threads:
        future = threads.submit(function)
        while True:
            try:
                return future.result()
            except KeyboardInterrupt:
                if future.done():
                    raise
                interrupt_runs()
