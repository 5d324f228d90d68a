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
    on_the_way: bool = False  # to the answer: a query, or a turn of an agent's search


@dataclass(frozen=True)
class Reply:
    """Answers to the request's trials, in their order, and what they cost.

    A server that gives fewer answers than trials has answered the first ones.
    """

    answers: list[Answer]
    tokens_in: int = 0
    tokens_out: int = 0


class Fault(Exception):
    """No answer came, but another attempt may bring one."""

    def __init__(self, message: str, *, unreachable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.unreachable = unreachable
        self.retry_after = retry_after


class Adapted(Exception):
    """The server refused a part of the request that can be left out: send it again, now without."""


class Rejected(Exception):
    """The candidate will never answer this request: asking again cannot help."""


class Unable(Exception):
    """The candidate cannot do what this request and all others of its kind ask for; it can still answer others."""


class Gone(Exception):
    """The candidate can answer nothing: no key, no such model, no server."""


class Candidate(Protocol):
    settings: CandidateSettings
    identity: Identity  # part of every Ask key; final after `prepare`
    several: bool  # whether one request may ask for several trials
    searching: str  # how it can search: `calls` (tools), `text` (lines of text), `own` (by means of its own)
    writes: bool  # whether it writes and foretells texts, so that probes of leakage can be put to it
    warnings: list[str]  # what a reader of the run should know of it

    async def prepare(self, cases: CaseSet) -> None:
        """Loads weights, fits, checks the key: whatever must be there before the first Ask."""
        ...

    async def answer(self, request: Request) -> Reply:
        """Answers, or raises Fault, Adapted, Rejected, Unable or Gone."""
        ...

    async def close(self) -> None: ...


@dataclass
class Settled:
    """The part that candidates without a connection share."""

    settings: CandidateSettings
    identity: Identity = field(init=False)
    several: bool = field(default=True, init=False)
    searching: str = field(default="text", init=False)
    writes: bool = field(default=False, init=False)
    warnings: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.identity = self.settings.identity

    async def prepare(self, cases: CaseSet) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing to close."""
