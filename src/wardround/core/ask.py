"""Ask and Answer: one rendered request, its key, and what came back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from wardround.core.canonical import canonical_json, hashed

PLAIN = {"text", "finish", "model"}  # all that most answers hold
Step = tuple[str, dict[str, Any], int]  # name, parameters, version


@dataclass(frozen=True)
class ImagePart:
    """An image as an Ask names it: the source's hash and what is done to make it sendable."""

    path: str  # absolute, on this machine; never in the key
    sha256: str
    recipe: tuple[Step, ...]
    frame: int | None = None

    @cached_property
    def named(self) -> dict[str, Any]:
        return {"image": self.sha256, "frame": self.frame, "recipe": [list(step) for step in self.recipe]}

    @cached_property
    def json(self) -> str:
        return canonical_json(self.named)


@dataclass(frozen=True)
class Message:
    """What one side said. `parts` are texts and images, in order."""

    role: str
    parts: tuple[str | ImagePart, ...] = ()
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None

    @property
    def json(self) -> str:
        """Canonical, its keys in order. An image is written once for all the Asks that show it."""
        content = ",".join([canonical_json(part) if isinstance(part, str) else part.json for part in self.parts])
        told = f'"content":[{content}],"role":{canonical_json(self.role)}'
        if self.tool_call_id is not None:
            told += f',"tool_call_id":{canonical_json(self.tool_call_id)}'
        if self.tool_calls:
            told += f',"tool_calls":{canonical_json(self.tool_calls)}'
        return f"{{{told}}}"


@dataclass(frozen=True)
class Sampling:
    """How the candidate is to draw its answer. What is None is not sent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] | None = None
    logprobs: int | None = None  # how many of the first token's alternatives are asked for
    reasoning: bool | None = None

    @cached_property
    def json(self) -> str:
        return canonical_json(asdict(self))


@dataclass(frozen=True)
class Identity:
    """What of a candidate is part of every key of its Asks."""

    provider: str
    model: str | None = None
    revision: str | None = None
    extra_body: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def named(self) -> dict[str, Any]:
        return asdict(self)

    @cached_property
    def json(self) -> str:
        return canonical_json(self.named)


@dataclass(frozen=True)
class Ask:
    """One rendered request. Its key says whether it was ever asked before."""

    identity: Identity
    sampling: Sampling
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = ()
    cut: tuple[str, ...] = ()  # what did not fit the candidate's context; not in the key, the messages show it
    key: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # canonical JSON with its keys in order, put together here: what many Asks share is written once
        messages = ",".join([message.json for message in self.messages])
        tools = canonical_json(self.tools) if self.tools else "[]"
        key = hashed(
            f'{{"candidate":{self.identity.json},"messages":[{messages}],'
            f'"sampling":{self.sampling.json},"tools":{tools},"v":1}}'
        )
        object.__setattr__(self, "key", key)

    @property
    def images(self) -> list[ImagePart]:
        return [part for message in self.messages for part in message.parts if isinstance(part, ImagePart)]

    @property
    def foretold(self) -> str | None:
        """The text whose probability is asked for: nothing may be written, and the last word is the candidate's."""
        last = self.messages[-1]
        return str(last.parts[0]) if self.sampling.max_tokens == 0 and last.role == "assistant" else None


class Foretold(NamedTuple):
    """How a candidate foretold a given text: the sum of its tokens' log-probabilities, and how long it is."""

    logprob: float
    tokens: int
    bytes: int  # of the text in UTF-8


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for an Ask in one trial. Written once, never changed.

    `first_token` holds (token, log-probability) for the alternatives of the reply's first token.
    """

    text: str
    finish: str = "stop"
    reasoning: str | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()
    first_token: tuple[tuple[str, float], ...] | None = None
    model: str | None = None  # as the server named itself
    images: tuple[str, ...] = ()  # SHA-256 of each encoded image that was really sent
    sources: tuple[dict[str, Any], ...] = ()  # pmid, title, text: what a candidate says it found by itself
    person: dict[str, Any] | None = None  # who answered, of which role and specialty, in how many seconds, and when
    foretold: Foretold | None = None  # of an Ask for the probability of a text

    def stored(self) -> dict[str, Any]:
        """Only what differs from the defaults, in a fixed order."""
        told = {name: value for name in self.__slots__ if (value := getattr(self, name)) or name == "text"}
        return told if self.foretold is None else told | {"foretold": [*self.foretold]}

    @classmethod
    def restored(cls, told: dict[str, Any]) -> Answer:
        if told.keys() <= PLAIN:  # most are
            return cls(told["text"], told.get("finish", ""), model=told.get("model"))
        first = told.get("first_token")
        return cls(
            text=told["text"],
            finish=told.get("finish", ""),
            reasoning=told.get("reasoning"),
            tool_calls=tuple(told.get("tool_calls", ())),
            first_token=tuple((token, value) for token, value in first) if first is not None else None,
            model=told.get("model"),
            images=tuple(told.get("images", ())),
            sources=tuple(told.get("sources", ())),
            person=told.get("person"),
            foretold=Foretold(*told["foretold"]) if "foretold" in told else None,
        )
