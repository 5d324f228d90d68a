"""Answers drawn from a distribution over the options shown, as text, the way a model would reply."""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from wardround.asking.options import LETTERS, seeded
from wardround.candidates.candidate import Reply, Request, Settled
from wardround.core.ask import Answer


@dataclass(frozen=True)
class Choice:
    """For each option in the order shown: how votes fall on it, and the confidence stated for it."""

    shares: Sequence[float]
    confidence: Sequence[float]


class Drawn(Settled, ABC):
    """Draws every trial's letter from the shares of the options shown.

    Each trial has a stream of random numbers of its own, named by the Ask's key (which holds the identity),
    the trial and the turn. So answers are the same in any order and after any restart.
    """

    @abstractmethod
    def choose(self, request: Request) -> Choice:
        """What it makes of a choice question."""

    def listed(self, request: Request) -> list[tuple[str, float]]:
        """Diagnoses for an open question, the likeliest first, with their probabilities. By default none."""
        return []

    async def answer(self, request: Request) -> Reply:
        return self.reply(request)

    def reply(self, request: Request) -> Reply:
        """One answer per trial."""
        images = sent(request)
        if request.question.kind == "open":
            found = self.listed(request)
            text = numbered([name for name, _ in found])
            text = with_confidence(text, found[0][1] if found else 0.0, request)
            return Reply([Answer(text, images=images)] * len(request.trials))
        choice = self.choose(request)
        first = first_token(choice.shares, request)
        answers = []
        for trial in request.trials:
            place = drawn(choice.shares, stream(request, trial))
            text = with_confidence(LETTERS[place], choice.confidence[place], request)
            answers.append(Answer(text, first_token=first, images=images))
        return Reply(answers)


def stream(request: Request, trial: int) -> random.Random:
    """The random numbers of one trial."""
    return seeded("answer", request.ask.key.hex(), trial, request.turn)


def drawn(shares: Sequence[float], numbers: random.Random) -> int:
    """A place drawn with these probabilities."""
    return numbers.choices(range(len(shares)), shares)[0]


def first_token(
    shares: Sequence[float], request: Request, unparsed: tuple[str, float] | None = None
) -> tuple[tuple[str, float], ...] | None:
    """The likeliest first tokens and their log-probabilities, as many as the Ask wants; None if it wants none.

    `unparsed` is a token that names no option and its probability. What cannot happen is not listed.
    """
    wanted = request.ask.sampling.logprobs
    if not wanted:
        return None
    tokens = [*zip(LETTERS, shares, strict=False), *([unparsed] if unparsed else [])]
    likeliest = sorted(tokens, key=lambda token: (-token[1], token[0]))[:wanted]
    return tuple((token, math.log(share)) for token, share in likeliest if share > 0)


def numbered(names: Sequence[str]) -> str:
    """`1. name`, one a line."""
    return "\n".join(f"{rank}. {name}" for rank, name in enumerate(names, start=1))


def with_confidence(text: str, confidence: float, request: Request) -> str:
    """The reply with a line that states the confidence, where the condition asks for one."""
    if request.condition.confidence != "verbal":
        return text
    return f"{text}\nConfidence: {round(100 * confidence, 2):g}%".lstrip("\n")


def sent(request: Request) -> tuple[str, ...]:
    """The hashes of the images that came with the request."""
    return tuple(image.sha256 for image in request.images)
