"""The whole way of a study: run, mark, measure, report. Each command has its function here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.prompts import Prompts
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.core.study import Study, load_study
from wardround.marking.marks import mark, write_marks
from wardround.marking.reader import AnswerReader
from wardround.measuring import write_measures
from wardround.reporting.compare import compare
from wardround.reporting.page import report
from wardround.reporting.views import Views
from wardround.running.folder import RunFolder
from wardround.running.run import Examination, Places
from wardround.running.store import Store
from wardround.running.used import read_used

INTERRUPTED = 130


@dataclass(frozen=True)
class Ended:
    """How a run ended: its folder, its manifest and the exit code that says so."""

    folder: Path
    manifest: dict[str, Any]
    exit_code: int


def run_study(
    study_file: Path,
    *,
    runs: Path | None = None,
    answers: Path | None = None,
    amend: bool = False,
    strict: bool = False,
    pack: bool = False,
    quiet: bool = False,
    notes: Sequence[str] = (),
    note: Callable[[str], None] = print,
) -> Ended:
    """Runs a study or goes on with it, then marks, measures and reports."""
    study = load_study(study_file)
    places = Places.given(study_file, runs, answers)
    examination = Examination(study, places, AnswerReader(), strict=strict, note=note)

    async def go() -> dict[str, Any]:
        try:
            manifest = await examination.run(amend=amend, quiet=quiet, notes=notes)
            if pack:
                note(f"{examination.pack():,} answers packed into {examination.folder.path}")
            return manifest
        finally:
            await examination.close()

    try:
        manifest = asyncio.run(go())
    except asyncio.CancelledError:  # Ctrl-C for the second time
        raise KeyboardInterrupt from None
    mark_run(examination.folder.path, answers=places.answers)
    exit_code = INTERRUPTED if examination.interrupted else 3 if manifest["status"] == "incomplete" else 0
    return Ended(examination.folder.path, manifest, exit_code)


def mark_run(folder: Path, *, answers: Path | None = None) -> None:
    """Marks, measures and reports again from stored answers; nobody is called."""
    ran = Ran.open(folder, answers)
    try:
        marks = mark(read_used(folder), ran.cases, ran.store, ran.study)
    finally:
        ran.store.close()
    write_marks(folder, marks)
    write_measures(folder, marks, ran.study)
    RunFolder(folder).write_manifest(ran.manifest | {"chance": chance(marks)})
    report(folder)


def chance(marks: pl.DataFrame) -> float | None:
    """How often guessing is right: the mean of 1/K over the choice questions asked."""
    asked = marks.filter(pl.col("k").is_not_null()).unique(["case", "question"])["k"].cast(pl.Float64)
    return None if asked.is_empty() else round(float((1 / asked).to_numpy().mean()), 9)


def report_runs(
    folders: Sequence[Path], *, with_cases: bool = False, answers: Path | None = None, out: Path | None = None
) -> Path:
    """The report of one run, with a page per case where wanted; or several runs side by side."""
    if len(folders) > 1:
        return compare(folders, out or Path("comparison.html"))
    folder = folders[0]
    if not with_cases:
        return report(folder, out=out)
    ran = Ran.open(folder, answers)
    try:
        seeing = {told["name"]: told["sees"] for told in ran.manifest.get("candidates", [])}
        candidates = [each.model_copy(update={"sees": seeing[each.name]}) for each in ran.study.candidates]
        views = Views(ran.study, ran.prompts, ran.cases, ran.store, candidates)
        turns = read_used(folder).select("candidate", "case", "question", "condition", "trial", "ask", "turn")
        return report(folder, cases=views.all(pl.read_parquet(folder / "marks.parquet"), turns), out=out)
    finally:
        ran.store.close()


@dataclass(frozen=True)
class Ran:
    """A run folder opened again, with its cases and its answers."""

    study: Study
    manifest: dict[str, Any]
    cases: CaseSet
    store: Store
    prompts: Prompts

    @classmethod
    def open(cls, folder: Path, answers: Path | None) -> Ran:
        if not (folder / "used.parquet").exists():
            raise BadInput(folder, "is not a run folder that can be marked: there is no used.parquet in it")
        study = load_study(folder / "study.toml")
        manifest = RunFolder(folder).manifest
        cases = CaseSet.open(manifest["cases"]["folder"])
        packed = folder / "answers.sqlite"
        beside = folder.absolute().parent.parent / "answers.sqlite"
        store = Store(answers or (packed if packed.exists() else beside))
        return cls(study, manifest, cases, store, Prompts(Path(manifest["study"]["folder"])))
