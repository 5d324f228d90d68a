"""Batches: the answers of one candidate, such as a judge, to a list of requests outside of a study's units."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wardround.candidates.candidate import CandidateUnavailable, Request
from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.core.interrupt import on_interrupt
from wardround.running.caller import MAX_LISTED_FAILURES, Caller, GaveUp, Stopping
from wardround.running.progress import CandidateProgress, Progress
from wardround.running.store import AnswerKey, AnswerStore
from wardround.running.study_run import first_failure


@dataclass
class BatchReplies:
    """The answers to a batch by the key of their Ask, and why others are missing."""

    answers: dict[bytes, Answer] = field(default_factory=dict)
    addresses: Counter[str | None] = field(default_factory=Counter)  # of stored answers -> how many
    asks: int = 0  # distinct ones
    stored: int = 0
    failed: int = 0
    refused: int = 0  # those of the failed that will never be answered
    failures: list[str] = field(default_factory=list)
    why: str | None = None  # why some are missing
    interrupted: bool = False

    def answer_to(self, request: Request) -> Answer | None:
        """Its answer; None if there is none, or if the server refused the request."""
        answer = self.answers.get(request.ask.key)
        return None if answer is None or answer.refused_for else answer

    @property
    def answers_refused(self) -> int:
        """Requests whose stored outcome is a refusal."""
        return sum(answer.refused_for is not None for answer in self.answers.values())


def stored_replies(requests: Sequence[Request], store: AnswerStore) -> BatchReplies:
    """The stored answers; calls nobody."""
    replies = BatchReplies()
    keys = dict.fromkeys(request.ask.key for request in requests)
    for key in keys:
        if (stored := store.find(AnswerKey(key, 0, 0))) is not None:
            replies.answers[key] = stored.answer
            replies.addresses[stored.address] += 1
    replies.asks, replies.stored = len(keys), len(replies.answers)
    return replies


async def fetch_batch(
    requests: Sequence[Request], caller: Caller, store: AnswerStore, *, quiet: bool = True
) -> BatchReplies:
    """Asks each distinct Ask once, unless its answer is stored. One that fails has no answer; the others go on."""
    replies = stored_replies(requests, store)
    missing = {request.ask.key: request for request in requests if request.ask.key not in replies.answers}
    lane = CandidateProgress(replies.asks, replies.stored, caller.tally)
    progress = Progress([lane], quiet)

    async def ask(request: Request) -> None:
        try:
            replies.answers[request.ask.key] = (await caller.fetch(request))[0]
        except GaveUp as failure:
            replies.failed += 1
            replies.refused += failure.refused
            if len(replies.failures) < MAX_LISTED_FAILURES:
                replies.failures.append(str(failure))
        except (CandidateUnavailable, Stopping):
            pass  # the same for all that were not asked: see `why`
        lane.new = len(replies.answers) - replies.stored
        progress.show(last=lane.stored + lane.new == lane.total)

    asking = asyncio.ensure_future(caller.run_all(ask, missing.values()))

    def interrupted() -> None:
        """First time: calls under way are finished. Second time: stop now."""
        if replies.interrupted:
            asking.cancel()
        replies.interrupted = True
        caller.stop()

    with on_interrupt(interrupted):
        try:
            await asking
        except* WardroundError as failures:  # answers cannot be written
            raise first_failure(failures) from None
    replies.why = _missing_reason(replies, caller)
    return replies


def _missing_reason(replies: BatchReplies, caller: Caller) -> str | None:
    if len(replies.answers) == replies.asks:
        return None
    if replies.interrupted:
        return "it was interrupted"
    if caller.unavailable:
        return caller.unavailable
    if replies.failures:
        return f"{replies.failed} answers failed: {replies.failures[0]}"
    return "the budget allows no more"
