"""Continuous batching: prompts are read one by one, and all completions under way are decoded together.

A prompt is read once for all its seeds. Its rows join the batch at once and leave when they end. A token depends on
its row's own seed and place, never on the other rows; only the rounding of the arithmetic depends on them.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import torch

from wardround.candidates.transformers.chat_model import ChatModel, PromptFeatures, PromptState
from wardround.candidates.transformers.decoding_cache import DecodingCache
from wardround.candidates.transformers.job import Completion, Job, JobFailure, JobResult
from wardround.candidates.transformers.token_sampling import draw_tokens, uniform_numbers

MAX_ROWS = {"cuda": 256, "cpu": 32}
PREPARING_THREADS = 4  # that tokenise and resize images while the model computes
MEMORY_SHARE = 0.6  # of the free GPU memory, for the batch's keys and values
Outcome = JobResult | JobFailure


@dataclass
class JobUnderWay:
    """A job, and its completions so far."""

    job: Job
    features: PromptFeatures
    outcome: "Future[Outcome]"
    waiting: deque[int] = field(default_factory=deque)  # numbers of seeds without a row
    completions: dict[int, Completion] = field(default_factory=dict)
    first_token: tuple[tuple[str, float], ...] | None = None


@dataclass
class Row:
    """One completion that is being written."""

    owner: JobUnderWay
    number: int  # of its seed
    position: list[int]  # of the latest token, on each axis
    tokens: list[int] = field(default_factory=list)


class Engine:
    """A model's batch and the thread that computes it."""

    def __init__(self, model: ChatModel, max_rows: int | None = None) -> None:
        self.model = model
        self.max_rows = max_rows or MAX_ROWS.get(model.device.type, 32)
        self._prepared: queue.SimpleQueue[JobUnderWay | None] = queue.SimpleQueue()
        self._jobs: deque[JobUnderWay] = deque()  # with seeds that wait for a row
        self._rows: list[Row] = []
        self._cache = DecodingCache()
        self._notes: list[str] = []
        self._is_closed = False
        self._pool = ThreadPoolExecutor(PREPARING_THREADS, thread_name_prefix="prompt")
        self._thread = threading.Thread(target=self._run, name="transformers", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> "Future[Outcome]":
        """The job's result; a job that is cancelled leaves the batch."""
        outcome: Future[Outcome] = Future()
        self._pool.submit(self._prepare, job, outcome)
        return outcome

    def close(self) -> None:
        """Ends the thread; jobs under way get no result."""
        self._is_closed = True
        self._pool.shutdown(cancel_futures=True)
        self._prepared.put(None)
        self._thread.join()

    def _prepare(self, job: Job, outcome: "Future[Outcome]") -> None:
        try:
            features = self.model.features(job)
        except Exception as error:  # whatever a processor or a template says of this prompt
            features = JobFailure("rejected", one_line(error))
        if isinstance(features, JobFailure):
            _settle(outcome, features)
        else:
            self._prepared.put(JobUnderWay(job, features, outcome, deque(range(len(job.seeds)))))

    def _run(self) -> None:
        with torch.inference_mode():
            while not self._is_closed:
                self._receive()
                try:
                    self._admit()
                    if self._rows:
                        self._decode()
                except Exception as error:  # one bad computation ends its jobs, not the worker
                    self._fail_all(JobFailure("fault", one_line(error)))

    def _receive(self) -> None:
        while not self._is_closed:
            try:
                job = self._prepared.get(block=not (self._jobs or self._rows))
            except queue.Empty:
                return
            if job is not None:
                self._jobs.append(job)

    def _admit(self) -> None:
        """Reads prompts while there is room for all their seeds; a job too large for an empty batch is split."""
        while self._jobs:
            owner = self._jobs[0]
            if owner.outcome.cancelled() or not owner.waiting:
                self._jobs.popleft()
                continue
            wanted = len(owner.waiting)
            room = self._room(owner.features.tokens)
            if room < wanted and self._rows:
                return
            numbers = [owner.waiting[at] for at in range(max(1, min(room, wanted)))]
            if self._computed(partial(self._start, owner, numbers), owner):
                for _ in numbers:
                    owner.waiting.popleft()

    def _room(self, tokens: int) -> int:
        """How many more rows the batch takes if each has so many tokens."""
        rows = self.max_rows - len(self._rows)
        if self.model.device.type == "cuda" and self._cache.bytes_per_token:
            columns = max(self._cache.columns, tokens) + 64
            free, _ = torch.cuda.mem_get_info(self.model.device)
            free += torch.cuda.memory_reserved(self.model.device) - torch.cuda.memory_allocated(self.model.device)
            free += len(self._rows) * self._cache.columns * self._cache.bytes_per_token
            rows = min(rows, int(free * MEMORY_SHARE / (columns * self._cache.bytes_per_token)) - len(self._rows))
        return rows

    def _start(self, owner: JobUnderWay, numbers: list[int]) -> None:
        """Reads a prompt, and draws the first token of each seed."""
        if owner.job.scored is not None:
            scored = self.model.score(owner.features)
            _settle(owner.outcome, JobResult(tokens_in=owner.features.tokens, scored=scored))
            return
        state = self.model.read(owner.features)
        if owner.job.logprobs and owner.first_token is None:
            owner.first_token = self.model.alternatives(state.logits, owner.job.logprobs)
        rows = [Row(owner, number, state.position) for number in numbers]
        self._draw(rows, state.logits.expand(len(rows), -1))
        going_on = [row for row in rows if not self._has_ended(row)]
        self._join(state, going_on)
        for row in rows:
            if row not in going_on:
                self._finish(row)

    def _join(self, state: PromptState, rows: list[Row]) -> None:
        if rows:
            self._cache.join(state.cache, len(rows))
            self._rows += rows

    def _decode(self) -> None:
        for number in reversed(range(len(self._rows))):
            if self._rows[number].owner.outcome.cancelled():
                self._leave(number)
        if not self._rows:
            return
        self._computed(self._step)
        for number in reversed(range(len(self._rows))):
            row = self._rows[number]
            if self._has_ended(row):
                self._leave(number)
                self._finish(row)

    def _step(self) -> None:
        """One more token of every row."""
        rows = self._rows
        positions = [[value + 1 for value in row.position] for row in rows]
        logits = self.model.read_next([row.tokens[-1] for row in rows], positions, self._cache)
        self._cache.advance()
        for row, position in zip(rows, positions, strict=True):
            row.position = position
        self._draw(rows, logits)

    def _draw(self, rows: list[Row], logits: torch.Tensor) -> None:
        seeds, steps = [row.owner.job.seeds[row.number] for row in rows], [len(row.tokens) for row in rows]
        drawn = draw_tokens(logits, [row.owner.job.sampling for row in rows], uniform_numbers(seeds, steps))
        for row, token in zip(rows, drawn.tolist(), strict=True):
            row.tokens.append(token)

    def _has_ended(self, row: Row) -> bool:
        return row.tokens[-1] in self.model.end_tokens or self._is_full(row) or self._stop_place(row) is not None

    def _is_full(self, row: Row) -> bool:
        limit = self.model.context - row.owner.features.tokens
        return len(row.tokens) >= min(limit, row.owner.job.sampling.max_tokens or limit)

    def _stop_place(self, row: Row, *, in_whole: bool = False) -> int | None:
        """Where the first stop string begins in the text, or in the tokens that the latest one can complete."""
        stops = row.owner.job.sampling.stop
        if not stops:
            return None
        reach = len(row.tokens) if in_whole else max(map(len, stops)) + 8  # a character may be several tokens
        text = self.model.text(row.tokens[-reach:])
        return min((place for stop in stops if (place := text.find(stop)) >= 0), default=None)

    def _leave(self, number: int) -> None:
        last = self._cache.leave(number)
        self._rows[number] = self._rows[last]
        self._rows.pop()

    def _finish(self, row: Row) -> None:
        """Keeps a completion; the last of a job gives its result."""
        owner, text, place = row.owner, self.model.text(row.tokens), self._stop_place(row, in_whole=True)
        is_cut = row.tokens[-1] not in self.model.end_tokens and place is None
        owner.completions[row.number] = Completion(text[:place], "length" if is_cut else "stop", len(row.tokens))
        if len(owner.completions) == len(owner.job.seeds):
            completions = tuple(owner.completions[number] for number in range(len(owner.job.seeds)))
            notes, self._notes = tuple(self._notes), []
            features = owner.features
            result = JobResult(completions, features.tokens, features.opening, owner.first_token, notes=notes)
            _settle(owner.outcome, result)

    def _computed(self, compute: Callable[[], None], owner: JobUnderWay | None = None) -> bool:
        """Whether a computation fitted into memory; if not, half of the rows go back to wait."""
        try:
            compute()
            return True
        except torch.OutOfMemoryError:
            pass  # what it holds is freed only outside of this block
        except Exception as error:
            if owner is None:
                raise
            self._give_up(owner, JobFailure("fault", one_line(error)))  # the others go on
            return False
        count = len(self._rows)
        if count == 0 or (count == 1 and owner is None):
            alone = JobFailure("rejected", "the prompt alone needs more memory than the device has")
            self._give_up(owner or self._rows[0].owner, alone)
            return False
        self.max_rows = max(1, count // 2)
        for number in reversed(range(self.max_rows, count)):
            row = self._rows[number]
            self._leave(number)
            row.owner.waiting.append(row.number)
            if row.owner not in self._jobs:
                self._jobs.append(row.owner)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self._notes.append(f"out of memory with {count} completions at once: {self.max_rows} from then on")
        return False

    def _give_up(self, owner: JobUnderWay, failure: JobFailure) -> None:
        _settle(owner.outcome, failure)
        owner.waiting.clear()
        for number in reversed(range(len(self._rows))):
            if self._rows[number].owner is owner:
                self._leave(number)

    def _fail_all(self, failure: JobFailure) -> None:
        for owner in [*self._jobs, *(row.owner for row in self._rows)]:
            _settle(owner.outcome, failure)
        self._jobs.clear()
        self._rows.clear()
        self._cache = DecodingCache()


def _settle(outcome: "Future[Outcome]", result: Outcome) -> None:
    if not outcome.done() and outcome.set_running_or_notify_cancel():
        outcome.set_result(result)


def one_line(error: object) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
