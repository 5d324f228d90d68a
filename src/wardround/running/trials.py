"""Sitting: one trial of one case under one condition, as a protocol sees it; and trials that sit together."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wardround.asking.options import seeded
from wardround.asking.render import ONLY_TURN, Rendered, Turn, estimated_tokens
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Message
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.evidence import NO_EVIDENCE, Evidence, documents_told
from wardround.core.examiner import Hall
from wardround.core.study import Literature
from wardround.running.context import Room
from wardround.running.images import Unlearnt
from wardround.running.replay_count import Found, NotStored
from wardround.running.store import Row
from wardround.running.used_answers import Used

Protocol = Callable[[Sequence[Question], Hall], Awaitable[None]]


class Together:
    """The trials of one case and condition. Those that wait on an equal Ask are served by one request."""

    def __init__(
        self,
        room: Room,
        number: int,
        case: Case,
        unit: Sequence[Question],
        scored: set[str],
        condition: Condition,
        condition_number: int,
    ) -> None:
        self.room, self.number, self.case, self.unit, self.condition = room, number, case, unit, condition
        self.scored, self.condition_number = scored, condition_number
        self.uses: list[Used] = []
        self._awake = 1
        self._replaying = False
        self._waiting: dict[tuple[bytes, int], list[tuple[Request, asyncio.Future[Answer]]]] = {}

    async def sit(self, protocol: Protocol, trials: int) -> None:
        """Runs the protocol once per trial."""
        self._awake = trials
        try:
            if trials == 1:
                await self._one(protocol, 0)
                return
            sat = (self._one(protocol, trial) for trial in range(trials))
            for exception in await asyncio.gather(*sat, return_exceptions=True):
                if isinstance(exception, BaseException):
                    raise exception
        finally:
            self._hand_in()

    def _hand_in(self) -> None:
        for used in self.uses:
            self.room.use(used)

    async def replay(self, protocol: Protocol, trials: int, found: Found) -> bool:
        """Runs the protocol through stored answers only, counts what is found, and says whether all is stored.

        Calls nobody.
        """
        self._replaying = True
        missing = found.missing
        for trial in range(trials):
            sitting = Sitting(self, trial)
            try:
                await protocol(self.unit, sitting)
            except NotStored as not_stored:
                found.count(not_stored, len(self.unit) - sitting.answered)
        self._replaying = False
        found.stored += len(self.uses)
        whole = found.missing == missing
        if whole:
            self._hand_in()
        return whole

    async def _one(self, protocol: Protocol, trial: int) -> None:
        try:
            await protocol(self.unit, Sitting(self, trial))
        finally:
            self._sleep()

    def _sleep(self) -> None:
        self._awake -= 1
        if self._awake == 0:
            self._send()

    async def answer(self, question: Question, rendered: Rendered, trial: int, turn: int) -> Answer:
        """The stored answer, or the one that is being fetched, or a new one."""
        row = Row(rendered.ask.key, trial, turn)
        stored = self.room.store.get(row)
        if stored is not None:
            self.room.stored(stored)
            return stored
        if self._replaying:
            raise NotStored(rendered.ask, 1)
        under_way = self.room.in_flight.get(row)
        if under_way is None:
            under_way = self.room.in_flight[row] = asyncio.get_running_loop().create_future()
            request = self._request(question, rendered, trial, turn)
            self._waiting.setdefault((row.ask, turn), []).append((request, under_way))
        self._sleep()
        try:
            return await asyncio.shield(under_way)
        finally:
            self._awake += 1

    async def votes(self, question: Question, rendered: Rendered, count: int) -> list[Answer]:
        """The answers of trials 0 to count - 1 to one Ask, asked together from a single trial."""
        if self._replaying:
            stored = [self.room.store.get(Row(rendered.ask.key, trial, 0)) for trial in range(count)]
            found = [answer for answer in stored if answer is not None]
            if len(found) < count:
                raise NotStored(rendered.ask, count - len(found))
            return found

        async def one(trial: int) -> Answer:
            try:
                return await self.answer(question, rendered, trial, 0)
            finally:
                self._sleep()

        self._awake += count
        self._sleep()
        try:
            return list(await asyncio.gather(*(one(trial) for trial in range(count))))
        finally:
            self._awake += 1

    async def request_of(self, question: Question) -> Request:
        """The request for one question in trial 0, ready to be sent."""
        sitting = Sitting(self, 0)
        request = self._request(question, await sitting.rendered(question, self.condition), 0, 0)
        return await self.room.caller.with_images(request)

    async def by_logprobs(self, question: Question) -> tuple[Answer, tuple[int, ...]]:
        """The answer with log-probabilities, and the order of the options it was asked with."""
        rendered = await Sitting(self, 0).rendered(question, replace(self.condition, confidence="logprobs"))
        return (await self.votes(question, rendered, 1))[0], rendered.order

    async def by_votes(self, question: Question, count: int) -> tuple[list[Answer], tuple[int, ...]]:
        """So many votes, and the order of the options they were asked with."""
        rendered = await Sitting(self, 0).rendered(question, replace(self.condition, confidence="votes"))
        return await self.votes(question, rendered, count), rendered.order

    def _request(self, question: Question, rendered: Rendered, trial: int, turn: int) -> Request:
        seed = None
        if self.room.caller.settings.send_seed:
            seed = seeded("seed", self.room.study.seed, rendered.ask.key.hex(), trial, turn).randrange(2**31)
        return Request(
            rendered.ask,
            self.case,
            question,
            self.condition,
            rendered.order,
            (trial,),
            turn,
            seed=seed,
            on_the_way=rendered.on_the_way,
        )

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for group in waiting.values():
            if self.room.caller.settings.send_seed:
                for one in group:
                    self._fetch_in_background([one])
            else:
                self._fetch_in_background(group)

    def _fetch_in_background(self, group: list[tuple[Request, asyncio.Future[Answer]]]) -> None:
        task = asyncio.ensure_future(self._fetch(group))
        _background.add(task)
        task.add_done_callback(_background.discard)

    async def _fetch(self, group: list[tuple[Request, asyncio.Future[Answer]]]) -> None:
        group.sort(key=lambda one: one[0].trials)
        first = group[0][0]
        request = first if len(group) == 1 else replace(first, trials=tuple(one.trials[0] for one, _ in group))
        try:
            answers = await self.room.caller.fetch(request)
        except BaseException as exception:
            for one, under_way in group:
                del self.room.in_flight[Row(one.ask.key, one.trials[0], one.turn)]
                if isinstance(exception, asyncio.CancelledError):
                    under_way.cancel()
                elif not under_way.done():
                    under_way.set_exception(exception)
                    under_way.exception()  # a sitting that was stopped meanwhile no longer looks
            if not isinstance(exception, Exception):
                raise
            return
        for (one, under_way), answer in zip(group, answers, strict=True):
            del self.room.in_flight[Row(one.ask.key, one.trials[0], one.turn)]
            self.room.answered(one, answer)
            if not under_way.done():
                under_way.set_result(answer)


_background: set[asyncio.Future[None]] = set()


async def abandon() -> None:
    """Stops whatever is still being fetched: nobody waits for it any more. What another loop fetches is not ours."""
    own = [task for task in list(_background) if task.get_loop() is asyncio.get_running_loop()]
    for task in own:
        task.cancel()
    await asyncio.gather(*own, return_exceptions=True)


class Sitting:
    """The Hall of one trial."""

    def __init__(self, together: Together, trial: int) -> None:
        self._together = together
        self.trial = trial
        self.answered = 0
        self._turns: dict[bytes, int] = {}

    @property
    def case(self) -> Case:
        return self._together.case

    @property
    def condition(self) -> Condition:
        return self._together.condition

    @property
    def literature(self) -> Literature:
        literature = self._together.room.study.literature
        assert literature is not None, "evidence is refused where a study names no literature"
        return literature

    @property
    def searching(self) -> str:
        return self._together.room.caller.candidate.searching

    async def ask(
        self,
        question: Question,
        *,
        given: Mapping[str, Answer] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        step: str | None = None,
        after: Sequence[Message] = (),
        tools: Sequence[dict[str, Any]] = (),
    ) -> Answer:
        """Where log-probabilities do not settle a question, all trials vote on it instead."""
        together, condition = self._together, self._together.condition
        turn_of_agent = ONLY_TURN
        if step is not None or after:
            prompt = step or f"agent-{self.searching}"
            turn_of_agent = Turn(prompt, step is not None, tuple(after), tuple(tools))
        rendered = await self.rendered(question, condition, given, evidence, turn_of_agent)
        turn = self._turn(rendered.ask.key)
        answer = await together.answer(question, rendered, self.trial, turn)
        if step is not None:
            self._use(question, rendered, self.trial, turn, counts=False)
            return answer
        self.answered += 1
        by_logprobs = condition.confidence == "logprobs"
        settled = not by_logprobs or together.room.reader.settles(answer, question, rendered.order)
        if answer.sources:
            rendered = rendered._replace(evidence=await self._named(answer.sources))
        self._use(question, rendered, self.trial, turn, counts=settled)
        if settled:
            return answer
        voting = replace(condition, confidence="votes")
        rendered = await self.rendered(question, voting, given, evidence)
        answers = await together.votes(question, rendered, together.room.study.trials)
        for trial in range(len(answers)):
            self._use(question, rendered, trial, 0)
        return answers[0]

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        return await self._together.room.tools.use(tool, arguments)

    def tokens(self, messages: Sequence[Message]) -> int:
        return estimated_tokens(messages)

    async def _named(self, sources: Sequence[Mapping[str, Any]]) -> Evidence:
        """The evidence that a candidate says it found by itself; what it only names is read in the index."""
        told = [(each.get("pmid", ""), each.get("title", ""), each["text"]) for each in sources if "text" in each]
        bare = [each["pmid"] for each in sources if "pmid" in each and "text" not in each]
        read = documents_told(await self.use("read", {"pmids": bare})) if bare and self._together.room.tools else ()
        named = tuple(each["pmid"] for each in sources if "pmid" in each)
        missing = tuple(pmid for pmid in bare if all(pmid != document.pmid for document in read))
        return Evidence((*documents_told(told), *read), named, missing=missing, ended="its own search")

    def random(self, name: str) -> random.Random:
        together = self._together
        return seeded(name, together.room.study.seed, together.case.id, together.condition.json, self.trial)

    def _turn(self, key: bytes) -> int:
        turn = self._turns.get(key, 0)
        self._turns[key] = turn + 1
        return turn

    async def rendered(
        self,
        question: Question,
        condition: Condition,
        given: Mapping[str, Answer] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        turn: Turn = ONLY_TURN,
    ) -> Rendered:
        together = self._together
        room, case, settings = together.room, together.case, together.room.caller.settings
        identity, read = room.caller.candidate.identity, self._carried(question, given or {})
        shown = NO_EVIDENCE if turn.after else evidence  # what an agent found stands in what was said
        while True:
            try:
                rendered = room.renderer.render(
                    case, question, condition, settings, identity, self.trial, read, shown, turn
                )
                return rendered._replace(evidence=evidence) if turn.after else rendered
            except Unlearnt as unlearnt:  # once per image: files are not hashed on the event loop
                await room.fingerprints.learn(unlearnt.file)

    def _carried(self, question: Question, given: Mapping[str, Answer]) -> dict[str, str]:
        """What the question is told of earlier ones, as text."""
        if not question.given:
            return {}
        case, room, condition = self._together.case, self._together.room, self._together.condition
        by_id = {each.id: each for each in case.questions}
        own: dict[str, str | None] = {}
        for id, answer in given.items():
            order = room.renderer.order(case, by_id[id], condition, self.trial)
            own[id] = room.reader.text(answer, by_id[id], order)
        return room.renderer.carried(case, question, condition, own)

    def _use(
        self,
        question: Question,
        rendered: Rendered,
        trial: int,
        turn: int,
        *,
        counts: bool = True,
    ) -> None:
        together = self._together
        counts = counts and question.id in together.scored
        shows = counts and (together.condition.evidence != "none" or rendered.evidence is not NO_EVIDENCE)
        used = Used(
            together.number,
            question.id,
            together.condition_number,
            Row(rendered.ask.key, trial, turn),
            counts,
            bool(rendered.ask.cut),
            rendered.evidence if shows else None,
        )
        together.uses.append(used)
