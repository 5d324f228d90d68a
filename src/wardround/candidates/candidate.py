"""Candidate: whoever answers. What it is given, what it gives back, and how it can fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from wardround.cases.encoded import Encoded
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Ask, Identity
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import CandidateSettings


@dataclass(frozen=True)
class Request:
    """One Ask, put once for several trials. Servers see only the Ask and its images;
    floors and simulated respondents also look at the question itself."""

    ask: Ask
    case: Case
    question: Question
    condition: Condition
    order: tuple[int, ...]  # order[i] is the case's own index of the option shown at letter i
    trials: tuple[int, ...]
    turn: int = 0
    images: tuple[Encoded, ...] = ()
    seed: int | None = None


@dataclass(frozen=True)
class Reply:
    """One answer per trial of the request, in the order of its trials, and what they cost."""

    answers: list[Answer]
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 1


class Fault(Exception):
    """No answer came, but another attempt may bring one. `overload` faults ask for a slower pace."""

    def __init__(self, message: str, *, overload: bool = False, unreachable: bool = False) -> None:
        super().__init__(message)
        self.overload = overload
        self.unreachable = unreachable
        self.retry_after: float | None = None


class Rejected(Exception):
    """The candidate will never answer this request: asking again cannot help."""


class Candidate(Protocol):
    settings: CandidateSettings
    identity: Identity  # part of every Ask key; final after `prepare`

    async def prepare(self, cases: CaseSet) -> None:
        """Loads weights, fits, checks the key: whatever must be there before the first Ask."""
        ...

    async def answer(self, request: Request) -> Reply:
        """Answers, or raises Fault or Rejected."""
        ...

    async def close(self) -> None: ...


@dataclass
class Settled:
    """The part that candidates without a connection share."""

    settings: CandidateSettings
    identity: Identity = field(init=False)

    def __post_init__(self) -> None:
        self.identity = self.settings.identity

    async def prepare(self, cases: CaseSet) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing to close."""
