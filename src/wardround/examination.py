"""The whole way of a study: run, mark, measure, report. Each command has its function here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.core.study import load_study
from wardround.marking.marks import mark, write_marks
from wardround.marking.reader import AnswerReader
from wardround.measuring.tables import write_measures
from wardround.reporting.page import report
from wardround.running.folder import RunFolder
from wardround.running.run import Examination, Places, cases_folder
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
    note: Callable[[str], None] = print,
) -> Ended:
    """Runs a study or goes on with it, then marks, measures and reports."""
    study = load_study(study_file)
    places = Places.given(study_file, runs, answers)
    examination = Examination(study, places, AnswerReader(), strict=strict, note=note)

    async def go() -> dict[str, Any]:
        try:
            return await examination.run(amend=amend, quiet=quiet)
        finally:
            await examination.close()

    manifest = asyncio.run(go())
    if pack:
        note(f"{examination.pack():,} answers packed into {examination.folder.path}")
    mark_run(examination.folder.path, answers=places.answers, study_file=study_file)
    exit_code = INTERRUPTED if examination.interrupted else 3 if manifest["status"] == "incomplete" else 0
    return Ended(examination.folder.path, manifest, exit_code)


def mark_run(folder: Path, *, answers: Path | None = None, study_file: Path | None = None) -> None:
    """Marks, measures and reports again from stored answers."""
    written = folder / "study.toml"
    if not (folder / "used.parquet").exists():
        raise BadInput(folder, "is not a finished run folder: there is no used.parquet in it")
    study = load_study(written)
    packed = folder / "answers.sqlite"
    store = Store(answers or (packed if packed.exists() else folder.absolute().parent.parent / "answers.sqlite"))
    try:
        where = RunFolder(folder).manifest.get("cases", {}).get("folder")
        cases = CaseSet.open(Path(where) if where else cases_folder(study, study_file or written))
        marks = mark(read_used(folder), cases, store, study)
    finally:
        store.close()
    write_marks(folder, marks)
    write_measures(folder, marks, study)
    report(folder)
