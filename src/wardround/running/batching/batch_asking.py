"""Asks one candidate by batches: what is missing is submitted, waited for and stored, wave after wave.

A wave is every Ask that can be rendered now: of a chain the next stage. Nothing but the
answer store is needed to go on after an interruption:

- a batch is recorded before it is submitted; one whose confirmation was lost is looked for at the provider;
- an item that is in a batch under way is not submitted again, not even by another run of the same store;
- an answer and its bill are one commit, and an item whose answer is stored is not read again.

An item reserves the most that it may take of the budget; what does not fit waits for the batches under way. A batch
that is too much for the provider's queue is submitted again in halves, one at a time.

What three batches did not answer is asked individually, at the full price (our choice).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path

from wardround.candidates.batches.batch_api import BatchApi, BatchFailed, BatchResult, BatchUncertain
from wardround.candidates.batches.file_batches import FileBatches
from wardround.candidates.candidate import (
    Candidate,
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    RateLimited,
    Request,
    RequestAdapted,
    RequestRejected,
    Unsupported,
    settings_error,
)
from wardround.cases.images.sent_size import PixelSize
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.core.study import Study
from wardround.running.batching.item_file import ItemFile
from wardround.running.caller import GaveUp
from wardround.running.context import RunContext
from wardround.running.estimates.ask_size import measure_ask
from wardround.running.plan import Plan
from wardround.running.store.batches import BatchRecord, BatchRecords, Reservation, new_token
from wardround.running.trials import TrialGroup

MAX_BATCHES_OF_AN_ITEM = 3  # then it is asked individually
ALL_BATCHES = b"batches"  # the lease of the one run that submits or collects now
MAX_ITEMS = 50_000  # of a batch, if its provider takes as many
FIRST_WAIT = 5.0  # seconds between two looks at batches under way; doubled until MAX_WAIT
MAX_WAIT = 300.0
MAX_FAULTS = 12  # in a row, of requests about batches
MARGIN = 1.5  # of input tokens: what is reserved, as a multiple of what is estimated (our choice)
MAX_CLOCK_DIFFERENCE = timedelta(minutes=10)  # between this machine and the provider


@dataclass
class WaveCount:
    """What one pass over the missing Asks did."""

    stored: int = 0
    failed: int = 0
    waiting: int = 0  # items in batches under way
    submitted: int = 0
    ended: int = 0  # batches of this run
    held_back: int = 0  # items that the budget or the provider's queue has no room for now


class BatchAsking:
    """The batches of one candidate in one start of a run."""

    def __init__(
        self, context: RunContext, cases: CaseSet, plan: Plan, folder: Path, note: Callable[[str], None]
    ) -> None:
        from wardround.candidates.http.server import ServerCandidate  # aiohttp takes long to load

        candidate = context.caller.candidate
        assert isinstance(candidate, ServerCandidate)  # others have no batches, and are refused
        self._candidate = candidate
        self._settings = settings = candidate.settings
        self._files = FileBatches(folder, settings.model)
        self._api: BatchApi = make_batch_api(candidate, folder)
        self._context, self._cases, self._plan, self._note = context, cases, plan, note
        self._budget = context.caller.budget
        self._name = settings.name
        self._records = BatchRecords(context.store, context.study.name, settings.name, settings.address)
        self._given_up: set[str] = set()
        self._max_items = MAX_ITEMS
        self._is_queue_full = False  # until a batch has ended
        self._times_full = 0  # in a row
        self._too_expensive: Reservation | None = None  # an item that the budget has no room for

    async def run(self, *, detach: bool) -> tuple[int, int]:
        """Asks until nothing is missing that batches can answer.

        Returns how many Asks are still in batches under way, and how many wait for room in one.
        """
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
            if count.stored or count.failed or count.ended:
                wait = FIRST_WAIT
            elif not under_way and not (count.held_back and self._is_queue_full):
                break
            elif detach or self.user_task is not None:
                return under_way, count.held_back
            else:
                await caller.pause(wait)
                wait = min(2 * wait, MAX_WAIT)
        if not under_way and self._given_up:
            self._note(f"{self._name}: {len(self._given_up):,} Asks that batches did not answer are asked individually")
        if not under_way and self._too_expensive is not None:
            self._budget.end_for(self._settings, self._too_expensive)
        return under_way, 0

    @property
    def user_task(self) -> str | None:
        """What the user must do for batches under way; None if their provider processes them."""
        ids = self._records.own_open_ids()
        return self._files.user_task(files) if (files := [id for id in ids if FileBatches.has_made(id)]) else None

    async def _pass(self) -> WaveCount:
        """Stores the results that have come, and submits what is in no batch."""
        count = WaveCount()
        self._too_expensive = None
        ended = await self._ended_batches()
        if ended:
            self._is_queue_full, self._times_full = False, 0
        results = {name: (batch, result) for batch in ended async for name, result in self._results(batch)}
        own_ended = [batch for batch in ended if self._records.is_own(batch)]
        without_result = set[str]().union(*(self._records.items(batch.token) for batch in own_ended)) - results.keys()
        file: ItemFile | None = None
        try:
            async for name, request in self._missing():
                if self._context.caller.is_ending:
                    break
                if name in results:
                    await self._store_result(*results[name], request, count)
                elif name in without_result:
                    count.failed += 1
                elif self._records.has_open(name):
                    count.waiting += 1
                elif self._records.count_ended(name) >= MAX_BATCHES_OF_AN_ITEM:
                    self._given_up.add(name)
                else:
                    file = await self._add(file, name, request, count)
            if file is not None and not self._context.caller.is_ending:
                await self._submit(file, count)
        finally:
            if file is not None:
                self._drop(file)
        await self._context.store.flush()
        if not self._context.caller.is_ending:
            for batch in own_ended:
                answered = sum(of is batch and result.status == 200 for of, result in results.values())
                self._records.end(batch.token, answered)
                self._budget.settle(self._settings, batch.reservation)
                count.ended += 1
        return count

    async def _add(self, file: ItemFile | None, name: str, request: Request, count: WaveCount) -> ItemFile | None:
        """The file with one more item; a full one is submitted, and a new one begun."""
        if self._is_queue_full and (self._records.own_open_ids() or self._too_expensive):
            count.held_back += 1
            return file
        request = await self._context.caller.with_images(request)
        try:
            item = self._candidate.make_batch_item(request)
        except (BadInput, Unsupported):
            return file  # it can only be asked individually, where it is reported why
        if file is not None and not file.has_room(item.payload):
            await self._submit(file, count)
            file = None
            if self._is_queue_full:
                count.held_back += 1
                return None
        most = self._most_tokens(request, item.max_tokens_out)
        if not self._budget.reserve(self._settings, most):
            self._too_expensive = self._too_expensive or most
            count.held_back += 1
            return file
        file = file or ItemFile(self._api, new_token(), self._max_items)
        file.add(name, item.payload, most)
        return file

    def _most_tokens(self, request: Request, max_tokens_out: int | None) -> Reservation:
        """What an item may take at most; what its request does not limit counts as nothing."""
        sizes = [PixelSize(image.width, image.height) for image in request.images]
        estimated = measure_ask(request.ask, sizes, self._settings).tokens
        return Reservation(1, ceil(MARGIN * estimated), max_tokens_out or 0)

    async def _ended_batches(self) -> list[BatchRecord]:
        """The batches whose results can be collected."""
        ended = []
        for batch in self._records.open_batches():
            id = batch.id or await self._look_for(batch)
            if id is None:
                continue
            try:
                if await self._api_of(id).has_ended(id):
                    ended.append(batch._replace(id=id))
            except BatchFailed as failed:
                if not self._records.is_own(batch):
                    continue
                self._forget(batch)
                if not failed.is_queue_full:
                    raise CandidateUnavailable(f"its provider failed batch {id}: {failed}") from None
                self._note_full(batch.items, str(failed))
        return ended

    def _api_of(self, id: str) -> BatchApi:
        return self._files if FileBatches.has_made(id) else self._api

    async def _look_for(self, batch: BatchRecord) -> str | None:
        """The provider's id of a batch that was not confirmed. What it does not have is submitted again."""
        if not self._records.is_own(batch):
            return None
        since = (datetime.fromisoformat(batch.time) - MAX_CLOCK_DIFFERENCE).isoformat()
        wanted = (batch.token, batch.items, since, self._records.known_ids())
        try:
            id = await self._files.find(*wanted) or await self._api.find(*wanted)
        except BatchUncertain:
            return None  # it is known when the batch has ended
        if id is None:
            self._forget(batch)
        else:
            self._records.confirm(batch.token, id)
        return id

    def _forget(self, batch: BatchRecord) -> None:
        """Forgets a batch that its provider does not have, and what was reserved for it."""
        self._records.remove(batch.token)
        self._budget.cancel(self._settings, batch.reservation)

    def _note_full(self, items: int, reason: str) -> None:
        """A batch of so many items was too much for the provider's queue."""
        self._is_queue_full = True
        self._times_full += 1
        if items == 1 and self._times_full > MAX_FAULTS:
            raise CandidateUnavailable(f"its provider's queue has no room for a batch of one Ask: {reason}")
        self._max_items = max(1, items // 2)
        self._note(f"{self._name}: {reason}; next batches have at most {self._max_items:,} Asks")

    async def _results(self, batch: BatchRecord) -> AsyncIterator[tuple[str, BatchResult]]:
        """The results by the names of their items."""
        answered = 0
        async for result in self._api_of(str(batch.id)).results(str(batch.id)):
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

    async def _submit(self, file: ItemFile, count: WaveCount) -> None:
        """Submits a file. If that is not confirmed, the next pass looks for it."""
        batch = self._records.add(file.token, file.items, (file.reserved.tokens_in, file.reserved.tokens_out))
        file.reserved = Reservation()  # the record has it now
        try:
            id = await self._api.submit(file.finish(), file.token)
        except RequestRejected as rejected:
            self._forget(batch)
            advice = '; for vLLM say `batch = "file"`' if self._settings.provider == "openai" else ""
            raise CandidateUnavailable(f"its provider does not take the batch: {rejected}{advice}") from None
        except RateLimited as limited:
            self._forget(batch)
            self._note_full(batch.items, str(limited))
            count.held_back += batch.items
            return
        finally:
            file.remove()
        self._records.confirm(file.token, id)
        count.submitted += batch.items
        self._note(f"{self._name}: submitted batch {id}, {batch.items:,} Asks")

    def _drop(self, file: ItemFile) -> None:
        """Removes a file; what was reserved for one that was not submitted is given back."""
        self._budget.cancel(self._settings, file.reserved)
        file.remove()


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


NO_BATCHES = {
    "openai:azure": "Azure takes batches only for deployments of the type Global Batch, at another address",
    "anthropic:bedrock": "Bedrock takes batches only from a bucket in S3, with a role that may read it",
    "anthropic:vertex": "Vertex AI takes batches only from BigQuery or Cloud Storage",
    "gemini:vertex": "Vertex AI takes batches only from BigQuery or Cloud Storage",
}


def make_batch_api(candidate: Candidate, folder: Path) -> BatchApi:
    """How its batches are submitted: to its provider, or as files in a folder."""
    if candidate.settings.batch == "file":
        return FileBatches(folder, candidate.settings.model)
    api = candidate.batch_api()
    assert api is not None  # others are refused
    return api


def batch_refusal(candidate: Candidate, study: Study) -> str | None:
    """Why a candidate cannot be asked by batches; None if it can."""
    settings = candidate.settings
    if settings.batch == "file" and settings.provider != "openai":
        return f"batch files have the format of provider 'openai', not of {settings.provider!r}"
    if settings.base_urls:
        return "batches go to one server: name one base_url"
    if settings.batch != "file" and candidate.batch_api() is None:
        return NO_BATCHES.get(settings.provider, f"provider {settings.provider!r} has no batches")
    is_limited = study.budget.tokens is not None or study.budget.money is not None
    samplings = (study.sampling_for(settings, condition) for condition in study.all_conditions)
    if is_limited and any(sampling.max_tokens is None for sampling in samplings):
        return "[budget] limits tokens or money, and nothing limits a reply in a batch; set max_tokens in [sampling]"
    if "agent" in study.conditions.get("evidence", ()):
        return 'an agent searches between its replies, which a batch cannot; leave out evidence = "agent"'
    return None
