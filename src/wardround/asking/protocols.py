"""Protocols: how one case is examined under one condition."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.asking.agent import searching_agent
from wardround.asking.evidence import evidence_for
from wardround.core.ask import Answer
from wardround.core.case import Question
from wardround.core.examiner import Hall


async def progressive_chain(chain: Sequence[Question], hall: Hall) -> None:
    """Asks in the order of `given`, each question with the answers that it builds on, and with its evidence.

    A single question is a chain of one. Whatever is answered, all of the chain is asked.
    """
    answers: dict[str, Answer] = {}
    for question in chain:
        given = {id: answers[id] for id in question.given} if hall.condition.carry == "own" else {}
        if hall.condition.evidence == "agent" and hall.searching != "own":
            answers[question.id] = await searching_agent(question, given, hall)
        elif hall.condition.evidence == "none":
            answers[question.id] = await hall.ask(question, given=given)
        else:
            evidence = await evidence_for(question, hall)
            answers[question.id] = await hall.ask(question, given=given, evidence=evidence)
