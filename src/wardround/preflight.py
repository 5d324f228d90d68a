"""Before money is spent: one real ask per candidate, what is stored, what is new, and what that may cost."""

from __future__ import annotations

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

from wardround.asking.applicable import chosen_questions
from wardround.asking.prompts import Prompts
from wardround.asking.protocols import progressive_chain
from wardround.candidates.candidate import Adapted, Fault, Gone, Rejected
from wardround.core.ask import Answer
from wardround.core.study import JudgeSettings, load_study
from wardround.marking.judges.calls import Hearing, open_judge
from wardround.marking.judges.judge import Pair
from wardround.marking.parser.distribution import Distribution, distribution
from wardround.marking.reader import AnswerReader
from wardround.measuring.comparing.families import families
from wardround.running.budget import Purse, price
from wardround.running.caller import GaveUp, Stopping
from wardround.running.candidate_run import Seated
from wardround.running.plan import Seat, seats
from wardround.running.store import Store
from wardround.running.study_run import Examination, Places

VOTES, ITEMS, SUSPICIOUS, DRAWS = 20, 5, 0.01, 9_999


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Checked:
    """What the check found; `ready` when every candidate answered."""

    told: dict[str, Any]
    ready: bool


def check_study(
    study_file: Path,
    *,
    runs: Path | None = None,
    answers: Path | None = None,
    strict: bool = False,
    freeze: bool = False,
    note: Callable[[str], None] = print,
) -> Checked:
    """Checks data, keys and candidates. The asks it makes are part of the study, so their answers are kept."""
    study = load_study(study_file)
    families(study)  # refuses comparisons that could not be made, before anything is spent
    if study.judge is not None:
        open_judge(study.judge, study, study_file.parent)
    examination = Examination(study, Places.given(study_file, runs, answers), AnswerReader(), strict=strict, note=note)

    async def go() -> list[dict[str, Any]]:
        try:
            return [await _candidate(examination, seated) for seated in await examination.plan()]
        finally:
            await examination.close()

    candidates = asyncio.run(go())
    told = {
        "study": study.name,
        "cases": len(examination.cases),
        "questions": examination.cases.question_count,
        "problems": [str(problem) for problem in examination.cases.problems],
        "announced": examination.announce(),
        "candidates": candidates,
    }
    if study.judge is not None:
        told["judge"] = _judge(examination, study.judge)
    if freeze:
        examination.folder.freeze(examination.decided)
        told["frozen"] = examination.decided
    asked = [*candidates, told["judge"]] if study.judge is not None else candidates
    return Checked(told, all(each["answers"] for each in asked))


def _judge(examination: Examination, settings: JudgeSettings) -> dict[str, Any]:
    """One real verdict, on a gold diagnosis that is proposed as itself."""
    study, places = examination.study, examination.places
    chosen = (question for case in examination.cases for question in chosen_questions(case, study))
    question = next((question for question in chosen if question.kind == "open"), None)
    if question is None:
        return {"answers": True, "why": None, "warnings": ["there is no open question for it to judge"]}
    store, prompts = Store(places.answers), Prompts(places.study.parent)
    try:
        hearing = Hearing(
            *(settings, study, examination.cases, store, prompts, Purse(study.budget)),
            beside=places.study.parent,
            note=lambda line: None,
        )
        pair = Pair.of(question, str(question.gold))
        judge = hearing.judge(pl.DataFrame([pair._asdict()], schema_overrides={"accept": pl.List(pl.String)}))
        verdict, warnings = judge.same(question, pair.diagnosis), hearing.manifest()["warnings"]
    finally:
        store.close()
    if hearing.why is None and not verdict:
        said = "no readable verdict" if verdict is None else "that it is not the same"
        warnings = [*warnings, f"asked whether {pair.gold!r} is the same as itself, it says {said}"]
    return {"name": judge.name, "answers": hearing.why is None, "why": hearing.why, "warnings": warnings}


async def _candidate(examination: Examination, seated: Seated) -> dict[str, Any]:
    settings, found = seated.room.caller.settings, seated.plan.found
    told: dict[str, Any] = {
        "name": settings.name,
        "stored": found.stored,
        "new": found.missing,
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
        "cost": price(settings, found.tokens_in, found.tokens_out),
        "inapplicable": dict(seated.plan.inapplicable),
        "answers": True,
        "warnings": list(seated.plan.skipped.values()),
    }
    try:
        await _one_ask(examination, seated)
        told["warnings"] += await _votes_agree(examination, seated)
    except (Fault, Gone, Rejected, GaveUp, Stopping) as failure:
        told |= {"answers": False, "why": str(failure) or "the budget allows no ask"}
    told["models"] = sorted(seated.models)
    return told


async def _one_ask(examination: Examination, seated: Seated) -> None:
    for seat in _lacking(examination, seated):
        await seat.together(seated.room).sit(progressive_chain, 1)
        return
    for seat in _all(examination, seated):  # everything is stored: the candidate is asked all the same
        request = await seat.together(seated.room).request_of(seat.unit[0])
        try:
            await seated.room.caller.candidate.answer(request)
        except Adapted:
            await seated.room.caller.candidate.answer(request)
        return


def _lacking(examination: Examination, seated: Seated) -> Iterator[Seat]:
    for number, places in seated.plan.lacking():
        case = examination.cases.case(number)
        for place, seat in enumerate(seats(seated.room, number, case, lambda reason: None)):
            if place in places:
                yield seat


def _all(examination: Examination, seated: Seated) -> Iterator[Seat]:
    for number, case in enumerate(examination.cases):
        yield from seats(seated.room, number, case, lambda reason: None)


async def _votes_agree(examination: Examination, seated: Seated) -> list[str]:
    """Compares votes with log-probabilities on a few items, where the study asks for log-probabilities."""
    chosen = (seat for seat in _all(examination, seated) if seat.condition.confidence == "logprobs")
    items = []
    for seat in islice(chosen, ITEMS):
        together, question = seat.together(seated.room), seat.unit[-1]
        told, order = await together.by_logprobs(question)
        found = distribution(told, [question.choices[index] for index in order])
        if found is None:
            return ["gives no log-probabilities: every item will be voted on instead"]
        if not found.settled:
            continue
        votes, order = await together.by_votes(question, VOTES)
        items.append((_counts(votes, [question.choices[index] for index in order]), _shares(found)))
    if (chance := chance_of(items)) < SUSPICIOUS:
        return [
            f"{VOTES} votes on each of {len(items)} items disagree with the log-probabilities (p = {chance:.2g}): "
            "are the study's votes drawn at temperature 1 without filters?"
        ]
    return []


def _shares(found: Distribution) -> Floats:
    """What the log-probabilities expect of votes; what cannot be read is one outcome more."""
    shares = np.array([*found.shares, found.unparsed]) + found.outside / (len(found.shares) + 1) + 1e-9
    return shares / shares.sum()


def _counts(votes: list[Answer], options: list[str]) -> Floats:
    reader = AnswerReader()
    counted = Counter(reader.place(answer, options) for answer in votes)
    return np.array([*(counted[place] for place in range(len(options))), counted[None]], float)


def chance_of(items: Sequence[tuple[Floats, Floats]]) -> float:
    """The p-value of a G-test of votes (counts, shares) over all items, simulated: chi-squared needs more votes."""
    random, found, drawn = np.random.default_rng(0), 0.0, np.zeros(DRAWS)
    for counts, shares in items:
        expected = counts.sum() * shares
        found += rel_entr(counts, expected).sum()
        drawn += rel_entr(random.multinomial(int(counts.sum()), shares, DRAWS), expected).sum(axis=1)
    return float((1 + np.sum(drawn >= found - 1e-9)) / (1 + DRAWS))
