"""Asks one candidate by batches: what is missing is submitted, waited for and stored, wave after wave.

A wave is every Ask that can be rendered now: of a chain the next stage. Nothing but the
answer store is needed to go on after an interruption:

- a batch is recorded before it is submitted; one whose confirmation was lost is looked for at the provider;
- an item that is in a batch under way is not submitted again, not even by another run of the same store;
- an answer and its bill are one commit, and an item whose answer is stored is not read again.

What three batches did not answer is asked individually, at the full price (our choice).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from wardround.candidates.batches.batch_api import BatchFailed, BatchResult, BatchUncertain
from wardround.candidates.candidate import (
    Candidate,
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    Request,
    RequestAdapted,
    RequestRejected,
    Unsupported,
    settings_error,
)
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.core.study import Study
from wardround.running.batching.item_file import ItemFile
from wardround.running.budget import BudgetReached
from wardround.running.caller import GaveUp
from wardround.running.context import RunContext
from wardround.running.plan import Plan
from wardround.running.store.batches import BatchRecord, BatchRecords, new_token
from wardround.running.trials import TrialGroup

MAX_BATCHES_OF_AN_ITEM = 3  # then it is asked individually
ALL_BATCHES = b"batches"  # the lease of the one run that submits or collects now
MAX_ITEMS = 50_000  # of a batch, if its provider takes as many
FIRST_WAIT = 5.0  # seconds between two looks at batches under way; doubled until MAX_WAIT
MAX_WAIT = 300.0
MAX_FAULTS = 12  # in a row, of requests about batches
MAX_CLOCK_DIFFERENCE = timedelta(minutes=10)  # between this machine and the provider


@dataclass
class WaveCount:
    """What one pass over the missing Asks did."""

    stored: int = 0
    failed: int = 0
    waiting: int = 0  # items in batches under way
    submitted: int = 0


class BatchAsking:
    """The batches of one candidate in one start of a run."""

    def __init__(self, context: RunContext, cases: CaseSet, plan: Plan, note: Callable[[str], None]) -> None:
        from wardround.candidates.http.server import ServerCandidate  # aiohttp takes long to load

        candidate = context.caller.candidate
        api = candidate.batch_api()
        assert isinstance(candidate, ServerCandidate)  # others have no batches, and are refused
        assert api is not None
        self._candidate, self._api = candidate, api
        self._context, self._cases, self._plan, self._note = context, cases, plan, note
        settings = candidate.settings
        self._name = settings.name
        self._records = BatchRecords(context.store, context.study.name, settings.name, settings.address)
        self._given_up: set[str] = set()

    async def run(self, *, detach: bool) -> int:
        """Asks until nothing is missing that batches can answer; returns how many Asks are still under way."""
        wait, under_way, faults = FIRST_WAIT, 0, 0
        caller = self._context.caller
        while not caller.is_ending:
            try:
                async with self._context.store.leases.hold(ALL_BATCHES, 0, lambda: caller.is_ending, MAX_WAIT):
                    count, faults = await self._pass(), 0
            except Fault as fault:
                faults += 1
                if faults == min(self._candidate.settings.attempts, fault.stops_after or MAX_FAULTS):
                    raise CandidateUnavailable(
                        f"its batches failed {faults} times in a row; the last: {fault}"
                    ) from None
                self._note(f"{self._name}: {fault}; tried again in {wait:.0f} s")
                count = WaveCount(waiting=max(under_way, 1))
            under_way = count.waiting + count.submitted
            if count.stored or count.failed:
                wait = FIRST_WAIT
            elif not under_way:
                break
            elif detach:
                return under_way
            else:
                await caller.pause(wait)
                wait = min(2 * wait, MAX_WAIT)
        if not under_way and self._given_up:
            self._note(f"{self._name}: {len(self._given_up):,} Asks that batches did not answer are asked individually")
        return under_way

    async def _pass(self) -> WaveCount:
        """Stores the results that have come, and submits what is in no batch."""
        count = WaveCount()
        ended = await self._ended_batches()
        results = {name: (batch, result) for batch in ended async for name, result in self._results(batch)}
        file: ItemFile | None = None
        try:
            async for name, request in self._missing():
                if self._context.caller.is_ending:
                    break
                if name in results:
                    await self._store_result(*results[name], request, count)
                elif self._records.has_open(name):
                    count.waiting += 1
                elif self._records.count_ended(name) >= MAX_BATCHES_OF_AN_ITEM:
                    self._given_up.add(name)
                elif (payload := await self._payload(request)) is not None:
                    file = file or self._new_file()
                    if not file.add(name, payload):
                        await self._submit(file)
                        file = self._new_file()
                        file.add(name, payload)
                    count.submitted += 1
            if file is not None and not self._context.caller.is_ending:
                await self._submit(file)
        finally:
            if file is not None:
                file.remove()
        await self._context.store.flush()
        if not self._context.caller.is_ending:
            for batch in filter(self._records.is_own, ended):
                self._records.end(batch.token)
        return count

    async def _ended_batches(self) -> list[BatchRecord]:
        """The batches whose results can be collected."""
        ended = []
        for batch in self._records.open_batches():
            id = batch.id or await self._look_for(batch)
            if id is None:
                continue
            try:
                if await self._api.has_ended(id):
                    ended.append(batch._replace(id=id))
            except BatchFailed as failed:
                self._records.remove(batch.token)
                raise CandidateUnavailable(f"its provider failed batch {id}: {failed}") from None
        return ended

    async def _look_for(self, batch: BatchRecord) -> str | None:
        """The provider's id of a batch that was not confirmed. What it does not have is submitted again."""
        if not self._records.is_own(batch):
            return None
        since = (datetime.fromisoformat(batch.time) - MAX_CLOCK_DIFFERENCE).isoformat()
        try:
            id = await self._api.find(batch.token, batch.items, since, self._records.known_ids())
        except BatchUncertain:
            return None  # it is known when the batch has ended
        if id is None:
            self._records.remove(batch.token)
        else:
            self._records.confirm(batch.token, id)
        return id

    async def _results(self, batch: BatchRecord) -> AsyncIterator[tuple[str, BatchResult]]:
        """The results by the names of their items."""
        answered = 0
        async for result in self._api.results(str(batch.id)):
            token, _, name = result.custom_id.partition("-")
            if token == batch.token:
                answered += result.status == 200
                yield name, result
        self._note(f"{self._name}: batch {batch.id} has ended, {answered:,} of {batch.items:,} Asks were answered")

    async def _missing(self) -> AsyncIterator[tuple[str, Request]]:
        """What lacks answers and can be asked now, each under the name of its item."""
        names = set()
        combines = self._candidate.supports_multiple and not self._candidate.settings.send_seed
        for unit in self._plan.incomplete_units(self._context, self._cases):
            try:
                requests = await TrialGroup(self._context, unit).missing_requests()
            except BadInput:
                continue  # it is reported when it is asked individually
            for request in _combined(requests) if combines else requests:
                name = item_name(request)
                if name not in names:
                    names.add(name)
                    yield name, request

    async def _payload(self, request: Request) -> bytes | None:
        """The JSON of a request; None if it can only be asked individually, where it is reported why."""
        try:
            payload = self._candidate.make_batch_payload(await self._context.caller.with_images(request))
            self._context.caller.budget.charge_request()
            return payload
        except (BadInput, BudgetReached, Unsupported):
            return None

    async def _store_result(self, batch: BatchRecord, result: BatchResult, request: Request, count: WaveCount) -> None:
        caller = self._context.caller
        request = await caller.with_images(request)
        try:
            if result.status == 0:
                raise Fault("the batch ended before it was processed", kind="not processed")
            reply = self._candidate.read_batch_reply(result.status, result.body, request)
            answers = await caller.keep_batched(request, reply, batch.run, batch.candidate)
        except QuestionRefused as refused:
            try:
                answers = await caller.store_refusal(request, refused.finish, str(refused))
            except GaveUp:
                count.failed += 1
                return
        except (Fault, RequestAdapted, RequestRejected) as error:
            caller.count_fault(getattr(error, "kind", "refused"), str(error))
            count.failed += 1
            return
        count.stored += 1
        for answer in answers:
            self._context.note_new_answer(request, answer)

    def _new_file(self) -> ItemFile:
        return ItemFile(self._api, new_token(), MAX_ITEMS)

    async def _submit(self, file: ItemFile) -> None:
        """Submits a file. If that is not confirmed, the next pass looks for it."""
        self._records.add(file.token, file.items)
        try:
            id = await self._api.submit(file.finish(), file.token)
        except RequestRejected as rejected:
            self._records.remove(file.token)
            raise CandidateUnavailable(f"its provider does not take the batch: {rejected}") from None
        finally:
            file.remove()
        self._records.confirm(file.token, id)
        self._note(f"{self._name}: submitted batch {id}, {len(file.items):,} Asks")


def item_name(request: Request) -> str:
    """The name of an item: trials, turn and Ask, of letters, digits, `-` and `_`, at most 55 characters."""
    ask = urlsafe_b64encode(request.ask.key[:18]).decode()
    return f"{request.trials[0]}-{len(request.trials)}-{request.turn}-{ask}"


def _combined(requests: list[Request]) -> list[Request]:
    """One request for neighbouring trials of the same Ask."""
    combined: list[Request] = []
    for request in requests:
        last = combined[-1] if combined else None
        is_next = last is not None and (last.ask.key, last.turn) == (request.ask.key, request.turn)
        if last is not None and is_next and last.trials[-1] + 1 == request.trials[0]:
            combined[-1] = replace(last, trials=(*last.trials, *request.trials))
        else:
            combined.append(request)
    return combined


def batched_candidates(
    candidates: Sequence[Candidate], study: Study, batch: bool, note: Callable[[str], None]
) -> set[str]:
    """The names of the candidates that are asked by batches: those that say so, and with `batch` all that can be."""
    names = set()
    for candidate in candidates:
        settings = candidate.settings
        if not (batch or settings.batch):
            continue
        reason = batch_refusal(candidate, study)
        if reason is None:
            names.add(settings.name)
        elif settings.batch:
            raise settings_error(settings, f"batch: {reason}")
        else:
            note(f"{settings.name}: {reason}; it is asked one by one, at the full price")
    return names


def batch_refusal(candidate: Candidate, study: Study) -> str | None:
    """Why a candidate cannot be asked by batches; None if it can."""
    if candidate.settings.base_urls:
        return "batches go to one server: name one base_url"
    if candidate.batch_api() is None:
        return f"provider {candidate.settings.provider!r} has no batches"
    if "agent" in study.conditions.get("evidence", ()):
        return 'an agent searches between its replies, which a batch cannot; leave out evidence = "agent"'
    return None
