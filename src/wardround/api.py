"""The whole way of a study: run, mark, measure, report. Each command has its function here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.prompts import Prompts
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import JudgeSettings, Study, load_judge, load_study
from wardround.marking.evidence.grounding import Test, supported
from wardround.marking.evidence.support_judge import Wanted
from wardround.marking.judges.calls import Hearing, open_judge
from wardround.marking.judges.judge import predictions, verdict_table, write_verdicts
from wardround.marking.marks import FILE as MARKS
from wardround.marking.marks import mark, with_error_classes, write_marks
from wardround.marking.reader import AnswerReader
from wardround.measuring import write_measures
from wardround.measuring.comparing.families import families
from wardround.measuring.validation.judge_validation import validate, with_labels
from wardround.reporting.case_views import Views
from wardround.reporting.compare import compare
from wardround.reporting.page import report
from wardround.running.budget import Purse
from wardround.running.parquet import write_in_parts
from wardround.running.run_folder import RunFolder, warnings_of
from wardround.running.store import Row, Store
from wardround.running.study_run import Examination, Places
from wardround.running.used_answers import Shown, read_used, scan_used

INTERRUPTED = 130


@dataclass(frozen=True)
class Ended:
    """How a run or its marking ended: its folder, its manifest and the exit code that says so."""

    folder: Path
    manifest: dict[str, Any]
    exit_code: int
    judge_rows: Sequence[Row] = ()  # the answers of the judge that were used


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
    families(study)  # refuses comparisons that could not be made, before anything is spent
    if study.judge is not None:
        open_judge(study.judge, study, study_file.parent)
    places = Places.given(study_file, runs, answers)
    examination = Examination(study, places, AnswerReader(), strict=strict, note=note)

    async def go() -> dict[str, Any]:
        try:
            return await examination.run(amend=amend, quiet=quiet, notes=notes)
        finally:
            await examination.close()

    try:
        asyncio.run(go())
    except asyncio.CancelledError:  # Ctrl-C for the second time
        raise KeyboardInterrupt from None
    folder, stopped = examination.folder.path, examination.interrupted
    ended = mark_run(
        folder, answers=places.answers, purse=examination.purse, ask_judge=not stopped, note=note, quiet=quiet
    )
    if pack:
        note(f"{_pack(ended, places.answers):,} answers packed into {folder}")
    if stopped:
        return replace(ended, exit_code=INTERRUPTED)
    return replace(ended, exit_code=ended.exit_code or (3 if ended.manifest["status"] == "incomplete" else 0))


def _pack(ended: Ended, answers: Path) -> int:
    """Copies the answers that the run used into its folder, those of its judge among them."""
    used = read_used(ended.folder).select("ask", "trial", "turn").unique(maintain_order=True)
    rows = [Row(bytes.fromhex(ask), trial, turn) for ask, trial, turn in used.iter_rows()]
    store = Store(answers)
    try:
        return store.copy_rows([*rows, *ended.judge_rows], ended.folder / "answers.sqlite")
    finally:
        store.close()


def mark_run(
    folder: Path,
    *,
    answers: Path | None = None,
    parser: str = "strict",
    judge: Path | None = None,
    errors: bool = False,
    purse: Purse | None = None,
    ask_judge: bool = True,
    note: Callable[[str], None] = print,
    quiet: bool = True,
) -> Ended:
    """Marks, measures and reports again from stored answers; only a judge is called, for verdicts it never gave.

    `judge` is a TOML file whose [judge] marks open answers instead of the study's. `errors` has the judge name
    the kind of error behind each wrong answer. Without `ask_judge` only what it has said already counts.
    """
    ran = Ran.open(folder, answers)
    with RunFolder(folder).locked():
        try:
            settings = load_judge(judge) if judge is not None else ran.study.judge
            beside = judge.parent if judge is not None else Path(ran.manifest["study"]["folder"])
            purse = purse or Purse(ran.study.budget)
            hearing = None if settings is None else ran.hearing(settings, beside, purse, ask_judge, note, quiet)
            errors = errors or (settings is not None and settings.errors)
            if errors and hearing is None:
                raise WardroundError("error classes need a judge: the study has no [judge], and no --judge is given")
            _write_marks(folder, ran, hearing, parser, errors)
            told = _told(ran.manifest, hearing)
        finally:
            ran.store.close()
        marks = pl.scan_parquet(folder / MARKS)
        write_measures(folder, marks, ran.study)
        manifest = told | {"chance": chance(marks), "parser": parser}
        RunFolder(folder).write_manifest(manifest)
        for line in warnings_of(manifest):
            note(f"warning: {line}")
        report(folder)
        if hearing is None:
            return Ended(folder, manifest, 0)
        return Ended(folder, manifest, INTERRUPTED if hearing.interrupted else 3 if hearing.why else 0, hearing.rows)


def _write_marks(folder: Path, ran: Ran, hearing: Hearing | None, parser: str, errors: bool) -> None:
    used, shown = scan_used(folder), Shown(folder)
    if hearing is None:
        write_in_parts(folder / MARKS, mark(used, ran.cases, ran.store, ran.study, parser=parser, shown=shown))
        return
    predicted = predictions(used, ran.cases, ran.store)
    judged_by = hearing.judge(predicted)
    write_verdicts(folder, verdict_table(predicted, ran.cases, judged_by), judged_by.name)
    marking = partial(mark, used, ran.cases, ran.store, ran.study, parser=parser, judged_by=judged_by, shown=shown)
    test: Test = supported
    if ran.study.literature is not None and ran.study.literature.support == "judge":
        wanted = Wanted()
        for _ in marking(test=wanted):  # what is to be asked is known only when all answers are read
            pass
        test = hearing.support(wanted)
    marks = pl.concat(marking(test=test))
    marks = with_labels(marks, folder)
    if errors:
        marks = with_error_classes(marks, hearing.error_classes(marks, used))
    write_marks(folder, marks)


def _told(before: dict[str, Any], hearing: Hearing | None) -> dict[str, Any]:
    """The manifest with the judge as it was now; what it said of an earlier judge is forgotten."""
    earlier = before.get("judge") or {}
    why = None if before["why"] == earlier.get("why") else before["why"]
    warnings = [line for line in before["warnings"] if line not in earlier.get("warnings", [])]
    judge = hearing.manifest() if hearing else None
    if judge:
        why, warnings = why or judge.get("why"), warnings + judge["warnings"]
    status = "incomplete" if why else "complete"
    return before | {"status": status, "why": why, "warnings": warnings, "judge": judge}


def validate_judge(folder: Path, labels: Path) -> dict[str, Any]:
    """Compares a run's judge with labels by people; its measures and its report then say how far they agree."""
    validated = validate(folder, labels)
    marks = with_labels(pl.read_parquet(folder / MARKS), folder)
    write_marks(folder, marks)
    write_measures(folder, marks.lazy(), load_study(folder / "study.toml"))
    report(folder)
    return validated


def chance(marks: pl.LazyFrame) -> float | None:
    """How often guessing is right: the mean of 1/K over the choice questions asked."""
    choices = marks.filter(pl.col("k").is_not_null())
    asked = choices.group_by("case", "question").agg(pl.col("k").first()).group_by("k").len().sort("k")
    counts = dict(asked.collect(engine="streaming").iter_rows())
    return round(sum(n / k for k, n in counts.items()) / sum(counts.values()), 9) if counts else None


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
        views = Views(ran.study, ran.prompts, ran.cases, ran.store, candidates, Shown(folder))
        turns = read_used(folder).select("candidate", "case", "question", "condition", "trial", "ask", "turn")
        return report(folder, cases=views.all(pl.read_parquet(folder / MARKS), turns), out=out)
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
        cases = CaseSet.open(manifest["cases"].get("file") or manifest["cases"]["folder"])
        packed = folder / "answers.sqlite"
        beside = folder.absolute().parent.parent / "answers.sqlite"
        store = Store(answers or (packed if packed.exists() else beside))
        return cls(study, manifest, cases, store, Prompts(Path(manifest["study"]["folder"])))

    def hearing(
        self, settings: JudgeSettings, beside: Path, purse: Purse, asks: bool, note: Callable[[str], None], quiet: bool
    ) -> Hearing:
        """A judge over the answers of this run."""
        prompts = Prompts(Path(self.manifest["study"]["folder"]))
        return Hearing(settings, self.study, self.cases, self.store, prompts, purse, beside, note, asks, quiet)
