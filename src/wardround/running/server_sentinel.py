"""The servers of one candidate (`base_urls`) compared: the same Asks are put to each at the start and end of a run.

Two Asks go out twice at temperature 0, and one for the log-probabilities of the first token, each time. Servers that
are honest but sample are not accused: answers are compared only if the temperature is sent and each server gave the
same answer all four times; log-probabilities only if each server repeats its own within the tolerance. The candidate
itself warns of different names of models (`ServerPool.warnings`). The replies are billed, but never marked.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import log
from typing import Any

from wardround.candidates.candidate import (
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    Reply,
    Request,
    RequestAdapted,
    RequestRejected,
    Unsupported,
)
from wardround.candidates.server_pool import ServerPool
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Ask
from wardround.core.errors import BadInput
from wardround.running.caller import Stopping
from wardround.running.candidate_run import CandidateRun
from wardround.running.plan import units_at
from wardround.running.store import Call
from wardround.running.trials import TrialGroup

QUESTIONS = 2
REPLIES = 2  # of each question and server, at the start and again at the end
ALTERNATIVES = 5  # of the first token: what every API with log-probabilities gives
TOLERANCE = 0.25  # of a log-probability; batches and kernels of one model change it by less (our choice)
MIN_PROBABILITY = 0.01  # of a token that is compared: rarer ones vary more
ATTEMPTS = 4  # while a request is adapted to its server

FirstToken = Mapping[str, float]  # token -> log-probability


@dataclass
class ServerReplies:
    """What one server replied: the answers to each question, as read, and the first tokens."""

    answers: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    first_tokens: list[FirstToken] = field(default_factory=list)
    models: set[str] = field(default_factory=set)
    rounds: int = 0  # in which it answered anything

    def repeated(self, question: int) -> str | None:
        """Its answer to a question, if it gave the same one each time at the start and the end."""
        answers = self.answers[question]
        return answers[0] if len(answers) >= 2 * REPLIES and len(set(answers)) == 1 else None

    @property
    def repeats_first_tokens(self) -> bool:
        pairs = combinations(self.first_tokens, 2)
        return bool(self.first_tokens) and all(largest_difference(*pair) <= TOLERANCE for pair in pairs)


@dataclass
class ServerSentinel:
    """The comparison of one candidate's servers in one start of a run."""

    run: CandidateRun
    pool: ServerPool
    questions: list[Request]
    rounds: int = 0
    replies: dict[str, ServerReplies] = field(default_factory=dict)

    @classmethod
    async def choose(cls, run: CandidateRun, cases: CaseSet) -> "ServerSentinel | None":
        """A comparison by Asks of the study; None for a candidate without several servers or without new Asks."""
        pool = run.context.caller.candidate
        if not isinstance(pool, ServerPool) or not run.plan.count.missing:
            return None
        questions: dict[bytes, Request] = {}
        for unit in units_at(run.plan.hardest.choose(4 * QUESTIONS), run.context, cases):
            if unit.condition.probe != "none" or unit.condition.evidence != "none":
                continue
            try:
                request = await TrialGroup(run.context, unit).first_request()
            except BadInput:
                continue
            questions.setdefault(request.ask.key, replace(request, seed=None))
            if len(questions) == QUESTIONS:
                break
        return cls(run, pool, list(questions.values())) if questions else None

    @property
    def addresses(self) -> list[str]:
        return [server.candidate.settings.address or "" for server in self.pool.servers]

    @property
    def announcement(self) -> str:
        calls = len(self.pool.servers) * (REPLIES * len(self.questions) + 1)
        return (
            f"{self.run.name}: {calls} calls at the start and {calls} at the end "
            f"compare its {len(self.pool.servers)} servers"
        )

    async def ask(self) -> None:
        """Puts all questions to all servers once more. What a server does not answer is not compared."""
        self.rounds += 1
        await asyncio.gather(*(self._ask_server(address) for address in self.addresses))

    async def _ask_server(self, address: str) -> None:
        replies = self.replies.setdefault(address, ServerReplies())
        has_answered = False
        for number, request in enumerate(self.questions):
            for _ in range(REPLIES):
                answer = await self._reply(self._at_temperature_0(request, address))
                if answer is None:
                    break
                has_answered = True
                replies.answers[number].append(self._read(request, answer))
                replies.models |= {answer.model} if answer.model else set()
        if has_answered:
            answer = await self._reply(_with_logprobs(self.questions[0], address))
            if answer is not None and answer.first_token:
                replies.first_tokens.append(dict(answer.first_token))
        replies.rounds += has_answered

    def _at_temperature_0(self, request: Request, address: str) -> Request:
        return _changed(request, address, temperature=0.0, logprobs=None)

    def _read(self, request: Request, answer: Answer) -> str:
        """The chosen option, or the text if there is none."""
        chosen = self.run.context.reader.text(answer, request.question, request.order)
        return chosen if chosen is not None else " ".join(answer.text.split())

    async def _reply(self, request: Request) -> Answer | None:
        context = self.run.context

        async def keep(reply: Reply, call: Call) -> Answer | None:
            if reply.was_sent:
                await context.store.put_call(request.ask.key, call)
            return reply.answers[0] if reply.answers else None

        for _ in range(ATTEMPTS):
            try:
                answer = await context.caller.call(request, keep, purpose="sentinel")
            except RequestAdapted:
                continue
            except (Fault, QuestionRefused, RequestRejected, CandidateUnavailable, Unsupported, Stopping):
                return None
            return None if answer is None or answer.refused_for else answer
        return None

    @property
    def sends_temperature(self) -> bool:
        """Whether all servers are sent the temperature: some APIs take none."""
        request = self._at_temperature_0(self.questions[0], self.addresses[0])
        return "temperature" in (self.pool.sent_fields(request) or {})

    def to_manifest(self) -> dict[str, Any]:
        """What was asked and compared, and a `warning` if servers differ."""
        answered = {address: replies.rounds for address, replies in self.replies.items()}
        result: dict[str, Any] = {
            "questions": len(self.questions),
            "models": {address: sorted(replies.models) for address, replies in self.replies.items()},
            "unanswered": [address for address, rounds in answered.items() if rounds < self.rounds],
        }
        answers = self._compare_answers() if self.sends_temperature else None
        first_tokens = self._compare_first_tokens()
        result["answers"] = "not compared" if answers is None else answers.verdict
        result["first_tokens"] = "not compared" if first_tokens is None else first_tokens.verdict
        differences = [compared for compared in (answers, first_tokens) if compared is not None and compared.between]
        if differences:
            places = "; ".join(dict.fromkeys(" and ".join(difference.between) for difference in differences))
            reasons = "; ".join(difference.verdict for difference in differences)
            result["warning"] = f"the servers {places} in `base_urls` differ: {reasons}"
        return result

    def _compare_answers(self) -> "ServerComparison | None":
        """The first two servers whose answers differ; None if no two servers repeat themselves."""
        compared = 0
        for number, request in enumerate(self.questions):
            answers = {address: replies.repeated(number) for address, replies in self.replies.items()}
            steady = {address: answer for address, answer in answers.items() if answer is not None}
            compared += len(steady) > 1
            for first, second in combinations(steady, 2):
                if steady[first] != steady[second]:
                    replies, question = 2 * REPLIES, f"{request.case.id}/{request.question.id}"
                    texts = f"{_short(steady[first])} and {_short(steady[second])}"
                    verdict = f"at temperature 0 each gave its own answer to {question} {replies} times: {texts}"
                    return ServerComparison(verdict, (first, second))
        return ServerComparison(f"the same for {compared} of {len(self.questions)} questions") if compared else None

    def _compare_first_tokens(self) -> "ServerComparison | None":
        steady = [address for address, replies in self.replies.items() if replies.repeats_first_tokens]
        if len(steady) < 2:
            return None
        pairs = {
            pair: largest_difference(*(self.replies[address].first_tokens[0] for address in pair))
            for pair in combinations(steady, 2)
        }
        worst, difference = max(pairs.items(), key=lambda item: item[1])
        if difference > TOLERANCE:
            return ServerComparison(
                f"log-probabilities of the first token differ by {difference:.2f} (tolerance {TOLERANCE})", worst
            )
        return ServerComparison(f"within {TOLERANCE} of each other")


@dataclass(frozen=True)
class ServerComparison:
    """What a comparison of answers or log-probabilities showed, and between which two servers they differ."""

    verdict: str
    between: tuple[str, ...] = ()


def largest_difference(first: FirstToken, second: FirstToken) -> float:
    """Of the log-probabilities of the tokens that have at least 1% on either side.

    A token that one side does not list has at most the least log-probability that this side lists.
    """
    tokens = {token for side in (first, second) for token, value in side.items() if value >= log(MIN_PROBABILITY)}
    return max((_difference(first, second, token) for token in tokens), default=0.0)


def _difference(first: FirstToken, second: FirstToken, token: str) -> float:
    if token in first and token in second:
        return abs(first[token] - second[token])
    listing, other = (first, second) if token in first else (second, first)
    return max(0.0, listing[token] - min(other.values(), default=listing[token]))


def _with_logprobs(request: Request, address: str) -> Request:
    return _changed(request, address, logprobs=request.ask.sampling.logprobs or ALTERNATIVES)


def _changed(request: Request, address: str, **sampling: Any) -> Request:
    """The request for one server, with other sampling and so another key: it is never an answer of the study."""
    ask = request.ask
    changed = Ask(ask.identity, replace(ask.sampling, **sampling), ask.messages, ask.tools)
    return replace(request, ask=changed, address=address)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


async def ask_at_start(
    runs: Iterable[CandidateRun], cases: CaseSet, note: Callable[[str], None]
) -> dict[str, ServerSentinel]:
    """Announces and begins the comparison of every candidate with several servers."""
    sentinels: dict[str, ServerSentinel] = {}
    for run in runs:
        if (sentinel := await ServerSentinel.choose(run, cases)) is not None:
            note(sentinel.announcement)
            await sentinel.ask()
            sentinels[run.name] = sentinel
    return sentinels


async def ask_at_end(sentinels: Mapping[str, ServerSentinel], before: Mapping[str, Any]) -> dict[str, Any]:
    """Completes the comparisons. The warning of an earlier start stays: its answers are still used."""
    results = dict(before)
    for name, sentinel in sentinels.items():
        try:
            if not sentinel.run.context.caller.is_ending:
                await sentinel.ask()
            result = sentinel.to_manifest()
        except Exception as failure:  # of whatever kind: the answers are there, and the report must be written
            result = {"failed": f"{type(failure).__name__}: {failure}"}
        earlier: Sequence[str] = before.get(name, {}).get("warnings", [])
        own = [result.pop("warning")] if "warning" in result else []
        results[name] = result | {"warnings": list(dict.fromkeys([*earlier, *own]))}
    return results
