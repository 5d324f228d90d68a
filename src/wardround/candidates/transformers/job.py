"""A job for a model, and its result: what travels between the candidate and its workers."""

from dataclasses import dataclass, field
from typing import Any

ChatPart = str | bytes  # a text, or the bytes of an image file


@dataclass(frozen=True)
class ChatTurn:
    """One message of the conversation."""

    role: str
    parts: tuple[ChatPart, ...]


@dataclass(frozen=True)
class TokenSampling:
    """How tokens are drawn. Temperature comes first, then top_k, then top_p; 0 and 1 leave all tokens in."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """One prompt, read once, and one completion for each seed."""

    turns: tuple[ChatTurn, ...]
    seeds: tuple[int, ...] = (0,)
    sampling: TokenSampling = TokenSampling()
    logprobs: int = 0  # how many alternatives of the first token
    reasoning: bool | None = None
    tools: tuple[dict[str, Any], ...] = ()
    scored: tuple[str, str] | None = None  # a prompt, and the prompt with the text whose log-likelihood is wanted


@dataclass(frozen=True)
class Completion:
    """What the model wrote for one seed."""

    text: str
    finish: str  # stop or length
    tokens: int


@dataclass(frozen=True)
class JobResult:
    """The completions in the order of the seeds."""

    completions: tuple[Completion, ...] = ()
    tokens_in: int = 0
    opening: str = ""  # the tag of reasoning that the prompt itself opened
    first_token: tuple[tuple[str, float], ...] | None = None
    scored: tuple[float, int] | None = None  # log-likelihood, tokens
    notes: tuple[str, ...] = ()  # what the run's warnings should say


@dataclass(frozen=True)
class JobFailure:
    """Why a job has no result: `too_long`, `rejected`, `unsupported` or `fault`."""

    kind: str
    message: str


@dataclass(frozen=True)
class ModelPlan:
    """How a worker loads its model."""

    folder: str
    name: str
    device: str | None = None  # None: the GPU if there is one, else the CPU
    device_map: Any = None
    dtype: str = "auto"
    context: int | None = None
    max_rows: int | None = None
    processor: dict[str, Any] = field(default_factory=dict)
    template: dict[str, Any] = field(default_factory=dict)


class ModelProblem(Exception):
    """The model cannot be loaded or used; the message is one line."""
