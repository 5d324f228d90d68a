"""Protocols: how one case is examined under one condition."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.core.ask import Answer
from wardround.core.case import Question
from wardround.core.hall import Hall


async def progressive_chain(chain: Sequence[Question], hall: Hall) -> None:
    """Asks in the order of `given`, each question with the answers that it builds on.

    A single question is a chain of one.
    """
    answers: dict[str, Answer] = {}
    for question in chain:
        answers[question.id] = await hall.ask(question, given={id: answers[id] for id in question.given})
