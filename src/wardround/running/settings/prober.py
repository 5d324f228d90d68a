"""Prober: puts probe questions to one candidate. Calls are counted and billed as `check`; replies are not stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from wardround.asking.reasoning import split_reasoning
from wardround.candidates.candidate import (
    TAKES_ONE,
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    Reply,
    Request,
    RequestAdapted,
    RequestRejected,
    Unsupported,
)
from wardround.cases.encoded_image import EncodedImage
from wardround.core.ask import Answer, Ask, ImagePart, Message, Sampling
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.running.caller import Stopping
from wardround.running.context import RunContext
from wardround.running.store import Call

PLACEHOLDER = Case(id="-", questions=[Question(id="-", kind="open", prompt="-", gold="-")])
ATTEMPTS = 6
PROBE_TOKENS = 512  # of a reply; most need far fewer


class ProbeReply(NamedTuple):
    """One reply to a probe: its text without reasoning, its reasoning, and the output tokens that were billed for it.

    `tokens` is None if the server reports none, or only those of several replies together.
    """

    text: str
    reasoning: str
    tokens: int | None
    finish: str


@dataclass(frozen=True)
class ProbeResult:
    """The replies to one probe request; `refusal` says why the server does not take it."""

    replies: tuple[ProbeReply, ...] = ()
    refusal: str | None = None

    @property
    def texts(self) -> list[str]:
        return [" ".join(reply.text.split()) for reply in self.replies]


class Prober:
    """Asks one candidate; `calls` counts what was sent."""

    def __init__(self, context: RunContext, reasoning: bool | None = None) -> None:
        self._context = context
        self._reasoning = reasoning  # as the study asks for it, in probes that are not about reasoning
        self.calls = 0

    @property
    def supports_multiple(self) -> bool:
        return self._context.caller.candidate.supports_multiple

    @property
    def refuses_several(self) -> bool:
        """Whether the server has refused a request for several replies."""
        return TAKES_ONE in self._context.caller.candidate.adaptations

    @property
    def gets_one(self) -> bool:
        """Whether the server returned one reply where several were asked for."""
        candidate = self._context.caller.candidate
        has_number = bool(getattr(candidate, "count_field", "")) and not candidate.settings.send_seed
        return has_number and not candidate.supports_multiple and not self.refuses_several

    def sampling(self, **values: Any) -> Sampling:
        """Of a probe: nothing but what it is about, so that no filter of the study hides the effect."""
        return Sampling(**{"max_tokens": PROBE_TOKENS, "reasoning": self._reasoning} | values)

    def sent_fields(self, sampling: Sampling, *, seed: int | None = None) -> Mapping[str, Any] | None:
        """The fields of a request with this sampling as the candidate sends it; None if it sends none."""
        request = self._request("-", sampling, 1, seed, (), None)
        try:
            return self._context.caller.candidate.sent_fields(request)
        except Unsupported:
            return {}

    async def ask(
        self,
        text: str,
        sampling: Sampling,
        *,
        count: int = 1,
        seed: int | None = None,
        images: Sequence[EncodedImage] = (),
        system: str | None = None,
    ) -> ProbeResult:
        """The replies; none after several faults, or if the run is being stopped."""
        request = self._request(text, sampling, count, seed, images, system)

        async def keep(reply: Reply, call: Call) -> ProbeResult:
            await self._context.store.put_call(request.ask.key, call)
            billed = reply.tokens_out if len(reply.answers) == 1 and not call.is_estimated else None
            return ProbeResult(tuple(_read(answer, billed) for answer in reply.answers))

        for _ in range(ATTEMPTS):
            self.calls += 1
            try:
                return await self._context.caller.call(request, keep, purpose="check")
            except (Fault, RequestAdapted):
                continue
            except (RequestRejected, QuestionRefused, Unsupported) as refusal:
                return ProbeResult(refusal=str(refusal))
            except (CandidateUnavailable, Stopping):
                break
        return ProbeResult()

    def _request(
        self,
        text: str,
        sampling: Sampling,
        count: int,
        seed: int | None,
        images: Sequence[EncodedImage],
        system: str | None,
    ) -> Request:
        parts: tuple[str | ImagePart, ...] = (*(ImagePart("", image.sha256, ()) for image in images), text)
        messages = (*([Message("system", (system,))] if system else []), Message("user", parts))
        ask = Ask(self._context.caller.candidate.identity, sampling, messages)
        trials = tuple(range(count))
        question, condition = PLACEHOLDER.questions[0], Condition()
        return Request(ask, PLACEHOLDER, question, condition, (), trials, images=tuple(images), seed=seed)


def _read(answer: Answer, tokens: int | None) -> ProbeReply:
    split = split_reasoning(answer.text)
    reasoning = "\n\n".join(filter(None, (answer.reasoning, split.reasoning)))
    return ProbeReply(split.answer, reasoning, tokens, answer.finish)
