"""Whether a candidate sees: it is shown a number that is nowhere but in an image, and asked for it."""

import random
import re
from typing import Literal, NamedTuple

import numpy as np

from wardround.candidates.candidate import (
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    Reply,
    Request,
    RequestAdapted,
    RequestRejected,
)
from wardround.cases.images.render import encode_pixels
from wardround.cases.images.window import Pixels
from wardround.core.ask import Ask, ImagePart, Message
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.marking.unread import NO_IMAGE
from wardround.running.caller import Stopping
from wardround.running.context import RunContext
from wardround.running.store import Call

QUESTION = "Which number is shown in the image? Answer with the number alone."
PLACEHOLDER = Case(id="-", questions=[Question(id="-", kind="open", prompt=QUESTION, gold="-")])
ATTEMPTS = 6
# digits of 5 x 7 dots, row by row
DIGITS = {
    "2": "01110 10001 00001 00110 01000 10000 11111",
    "3": "11110 00001 00001 01110 00001 00001 11110",
    "4": "00010 00110 01010 10010 11111 00010 00010",
    "5": "11111 10000 11110 00001 00001 10001 01110",
    "7": "11111 00001 00010 00100 01000 01000 01000",
    "9": "01110 10001 10001 01111 00001 00010 01100",
}
DOT = 24  # pixels a side


class Sight(NamedTuple):
    """What the probe showed."""

    result: Literal["seen", "ignored", "refused", "unclear"]
    why: str = ""  # unless it was seen

    @property
    def is_blind(self) -> bool:
        """Whether it refuses images, or says that there is none. A wrong number may come from a weak model."""
        return self.result in ("ignored", "refused")


async def probe_sight(context: RunContext) -> Sight | None:
    """Asks for the number in an image of ours; None if nothing can be asked.

    The call is counted; its answer is not among those of the study.
    """
    number = random_number()
    request = _request(context, number)
    try:
        reply = await _call(context, request)
    except (CandidateUnavailable, Stopping):
        return None
    except (RequestRejected, QuestionRefused) as refusal:
        return Sight("refused", f"it refuses an image: {refusal}")
    if reply is None:
        return Sight("unclear", "the image of our own was not answered")
    text = " ".join(reply.split())
    if number in re.sub(r"\D", " ", text).split():
        return Sight("seen")
    if NO_IMAGE.search(text):
        return Sight("ignored", f"shown an image, it answers {text[:100]!r}")
    return Sight("unclear", f"shown the number {number} in an image, it answers {text[:100]!r}")


async def _call(context: RunContext, request: Request) -> str | None:
    """The text of the answer, or None after several faults."""

    async def keep(reply: Reply, call: Call) -> str:
        await context.store.put_call(request.ask.key, call)
        return reply.answers[0].text

    for _ in range(ATTEMPTS):
        try:
            return await context.caller.call(request, keep, purpose="check")
        except (Fault, RequestAdapted):
            continue
    return None


def _request(context: RunContext, number: str) -> Request:
    image = encode_pixels(draw_number(number), "png")
    part = ImagePart("", image.sha256, ())
    sampling = context.study.sampling_for(context.caller.settings, Condition())
    ask = Ask(context.caller.candidate.identity, sampling, (Message("user", (part, QUESTION)),))
    return Request(ask, PLACEHOLDER, PLACEHOLDER.questions[0], Condition(), (), (0,), images=(image,))


def random_number() -> str:
    return "".join(random.SystemRandom().sample(sorted(DIGITS), 2))


def draw_number(number: str) -> Pixels:
    """Large black digits on white."""
    blank = np.zeros((9, 1), np.uint8)
    columns = [blank]
    for digit in number:
        dots = np.array([[int(dot) for dot in row] for row in DIGITS[digit].split()], np.uint8)
        columns += [np.pad(dots, 1)]
    dots = np.hstack([*columns, blank])
    return np.where(np.kron(dots, np.ones((DOT, DOT), np.uint8)), 0, 255).astype(np.uint8)
