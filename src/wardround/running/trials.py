"""The trials of one unit under one condition: TrialExaminer runs one of them, TrialGroup all of them together."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from wardround.asking.degradation import check_degraded_images
from wardround.asking.render import ONLY_TURN, RenderedAsk, Turn, estimated_tokens
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Ask, Message
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.evidence import NO_EVIDENCE, Evidence, parse_documents
from wardround.core.random import seeded
from wardround.core.study_tables.literature import Literature
from wardround.running.context import RunContext
from wardround.running.estimates.estimator import TokenEstimator
from wardround.running.images import UnknownFingerprint
from wardround.running.store import AnswerKey, StoredAnswer
from wardround.running.used_answers import UsedAnswer

PendingAnswer = tuple[Request, "asyncio.Future[Answer]"]


@dataclass(slots=True)
class PlannedUnit:
    """A question or a chain of one case, to be asked under one condition in `trials` trials."""

    case_number: int
    case: Case
    unit: list[Question]
    scored: set[str]
    condition: Condition
    condition_number: int
    trials: int


class MissingAsk(NamedTuple):
    """An Ask to a question that has no stored answer in so many trials."""

    ask: Ask
    question: Question
    trials: int


class NotStored(Exception):
    """While replaying: this Ask has no stored answer."""

    def __init__(self, missing: MissingAsk) -> None:
        self.missing = missing


@dataclass
class ReplayCount:
    """How many answers a replay found in the store, how many it did not, and what the latter will be billed."""

    estimator: TokenEstimator
    stored: int = 0
    missing: int = 0


class TrialGroup:
    """The trials of one unit under one condition. Those that wait for equal Asks are served by one request.

    Requests are sent when no trial can go on without an answer: `_running` counts those that can.
    """

    def __init__(self, context: RunContext, planned: PlannedUnit) -> None:
        self.context, self.planned = context, planned
        self.used: list[UsedAnswer] = []
        self._running = 1
        self._replaying: ReplayCount | None = None
        self._collected: list[Request] | None = None  # what lacks an answer, while only that is looked for
        self._waiting: dict[tuple[bytes, int], list[PendingAnswer]] = {}

    async def run_trials(self, trials: int | None = None) -> None:
        """Runs the protocol once per trial: all that are planned, or the first `trials`."""
        self._running = trials = trials or self.planned.trials
        try:
            if trials == 1:
                await self._run_trial(0)
                return
            results = (self._run_trial(trial) for trial in range(trials))
            for exception in await asyncio.gather(*results, return_exceptions=True):
                if isinstance(exception, BaseException):
                    raise exception
        finally:
            self._record_uses()

    def _record_uses(self) -> None:
        for used in self.used:
            self.context.record_use(used)

    async def replay(self, count: ReplayCount) -> list[MissingAsk]:
        """Runs the protocol on stored answers only, counts them, and returns the Asks that lack answers."""
        self._replaying = count
        missing: dict[bytes, MissingAsk] = {}
        for trial in range(self.planned.trials):
            examiner = TrialExaminer(self, trial)
            try:
                await self.context.protocol(self.planned.unit, examiner)
            except NotStored as not_stored:
                later = _questions_after(not_stored.missing.question, self.planned.unit)
                for ask in [not_stored.missing, *[await examiner.foresee(question) for question in later]]:
                    trials = missing[ask.ask.key].trials if ask.ask.key in missing else 0
                    missing[ask.ask.key] = ask._replace(trials=trials + ask.trials)
        self._replaying = None
        count.stored += len(self.used)
        for ask in missing.values():
            count.missing += ask.trials
            count.estimator.add_missing(ask.ask, self._group_of(ask.question), ask.trials)
        if not missing:
            self._record_uses()
        return list(missing.values())

    async def missing_requests(self) -> list[Request]:
        """The requests that lack answers and can be made from stored answers, for each trial the next."""
        requests: list[Request] = []
        self._collected = requests
        for trial in range(self.planned.trials):
            with suppress(NotStored):
                await self.context.protocol(self.planned.unit, TrialExaminer(self, trial))
        self._collected = None
        return requests

    def _group_of(self, question: Question) -> tuple[int, str]:
        return self.planned.condition_number, question.kind

    async def _run_trial(self, trial: int) -> None:
        try:
            await self.context.protocol(self.planned.unit, TrialExaminer(self, trial))
        finally:
            self._pause_trial()

    def _pause_trial(self) -> None:
        self._running -= 1
        if self._running == 0:
            self._send()

    async def answer(self, question: Question, rendered: RenderedAsk, trial: int, turn: int) -> Answer:
        """The stored answer, or the one that is being fetched, or a new one."""
        key = AnswerKey(rendered.ask.key, trial, turn)
        stored = self.context.store.find(key)
        if stored is not None:
            self.context.note_stored_answer(stored)
            if self._replaying is not None:
                self._replaying.estimator.add_stored(key.ask, self._group_of(question), lambda: rendered.ask)
            has_images, caller = bool(rendered.ask.images), self.context.caller
            if stored.answer.refused_for is None and not caller.has_known_answer(with_images=has_images):
                caller.note_answered(self.make_request(question, rendered, trial, turn))
            return stored.answer
        if self._collected is not None:
            self._collected.append(self.make_request(question, rendered, trial, turn))
        if self._replaying is not None or self._collected is not None:
            raise NotStored(MissingAsk(rendered.ask, question, 1))
        pending = self.context.in_flight.get(key)
        if pending is None:
            pending = self.context.in_flight[key] = asyncio.get_running_loop().create_future()
            request = self.make_request(question, rendered, trial, turn)
            self._waiting.setdefault((key.ask, turn), []).append((request, pending))
        self._pause_trial()
        try:
            return await asyncio.shield(pending)
        finally:
            self._running += 1

    async def votes(self, question: Question, rendered: RenderedAsk, count: int) -> list[Answer]:
        """The answers of trials 0 to count - 1 to one Ask, requested together by a single trial."""
        if self._replaying is not None:
            keys = [AnswerKey(rendered.ask.key, trial, 0) for trial in range(count)]
            stored = [answer for key in keys if (answer := self.context.store.find(key)) is not None]
            if stored:
                self._replaying.estimator.add_stored(rendered.ask.key, self._group_of(question), lambda: rendered.ask)
            if len(stored) < count:
                raise NotStored(MissingAsk(rendered.ask, question, count - len(stored)))
            for answer in stored:
                self.context.note_stored_answer(answer)
            return [answer.answer for answer in stored]
        if self._collected is not None:
            votes = [self.context.store.get(AnswerKey(rendered.ask.key, trial, 0)) for trial in range(count)]
            self._collected += [
                self.make_request(question, rendered, trial, 0) for trial, answer in enumerate(votes) if answer is None
            ]
            if any(answer is None for answer in votes):
                raise NotStored(MissingAsk(rendered.ask, question, count))
            return [answer for answer in votes if answer is not None]

        async def vote(trial: int) -> Answer:
            try:
                return await self.answer(question, rendered, trial, 0)
            finally:
                self._pause_trial()

        self._running += count
        self._pause_trial()
        try:
            return list(await asyncio.gather(*(vote(trial) for trial in range(count))))
        finally:
            self._running += 1

    async def first_request(self) -> Request:
        """The request for the unit's first question in trial 0, ready to be sent."""
        question = self.planned.unit[0]
        rendered = await TrialExaminer(self, 0).render(question, self.planned.condition)
        return await self.context.caller.with_images(self.make_request(question, rendered, 0, 0))

    def stored_request(self, trial: int) -> Request:
        """The request for the unit's first question in a trial, whose images were hashed before."""
        return self.make_request(self.planned.unit[0], self.rendered(trial), trial, 0)

    def rendered(self, trial: int) -> RenderedAsk:
        """The unit's first question in a trial, whose images were hashed before."""
        question, condition, caller = self.planned.unit[0], self.planned.condition, self.context.caller
        identity, case = caller.candidate.identity, self.planned.case
        return self.context.renderer.render(case, question, condition, caller.settings, identity, trial)

    async def votes_by(self, confidence: str, question: Question, count: int) -> tuple[list[Answer], tuple[int, ...]]:
        """`count` votes under another `confidence`, and the order of the options in their Ask."""
        condition = replace(self.planned.condition, confidence=confidence)
        rendered = await TrialExaminer(self, 0).render(question, condition)
        return await self.votes(question, rendered, count), rendered.order

    def make_request(self, question: Question, rendered: RenderedAsk, trial: int, turn: int) -> Request:
        seed = None
        if self.context.caller.settings.send_seed:
            seed = seeded("seed", self.context.study.seed, rendered.ask.key.hex(), trial, turn).randrange(2**31)
        return Request(
            rendered.ask,
            self.planned.case,
            question,
            self.planned.condition,
            rendered.order,
            (trial,),
            turn,
            seed=seed,
            is_intermediate=rendered.is_intermediate,
        )

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for group in waiting.values():
            if self.context.caller.settings.send_seed:
                for pending in group:
                    self._fetch_in_background([pending])
            else:
                self._fetch_in_background(group)

    def _fetch_in_background(self, group: list[PendingAnswer]) -> None:
        task = asyncio.ensure_future(self.fetch(group))
        _background.add(task)
        task.add_done_callback(_background.discard)

    async def fetch(self, group: list[PendingAnswer]) -> None:
        """Fetches the answers to equal Asks by one request; whoever waits for them gets them, or why there are none."""
        group.sort(key=lambda pending: pending[0].trials)
        first, stored_before = group[0][0], dict[int, StoredAnswer]()
        trials = tuple(request.trials[0] for request, _ in group)
        whole = first if len(group) == 1 else replace(first, trials=trials)
        try:
            answers = await self.context.caller.fetch(whole, stored_before)
        except BaseException as exception:
            for _, pending in group:
                if isinstance(exception, asyncio.CancelledError):
                    pending.cancel()
                elif not pending.done():
                    pending.set_exception(exception)
                    pending.exception()  # a trial that was stopped meanwhile no longer retrieves it
            if not isinstance(exception, Exception):
                raise
            return
        finally:
            for request, _ in group:
                del self.context.in_flight[AnswerKey(request.ask.key, request.trials[0], request.turn)]
        pairs = list(zip(group, answers, strict=True))
        bought = [(request, answer) for (request, _), answer in pairs if request.trials[0] not in stored_before]
        if bought:
            self.context.sentinels.add(*bought[0])
        for (request, pending), answer in pairs:
            if (stored := stored_before.get(request.trials[0])) is None:
                self.context.note_new_answer(request, answer)
            else:
                self.context.note_stored_answer(stored)
            if not pending.done():
                pending.set_result(answer)


def _questions_after(question: Question, unit: Sequence[Question]) -> Sequence[Question]:
    return unit[1 + [other.id for other in unit].index(question.id) :]


_background: set[asyncio.Future[None]] = set()


async def cancel_pending() -> None:
    """Cancels all requests of this event loop that are still under way: nobody waits for them any more."""
    own = [task for task in list(_background) if task.get_loop() is asyncio.get_running_loop()]
    for task in own:
        task.cancel()
    await asyncio.gather(*own, return_exceptions=True)


class TrialExaminer:
    """The Examiner of one trial."""

    def __init__(self, group: TrialGroup, trial: int) -> None:
        self._group, self._context = group, group.context
        self.trial, self.case, self.condition = trial, group.planned.case, group.planned.condition
        self.search_mode = group.context.caller.candidate.search_mode
        self.answered = 0
        self._turns: dict[bytes, int] = {}

    @property
    def literature(self) -> Literature:
        literature = self._context.study.literature
        assert literature is not None, "a study with evidence and no literature is refused"
        return literature

    async def ask(
        self,
        question: Question,
        *,
        earlier_answers: Mapping[str, Answer] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        step: str | None = None,
        transcript: Sequence[Message] = (),
        tools: Sequence[dict[str, Any]] = (),
    ) -> Answer:
        """As in Examiner. If log-probabilities do not settle a question, all trials vote on it instead."""
        agent_turn = ONLY_TURN
        if step is not None or transcript:
            prompt = step or f"agent-{self.search_mode}"
            agent_turn = Turn(prompt, step is not None, tuple(transcript), tuple(tools))
        rendered = await self.render(question, self.condition, earlier_answers, evidence, agent_turn)
        turn = self._next_turn(rendered.ask.key)
        answer = await self._group.answer(question, rendered, self.trial, turn)
        if step is not None:
            self._record_use(question, rendered, self.trial, turn, counts=False)
            return answer
        self.answered += 1
        by_logprobs = self.condition.confidence == "logprobs" and answer.refused_for is None
        settled = not by_logprobs or self._context.reader.has_vote_distribution(answer, question, rendered.order)
        if answer.sources:
            rendered = rendered._replace(evidence=await self._own_evidence(answer.sources))
        self._record_use(question, rendered, self.trial, turn, counts=settled)
        if settled:
            return answer
        rendered = await self.render(question, replace(self.condition, confidence="votes"), earlier_answers, evidence)
        answers = await self._group.votes(question, rendered, self._context.study.trials)
        for trial in range(len(answers)):
            self._record_use(question, rendered, trial, 0)
        return answers[0]

    async def foresee(self, question: Question) -> MissingAsk:
        """The Ask of a later question of a chain, without the answers that it will carry."""
        rendered = await self.render(question, self.condition)
        return MissingAsk(rendered.ask, question, 1)

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        return await self._context.tools.use(tool, arguments)

    def tokens(self, messages: Sequence[Message]) -> int:
        return estimated_tokens(messages)

    async def _own_evidence(self, sources: Sequence[Mapping[str, Any]]) -> Evidence:
        """The evidence of a candidate's own search; sources without a text are read from the index."""
        texts = [
            (source.get("pmid", ""), source.get("title", ""), source["text"]) for source in sources if "text" in source
        ]
        bare = [source["pmid"] for source in sources if "pmid" in source and "text" not in source]
        read = parse_documents(await self.use("read", {"pmids": bare})) if bare and self._context.tools else ()
        pmids = tuple(source["pmid"] for source in sources if "pmid" in source)
        missing = tuple(pmid for pmid in bare if all(pmid != document.pmid for document in read))
        return Evidence((*parse_documents(texts), *read), pmids, missing=missing, ended="its own search")

    def random(self, name: str) -> random.Random:
        return seeded(name, self._context.study.seed, self.case.id, self.condition.json, self.trial)

    def _next_turn(self, key: bytes) -> int:
        turn = self._turns.get(key, 0)
        self._turns[key] = turn + 1
        return turn

    async def render(
        self,
        question: Question,
        condition: Condition,
        earlier_answers: Mapping[str, Answer] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        turn: Turn = ONLY_TURN,
    ) -> RenderedAsk:
        """The Ask of a question. Image files are hashed off the event loop, each once."""
        caller, carried = self._context.caller, self._carried_texts(question, earlier_answers or {})
        shown = NO_EVIDENCE if turn.transcript else evidence  # what an agent found stands in its transcript
        while True:
            try:
                rendered = self._context.renderer.render(
                    self.case,
                    question,
                    condition,
                    caller.settings,
                    caller.candidate.identity,
                    self.trial,
                    carried,
                    shown,
                    turn,
                )
                break
            except UnknownFingerprint as unknown:
                await self._context.fingerprints.learn(unknown.file)
        if not rendered.ask.cut:  # what did not fit into the context is recorded as cut, and is not looked for
            check_degraded_images(self.case, question, condition, rendered.ask.images)
        return rendered._replace(evidence=evidence) if turn.transcript else rendered

    def _carried_texts(self, question: Question, earlier_answers: Mapping[str, Answer]) -> dict[str, str]:
        """The texts carried from earlier questions, by id."""
        if not question.given:
            return {}
        renderer, by_id = self._context.renderer, {other.id: other for other in self.case.questions}
        own: dict[str, str | None] = {}
        for id, answer in earlier_answers.items():
            order = renderer.order(self.case, by_id[id], self.condition, self.trial)
            own[id] = self._context.reader.text(answer, by_id[id], order)
        return renderer.carried_texts(self.case, question, self.condition, own)

    def _record_use(
        self, question: Question, rendered: RenderedAsk, trial: int, turn: int, *, counts: bool = True
    ) -> None:
        planned = self._group.planned
        counts = counts and question.id in planned.scored
        has_evidence = counts and (self.condition.evidence != "none" or rendered.evidence is not NO_EVIDENCE)
        used = UsedAnswer(
            planned.case_number,
            question.id,
            planned.condition_number,
            AnswerKey(rendered.ask.key, trial, turn),
            counts,
            bool(rendered.ask.cut),
            rendered.evidence if has_evidence else None,
        )
        self._group.used.append(used)
