"""Room: what all sittings of one candidate in one run share."""

from __future__ import annotations

import asyncio
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from wardround.asking.applicable import conditions_for
from wardround.asking.render import Renderer
from wardround.candidates.candidate import Request
from wardround.candidates.people import People
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.running.caller import Caller
from wardround.running.images import Fingerprints
from wardround.running.store import Row, Store
from wardround.running.tools import Tools
from wardround.running.used_answers import Used


class Reader(typing.Protocol):
    """What running needs to know of an answer; marking gives it."""

    def text(self, answer: Answer, question: Question, order: tuple[int, ...]) -> str | None:
        """What later questions of a chain are told of it, or None where nothing can be read."""
        ...

    def settles(self, answer: Answer, question: Question, order: tuple[int, ...]) -> bool:
        """Whether its log-probabilities are the distribution of votes."""
        ...


@dataclass
class Room:
    """What all sittings of one candidate in one run share."""

    study: Study
    renderer: Renderer
    fingerprints: Fingerprints
    store: Store
    caller: Caller
    reader: Reader
    use: Callable[[Used], None]
    answered: Callable[[Request, Answer], None]  # hears of every answer that is new
    stored: Callable[[Answer], None]  # and of every one that is not
    tools: Tools
    in_flight: dict[Row, asyncio.Future[Answer]] = field(default_factory=dict)

    def why_not(self, condition: Condition) -> str | None:
        """Why this candidate cannot be asked under a condition, or None if it can."""
        candidate = self.caller.candidate
        if isinstance(candidate, People):
            return self._why_not_people(candidate, condition)
        if condition.probe == "none" or candidate.writes:
            return None
        return "the candidate writes no texts, so that no probe of leakage can be put to it"

    def _why_not_people(self, people: People, condition: Condition) -> str | None:
        """People saw one thing: what they say they did, or else what the study asks first."""
        shown = next(filter(people.was_shown, self.study.all_conditions), None)
        if condition != shown:
            return "people answered under another condition"
        if condition.confidence == "logprobs":
            return "people have no log-probabilities"
        return None if condition.probe == "none" else "no probe of leakage can be put to people"

    def trials(self, case: Case, unit: Sequence[Question], condition: Condition) -> int:
        """In how many trials questions are asked: of people, as many as answered, which may be none."""
        if isinstance(self.caller.candidate, People):
            return self.caller.candidate.held(case, unit)
        return 1 if condition.confidence == "logprobs" else self.study.trials

    @cached_property
    def conditions(self) -> list[tuple[bool, list[tuple[int, Condition]]]]:
        """The conditions that this candidate is given, with their numbers in the study.

        First those in which a chain is asked with the ancestors of its questions: to carry its own answers.
        """
        every = self.study.all_conditions
        given = [(every.index(condition), condition) for condition in conditions_for(self.caller.settings, every)]
        return [(own, [each for each in given if (each[1].carry == "own") == own]) for own in (True, False)]
