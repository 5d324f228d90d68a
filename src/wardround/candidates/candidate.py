"""The interface of a candidate: the request it gets, the reply it returns, and the errors it raises."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from wardround.candidates.batches.batch_api import BatchApi
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Ask, Identity
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

LENGTH_FIELDS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
TAKES_ONE = "may take only one completion a request"  # an adaptation to a server


@dataclass(frozen=True)
class Request:
    """One Ask for one or more trials. Servers see only the Ask and its images;
    baselines and simulated respondents also read the question itself."""

    ask: Ask
    case: Case
    question: Question
    condition: Condition
    order: tuple[int, ...]  # order[i] is the case's own index of the option at letter i
    trials: tuple[int, ...]
    turn: int = 0
    images: tuple[EncodedImage, ...] = ()
    seed: int | None = None
    is_intermediate: bool = False  # not the answer itself: a query, or a turn of an agent's search
    address: str | None = None  # of the one server that is asked, if the candidate has several

    @property
    def options(self) -> list[str]:
        """The texts of the options in the order shown."""
        return [self.question.choices[index] for index in self.order]

    def with_images(self, images: Sequence[EncodedImage]) -> "Request":
        """The request with its images encoded. Every call needs it: `dataclasses.replace` takes four times as long."""
        request = object.__new__(Request)
        request.__dict__.update(self.__dict__, images=tuple(images))
        return request

    @property
    def image_hashes(self) -> tuple[str, ...]:
        return tuple(image.sha256 for image in self.images)


@dataclass(frozen=True)
class ServerLimits:
    """What a server says of its rate limits: the requests and tokens left, and the seconds until there are more."""

    requests: int | None = None
    requests_reset: float = 0.0
    tokens: int | None = None
    tokens_reset: float = 0.0


@dataclass(frozen=True)
class Reply:
    """Answers to the request's trials, in order, and their tokens. Fewer answers than trials answer the first ones."""

    answers: list[Answer]
    tokens_in: int = 0
    tokens_out: int = 0
    limits: ServerLimits | None = None
    address: str | None = None  # of the server that answered, if the candidate has several
    cached_in: int = 0  # of the tokens in: those that came from the server's prompt cache
    cache_writes: int = 0  # and those that were written to it
    was_sent: bool = True  # whether a server was asked: if not, nothing is charged


class Fault(Exception):
    """No answer this time; the request may be repeated.

    `kind` names it in counts. `stops_after` such faults in a row, of any requests, the candidate is given up.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "fault",
        unreachable: bool = False,
        retry_after: float | None = None,
        stops_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.unreachable = unreachable
        self.retry_after = retry_after
        self.stops_after = stops_after
        self.tokens = (0, 0)  # in and out, if the server charges for it all the same


class RateLimited(Fault):
    """The server takes no more requests for now; the request is repeated as often as needed."""

    def __init__(
        self, message: str, *, kind: str, retry_after: float | None = None, limits: ServerLimits | None = None
    ) -> None:
        super().__init__(message, kind=kind, retry_after=retry_after)
        self.limits = limits


class QuestionRefused(Exception):
    """The server refuses this question for good: by its content filter, its length or its images."""

    def __init__(self, finish: str, message: str) -> None:
        super().__init__(message)
        self.finish = finish  # one of REFUSALS


class RequestAdapted(Exception):
    """The server does not take a field; the candidate will leave it out when the request is repeated."""


class RequestRejected(Exception):
    """The candidate declines this request, and does not say for which reason of the question."""


class Unsupported(Exception):
    """The candidate cannot answer requests of this kind; it can still answer others."""


class CandidateUnavailable(Exception):
    """The candidate cannot answer at all: no key, no such model, no server."""


def settings_error(settings: CandidateSettings, problem: str) -> WardroundError:
    """The error for settings that no candidate can be made of."""
    return WardroundError(f"candidate {settings.name!r}: {problem}")


class Candidate(Protocol):
    settings: CandidateSettings
    identity: Identity  # part of every Ask key; fixed once `prepare` has run
    supports_multiple: bool  # whether one request may ask for several trials
    search_mode: str  # `calls` (tool calls), `text` (SEARCH lines), `own` (its own search)
    supports_probes: bool  # whether leakage probes apply: free text, log-likelihoods
    warnings: list[str]  # shown with the results of a run
    adaptations: Sequence[str] = ()  # how its requests differ from what was first sent, because its server wants so

    @property
    def max_concurrency(self) -> int:
        """How many calls may be under way at once."""
        return self.settings.concurrency

    async def prepare(self, cases: CaseSet) -> None:
        """Runs once before the first Ask: loads weights, fits, opens connections."""
        ...

    async def check_access(self) -> None:
        """Raises a WardroundError if no call can be made, because a command gives no token. Calls no server."""
        return

    def sent_fields(self, request: Request) -> Mapping[str, Any] | None:
        """The fields by which its API is sent the request's sampling, as far as is known now; None if it has no API."""
        return None

    async def answer(self, request: Request) -> Reply:
        """The answers, or one of the exceptions above."""
        ...

    async def close(self) -> None: ...

    def batch_api(self) -> BatchApi | None:
        """How its provider takes many requests at once; None if it does not."""
        return None

    def inapplicable_reason(self, condition: Condition, conditions: Sequence[Condition]) -> str | None:
        """Why it cannot be asked under one of the study's conditions, or None if it can."""
        if condition.probe == "none" or self.supports_probes:
            return None
        return "the candidate writes no texts, so that no probe of leakage can be put to it"

    def question_reason(self, case: Case, question: Question, condition: Condition) -> str | None:
        """Why it cannot be asked a question under a condition that it can be asked under, or None if it can."""
        return None

    def count_trials(self, case: Case, unit: Sequence[Question], trials: int) -> int:
        """The number of trials in which it answers a unit, of which the study wants `trials`."""
        return trials


@dataclass
class OfflineCandidate(Candidate):
    """Base class of candidates without a connection."""

    works_offline: ClassVar[bool] = True
    settings: CandidateSettings
    identity: Identity = field(init=False)
    supports_multiple: bool = field(default=True, init=False)
    search_mode: str = field(default="text", init=False)
    supports_probes: bool = field(default=False, init=False)
    warnings: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.identity = self.settings.identity

    async def prepare(self, cases: CaseSet) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing to close."""
