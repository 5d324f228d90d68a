"""`check_study`: data, keys and candidates of a study, before it costs money."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.prompts import Prompts
from wardround.asking.units import select_questions
from wardround.core.store.location import StoreLocation
from wardround.core.study import JudgeSettings, Study
from wardround.marking.judges.calls import JudgeCalls
from wardround.marking.judges.judge import DiagnosisPair
from wardround.pipeline import open_study_run
from wardround.preflight.candidate_check import check_candidate
from wardround.running.budget import BudgetTracker
from wardround.running.store import AnswerStore
from wardround.running.study_run import StudyRun


@dataclass(frozen=True)
class CheckResult:
    """The results of a check; `ready` if every candidate answers all that it was asked."""

    summary: dict[str, Any]
    ready: bool


def check_study(
    source: Study | Path,
    *,
    runs: Path | None = None,
    answers: StoreLocation | None = None,
    strict: bool = False,
    freeze: bool = False,
    note: Callable[[str], None] = print,
) -> CheckResult:
    """Checks data, keys and candidates. Its Asks are part of the study, so their answers are kept."""
    study_run = open_study_run(source, runs=runs, answers=answers, strict=strict, note=note)
    study = study_run.study

    async def check_candidates() -> tuple[str | None, list[dict[str, Any]]]:
        try:
            runs = await study_run.plan()
            if amend := study_run.why_amend():  # said before anything is spent
                note(amend)
            return amend, [await check_candidate(study_run, run) for run in runs]
        finally:
            await study_run.close()

    amend, candidates = asyncio.run(check_candidates())
    summary: dict[str, Any] = {
        "study": study.name,
        "cases": len(study_run.cases),
        "questions": study_run.cases.question_count,
        "problems": [str(problem) for problem in study_run.cases.problems],
        "announced": study_run.announce(),
        "amend": amend,
        "candidates": candidates,
    }
    if study.judge is not None:
        summary["judge"] = _check_judge(study_run, study.judge)
    if freeze:
        study_run.folder.freeze(study_run.manifest.frozen_hashes)
        summary["frozen"] = study_run.manifest.frozen_hashes
    results = [*candidates, summary["judge"]] if study.judge is not None else candidates
    return CheckResult(summary, all(result["answers"] for result in results))


def _check_judge(study_run: StudyRun, settings: JudgeSettings) -> dict[str, Any]:
    """Asks for one real verdict, on a gold diagnosis that is compared with itself."""
    study, paths = study_run.study, study_run.paths
    questions = (question for case in study_run.cases for question in select_questions(case, study))
    question = next((question for question in questions if question.kind == "open"), None)
    if question is None:
        rubric = any(
            question.kind == "rubric" for case in study_run.cases for question in select_questions(case, study)
        )
        if rubric and settings.is_rule:
            return {"answers": True, "why": None, "warnings": ["it cannot judge criteria: rubric answers are unscored"]}
        return {"answers": True, "why": None, "warnings": ["there is no open question for it to judge"]}
    store, prompts = AnswerStore(paths.answers), Prompts.of_study(study, paths.study.parent)
    try:
        calls = JudgeCalls(
            *(settings, study, study_run.cases, store, prompts, BudgetTracker.of_study(study, store)),
            base_folder=paths.study.parent,
            note=lambda line: None,
        )
        pair = DiagnosisPair.of(question, str(question.gold))
        judge = calls.judge(pl.DataFrame([pair._asdict()], schema_overrides={"accept": pl.List(pl.String)}))
        verdict, warnings = judge.same(question, pair.diagnosis), calls.manifest()["warnings"]
    finally:
        store.close()
    if calls.why is None and not verdict:
        reply = "no readable verdict" if verdict is None else "that it is not the same"
        warnings = [*warnings, f"asked whether {pair.gold!r} is the same as itself, it says {reply}"]
    return {"name": judge.name, "answers": calls.why is None, "why": calls.why, "warnings": warnings}
