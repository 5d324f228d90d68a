"""RunContext: what all trials of one candidate in one run share."""

import asyncio
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from wardround.asking.applicable import conditions_for
from wardround.asking.protocols import Protocol
from wardround.asking.render import Renderer
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.running.caller import Caller
from wardround.running.images import Fingerprints
from wardround.running.sentinel import Sentinels
from wardround.running.store import AnswerKey, AnswerStore
from wardround.running.tools import Tools
from wardround.running.used_answers import UsedAnswer


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
    in_flight: dict[AnswerKey, asyncio.Future[Answer]] = field(default_factory=dict)

    def inapplicable_reason(self, case: Case, unit: Sequence[Question], condition: Condition) -> str | None:
        """Why a unit cannot be asked of this candidate under a condition, or None if it can."""
        reason = self.caller.candidate.inapplicable_reason(condition, self.study.all_conditions)
        if reason is not None:
            return reason
        reasons = (self.renderer.inapplicable_reason(case, question, condition) for question in unit)
        return next(filter(None, reasons), None)

    def count_trials(self, case: Case, unit: Sequence[Question], condition: Condition) -> int:
        trials = 1 if condition.confidence == "logprobs" else self.study.trials
        return self.caller.candidate.count_trials(case, unit, trials)

    def note_stored_answer(self, answer: Answer) -> None:
        if answer.model is not None:
            self.models.add(answer.model)

    def note_new_answer(self, request: Request, answer: Answer) -> None:
        """Updates the models' names, the sentinels and the unparsed rate."""
        self.note_stored_answer(answer)
        if request.is_intermediate or request.condition.probe != "none":
            return
        self.sentinels.add(request, answer)
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
