"""Examiner: all that a protocol can do. Protocols are written against this interface and nothing else."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from wardround.core.ask import Answer, Message
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.evidence import NO_EVIDENCE, Evidence
from wardround.core.study_tables.literature import Literature


class Examiner(Protocol):
    """Examines one candidate on one case under one condition in one trial.

    A protocol is a plain async function of an examiner. It is run again from the start after a stop, so it must be
    pure: no clock, no `random` (use `examiner.random`), no iteration over sets.
    """

    trial: int
    case: Case
    condition: Condition
    search_mode: str  # how the candidate searches: `calls` (tool calls), `text` (lines of text) or `own`

    @property
    def literature(self) -> Literature:
        """The study's search settings."""
        ...

    async def ask(
        self,
        question: Question,
        *,
        earlier_answers: Mapping[str, Answer] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        step: str | None = None,
        transcript: Sequence[Message] = (),
        tools: Sequence[dict[str, Any]] = (),
    ) -> Answer:
        """Renders the Ask, and calls the candidate only if there is no stored answer.

        With a `step`, which names the prompt, the answer is an intermediate one and is not marked. `transcript` holds
        the messages since the case was shown.
        """
        ...

    def tokens(self, messages: Sequence[Message]) -> int:
        """Our own estimate of the number of tokens."""
        ...

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Uses a tool; its result is stored like an answer."""
        ...

    def random(self, name: str) -> random.Random:
        """A random stream that is the same on every restart."""
        ...
