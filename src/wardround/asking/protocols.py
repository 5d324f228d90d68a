"""Protocols: how the questions of one case are asked under one condition, by name. Studies use DEFAULT."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from wardround.asking.agent import run_agent
from wardround.asking.evidence import evidence_for
from wardround.core.ask import Answer
from wardround.core.case import Question
from wardround.core.examiner import Examiner

# Asks the questions of a unit (a chain, or a single question). After a stop it is run again: see Examiner.
Protocol = Callable[[Sequence[Question], Examiner], Awaitable[None]]


async def progressive_chain(chain: Sequence[Question], examiner: Examiner) -> None:
    """Asks in the order of `given`, each question with the answers that it builds on and with its evidence.

    A single question is a chain of one. The whole chain is asked, whatever the answers are. It is run again from the
    start after a stop, so it must be pure: see `Examiner`.
    """
    answers: dict[str, Answer] = {}
    for question in chain:
        earlier = {id: answers[id] for id in question.given} if examiner.condition.carry == "own" else {}
        if examiner.condition.evidence == "agent" and examiner.search_mode != "own":
            answers[question.id] = await run_agent(question, earlier, examiner)
        else:
            evidence = await evidence_for(question, examiner)
            answers[question.id] = await examiner.ask(question, earlier_answers=earlier, evidence=evidence)


PROTOCOLS: Mapping[str, Protocol] = {"progressive_chain": progressive_chain}
DEFAULT = "progressive_chain"
