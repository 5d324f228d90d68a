"""Candidates whose answers are sampled from a distribution over the options shown, as text."""

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from wardround.candidates.candidate import OfflineCandidate, Reply, Request
from wardround.core.ask import Answer
from wardround.core.random import seeded
from wardround.core.text import LETTERS


@dataclass(frozen=True)
class OptionDistribution:
    """For each option in the order shown: its share of the votes, and the confidence stated for it."""

    shares: Sequence[float]
    confidence: Sequence[float]


class SampledCandidate(OfflineCandidate, ABC):
    """Samples the letter of every trial from the shares of the options shown.

    Each trial has a random stream of its own, named by the Ask's key, the trial and the turn. So answers are the same
    in any order and after any restart.
    """

    @abstractmethod
    def choose(self, request: Request) -> OptionDistribution:
        """The distribution over the options of a choice question."""

    def list_diagnoses(self, request: Request) -> list[tuple[str, float]]:
        """Diagnoses for an open question, the likeliest first, with their probabilities. By default none."""
        return []

    async def answer(self, request: Request) -> Reply:
        return self.reply(request)

    def reply(self, request: Request) -> Reply:
        """One answer per trial."""
        if request.question.kind == "rubric":  # it has options to choose from, and no words of its own
            return Reply([Answer("", images=request.image_hashes)] * len(request.trials))
        if request.question.kind == "open":
            diagnoses = self.list_diagnoses(request)
            text = numbered_list([name for name, _ in diagnoses])
            text = with_confidence(text, diagnoses[0][1] if diagnoses else 0.0, request)
            return Reply([Answer(text, images=request.image_hashes)] * len(request.trials))
        choice = self.choose(request)
        first = first_token(choice.shares, request)
        answers = []
        for trial in request.trials:
            place = draw_index(choice.shares, stream(request, trial))
            text = with_confidence(LETTERS[place], choice.confidence[place], request)
            answers.append(Answer(text, first_token=first, images=request.image_hashes))
        return Reply(answers)


def stream(request: Request, trial: int) -> random.Random:
    """The random stream of one trial."""
    return seeded("answer", request.ask.key.hex(), trial, request.turn)


def draw_index(shares: Sequence[float], numbers: random.Random) -> int:
    """An index drawn with these probabilities."""
    return numbers.choices(range(len(shares)), shares)[0]


def first_token(
    shares: Sequence[float], request: Request, unparsed: tuple[str, float] | None = None
) -> tuple[tuple[str, float], ...] | None:
    """The likeliest first tokens and their log-probabilities, as many as the Ask wants; None if it wants none.

    `unparsed` is a token that names no option and its probability. Tokens of probability 0 are left out.
    """
    count = request.ask.sampling.logprobs
    if not count:
        return None
    tokens = [*zip(LETTERS, shares, strict=False), *([unparsed] if unparsed else [])]
    likeliest = sorted(tokens, key=lambda token: (-token[1], token[0]))[:count]
    return tuple((token, math.log(share)) for token, share in likeliest if share > 0)


def numbered_list(names: Sequence[str]) -> str:
    """One `1. name` a line."""
    return "\n".join(f"{rank}. {name}" for rank, name in enumerate(names, start=1))


def with_confidence(text: str, confidence: float, request: Request) -> str:
    """The reply, with a line that states the confidence if the condition asks for one."""
    if request.condition.confidence != "verbal":
        return text
    return f"{text}\nConfidence: {round(100 * confidence, 2):g}%".lstrip("\n")
