"""Provider `shortest`: takes the shortest option, a baseline that knows no medicine."""

from __future__ import annotations

from wardround.candidates.candidate import OfflineCandidate, Reply, Request
from wardround.core.ask import Answer


class Shortest(OfflineCandidate):
    async def answer(self, request: Request) -> Reply:
        options = request.question.options or []
        texts = [options[index] for index in request.order]  # in the order in which they were shown
        place = min(range(len(texts)), key=lambda place: len(texts[place]))
        return Reply([Answer(f"Answer: {chr(ord('A') + place)}") for _ in request.trials])
