"""RunContext: what all trials of one candidate in one run share."""

import asyncio
import typing
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import orjson

from wardround.asking.applicable import conditions_for, unseen_reason
from wardround.asking.protocols import Protocol
from wardround.asking.render import Renderer
from wardround.candidates.candidate import Candidate, Request
from wardround.core.ask import NO_LOGPROBS, REFUSALS, Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings, Study, plain_address
from wardround.running.caller import Caller
from wardround.running.images import Fingerprints
from wardround.running.sentinel import Sentinels
from wardround.running.store import AnswerKey, AnswerStore, StoredAnswer, StoredBody
from wardround.running.tools import Tools
from wardround.running.used_answers import UsedAnswer, body_digest

MAX_KNOWN_BODIES = 10_000


class BodyFacts(typing.NamedTuple):
    """What a replay needs of a stored answer."""

    is_answer: bool  # and not a refusal
    digest: bytes


class ReplyReader(typing.Protocol):
    """What a run needs to know of an answer; marking implements it."""

    def text(self, answer: Answer, question: Question, order: tuple[int, ...]) -> str | None:
        """The text that is carried to later questions of a chain, or None if the answer cannot be parsed."""
        ...

    def has_vote_distribution(self, answer: Answer, question: Question, order: tuple[int, ...]) -> bool:
        """Whether its log-probabilities are the distribution of votes."""
        ...


@dataclass
class RunContext:
    """What all trials of one candidate in one run share."""

    study: Study
    renderer: Renderer
    fingerprints: Fingerprints
    store: AnswerStore
    caller: Caller
    reader: ReplyReader
    tools: Tools
    record_use: Callable[[UsedAnswer], None]
    protocol: Protocol
    sentinels: Sentinels = field(default_factory=Sentinels)
    models: set[str] = field(default_factory=set)  # as its servers named themselves
    providers: set[str] = field(default_factory=set)  # to which a router passed its requests on
    addresses: Counter[str | None] = field(default_factory=Counter)  # of stored answers -> how many
    _facts_by_body: dict[bytes, BodyFacts] = field(default_factory=dict)  # of stored answers: many votes are equal
    in_flight: dict[AnswerKey, asyncio.Future[Answer]] = field(default_factory=dict)
    _condition_reasons: dict[str, str | None] = field(default_factory=dict)

    def inapplicable_reason(self, case: Case, unit: Sequence[Question], condition: Condition) -> str | None:
        """Why a unit cannot be asked of this candidate under a condition, or None if it can."""
        if condition.json not in self._condition_reasons:
            candidate, conditions = self.caller.candidate, self.study.conditions_from_reference
            self._condition_reasons[condition.json] = candidate.inapplicable_reason(condition, conditions)
        reason = self._condition_reasons[condition.json]
        if reason is not None:
            return reason
        for question in unit:
            for check in self._question_checks:
                if (reason := check(case, question, condition)) is not None:
                    return reason
        return None

    @cached_property
    def _question_checks(self) -> list[Callable[[Case, Question, Condition], str | None]]:
        checks: list[Callable[[Case, Question, Condition], str | None]] = [self.renderer.inapplicable_reason]
        if type(self.caller.candidate).question_reason is not Candidate.question_reason:
            checks.append(self.caller.candidate.question_reason)
        if not self.caller.settings.sees:
            checks.append(unseen_reason)
        return checks

    def count_trials(self, case: Case, unit: Sequence[Question], condition: Condition) -> int:
        trials = 1 if condition.confidence == "logprobs" else self.study.trials
        return self.caller.candidate.count_trials(case, unit, trials)

    def note_stored_answer(self, stored: StoredAnswer) -> None:
        """Updates the models' names, where answers came from, and what the candidate is known to answer."""
        answer, address = stored
        self._note_names(answer.model, answer.provider)
        self.addresses[address] += 1
        if answer.refused_for is None:
            self.caller.breaker.has_answered[bool(answer.images)] = True

    def note_stored_body(self, stored: StoredBody) -> BodyFacts:
        """The same for an answer as it is stored."""
        body, address = stored
        self.addresses[address] += 1
        facts = self._facts_by_body.get(body)
        if facts is None:
            if len(self._facts_by_body) >= MAX_KNOWN_BODIES:
                self._facts_by_body.clear()
            facts = self._facts_by_body[body] = self._learn_facts(body)
        return facts

    def _learn_facts(self, body: bytes) -> BodyFacts:
        record = orjson.loads(body)
        self._note_names(record.get("model"), record.get("provider"))
        is_answer = record.get("finish") not in REFUSALS and record.get("refusal") is None
        if is_answer:
            self.caller.breaker.has_answered[bool(record.get("images"))] = True
        return BodyFacts(is_answer, body_digest(body))

    def _note_names(self, model: str | None, provider: str | None) -> None:
        if model is not None:
            self.models.add(model)
        if provider is not None:
            self.providers.add(provider)

    def note_new_answer(self, request: Request, answer: Answer) -> None:
        """Updates the models' names and the unparsed rate."""
        self._note_names(answer.model, answer.provider)
        is_answer = answer.finish != NO_LOGPROBS and not answer.refused_for
        if request.is_intermediate or request.condition.probe != "none" or not is_answer:
            return
        if request.question.kind == "choice" and answer.first_token is None:
            self.caller.tally.parsed += 1
            self.caller.tally.unparsed += self.reader.text(answer, request.question, request.order) is None

    @cached_property
    def conditions(self) -> list[tuple[bool, list[tuple[int, Condition]]]]:
        """The conditions for this candidate with their numbers in the study.

        First those that carry the candidate's own answers: they ask a chain with the ancestors of its questions.
        """
        all_conditions = self.study.all_conditions
        conditions = conditions_for(self.caller.settings, all_conditions)
        numbered = [(all_conditions.index(condition), condition) for condition in conditions]
        return [(own, [pair for pair in numbered if (pair[1].carry == "own") == own]) for own in (True, False)]


def refuse_other_addresses(settings: CandidateSettings, addresses: Counter[str | None]) -> None:
    """Refuses stored answers of the same model name from another address, unless the study says it is the same."""
    own = {None, settings.address, *map(plain_address, (*settings.base_urls, *settings.same_as))}
    others = Counter({address: count for address, count in addresses.items() if address not in own})
    if others and settings.base_url is not None:
        ((address, count),) = others.most_common(1)
        raise WardroundError(
            f"candidate {settings.name!r}: {count:,} stored answers of this model came from {address}, not from "
            f'{settings.address}; if it is the same model, say `same_as = ["{address}"]`, '
            "if not, give the candidate a `revision`"
        )
