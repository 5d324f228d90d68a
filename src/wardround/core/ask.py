"""Ask and Answer: one rendered request, its key, and the reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from wardround.core.canonical import canonical_json, hash_text

COMMON_KEYS = {"text", "finish", "model", "images"}  # most answers have no others
# finish reasons of answers that a server declined to give, and what marks call them
REFUSALS = {
    "content_filter": "content filter",
    "too_long": "too long",
    "image_too_large": "image too large",
    "declined": "declined",
}
NO_LOGPROBS = "no logprobs"  # finish reason of an Ask that was not sent, because the server takes no logprobs
Step = tuple[str, dict[str, Any], int]  # name, parameters, version
MAX_RECIPES = 256  # whose JSON is kept
_recipes: dict[int, tuple[tuple[Step, ...], str]] = {}  # the same object -> its JSON


@dataclass(frozen=True)
class ImagePart:
    """An image of an Ask: the hash of its source file, and the recipe that makes it sendable."""

    path: str  # absolute, on this machine; never in the key
    sha256: str
    recipe: tuple[Step, ...]
    frame: int | None = None
    degradations: tuple[str, ...] = ()  # what the stored file was degraded with; not in the key, as the hash tells it

    @cached_property
    def named(self) -> dict[str, Any]:
        return {"image": self.sha256, "frame": self.frame, "recipe": [list(step) for step in self.recipe]}

    @cached_property
    def json(self) -> str:
        """Canonical JSON, composed because most images have one of a few recipes."""
        frame, recipe = "null" if self.frame is None else self.frame, _recipe_json(self.recipe)
        return f'{{"frame":{frame},"image":{canonical_json(self.sha256)},"recipe":{recipe}}}'


@dataclass(frozen=True)
class Message:
    """One message. `parts` are texts and images, in order."""

    role: str
    parts: tuple[str | ImagePart, ...] = ()
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None

    @property
    def json(self) -> str:
        """Canonical JSON. That of an image is made once for all Asks that show it."""
        json = f'"content":[{parts_json(self.parts)}],"role":{canonical_json(self.role)}'
        if self.tool_call_id is not None:
            json += f',"tool_call_id":{canonical_json(self.tool_call_id)}'
        if self.tool_calls:
            json += f',"tool_calls":{canonical_json(self.tool_calls)}'
        return f"{{{json}}}"


def _recipe_json(recipe: tuple[Step, ...]) -> str:
    """Canonical JSON of a recipe; that of the same object is made once."""
    known = _recipes.get(id(recipe))
    if known is None:
        if len(_recipes) >= MAX_RECIPES:
            _recipes.clear()
        known = _recipes[id(recipe)] = (recipe, canonical_json(recipe))
    return known[1]


def parts_json(parts: Sequence[str | ImagePart]) -> str:
    """Canonical JSON of the parts of a message, without brackets."""
    return ",".join([canonical_json(part) if isinstance(part, str) else part.json for part in parts])


@dataclass(frozen=True)
class Sampling:
    """Sampling settings. None is not sent."""

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
    """The part of a candidate that is in the keys of its Asks."""

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


def ask_json(identity: Identity, sampling: Sampling, messages: str, tools: str = "[]") -> str:
    """The canonical JSON of an Ask, which its key hashes, from that of its messages, without brackets, and tools."""
    return f'{{"candidate":{identity.json},"messages":[{messages}],"sampling":{sampling.json},"tools":{tools},"v":1}}'


@dataclass(frozen=True)
class Ask:
    """One rendered request. Equal requests have equal keys."""

    identity: Identity
    sampling: Sampling
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = ()
    cut: tuple[str, ...] = ()  # what did not fit into the context; not in the key, because the messages lack it
    key: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        messages = ",".join([message.json for message in self.messages])
        tools = canonical_json(self.tools) if self.tools else "[]"
        json = ask_json(self.identity, self.sampling, messages, tools)  # composed, as many Asks share parts of it
        object.__setattr__(self, "key", hash_text(json))

    @cached_property
    def images(self) -> list[ImagePart]:
        return [part for message in self.messages for part in message.parts if isinstance(part, ImagePart)]

    @property
    def scored_text(self) -> str | None:
        """The text whose log-likelihood is wanted: the candidate's own last message if nothing may be written."""
        last = self.messages[-1]
        return str(last.parts[0]) if self.sampling.max_tokens == 0 and last.role == "assistant" else None


class TextLogprob(NamedTuple):
    """A candidate's log-likelihood of a text: the sum of its tokens' log-probabilities, and its length."""

    logprob: float
    tokens: int
    bytes: int  # of the text in UTF-8


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to an Ask in one trial. Written once, never changed.

    `first_token` holds (token, log-probability) for the alternatives of the reply's first token.
    """

    text: str
    finish: str = "stop"
    reasoning: str | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()
    first_token: tuple[tuple[str, float], ...] | None = None
    model: str | None = None  # as the server named itself
    fingerprint: str | None = None  # of the server's system, as it reports it
    provider: str | None = None  # to which a router passed the request on, as it reports it
    refusal: str | None = None  # the server's or the model's words, if it declined to answer
    images: tuple[str, ...] = ()  # SHA-256 of each encoded image that was really sent
    sources: tuple[dict[str, Any], ...] = ()  # pmid, title, text: what a candidate says it found by itself
    person: dict[str, Any] | None = None  # who answered, of which role and specialty, in how many seconds, and when
    text_logprob: TextLogprob | None = None  # of the Ask's `scored_text`; stored as `foretold`

    @property
    def refused_for(self) -> str | None:
        """Why the question was refused, such as `content filter`; None for an answer."""
        return REFUSALS.get(self.finish) or (REFUSALS["declined"] if self.refusal is not None else None)

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults, in a fixed order."""
        named = zip(self.__slots__, _answer_values(self), strict=True)
        record = {name: value for name, value in named if value or name == "text"}
        if self.text_logprob is not None:
            record["foretold"] = [*record.pop("text_logprob")]
        return record

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Answer:
        if record.keys() <= COMMON_KEYS:
            images = tuple(record.get("images", ()))
            return cls(record["text"], record.get("finish", ""), model=record.get("model"), images=images)
        first = record.get("first_token")
        return cls(
            text=record["text"],
            finish=record.get("finish", ""),
            reasoning=record.get("reasoning"),
            tool_calls=tuple(record.get("tool_calls", ())),
            first_token=tuple((token, value) for token, value in first) if first is not None else None,
            model=record.get("model"),
            fingerprint=record.get("fingerprint"),
            provider=record.get("provider"),
            refusal=record.get("refusal"),
            images=tuple(record.get("images", ())),
            sources=tuple(record.get("sources", ())),
            person=record.get("person"),
            text_logprob=TextLogprob(*record["foretold"]) if "foretold" in record else None,
        )


_answer_values = attrgetter(*Answer.__slots__)
