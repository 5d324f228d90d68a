"""A prepared local candidate for tests, and requests to it."""

from __future__ import annotations

import asyncio
from typing import Any

from wardround.candidates.candidate import Reply, Request
from wardround.candidates.local.model import Local
from wardround.cases.encoded_image import EncodedImage
from wardround.core.ask import Answer, Ask, Identity, ImagePart, Message, Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.study import CandidateSettings

ORDER = (0, 1, 2, 3)
CASE = Case.model_validate(
    {
        "id": "c",
        "questions": [
            {
                "id": "mcq",
                "kind": "choice",
                "prompt": "Which organ is it?",
                "options": ["Lung", "Liver", "Heart", "Brain"],
                "gold": 0,
            }
        ],
    }
)


def make_request(
    text: str,
    trials: tuple[int, ...] = (0,),
    turn: int = 0,
    images: tuple[EncodedImage, ...] = (),
    **sampling: Any,
) -> Request:
    parts = (*(ImagePart("", image.sha256, ()) for image in images), text)
    ask = Ask(Identity("local", "m"), Sampling(**sampling), (Message("user", parts),))
    return Request(ask, CASE, CASE.questions[0], Condition(), ORDER, trials, turn, images)


def local(**settings: Any) -> Local:
    return Local(CandidateSettings(**{"name": "m", "provider": "local", "model": "smollm2", **settings}))


class LoadedModel:
    """A prepared candidate and the loop that it answers in."""

    def __init__(self, **settings: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self.candidate = local(**settings)
        self.loop.run_until_complete(self.candidate.prepare(None))  # type: ignore[arg-type]

    def replies(self, *requests: Request) -> list[Reply]:
        async def all_at_once() -> list[Reply]:
            return await asyncio.gather(*(self.candidate.answer(request) for request in requests))

        return self.loop.run_until_complete(all_at_once())

    def answers(self, request: Request) -> list[Answer]:
        return self.replies(request)[0].answers

    def close(self) -> None:
        self.loop.run_until_complete(self.candidate.close())
        self.loop.close()
