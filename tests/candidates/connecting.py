"""Candidates whose connection is tried: their settings, and one question."""

from __future__ import annotations

import asyncio
from typing import Any

from wardround.candidates.candidate import Candidate, Request
from wardround.candidates.registry import make_candidate
from wardround.core.ask import Ask, Message, Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.study import CandidateSettings

KEY = "sk-exam-7f3c9b1e5a2d4c6f8e0b"
HOST = "model.example"
CASE = Case.model_validate(
    {"id": "c", "questions": [{"id": "q", "kind": "choice", "prompt": "?", "options": ["x", "y"], "gold": 0}]}
)


def settings(url: str, **fields: Any) -> CandidateSettings:
    return CandidateSettings(name="server", provider="openai", base_url=url, **{"model": "exam"} | fields)


def ask(to: Candidate) -> str:
    """The text of the candidate's answer to one question."""
    question = Ask(to.identity, Sampling(), (Message("user", ("Which?",)),))

    async def go() -> str:
        await to.prepare(None)  # type: ignore[arg-type]
        try:
            reply = await to.answer(Request(question, CASE, CASE.questions[0], Condition(), (0, 1), (0,)))
            return reply.answers[0].text
        finally:
            await to.close()

    return asyncio.run(go())


def answer(url: str, **fields: Any) -> str:
    return ask(make_candidate(settings(url, **fields)))
