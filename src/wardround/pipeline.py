"""The pipeline of a study over folders: run, mark, measure, report. The commands and the Python interface call it."""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from wardround.candidates.http.secrets import refuse_literal_secrets
from wardround.cases.rare_collection import rare_collection
from wardround.cases.set import CaseSet
from wardround.core.canonical import sha256_file
from wardround.core.errors import WardroundError
from wardround.core.store.location import StoreLocation
from wardround.core.study import Study, load_judge, load_study
from wardround.marking.parser.versions import parser_version
from wardround.marking.reader import AnswerReader
from wardround.running.budget import BudgetTracker
from wardround.running.inputs.kept_results import MARKS, MEASURES, KeptResults, marks_key, measures_key
from wardround.running.inputs.packing import pack_run, unpack
from wardround.running.inputs.run_inputs import MissingInput, RunInputs
from wardround.running.inputs.run_paths import RunPaths, cases_folder
from wardround.running.progress import StepProgress
from wardround.running.run_folder import RunFolder, warnings_of
from wardround.running.stored_run import StoredRun
from wardround.running.study_run import StudyRun
from wardround.running.used_answers import read_used

if TYPE_CHECKING:  # what only marking needs is loaded when it starts: the first ask does not wait for it
    from wardround.marking.judges.calls import JudgeCalls
    from wardround.marking.model_reader import ReaderCalls
    from wardround.reporting.sections.section import SectionMaker

INCOMPLETE, INTERRUPTED = 3, 130  # exit codes


@dataclass(frozen=True)
class RunOutcome:
    """How a run or its marking ended: its folder, its manifest and the exit code that says so."""

    folder: Path
    manifest: dict[str, Any]
    exit_code: int


@dataclass(frozen=True)
class MarkingChoice:
    """What `wardround mark` was told instead of what the study says; a run that goes on keeps it."""

    parser: str | None = None
    judge: Path | None = None  # TOML file
    errors: bool = False

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> MarkingChoice:
        """The choice that a run was last marked with, by default none."""
        chosen = manifest.get("marking") or {}
        judge = chosen.get("judge")
        if judge is not None and not Path(judge).is_file():
            raise WardroundError(
                f"{judge}: is the judge that `wardround mark` chose for this run, and is not there; put it back, or go "
                "back to the study's judge by `wardround mark RUN`"
            )
        return cls(chosen.get("parser"), judge and Path(judge), bool(chosen.get("errors")))

    def to_manifest(self) -> dict[str, Any] | None:
        chosen = {"parser": self.parser, "judge": self.judge and str(self.judge.absolute()), "errors": self.errors}
        return {key: value for key, value in chosen.items() if value} or None


def open_study_run(
    source: Study | Path,
    *,
    runs: Path | None = None,
    answers: StoreLocation | None = None,
    strict: bool = False,
    batch: bool = False,
    detach: bool = False,
    note: Callable[[str], None] = print,
) -> StudyRun:
    """A start of a study; what could not be compared, tested, judged or read is refused before anything is spent."""
    study = source if isinstance(source, Study) else load_study(source)
    paths = RunPaths.from_options(source, runs, answers or study.store)
    parser_version(study.parser)
    if study.comparisons:
        from wardround.measuring.comparing.families import families

        families(study)
    if study.judge is not None:
        from wardround.marking.judges.calls import check_judge_settings

        check_judge_settings(study.judge, study, paths.study.parent)
    if study.reader is not None:
        from wardround.marking.model_reader import check_reader_settings

        check_reader_settings(study.reader, study, paths.study.parent)
    if study.acceptance:
        from wardround.measuring.acceptance.endpoint_checks import check_endpoint_cases, check_endpoints

        check_endpoints(study)
        check_endpoint_cases(study, CaseSet.open(cases_folder(study, paths.study, note)))
    return StudyRun(study, paths, AnswerReader(), strict=strict, batch=batch, detach=detach, note=note)


def run_study(
    source: Study | Path,
    *,
    runs: Path | None = None,
    answers: StoreLocation | None = None,
    amend: bool = False,
    accept_ignored: bool = False,
    strict: bool = False,
    pack: bool = False,
    batch: bool = False,
    detach: bool = False,
    quiet: bool = False,
    notes: Sequence[str] = (),
    named_study: Mapping[str, Any] | None = None,
    keeps_choice: bool = True,
    sections: Mapping[str, SectionMaker] | None = None,
    note: Callable[[str], None] = print,
) -> RunOutcome:
    """Runs a study (a record, or its file) or continues it, then marks, measures and reports.

    `accept_ignored` goes on with settings that a server ignores, and labels them in every table. `named_study` is kept
    in the manifest; `sections` replace the report's registered sections of the same name. A run that `mark_run` marked
    by another parser or judge keeps them, unless `keeps_choice` is false.
    """
    study_run = open_study_run(source, runs=runs, answers=answers, strict=strict, batch=batch, detach=detach, note=note)

    async def ask_candidates() -> None:
        try:
            await study_run.run(
                amend=amend, accept_ignored=accept_ignored, quiet=quiet, notes=notes, named_study=named_study
            )
        finally:
            await study_run.close(keeps_lock=True)

    try:
        asyncio.run(ask_candidates())
        folder = study_run.folder.path
        pack = unpack(folder) or pack  # a run that was packed stays so
        outcome = mark_run(
            folder,
            keeps_choice=keeps_choice,
            answers=study_run.paths.answers,
            cases=study_run.cases,
            budget=study_run.budget,
            ask_judge=not study_run.interrupted,
            sections=sections,
            note=note,
            quiet=quiet,
            is_locked=True,  # a run that is not marked yet does not look complete to others
        )
    except asyncio.CancelledError:  # Ctrl-C for the second time
        raise KeyboardInterrupt from None
    finally:
        study_run.folder.unlock()
    if pack:
        with StoredRun.open(folder, study_run.paths.answers, study_run.cases.file) as stored:
            note(pack_run(stored))
    return replace(outcome, exit_code=INTERRUPTED) if study_run.interrupted else outcome


@rare_collection()
def mark_run(
    folder: Path,
    *,
    answers: StoreLocation | None = None,
    cases: Path | CaseSet | None = None,
    accept_changed_cases: bool = False,
    parser: str | None = None,
    judge: Path | None = None,
    errors: bool = False,
    keeps_choice: bool = False,
    budget: BudgetTracker | None = None,
    ask_judge: bool = True,
    sections: Mapping[str, SectionMaker] | None = None,
    note: Callable[[str], None] = print,
    quiet: bool = True,
    is_locked: bool = False,
) -> RunOutcome:
    """Marks, measures and reports again from stored answers; only judge and reader are called, for what is not stored.

    Marks and measures that would come out as they are stay (kept_results.py).

    `parser` reads choices instead of the study's, and `judge` is a TOML file whose [judge] marks open answers instead
    of the study's. `errors` has the judge name the kind of error behind each wrong answer. The run keeps these three
    until it is marked again; `keeps_choice` marks by those that it has. Without `ask_judge` only stored verdicts and
    readings count. `cases` is the case set, if it was moved or is read already. `is_locked` says that the caller has
    locked the folder.
    """
    from wardround.marking.marks import MARKS_FILE, scan_marks
    from wardround.marking.run_marks import chance_accuracy, count_refused, judged_manifest, write_run_marks
    from wardround.marking.unread import unread_warnings
    from wardround.measuring import write_measures
    from wardround.measuring.acceptance.endpoints import summary
    from wardround.measuring.engine.blas import one_blas_thread
    from wardround.measuring.validation.judge_validation import with_labels
    from wardround.reporting.page import report as write_report

    if parser is not None:
        parser_version(parser)
    with (
        one_blas_thread(),
        StoredRun.open(folder, answers, cases) as run,
        nullcontext() if is_locked else RunFolder(folder).locked(),
    ):
        changes = run.verify_inputs(accept=accept_changed_cases)
        missing = run.refuse_fewer(folder / MARKS_FILE)
        choice = MarkingChoice.of_manifest(run.manifest) if keeps_choice else MarkingChoice(parser, judge, errors)
        parser, judge, errors = choice.parser or run.study.parser, choice.judge, choice.errors
        budget = budget or BudgetTracker.of_study(run.study, run.store)
        calls = _judge_calls(run, judge, budget, note, ask_judge, quiet)
        reader = _reader_calls(run, budget, note, ask_judge, quiet)
        errors = errors or (calls is not None and calls.settings.errors)
        if errors and calls is None:
            raise WardroundError("error classes need a judge: the study has no [judge], and no --judge is given")
        progress, kept = StepProgress(quiet), KeptResults(folder)
        key = _marks_key(run, parser) if calls is None and reader is None else None
        if not kept.holds(MARKS, key):
            write_run_marks(run, calls, parser, errors, with_labels, progress, reader)
            kept.note(MARKS, key)
        _give_back_memory()
        marks = scan_marks(folder)
        at_reference = None
        if not kept.holds(MEASURES, key := measures_key(folder)):
            at_reference = write_measures(folder, marks, run.study, progress)
            kept.note(MEASURES, key)
        _give_back_memory()
        manifest = judged_manifest(run.manifest, calls, missing, unread_warnings(marks, run.store), reader)
        manifest |= {"chance": chance_accuracy(marks), "parser": parser, "reference": run.study.reference_condition}
        manifest["marking"] = choice.to_manifest()
        manifest["acceptance"] = summary(folder, run.study)
        manifest["changed_inputs"] = changes.to_manifest() if changes else None
        refused = count_refused(marks)
        manifest["candidates"] = [
            entry | {"refused": refused.get(entry["name"], 0)} for entry in manifest["candidates"]
        ]
        RunFolder(folder).write_manifest(manifest)
        for warning in warnings_of(manifest):
            note(f"warning: {warning}")
        write_report(folder, marks=marks, encoded_reference=at_reference, replaced_sections=sections, progress=progress)
        incomplete = INCOMPLETE if manifest["status"] == "incomplete" else 0
        interrupted = any(model.interrupted for model in (calls, reader) if model is not None)
        return RunOutcome(folder, manifest, INTERRUPTED if interrupted else incomplete)


def _give_back_memory() -> None:
    """Returns to the system the freed memory that the C library keeps: 200 MB after measuring ten million answers."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:  # glibc's
        trim(0)


def _marks_key(run: StoredRun, parser: str) -> str | None:
    """What the marks of a run without a judge and a reader are made from."""
    candidates = [[entry["name"], entry.get("sees", True)] for entry in run.manifest.get("candidates", [])]
    return marks_key(run.folder, run.cases.hash, run.answers_hash, {"parser": parser, "candidates": candidates})


def validate_judge(folder: Path, labels: Path) -> dict[str, Any]:
    """Compares a run's judge with labels by people; its measures and its report then say how far they agree."""
    from wardround.marking.marks import MARKS_FILE, write_marks
    from wardround.measuring import write_measures
    from wardround.measuring.validation.judge_validation import measure_judge, with_labels
    from wardround.reporting.page import report as write_report
    from wardround.reporting.run_files import read_run

    read_run(folder)  # refuses one whose measures an earlier version wrote
    agreement = measure_judge(folder, labels)
    marks = with_labels(pl.read_parquet(folder / MARKS_FILE), folder)
    write_marks(folder, marks)
    write_measures(folder, marks.lazy(), load_study(folder / "study.toml"))
    write_report(folder)
    return agreement


def attack_judge(
    folder: Path,
    *,
    judge: Path | None = None,
    answers: StoreLocation | None = None,
    cases: Path | None = None,
    note: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Attacks a run's judge with 72 injections; its report then says how many succeeded."""
    from wardround.measuring.validation.judge_attack import attack_pairs
    from wardround.measuring.validation.judge_validation import measure_attack
    from wardround.reporting.page import report as write_report

    with StoredRun.open(folder, answers, cases) as run, RunFolder(folder).locked():
        calls = _judge_calls(run, judge, None, note, can_call=True, quiet=True)
        if calls is None:
            raise WardroundError("there is no judge to attack: the study has no [judge], and no --judge is given")
        asked = calls.judge_pairs(attack_pairs())
        if calls.why:
            raise WardroundError(calls.why)
        attack = measure_attack(folder, asked)
    write_report(folder)
    return attack


def _judge_calls(
    run: StoredRun,
    file: Path | None,
    budget: BudgetTracker | None,
    note: Callable[[str], None],
    can_call: bool,
    quiet: bool,
) -> JudgeCalls | None:
    """The calls of the judge in this file, or of the study's; None without one."""
    from wardround.marking.judges.calls import JudgeCalls

    settings = load_judge(file) if file is not None else run.study.judge
    if settings is None:
        return None
    if file is not None:
        refuse_literal_secrets(settings)  # the manifest will contain them
    base_folder = file.parent if file is not None else run.study_folder
    budget = budget or BudgetTracker.of_study(run.study, run.store)
    return JudgeCalls(
        *(settings, run.study, run.cases, run.store, run.prompts, budget, base_folder, note, can_call, quiet)
    )


def _reader_calls(
    run: StoredRun, budget: BudgetTracker, note: Callable[[str], None], can_call: bool, quiet: bool
) -> ReaderCalls | None:
    """The calls of the study's reader; None without one."""
    from wardround.marking.model_reader import ReaderCalls

    if (settings := run.study.reader) is None:
        return None
    return ReaderCalls(
        *(settings, run.study, run.cases, run.store, run.prompts, budget, run.study_folder, note, can_call, quiet)
    )


def checklist_of_run(folders: Sequence[Path], name: str, out: Path | None = None) -> Path:
    """The items of a reporting guideline for one run, as Markdown: by default NAME.md in its folder."""
    from wardround.reporting.checklists.checklist import write_checklist

    if len(folders) > 1:
        raise WardroundError(f"a checklist is about one run; {len(folders)} were named")
    return write_checklist(folders[0], name, out)


def summary_of_run(folders: Sequence[Path], out: Path) -> Path:
    """The one-page summary of one run, as PDF, Markdown or a page by the suffix of `out`."""
    from wardround.reporting.summary.printing import write_summary

    if len(folders) > 1:
        raise WardroundError(f"a summary is about one run; {len(folders)} were named")
    return write_summary(folders[0], out)


def report_runs(
    folders: Sequence[Path],
    *,
    with_cases: bool = False,
    answers: StoreLocation | None = None,
    cases: Path | None = None,
    accept_changed_cases: bool = False,
    out: Path | None = None,
    sections: Mapping[str, SectionMaker] | None = None,
    quiet: bool = True,
) -> Path:
    """The report of one run, with a page per case if wanted; or several runs side by side.

    `sections` replace the report's registered sections of the same name.
    """
    from wardround.marking.marks import MARKS_FILE
    from wardround.reporting.case_views import CaseViews
    from wardround.reporting.compare import compare as write_comparison
    from wardround.reporting.page import report as write_report

    progress = StepProgress(quiet)
    for folder in folders:
        _verify_reported(folder, answers, cases, with_cases=with_cases, accept=accept_changed_cases)
    if len(folders) > 1:
        return write_comparison(folders, out or Path("comparison.html"))
    folder = folders[0]
    if not with_cases:
        return write_report(folder, out=out, replaced_sections=sections, progress=progress)
    with StoredRun.open(folder, answers, cases) as run:
        run.refuse_fewer(folder / MARKS_FILE)
        turns = read_used(folder).select("candidate", "case", "question", "condition", "trial", "ask", "turn")
        views = CaseViews(run).make_views(pl.read_parquet(folder / MARKS_FILE), turns)
        return write_report(folder, cases=views, out=out, replaced_sections=sections, progress=progress)


def _verify_reported(
    folder: Path, answers: StoreLocation | None, cases: Path | None, *, with_cases: bool, accept: bool
) -> None:
    """Refuses to report a run whose cases changed; a report without case pages needs neither cases nor answers."""
    if not with_cases and not RunFolder(folder).has_used:
        return
    try:
        inputs = RunInputs.locate(folder, cases)
    except MissingInput:
        if with_cases:
            raise
        return
    if inputs.prompts.lacks_folder and not with_cases:
        return
    try:
        with StoredRun.of(inputs, answers) as run:
            changes = run.verify_inputs(accept=accept, as_marked=True)
    except MissingInput:
        if with_cases or answers:
            raise
        changes = inputs.verify(sha256_file, accept=accept, as_marked=True)
    if changes:
        RunFolder(folder).write_manifest(inputs.manifest | {"changed_inputs": changes.to_manifest()})
