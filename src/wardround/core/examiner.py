"""Hall: what a protocol can do. Protocols are written against this and nothing else."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from wardround.core.ask import Answer, Message
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.evidence import NO_EVIDENCE, Evidence
from wardround.core.study import Literature


class Hall(Protocol):
    """One sitting of one candidate over one case under one condition, in one trial.

    A protocol is a plain async function over a hall. It is run again from the start after a stop, so it
    must be pure: no clock, no `random` (use `hall.random`), no iteration over sets.
    """

    trial: int

    @property
    def case(self) -> Case: ...

    @property
    def condition(self) -> Condition: ...

    @property
    def literature(self) -> Literature:
        """How the study has documents found."""
        ...

    @property
    def searching(self) -> str:
        """How the candidate can search: `calls` (tools), `text` (lines of text), or `own` (it has means of its own)."""
        ...

    async def ask(
        self,
        question: Question,
        *,
        given: Mapping[str, Answer] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        step: str | None = None,
        after: Sequence[Message] = (),
        tools: Sequence[dict[str, Any]] = (),
    ) -> Answer:
        """Renders the Ask, and calls the candidate only where there is no stored answer.

        With a `step` the answer is one on the way to that of the question, and is not marked; the step names the
        prompt. `after` is what was said since the case was put.
        """
        ...

    def tokens(self, messages: Sequence[Message]) -> int:
        """About how many tokens messages are, by our own estimate."""
        ...

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Uses a tool; its result is stored like an answer."""
        ...

    def random(self, name: str) -> random.Random:
        """A stream of random numbers that is the same on every restart."""
        ...
