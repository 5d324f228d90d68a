"""Fills the answer store of a study of simulated candidates, many times faster than a run: nobody is asked.

Every Ask has its real key. The answers are drawn: each is right with the candidate's `accuracy`, else any wrong
option, or cannot be parsed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wardround.cases.set import CaseSet
    from wardround.running.context import RunContext
    from wardround.running.plan import Plan

QUESTIONS_AT_ONCE = 25_000
CACHE = "pragma cache_size = -400000"  # kilobytes: keys are random, so that any page of the table may be written to
TIME = "2026-01-01T00:00:00+00:00"
LETTERS = "ABCD"
UNPARSED = "Sorry, this cannot be judged."


def main(study_file: Path, workspace: Path) -> None:
    from perf.measured import Clock, print_usage
    from wardround.core.study import load_study
    from wardround.marking.reader import AnswerReader
    from wardround.running import study_run
    from wardround.running.inputs.run_paths import RunPaths

    started = Clock.now()
    study_run.replay = _fill  # type: ignore[attr-defined]
    places = RunPaths.from_options(study_file, workspace / "runs", None)
    run = study_run.StudyRun(load_study(study_file), places, AnswerReader())

    async def fill() -> int:
        try:
            return sum(filled.plan.count.stored for filled in await run.plan())
        finally:
            await run.close()

    print_usage(started, stored=asyncio.run(fill()))


async def _fill(context: RunContext, cases: CaseSet) -> Plan:
    """Stores an answer of the candidate to every Ask in every trial; in place of the replay of a start."""
    import numpy as np

    from wardround.running.plan import Plan, all_units
    from wardround.running.store.writes import CALL_COLUMNS, insert_into
    from wardround.running.trials import ReplayCount

    settings, store, trials = context.caller.settings, context.store.connection, context.study.trials
    parameters = settings.extra_body
    random = np.random.default_rng(parameters["seed"])
    bodies = [f'{{"text":"{text}","finish":"stop"}}'.encode() for text in (*LETTERS, UNPARSED)]
    columns = ("ask", "trial", "turn", "body", "run", "candidate", "time", "tokens_in", "tokens_out", "finish")
    count = ReplayCount(None)  # type: ignore[arg-type]

    def asks() -> Iterator[tuple[bytes, int]]:
        """The key of each question's Ask, and its right option."""
        for unit in all_units(context, cases):
            question, identity = unit.unit[0], context.caller.candidate.identity
            order = context.renderer.order(unit.case, question, unit.condition, 0)
            key, _ = context.renderer.plain_key(unit.case, question, unit.condition, settings, identity, order)
            yield key, int(question.gold)

    store.execute("commit")  # the snapshot in which a start replays
    store.execute(CACHE)
    asked = asks()
    while block := sorted(islice(asked, QUESTIONS_AT_ONCE)):
        gold = np.array([right for _, right in block])[:, None]
        shape = len(block), trials
        wrong = (gold + random.integers(1, len(LETTERS), shape)) % len(LETTERS)
        option = np.where(random.random(shape) < parameters["accuracy"], gold, wrong)
        option[random.random(shape) < parameters["unparsed"]] = len(LETTERS)
        origin = (context.study.name, settings.name, TIME, 0, 0, "stop")
        answers = (
            (key, trial, 0, bodies[number], *origin)
            for (key, _), numbers in zip(block, option.tolist(), strict=True)
            for trial, number in enumerate(numbers)
        )
        calls = ((context.study.name, settings.name, key, trials, 0, 0, 0, "answer", 0, TIME, 0, 0) for key, _ in block)
        with store.transaction():
            store.executemany(insert_into("answers", columns), answers)
            store.executemany(insert_into("calls", CALL_COLUMNS), calls)
        count.stored += len(block) * trials
    store.begin_snapshot()
    return Plan(count)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
