"""The check before a run: one real Ask per candidate, the number of new answers, and their estimated cost."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import rel_entr

from wardround.asking.prompts import Prompts
from wardround.asking.units import select_questions
from wardround.candidates.candidate import CandidateUnavailable, Fault, RequestAdapted, RequestRejected
from wardround.core.ask import Answer
from wardround.core.study import JudgeSettings, Study, load_study
from wardround.marking.judges.calls import JudgeCalls, check_judge_settings
from wardround.marking.judges.judge import DiagnosisPair
from wardround.marking.parser.distribution import FirstTokenDistribution, first_token_distribution
from wardround.marking.reader import AnswerReader
from wardround.measuring.comparing.families import families
from wardround.running.budget import BudgetTracker, price
from wardround.running.caller import GaveUp, Stopping
from wardround.running.candidate_run import CandidateRun
from wardround.running.plan import planned_units
from wardround.running.store import AnswerStore
from wardround.running.study_run import RunPaths, StudyRun
from wardround.running.trials import PlannedUnit, TrialGroup

VOTES, ITEMS, ALPHA, DRAWS = 20, 5, 0.01, 9_999

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CheckResult:
    """The results of a check; `ready` if every candidate answered."""

    summary: dict[str, Any]
    ready: bool


def check_study(
    source: Study | Path,
    *,
    runs: Path | None = None,
    answers: Path | None = None,
    strict: bool = False,
    freeze: bool = False,
    note: Callable[[str], None] = print,
) -> CheckResult:
    """Checks data, keys and candidates. Its Asks are part of the study, so their answers are kept."""
    study = source if isinstance(source, Study) else load_study(source)
    paths = RunPaths.from_options(source, runs, answers)
    families(study)  # refuses comparisons that could not be made, before anything is spent
    if study.judge is not None:
        check_judge_settings(study.judge, study, paths.study.parent)
    study_run = StudyRun(study, paths, AnswerReader(), strict=strict, note=note)

    async def check_candidates() -> list[dict[str, Any]]:
        try:
            return [await _check_candidate(study_run, run) for run in await study_run.plan()]
        finally:
            await study_run.close()

    candidates = asyncio.run(check_candidates())
    summary: dict[str, Any] = {
        "study": study.name,
        "cases": len(study_run.cases),
        "questions": study_run.cases.question_count,
        "problems": [str(problem) for problem in study_run.cases.problems],
        "announced": study_run.announce(),
        "candidates": candidates,
    }
    if study.judge is not None:
        summary["judge"] = _check_judge(study_run, study.judge)
    if freeze:
        study_run.folder.freeze(study_run.frozen_hashes)
        summary["frozen"] = study_run.frozen_hashes
    results = [*candidates, summary["judge"]] if study.judge is not None else candidates
    return CheckResult(summary, all(result["answers"] for result in results))


def _check_judge(study_run: StudyRun, settings: JudgeSettings) -> dict[str, Any]:
    """Asks for one real verdict, on a gold diagnosis that is compared with itself."""
    study, paths = study_run.study, study_run.paths
    questions = (question for case in study_run.cases for question in select_questions(case, study))
    question = next((question for question in questions if question.kind == "open"), None)
    if question is None:
        return {"answers": True, "why": None, "warnings": ["there is no open question for it to judge"]}
    store, prompts = AnswerStore(paths.answers), Prompts(paths.study.parent)
    try:
        calls = JudgeCalls(
            *(settings, study, study_run.cases, store, prompts, BudgetTracker(study.budget)),
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


async def _check_candidate(study_run: StudyRun, run: CandidateRun) -> dict[str, Any]:
    settings, count = run.context.caller.settings, run.plan.count
    result: dict[str, Any] = {
        "name": settings.name,
        "stored": count.stored,
        "new": count.missing,
        "tokens_in": count.tokens_in,
        "tokens_out": count.tokens_out,
        "cost": price(settings, count.tokens_in, count.tokens_out),
        "inapplicable": dict(run.plan.inapplicable),
        "answers": True,
        "warnings": list(run.plan.skipped.values()),
    }
    try:
        await _ask_once(study_run, run)
        result["warnings"] += await _compare_votes(study_run, run)
    except (Fault, CandidateUnavailable, RequestRejected, GaveUp, Stopping) as failure:
        result |= {"answers": False, "why": str(failure) or "the budget allows no ask"}
    result["models"] = sorted(run.context.models)
    return result


async def _ask_once(study_run: StudyRun, run: CandidateRun) -> None:
    for unit in run.plan.incomplete_units(run.context, study_run.cases):
        await TrialGroup(run.context, unit).run_trials(1)
        return
    for unit in _all_units(study_run, run):  # everything is stored: the candidate is asked all the same
        request = await TrialGroup(run.context, unit).first_request()
        try:
            await run.context.caller.candidate.answer(request)
        except RequestAdapted:
            await run.context.caller.candidate.answer(request)
        return


def _all_units(study_run: StudyRun, run: CandidateRun) -> Iterator[PlannedUnit]:
    for number, case in enumerate(study_run.cases):
        yield from planned_units(run.context, number, case)


async def _compare_votes(study_run: StudyRun, run: CandidateRun) -> list[str]:
    """Compares votes with log-probabilities on a few items, if the study asks for log-probabilities."""
    units = (unit for unit in _all_units(study_run, run) if unit.condition.confidence == "logprobs")
    items = []
    for unit in islice(units, ITEMS):
        group, question = TrialGroup(run.context, unit), unit.unit[-1]
        (answer,), order = await group.votes_by("logprobs", question, 1)
        distribution = first_token_distribution(answer, [question.choices[index] for index in order])
        if distribution is None:
            return ["gives no log-probabilities: every item will be voted on instead"]
        if not distribution.is_complete:
            continue
        votes, order = await group.votes_by("votes", question, VOTES)
        items.append((_vote_counts(votes, [question.choices[index] for index in order]), _shares(distribution)))
    if (p := votes_p_value(items)) < ALPHA:
        return [
            f"{VOTES} votes on each of {len(items)} items disagree with the log-probabilities (p = {p:.2g}): "
            "are the study's votes drawn at temperature 1 without filters?"
        ]
    return []


def _shares(distribution: FirstTokenDistribution) -> Floats:
    """The shares of votes that the log-probabilities predict, one per option and one for unparsed votes."""
    shares = np.array([*distribution.shares, distribution.unparsed])
    shares += distribution.outside / len(shares) + 1e-9
    normalized: Floats = shares / shares.sum()
    return normalized


def _vote_counts(votes: list[Answer], options: list[str]) -> Floats:
    reader = AnswerReader()
    counts = Counter(reader.place(answer, options) for answer in votes)
    return np.array([*(counts[index] for index in range(len(options))), counts[None]], float)


def votes_p_value(items: Sequence[tuple[Floats, Floats]]) -> float:
    """The p-value of a G-test of votes (counts, shares) over all items, simulated: chi-squared needs more votes."""
    random, observed, simulated = np.random.default_rng(0), 0.0, np.zeros(DRAWS)
    for counts, shares in items:
        expected = counts.sum() * shares
        observed += rel_entr(counts, expected).sum()
        simulated += rel_entr(random.multinomial(int(counts.sum()), shares, DRAWS), expected).sum(axis=1)
    return float((1 + np.sum(simulated >= observed - 1e-9)) / (1 + DRAWS))
