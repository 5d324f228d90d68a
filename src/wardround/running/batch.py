"""Panel: gets answers for a list of requests out of one candidate, beside the examination; judges are asked so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from wardround.candidates.candidate import Gone, Request
from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.running.caller import Caller, GaveUp, Stopping
from wardround.running.interrupt import heard_by
from wardround.running.progress import Lane, Progress
from wardround.running.store import Row, Store
from wardround.running.study_run import first_of

MOST_FAILURES_TOLD = 20


@dataclass
class Heard:
    """What a panel heard: an answer by the key of its Ask, where one came, and why others did not."""

    answers: dict[bytes, Answer] = field(default_factory=dict)
    asked: int = 0  # distinct Asks
    stored: int = 0
    failed: int = 0
    refused: int = 0  # of those that failed: for good
    failures: list[str] = field(default_factory=list)
    why: str | None = None  # why not all was answered
    interrupted: bool = False

    def answer_to(self, request: Request) -> Answer | None:
        return self.answers.get(request.ask.key)


def stored_answers(requests: Sequence[Request], store: Store) -> Heard:
    """What is stored already; calls nobody."""
    heard = Heard()
    keys = dict.fromkeys(request.ask.key for request in requests)
    for key in keys:
        if (answer := store.get(Row(key, 0, 0))) is not None:
            heard.answers[key] = answer
    heard.asked, heard.stored = len(keys), len(heard.answers)
    return heard


async def answers_to(requests: Sequence[Request], caller: Caller, store: Store, *, quiet: bool = True) -> Heard:
    """Each distinct Ask is put once, unless its answer is stored. One that fails has no answer; the others go on."""
    heard = stored_answers(requests, store)
    missing = {request.ask.key: request for request in requests if request.ask.key not in heard.answers}
    lane = Lane(heard.asked, heard.stored, caller.tally)
    progress = Progress([lane], quiet)
    window = asyncio.Semaphore(2 * caller.settings.concurrency + 16)

    async def put(request: Request) -> None:
        try:
            heard.answers[request.ask.key] = (await caller.fetch(request))[0]
        except GaveUp as failure:
            heard.failed += 1
            heard.refused += failure.refused
            if len(heard.failures) < MOST_FAILURES_TOLD:
                heard.failures.append(str(failure))
        except (Gone, Stopping):
            pass  # told below: it is the same for all that were not asked
        finally:
            window.release()
        lane.done = len(heard.answers) - heard.stored
        progress.show(last=lane.stored + lane.done == lane.total)

    async def put_all() -> None:
        async with asyncio.TaskGroup() as group:
            for request in missing.values():
                await window.acquire()
                if caller.ending:
                    return
                group.create_task(put(request))

    asking = asyncio.ensure_future(put_all())

    def interrupted() -> None:
        """Once: calls under way are finished. Twice: stop now."""
        if heard.interrupted:
            asking.cancel()
        heard.interrupted = True
        caller.stop()

    with heard_by(interrupted):
        try:
            await asking
        except* WardroundError as failures:  # answers cannot be written
            raise first_of(failures) from None
    heard.why = _why(heard, caller)
    return heard


def _why(heard: Heard, caller: Caller) -> str | None:
    if len(heard.answers) == heard.asked:
        return None
    if heard.interrupted:
        return "it was interrupted"
    if caller.gone:
        return caller.gone
    if heard.failures:
        return f"{heard.failed} answers failed: {heard.failures[0]}"
    return "the budget allows no more"
