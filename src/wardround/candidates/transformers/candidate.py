"""`transformers`: a Hugging Face model with its processor and chat template."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from wardround.asking.reasoning import split_reasoning
from wardround.candidates.candidate import (
    CandidateUnavailable,
    Fault,
    OfflineCandidate,
    QuestionRefused,
    Reply,
    Request,
    RequestRejected,
    Unsupported,
    settings_error,
)
from wardround.candidates.local.model import seed_of
from wardround.candidates.text_logprobs import prompt_and_text
from wardround.candidates.transformers.job import (
    ChatTurn,
    Completion,
    Job,
    JobFailure,
    JobResult,
    ModelPlan,
    ModelProblem,
    TokenSampling,
)
from wardround.candidates.transformers.loading import find_model, import_package
from wardround.candidates.transformers.ray_workers import RayWorker, connect
from wardround.candidates.transformers.workers import ProcessWorker, ThreadWorker, Worker, WorkerDied
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, TextLogprob

KEYED = ("dtype", "processor", "template")  # keys of extra_body that decide on answers
PLACED = ("device", "device_map", "rows")  # those that only say where and how it computes
CONCURRENCY = 64  # prompts at once for each worker, unless the study sets another
MAX_DEATHS = 3  # of workers in a row, without an answer between them


@dataclass
class WorkerSlot:
    """A place for a worker: the one in it now, and the jobs that it has."""

    make: Callable[[], Worker]
    worker: Worker
    jobs: int = 0


class Transformers(OfflineCandidate):
    """A model in this process, or one in each of several workers."""

    def __post_init__(self) -> None:
        settings = self.settings
        if unknown := settings.extra_body.keys() - {*KEYED, *PLACED}:
            known = ", ".join((*KEYED, *PLACED))
            raise settings_error(settings, f"extra_body.{min(unknown)} is not known; there are {known}")
        name = settings.model or settings.provider.removeprefix("transformers").removeprefix(":")
        if not name:
            raise settings_error(settings, "model is required (a folder, or a model in the Hub's cache)")
        try:
            self._files = find_model(name, settings.revision)
        except ModelProblem as problem:
            raise settings_error(settings, str(problem)) from None
        if "sees" in settings.model_fields_set and settings.sees and not self._files.sees:
            raise settings_error(settings, f"{self._files.name} has no part for images: sees = true cannot hold")
        self.settings = settings.model_copy(update={"sees": settings.sees and self._files.sees})
        keyed = {key: value for key, value in settings.extra_body.items() if key in KEYED}
        self.identity = replace(
            settings.identity,
            provider="transformers",
            model=self._files.name,
            revision=self._files.revision,
            extra_body=keyed,
        )
        self.supports_probes = True
        self._slots: list[WorkerSlot] = []
        self._deaths = 0
        self._restarting = asyncio.Lock()

    @property
    def max_concurrency(self) -> int:
        explicit = "concurrency" in self.settings.model_fields_set
        return self.settings.concurrency if explicit else CONCURRENCY * max(1, len(self._slots))

    async def prepare(self, cases: CaseSet) -> None:
        if self._slots:
            return
        try:
            slots = await asyncio.to_thread(self._make_slots)
            await asyncio.gather(*(asyncio.to_thread(slot.worker.load) for slot in slots))
        except (ModelProblem, WorkerDied) as problem:
            raise settings_error(self.settings, str(problem)) from None
        self._slots = slots

    async def answer(self, request: Request) -> Reply:
        job = job_of(request)
        while True:
            slot = min(self._slots, key=lambda slot: slot.jobs)
            worker = slot.worker
            slot.jobs += 1
            try:
                outcome = await asyncio.wrap_future(worker.submit(job))
            except WorkerDied as death:
                await self._restart(slot, worker, death)  # and its requests are asked again
                continue
            finally:
                slot.jobs -= 1
            self._deaths = 0
            if isinstance(outcome, JobFailure):
                raise _error_of(outcome)
            self.warnings += [note for note in outcome.notes if note not in self.warnings]
            return self._reply(request, outcome)

    async def close(self) -> None:
        slots, self._slots = self._slots, []
        await asyncio.gather(*(asyncio.to_thread(slot.worker.close) for slot in slots))

    def _make_slots(self) -> list[WorkerSlot]:
        settings, extra_body = self.settings, self.settings.extra_body
        plan = ModelPlan(
            folder=str(self._files.folder),
            name=self._files.name,
            device=extra_body.get("device"),
            device_map=extra_body.get("device_map"),
            dtype=extra_body.get("dtype", "auto"),
            context=settings.context,
            max_rows=extra_body.get("rows"),
            processor=extra_body.get("processor", {}),
            template=extra_body.get("template", {}),
        )
        makers: list[Callable[[], Worker]]
        if settings.ray is not None:
            gpus = connect(settings.ray)
            makers = [partial(RayWorker, plan, min(1.0, gpus))] * (settings.gpus or max(1, int(gpus)))
        elif settings.gpus is None:
            makers = [partial(ThreadWorker, plan)]
        else:
            makers = [partial(ProcessWorker, replace(plan, device=device)) for device in self._devices()]
        return [WorkerSlot(make, make()) for make in makers]

    def _devices(self) -> list[str]:
        """One device for each worker process."""
        wanted, device = self.settings.gpus or 1, self.settings.extra_body.get("device")
        if device is not None:
            return [device] * wanted
        present = import_package("torch").cuda.device_count()
        if present < wanted:
            advice = 'extra_body = { device = "cpu" } starts as many processes without one'
            raise ModelProblem(f"gpus = {wanted}, but PyTorch finds {present} here; {advice}")
        return [f"cuda:{number}" for number in range(wanted)]

    async def _restart(self, slot: WorkerSlot, dead: Worker, death: WorkerDied) -> None:
        """Puts a new worker in the place of a dead one, once for all requests that it had."""
        async with self._restarting:
            if slot.worker is not dead:
                return
            self._deaths += 1
            if self._deaths > MAX_DEATHS:
                raise CandidateUnavailable(f"{death}; {MAX_DEATHS} workers in a row did")
            await asyncio.to_thread(dead.close)
            worker = slot.make()
            try:
                await asyncio.to_thread(worker.load)
            except ModelProblem as problem:
                raise CandidateUnavailable(str(problem)) from None
            except WorkerDied:
                pass  # the next request finds it dead and tries again
            slot.worker = worker
            warning = f"{death}, was started again, and its requests were asked again"
            if warning not in self.warnings:
                self.warnings.append(warning)

    def _reply(self, request: Request, result: JobResult) -> Reply:
        model = self._files.name
        if result.scored is not None:
            logprob, tokens = result.scored
            score = TextLogprob(logprob, tokens, len(str(request.ask.scored_text).encode()))
            return Reply([Answer("", model=model, text_logprob=score)] * len(request.trials), result.tokens_in)
        answers = [
            replace(_answer_of(completion, result), model=model, images=request.image_hashes)
            for completion in result.completions
        ]
        return Reply(answers, result.tokens_in, sum(completion.tokens for completion in result.completions))


def job_of(request: Request) -> Job:
    """The request as a model's job."""
    images = (image.data for image in request.images)
    turns = [
        ChatTurn(message.role, tuple(part if isinstance(part, str) else next(images) for part in message.parts))
        for message in request.ask.messages
    ]
    wanted = request.ask.sampling
    return Job(
        tuple(turns),
        tuple(seed_of(request, trial) for trial in request.trials),
        TokenSampling(
            temperature=1.0 if wanted.temperature is None else wanted.temperature,
            top_k=wanted.top_k or 0,
            top_p=1.0 if wanted.top_p is None else wanted.top_p,
            max_tokens=wanted.max_tokens,
            stop=wanted.stop or (),
        ),
        logprobs=wanted.logprobs or 0,
        reasoning=wanted.reasoning,
        tools=request.ask.tools,
        scored=prompt_and_text(request.ask) if request.ask.scored_text is not None else None,
    )


def _answer_of(completion: Completion, result: JobResult) -> Answer:
    """The completion as an Answer, with its reasoning apart."""
    parts = split_reasoning(result.opening + completion.text)
    return Answer(
        text=parts.answer.strip() if parts.reasoning else parts.answer,
        finish=completion.finish,
        reasoning=parts.reasoning or None,
        first_token=result.first_token,
    )


def _error_of(failure: JobFailure) -> Exception:
    if failure.kind == "too_long":
        return QuestionRefused("too_long", failure.message)
    if failure.kind == "unsupported":
        return Unsupported(failure.message)
    if failure.kind == "rejected":
        return RequestRejected(failure.message)
    return Fault(failure.message)
